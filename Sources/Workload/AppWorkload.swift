import BasicContainers
import Lifecycle
import Quantities

/// One process's behaviour: what its callbacks do, and what its memory does as time passes.
///
/// Every figure is a function of the time spent so far, so that rounding errors do not add up. Only its process owns
/// it.
public struct AppWorkload: ~Copyable {
    /// Time spent active in the foreground since the launch.
    public private(set) var activeTime: TimeSpan = .zero
    /// Time spent running code, in the foreground or at work off screen.
    private(set) var runTime: TimeSpan = .zero
    /// What the cache held when the app left the screen.
    private var cacheBeforeBackground: ByteCount = .zero
    private var transient: ByteCount = .zero
    /// The part of the cache that stays while the app is off screen, because it is not purgeable; nil: the app is in
    /// front, or was never in front.
    private var fixedCache: ByteCount?
    /// The part of the base that the process holds since before its launch.
    private var prewarmed: ByteCount = .zero
    /// What the process is to hold when its launch has filled its memory; nil: the profile does not say, or it does.
    private var footprint: ByteCount?
    /// The number of operations in one round of the app's trace.
    private let traceLength: Int
    /// What the short-lived objects hold once the first of them are freed.
    private let transientLimit: ByteCount
    /// These two come from the profile; a tick off screen needs nothing else of it.
    private let (leak, churnRate): (ByteRate, ByteRate)
    /// Declared after the values that change with every tick, because it is large.
    public let profile: AppProfile
    /// Borrowed, because a copy would count references.
    private var memory: MemoryProfile { _read { yield profile.memory } }

    /// How often the memory of a running app changes.
    @inlinable
    public static var interval: TimeSpan { .milliseconds(100) }

    /// A workload before its first callback.
    ///
    /// - Parameter traceLength: The number of operations in one round of the app's trace; 0: it has none.
    public init(_ profile: AppProfile, traceLength: Int = 0) {
        self.profile = profile
        self.traceLength = traceLength
        footprint = profile.memory.footprint
        let churn = profile.memory.churn
        transientLimit = churn.rate.bytes(in: churn.lifetime)
        (leak, churnRate) = (profile.memory.leak, churn.rate)
    }

    /// What a process does before `UIApplicationMain` if the system launches it ahead of time: it is created and loads
    /// a share of its base.
    public mutating func prewarm(_ share: Ratio, cost: TimeSpan) -> CallbackWork {
        prewarmed = profile.memory.base * share
        return CallbackWork(cost: cost, memory: readFiles(memory.files.launch) + [.allocate(.base, prewarmed)])
    }

    /// The process was launched ahead of time before the run, and holds this part of its base.
    public mutating func wasPrewarmed(holding bytes: ByteCount) { prewarmed = bytes }

    /// The process was launched before the run.
    public mutating func wasLaunched() { footprint = nil }

    /// What the process is to hold after this callback, if its launch has filled its memory with it: a process that is
    /// no app after `main`, an app without scenes once it has finished launching, any other once its first scene is
    /// connected. Nil if the profile states no footprint, or it was told before.
    public mutating func takeFootprint(after callback: Callback) -> ByteCount? {
        guard let due = footprint else { return nil }
        let isLast =
            callback == .main || callback == .sceneWillConnect
            || callback == .didFinishLaunching && !profile.scenes.support
        guard isLast else { return nil }
        footprint = nil
        return due
    }

    // MARK: Callbacks

    /// What a callback costs and does. Source of the app's duties: Apple's "Managing your app's life cycle".
    ///
    /// - Parameters:
    ///   - costs: The costs of the app's callbacks, as they are now.
    ///   - scene: The scene that the callback is about, or 1 for an app without scenes.
    ///   - cache: What the cache pool holds now.
    ///   - isFirstLaunch: Whether the app was never launched before in this run.
    ///   - isOnScreen: Whether the app is in the foreground regardless of this scene, so that its cache is in use.
    ///   - generator: Decides whether the app does its duty.
    public mutating func work(
        for callback: Callback, costs: CallbackCosts, scene: SceneID, cache: ByteCount, isFirstLaunch: Bool,
        isOnScreen: Bool, using generator: inout SeededGenerator
    ) -> CallbackWork {
        switch callback {
        case .didFinishLaunching:
            var work = CallbackWork(
                cost: costs.launch,
                memory: readFiles(memory.files.launch)
                    + [.allocate(.base, max(.zero, profile.memory.firstBase - prewarmed))])
            if isFirstLaunch { work.cost += costs.firstLaunch }
            if !profile.scenes.support {
                work.cost += costs.connect
                work.memory.append(.allocate(.scene(scene), profile.memory.scene))
            }
            return work
        case .main:
            return CallbackWork(
                cost: costs.launch,
                memory: readFiles(memory.files.launch) + [.allocate(.base, profile.memory.firstBase)])
        case .sceneWillConnect:
            return CallbackWork(cost: costs.connect, memory: [.allocate(.scene(scene), profile.memory.scene)])
        case .sceneWillEnterForeground, .applicationWillEnterForeground:
            return CallbackWork(
                cost: costs.enterForeground, memory: isOnScreen ? [] : readFiles(memory.files.resume) + reload(cache))
        case .sceneDidBecomeActive, .applicationDidBecomeActive:
            return CallbackWork(cost: costs.activate)
        case .sceneWillResignActive, .applicationWillResignActive:
            let quiet = transient
            transient = .zero
            return CallbackWork(cost: costs.resignActive, memory: [.release(.transient, quiet)])
        case .sceneDidEnterBackground, .applicationDidEnterBackground:
            return enterBackground(cache, cost: costs.enterBackground, isOnScreen: isOnScreen, using: &generator)
        case .sceneDidDisconnect:
            return disconnect(scene, cost: costs.disconnect, using: &generator)
        case .applicationWillTerminate:
            return CallbackWork(cost: costs.terminate)
        case .sceneOpenURLContexts, .applicationProtectedDataWillBecomeUnavailable,
            .applicationProtectedDataDidBecomeAvailable, .applicationContinueUserActivity, .sceneContinueUserActivity,
            .applicationSignificantTimeChange, .applicationOpenURL, .applicationPerformAction, .scenePerformAction,
            .didReceiveRemoteNotification, .didReceiveNotificationResponse, .notificationServiceDidReceive,
            .pushRegistryDidReceive, .handleEventsForBackgroundURLSession, .urlSessionDidFinishEvents,
            .webContentDidTerminate:
            return CallbackWork(cost: costs.event)
        case .applicationWillContinueUserActivity, .sceneWillContinueUserActivity, .applicationDidUpdateUserActivity,
            .sceneDidUpdateUserActivity, .willFinishLaunching, .didDiscardSceneSessions, .configurationForConnecting,
            .stateRestorationActivity, .sceneRestoreInteractionState,
            .applicationDidReceiveMemoryWarning:
            return CallbackWork()
        }
    }

    /// What the observers of a notification do, one after the other.
    public func work(ofObserversOf notification: AppNotification, cache: ByteCount) -> CallbackWork {
        var work = CallbackWork()
        for observer in profile.observers where observer.notification == notification {
            work.cost += observer.cost
            if observer.frees > .zero { work.memory.append(.release(.cache, cache * observer.frees)) }
        }
        return work
    }

    /// What a window on a second display holds in an app without scenes.
    public func windowWork(_ window: SceneID, appears: Bool) -> CallbackWork {
        CallbackWork(memory: appears ? [.allocate(.scene(window), profile.memory.scene)] : [.endScene(window)])
    }

    /// The buffer that the system's picture of a scene needs for a moment.
    public func snapshotWork() -> CallbackWork {
        let snapshot = profile.background.snapshot
        guard snapshot > .zero else { return CallbackWork() }
        return CallbackWork(memory: [.allocate(.transient, snapshot), .release(.transient, snapshot)])
    }

    /// Uses a share of the app's files.
    private func readFiles(_ share: Ratio) -> [MemoryWork] {
        let used = memory.files.size * share
        return used > .zero ? [.readFiles(used)] : []
    }

    /// Reloads, at once when the app comes back, the part of the dropped cache that the scene shows. Nothing is
    /// volatile any more.
    private mutating func reload(_ cache: ByteCount) -> [MemoryWork] {
        let dropped = cacheBeforeBackground - cache
        cacheBeforeBackground = .zero
        fixedCache = nil
        guard dropped > .zero else { return [] }
        return [.allocate(.cache, dropped * profile.background.reloads)]
    }

    /// Frees memory by the app's own discipline when its last scene leaves the screen; all scenes share the cache.
    private mutating func enterBackground(
        _ cache: ByteCount, cost: TimeSpan, isOnScreen: Bool, using generator: inout SeededGenerator
    ) -> CallbackWork {
        let discipline = profile.background
        let ignores = generator.chance(discipline.ignores)
        guard !isOnScreen else { return CallbackWork(cost: cost) }
        cacheBeforeBackground = cache
        let freed = ignores ? ByteCount.zero : cache * discipline.frees
        leaveCacheVolatile(cache - freed)
        guard !ignores else { return CallbackWork(cost: cost) }
        return CallbackWork(cost: cost + discipline.delay, memory: [.release(.cache, freed)])
    }

    /// The app is off screen with this cache: its purgeable share may be taken from now on.
    public mutating func leaveCacheVolatile(_ cache: ByteCount) {
        guard memory.cache.purgeable > .zero else { return }
        fixedCache = cache - cache * memory.cache.purgeable
    }

    /// What the system may take of the cache without asking.
    ///
    /// - Parameter cache: What the cache pool holds now.
    public func volatileCache(of cache: ByteCount) -> ByteCount {
        guard let fixedCache else { return .zero }
        return max(.zero, cache - fixedCache)
    }

    /// Frees the scene's own memory; what the app forgets to free stays until the process ends.
    private func disconnect(
        _ scene: SceneID, cost: TimeSpan, using generator: inout SeededGenerator
    ) -> CallbackWork {
        let discipline = profile.disconnect
        if generator.chance(discipline.ignores) { return CallbackWork(cost: cost, memory: [.abandonScene(scene)]) }
        let isWhole = discipline.frees >= .one
        return CallbackWork(
            cost: cost + discipline.delay,
            memory: isWhole
                ? [.endScene(scene)] : [.releaseShare(.scene(scene), discipline.frees), .abandonScene(scene)])
    }

    /// What the app does about a memory warning; nothing if it ignores this one.
    public func answerToWarning(cache: ByteCount, using generator: inout SeededGenerator) -> CallbackWork {
        // The draw always comes first, so that the random stream does not depend on the size of the cache.
        let ignores = generator.chance(profile.warnings.ignores)
        guard !ignores else { return CallbackWork() }
        return CallbackWork(
            cost: profile.warnings.delay, memory: [.release(.cache, cache * profile.warnings.frees)])
    }

    // MARK: Time

    /// What the app's memory does while `span` passes.
    ///
    /// - Parameters:
    ///   - phase: Growth, cache and bursts need the foreground. Leak, churn and trace also run while the app works off
    ///     screen.
    ///   - cache: What the cache pool holds now; ignored off screen.
    ///   - front: The scene in front and what it holds now.
    ///   - work: Receives the work, in order.
    public mutating func pass(
        _ span: TimeSpan, phase: ProcessPhase, cache: ByteCount, front: (scene: SceneID, held: ByteCount)?,
        into work: inout UniqueArray<MemoryWork>
    ) {
        let ranBefore = runTime
        runTime += span
        if leak > .zero { add(.leak, leak.bytes(in: runTime) - leak.bytes(in: ranBefore), to: &work) }
        churn(from: ranBefore, into: &work)
        let due = traced(at: runTime) - traced(at: ranBefore)
        if due > 0 { work.append(.trace(due)) }
        guard phase == .active else { return }
        let activeBefore = activeTime
        activeTime += span
        add(.base, grown(at: activeTime) - grown(at: activeBefore), to: &work)
        useCache(span, cache, into: &work)
        // The growth depends on what the scene holds, not on the time: a scene that comes back grows anew.
        if let front, front.held < memory.sceneGrowth.upTo {
            let grown = memory.sceneGrowth.rate.bytes(in: min(span, AppWorkload.interval))
            add(.scene(front.scene), min(memory.sceneGrowth.upTo - front.held, grown), to: &work)
        }
        change(.burst, memory.sawTooth.held(at: activeTime) - memory.sawTooth.held(at: activeBefore), in: &work)
        for burst in memory.bursts {
            change(.burst, burst.held(at: activeTime) - burst.held(at: activeBefore), in: &work)
        }
        let rewritten = memory.touch.bytes(in: span)
        if rewritten > .zero { work.append(.touch(.base, rewritten)) }
        if memory.files.rate > .zero { work.append(.readFiles(memory.files.rate.bytes(in: span))) }
        let read = memory.read.bytes(in: span)
        if min(read, cache) > .zero { work.append(.read(.cache, min(read, cache))) }
        if read > cache { work.append(.read(.base, read - cache)) }
    }

    /// Fills the cache; a full cache is replaced, the oldest memory first.
    private func useCache(_ span: TimeSpan, _ cache: ByteCount, into work: inout UniqueArray<MemoryWork>) {
        let profile = profile.memory.cache
        let room = profile.size - cache
        // After a pause, the cache fills for at most one interval, because it counts as full until then.
        if room > .zero {
            return add(.cache, min(room, profile.rate.bytes(in: min(span, AppWorkload.interval))), to: &work)
        }
        let replaced = min(cache, profile.turnover.bytes(in: span))
        guard replaced > .zero else { return }
        work.append(.release(.cache, replaced))
        work.append(.allocate(.cache, replaced))
    }

    private func change(_ pool: Pool, _ bytes: ByteCount, in work: inout UniqueArray<MemoryWork>) {
        if bytes < .zero { work.append(.release(pool, .zero - bytes)) } else { add(pool, bytes, to: &work) }
    }

    private func add(_ pool: Pool, _ bytes: ByteCount, to work: inout UniqueArray<MemoryWork>) {
        if bytes > .zero { work.append(.allocate(pool, bytes)) }
    }

    /// The growth of the base beyond its size at launch.
    private func grown(at time: TimeSpan) -> ByteCount {
        let limit = max(.zero, profile.memory.growth.upTo - profile.memory.base)
        return min(limit, profile.memory.growth.rate.bytes(in: time))
    }

    /// The number of the trace's operations that are due by then.
    private func traced(at time: TimeSpan) -> Int {
        guard traceLength > 0, let trace = profile.memory.trace else { return 0 }
        return trace.operations(after: time, length: traceLength)
    }

    private mutating func churn(from before: TimeSpan, into work: inout UniqueArray<MemoryWork>) {
        guard churnRate > .zero else { return }
        let fresh = churnRate.bytes(in: runTime) - churnRate.bytes(in: before)
        guard fresh > .zero else { return }
        transient += fresh
        work.append(.allocate(.transient, fresh))
        let old = transient - transientLimit
        guard old > .zero else { return }
        transient -= old
        work.append(.release(.transient, old))
    }

    /// The time until the memory changes next; nil if it does not change by itself.
    ///
    /// Marked `mutating` although it changes nothing: otherwise 700 bytes would be copied out of the process at every
    /// tick.
    public mutating func nextWork(phase: ProcessPhase, cache: ByteCount) -> TimeSpan? {
        if leak > .zero || churnRate > .zero { return AppWorkload.interval }
        if let trace = memory.trace, trace.ends == .loop || traced(at: runTime) < traceLength {
            return AppWorkload.interval
        }
        guard phase == .active else { return nil }
        let limit = max(.zero, memory.growth.upTo - memory.base)
        if memory.touch > .zero || grown(at: activeTime) < limit && memory.growth.rate > .zero {
            return AppWorkload.interval
        }
        let isCacheFull = cache >= memory.cache.size
        if (isCacheFull ? memory.cache.turnover : memory.cache.rate) > .zero { return AppWorkload.interval }
        if memory.read > .zero || memory.files.rate > .zero { return AppWorkload.interval }
        if memory.sawTooth.size > .zero || memory.sceneGrowth.rate > .zero { return AppWorkload.interval }
        return memory.bursts.compactMap { $0.wait(from: activeTime) }.min()
    }
}

extension MemoryProfile {
    /// The most memory that an app gains while it is in front for `span`.
    ///
    /// - Parameters:
    ///   - active: How long it was in front before.
    ///   - cache: What its cache holds at first.
    public func gain(from active: TimeSpan, over span: TimeSpan, cache: ByteCount) -> ByteCount {
        let end = active + span
        let limit = max(.zero, growth.upTo - base)
        var gain = min(limit, growth.rate.bytes(in: end)) - min(limit, growth.rate.bytes(in: active))
        gain += leak.bytes(in: span)
        gain += min(max(.zero, self.cache.size - cache), self.cache.rate.bytes(in: span))
        gain += min(max(.zero, sceneGrowth.upTo - scene), sceneGrowth.rate.bytes(in: span))
        gain += churn.rate.bytes(in: min(span, churn.lifetime))
        for burst in bursts where end > burst.after && burst.wait(from: active) != nil {
            gain += max(.zero, burst.size - burst.held(at: active))
        }
        if sawTooth.size > .zero { gain += sawTooth.size - sawTooth.held(at: active) }
        return gain
    }
}

extension SawToothProfile {
    /// What it holds after this much time in the foreground.
    func held(at time: TimeSpan) -> ByteCount {
        guard size > .zero, period > .zero else { return .zero }
        let since = time.microseconds % period.microseconds
        return size * Ratio(partsPerMillion: scaled(since, by: 1_000_000, over: period.microseconds))
    }
}

extension BurstProfile {
    /// What the burst holds after this much time in the foreground.
    func held(at time: TimeSpan) -> ByteCount {
        guard time > after else { return .zero }
        let since = time - after
        if let hold, since >= over + hold { return .zero }
        guard since < over else { return size }
        return ByteCount(Int(scaled(Int64(size.bytes), by: since.microseconds, over: over.microseconds)))
    }

    /// The time until the burst changes next; nil when it is over.
    func wait(from time: TimeSpan) -> TimeSpan? {
        if time < after { return max(after - time, AppWorkload.interval) }
        if time < after + over { return AppWorkload.interval }
        guard let hold, time < after + over + hold else { return nil }
        return max(after + over + hold - time, AppWorkload.interval)
    }
}
