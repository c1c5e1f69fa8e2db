import Lifecycle
import Quantities

/// What a launch's latency consists of. Each part is measured on its own; for a finished launch they add up.
struct LaunchParts {
    /// Callbacks and other declared costs, on a core.
    var declared = TimeSpan.zero
    /// Answers to memory warnings, on a core.
    var answers = TimeSpan.zero
    /// Filling pages, on a core, and reading files.
    var fill = TimeSpan.zero
    /// Waiting for a core.
    var coreWait = TimeSpan.zero
    /// Waiting for memory.
    var memoryWait = TimeSpan.zero
    /// Work that the main thread had begun before the tap, and an old process that had to end first.
    var earlierWork = TimeSpan.zero
    /// The main thread has nothing to do until the screen is free.
    var screenWait = TimeSpan.zero

    var sum: TimeSpan { declared + answers + fill + coreWait + memoryWait + earlierWork + screenWait }
}

/// A launch under way: from the tap to the first active frame.
struct PendingLaunch {
    let kind: LaunchKind
    let tapped: Instant
    fileprivate(set) var parts = LaunchParts()
    /// Where the process was; nil if there was none.
    fileprivate(set) var resumedFrom: ResumeSource?

    init(_ kind: LaunchKind, tapped: Instant, from source: ResumeSource? = nil) {
        self.kind = kind
        self.tapped = tapped
        resumedFrom = source ?? kind.resumedFrom
    }
}

/// How a process was launched, and how far its launch has come.
struct LaunchState {
    let at: Instant
    /// What the process was launched for; of a prewarmed process without meaning.
    private(set) var reason: LaunchReason
    /// Whether the system has begun the launch, and no event has continued it yet.
    private(set) var isPrewarmed: Bool
    /// How long a cold launch takes by the app's profile: its declared costs, plus the time to fill its memory.
    let relaunchCost: TimeSpan
    private(set) var isFirst: Bool
    /// The user's launch under way.
    private(set) var pending: PendingLaunch?
    /// Whether the delegate has returned from `didFinishLaunching`.
    private(set) var hasFinished = false
    /// Whether the process was launched to the foreground and none of its scenes has come there yet.
    private(set) var awaitsScene = false
    /// Whether the app reads meanwhile that it is in the background.
    private(set) var readsBackground = false
    /// The number of the latest order for work off the main thread. Each new order makes the earlier ones void.
    private(set) var deferredSerial = 0
    /// Since when the main thread has had nothing to do; nil: it runs.
    private var restsSince: Instant?
    /// Whether the main thread's present work began after the tap of the launch under way.
    private var workIsOfLaunch = false
    /// Whether the main thread's present work answers a memory warning.
    private var workAnswersWarning = false

    init(
        at now: Instant, _ reason: LaunchReason, isFirst: Bool, relaunchCost: TimeSpan, isPrewarmed: Bool = false
    ) {
        at = now
        self.reason = reason
        self.isPrewarmed = isPrewarmed
        self.isFirst = isFirst
        self.relaunchCost = relaunchCost
        restsSince = now
    }

    /// Whether the user waits for the app, or the delegate has not returned from `didFinishLaunching`.
    var isUnderWay: Bool { pending != nil || !hasFinished }

    /// A prewarmed process is launched.
    mutating func goOn(for reason: LaunchReason) { (self.reason, isPrewarmed) = (reason, false) }

    /// - Parameters:
    ///   - tapped: Before now if an old process had to end first.
    ///   - source: Where the process was, if the kind does not say so.
    mutating func begin(_ kind: LaunchKind, tapped: Instant, at now: Instant, from source: ResumeSource? = nil) {
        pending = PendingLaunch(kind, tapped: tapped, from: source)
        pending?.parts.earlierWork = now - tapped
        if restsSince != nil { restsSince = now }
        // What the main thread does now, it began before this tap.
        workIsOfLaunch = false
    }

    /// Most of the process was compressed when the launch began.
    mutating func resumesCompressed() { pending?.resumedFrom = .compressed }

    /// Most of the process was in no memory when the launch began, a part of it on flash.
    mutating func resumesFrozen() { pending?.resumedFrom = .frozen }

    /// The first frame is active. The app's first launch is over.
    mutating func finish(at now: Instant) -> PendingLaunch? {
        endRest(at: now)
        guard let launch = abandon() else { return nil }
        isFirst = false
        return launch
    }

    /// The first frame will never come.
    mutating func abandon() -> PendingLaunch? {
        defer { pending = nil }
        return pending
    }

    mutating func didFinishLaunching() { hasFinished = true }

    mutating func awaitScene(reading state: StateAtLaunch) {
        (awaitsScene, readsBackground) = (true, state == .background)
    }

    /// The first scene comes to the foreground, or the user has left before that.
    mutating func endAwaitingScene() { (awaitsScene, readsBackground) = (false, false) }

    mutating func expectDeferredWork() -> Int {
        deferredSerial += 1
        return deferredSerial
    }

    // MARK: What the launch under way consists of

    /// The main thread begins to work.
    mutating func beginWork(at now: Instant, isDueToWarning: Bool) {
        endRest(at: now)
        restsSince = nil
        workIsOfLaunch = pending != nil
        workAnswersWarning = isDueToWarning
    }

    /// The main thread has done its work.
    mutating func endWork(at now: Instant) { restsSince = now }

    private mutating func endRest(at now: Instant) {
        guard let since = restsSince else { return }
        pending?.parts.screenWait += now - since
        restsSince = now
    }

    /// A piece of the main thread's work is done.
    mutating func add(_ piece: WorkDone, at now: Instant) {
        guard let tapped = pending?.tapped else { return }
        guard workIsOfLaunch else {
            pending?.parts.earlierWork += now - max(tapped, piece.since)
            return
        }
        pending?.parts.coreWait += piece.waited
        if piece.order.kind == .fill {
            pending?.parts.fill += piece.held
        } else if workAnswersWarning {
            pending?.parts.answers += piece.held
        } else {
            pending?.parts.declared += piece.held
        }
    }

    /// Storage has delivered pages of files.
    mutating func addReading(from since: Instant, until now: Instant) {
        guard let tapped = pending?.tapped else { return }
        if workIsOfLaunch {
            pending?.parts.fill += now - since
        } else {
            pending?.parts.earlierWork += now - max(tapped, since)
        }
    }

    /// The main thread has not answered, without the part before the tap.
    mutating func addHang(from since: Instant, until now: Instant) {
        guard let tapped = pending?.tapped else { return }
        pending?.parts.earlierWork += now - max(tapped, since)
    }

    /// Adds a wait for memory to the launch, without the part before the tap.
    mutating func addWait(from since: Instant, until now: Instant) {
        guard let tapped = pending?.tapped else { return }
        pending?.parts.memoryWait += now - max(since, tapped)
    }
}
