import Lifecycle
import Memory
import Pressure
import Quantities
import Workload

/// Identifies one process for the whole run; an event for a process that has ended finds no process.
struct ProcessReference: Hashable {
    let slot: Int
    let pid: ProcessID
}

/// A process's pools of objects; those of its scenes belong to their sessions.
struct ProcessPools {
    let base: PoolID
    let cache: PoolID
    let leak: PoolID
    let transient: PoolID
    let burst: PoolID

    init(in slot: MemorySlot, _ memory: any DeviceMemory) {
        base = memory.makePool(in: slot)
        cache = memory.makePool(in: slot)
        leak = memory.makePool(in: slot)
        transient = memory.makePool(in: slot)
        burst = memory.makePool(in: slot)
    }

    fileprivate var all: [PoolID] { [base, cache, leak, transient, burst] }
}

/// What a process was not told because none of its code ran.
struct MissedNews {
    /// Its code has run since protected data became unavailable, and it has not yet been told that the data is back.
    var protectedData = false
    /// The time jumped while it was suspended.
    var timeChange = false
    /// The process with the contents of its pages has ended.
    var endedWebContent = false
    var deferredWork = false
}

/// What has changed about a process since it was last sampled, and since policies last saw it.
private struct ChangeMarks {
    /// Whether something in the next sample may differ from the last one.
    var hasChanged = false
    /// Whether something other than the process's memory has changed.
    var stateHasChanged = true
    /// Whether the process's last snapshot for policies still holds, apart from what its main thread is doing.
    var isShownAsItIs = false
}

/// A live process and its own state. Other components keep what they know about the process themselves, by its memory
/// slot.
///
/// Rows, snapshots and the planner keep what they derived from its state until the state changes. Every property that
/// they read therefore reports its own changes in a `didSet`, so that no caller can forget to: `stateDidChange()` for
/// what rows and policies show, `lookAgain()` for what only the planner reads.
final class LiveProcess {
    // The properties that every tick reads come first, in few cache lines.
    let record: AppRecord
    let pid: ProcessID
    let slot: MemorySlot
    private(set) var machine = ProcessMachine() {
        didSet { stateDidChange() }
    }
    var thread = MainThread()
    var ticker: Ticker
    /// What keeps the process running off screen.
    var reasons: RunReasons {
        didSet { stateDidChange() }
    }
    let pools: ProcessPools
    var work = WorkInProgress()
    var workload: AppWorkload

    // The properties that only some events use.
    var course: Course {
        didSet { thread.lookAgain() }
    }
    var stay = BackgroundStay()
    /// What it uses of a core as time passes.
    var use = CPUUse()
    var launch: LaunchState
    var warnings = Warnings()
    var missed = MissedNews()
    /// Since when the app has data that it has not saved: it saves them when it resigns being active.
    var unsavedSince: Instant?
    /// Whether a background refresh has run since the app was last in use.
    var wasRefreshed = false
    /// Notifications of the application that follow those of the scene.
    var announcements: [AppNotification] = []
    /// The app's allocation trace, from the launch on.
    let trace: TracePlayback?
    /// Its index among the live processes, which are sorted by process number; the table of processes sets it.
    var position: Int
    /// When the process was last in front; nil: never.
    private(set) var lastForeground: Instant? {
        didSet { stateDidChange() }
    }
    private(set) var bands: BandMachine {
        didSet { stateDidChange() }
    }
    private var marks = ChangeMarks()
    /// Where the process reports that it has changed.
    private let changes: ChangedProcesses

    /// All its pools, with those of its scenes.
    var allPools: [PoolID] { pools.all + record.sessions.compactMap(\.pool) }

    /// The parts of a new process.
    struct Birth {
        let record: AppRecord
        let pid: ProcessID
        let slot: MemorySlot
        let position: Int
        let goal: Goal
        let launch: LaunchState
        let trace: TracePlayback?
    }

    init(_ birth: Birth, memory: any DeviceMemory, changes: ChangedProcesses) {
        record = birth.record
        pid = birth.pid
        slot = birth.slot
        position = birth.position
        launch = birth.launch
        trace = birth.trace
        workload = AppWorkload(birth.record.profile, traceLength: birth.trace?.length ?? 0)
        course = Course(birth.goal)
        reasons = RunReasons(birth.record.profile.backgroundModes)
        bands = BandMachine(of: birth.record.profile, at: birth.launch.at, isPrewarmed: birth.launch.isPrewarmed)
        // A process that is alive at the start of the run was launched before it.
        ticker = Ticker(at: max(.zero, birth.launch.at))
        pools = ProcessPools(in: birth.slot, memory)
        self.changes = changes
    }

    var app: AppID { record.id }
    var reference: ProcessReference { ProcessReference(slot: slot.index, pid: pid) }
    var phase: ProcessPhase { machine.phase }
    /// The state that the app reads (`UIApplication.State`). For the system, a process is in the foreground from the
    /// tap on; an app with scenes reads it when its first scene is there.
    var readPhase: ProcessPhase { phase == .inactive && launch.readsBackground ? .background : phase }
    /// Borrowed, because a profile is large: a getter would copy it at every access.
    var profile: AppProfile { _read { yield workload.profile } }
    /// What its callbacks cost at present.
    var costs: CallbackCosts { record.costs.callbacks }

    // MARK: Changes

    /// The process's state has changed: its rows, its snapshot and the planner's result may be out of date.
    func stateDidChange() {
        thread.lookAgain()
        marks.stateHasChanged = true
        memoryDidChange()
    }

    /// Only the process's memory has changed: its rows and its snapshot may be out of date.
    func memoryDidChange() {
        marks.isShownAsItIs = false
        guard !marks.hasChanged else { return }
        marks.hasChanged = true
        changes.insert(position)
    }

    var hasChanged: Bool { marks.hasChanged }
    var stateHasChanged: Bool { marks.stateHasChanged }
    var isShownAsItIs: Bool { marks.isShownAsItIs }

    /// A sample of the process has been taken.
    func wasSampled() {
        marks.hasChanged = false
        marks.stateHasChanged = false
    }

    /// Policies have seen the process.
    ///
    /// - Parameter isSettled: Whether the snapshot stays valid as time passes.
    func wasShown(isSettled: Bool) { marks.isShownAsItIs = isSettled }

    /// The process has ended: it changes no more.
    func retire() {
        marks.hasChanged = true
        thread.stop()
    }

    func apply(_ event: ProcessEvent) throws(IllegalTransition) { try machine.apply(event) }

    func wasSeen(at now: Instant) { lastForeground = now }

    /// The process has waited for memory. Its own memory did not move during this time, and a launch under way took
    /// longer.
    func hasWaited(from since: Instant, until now: Instant) {
        ticker.pause(now - since)
        launch.addWait(from: since, until: now)
    }

    // MARK: Its main thread

    /// The main thread begins to work.
    func beginRunning(at now: Instant, isDueToWarning: Bool = false) {
        thread.begin()
        launch.beginWork(at: now, isDueToWarning: isDueToWarning)
    }

    /// The main thread has done its work.
    func endRunning(at now: Instant) {
        if let since = thread.hangsSince { launch.addHang(from: since, until: now) }
        thread.finish()
        launch.endWork(at: now)
    }

    /// A piece of its work is done.
    func hasWorked(_ piece: WorkDone, at now: Instant) {
        if piece.order.kind == .callback || piece.order.kind == .fill { launch.add(piece, at: now) }
    }

    // MARK: What it does

    var isQuiet: Bool { thread.isQuiet }

    /// Whether the process was asked to end and has not ended yet.
    var isEnding: Bool { course.quit != nil }

    /// Whether a launch, a callback or an earlier action is under way. A task or an event is work only off screen; in
    /// front it merely reserves time for later.
    var isBusy: Bool {
        !isQuiet || isComing || isEnding || !phase.isForeground && reasons.holdsMoreThanFinishing
    }

    /// Whether the process runs off screen for a reason of its own (a mode, a task, an event), not only for the few
    /// seconds that every app gets. Then its memory moves, and its active limit applies.
    var worksOffScreen: Bool { phase == .background && (reasons.hasModes || reasons.holdsMoreThanFinishing) }

    /// Whether the user has asked for the process and waits for it.
    var isComing: Bool { launch.pending != nil }

    /// Whether the user sees the process, or waits for it.
    var isInFront: Bool { phase.isForeground || isComing }

    /// Whether the process's memory moves.
    var mayTick: Bool { phase == .active || worksOffScreen }

    /// Whether the process is leaving the device's own screen. A process that is only on the second display has already
    /// left it.
    var isLeavingScreen: Bool {
        guard course.goal == .background, phase.isForeground, !record.isPart else { return false }
        let shown = record.sessions.filter { $0.machine.phase.isForeground }
        return shown.isEmpty || shown.contains { !$0.isExternal }
    }

    /// Whether a scene is in memory: while it is connected, or in an app without scenes from the end of the launch on.
    func isInMemory(_ scene: SceneID) -> Bool {
        guard profile.scenes.support else { return launch.hasFinished }
        let phase = record.session(scene).machine.phase
        // A scene that is being disconnected for its memory counts as gone, because it disconnects before it can come
        // back.
        return phase.isForeground || phase.isConnected && !course.reclaiming.contains(scene)
    }

    /// The app is to be told why it comes to the front. If the callback is a scene's, the opened scene is told.
    func deliver(_ reason: LaunchReason, to scene: SceneID?) {
        let isOfTheScene = profile.scenes.support && reason != .notification
        for callback in reason.deliveries(in: profile.scenes.lifeCycle) {
            course.deliver(Delivery(callback: callback, scene: isOfTheScene ? scene : nil))
        }
    }

    // MARK: Its band

    /// The band that follows from what the process does.
    ///
    /// A frozen process is in no band below that of frozen processes, whether it runs or not, until the freezer demotes
    /// it. Source: xnu-11417.101.15, bsd/kern/kern_memorystatus.c (`memstat_update_priority_locked`).
    var naturalBand: JetsamBand {
        let band = course.standing ?? (record.isPart ? bandOfPart : bandOfApp)
        return bands.permitted(course.isElevated ? max(band, .freezer) : band)
    }

    private var bandOfApp: JetsamBand {
        if isInFront { return .foreground }
        if phase == .background { return reasons.band }
        let band = JetsamBand.band(of: phase, modes: [])
        guard phase == .suspended, record.requests.showsLiveActivity else { return band }
        return max(band, JetsamBand(record.rules.liveActivityBand))
    }

    /// Updates the band from what the process does; a change puts it at the tail of its new band.
    func followBand(at now: Instant) {
        if bands.kind == .daemon { return followDirtiness(at: now) }
        let band = naturalBand
        if bands.requested != band { bands.set(band, at: now) }
    }

    /// A daemon that runs is dirty, in the band of its work; one that is idle is clean.
    private func followDirtiness(at now: Instant) {
        guard bands.isDirty != phase.runsCode else { return }
        if phase.runsCode, let part = profile.part { bands.set(JetsamBand(part.band), at: now) }
        do {
            try bands.setDirty(phase.runsCode, at: now)
        } catch {
            preconditionFailure("a daemon tracks its dirty state from its start: \(error)")
        }
    }

    /// A prewarmed process is at the place in band 0 that it has had since then.
    func isIdle(since instant: Instant) { bands.set(.idle, at: instant) }

    /// The freezer gives the process its place, at the tail.
    func enterFreezerBand(at now: Instant) {
        course.elevate(true)
        bands.set(naturalBand, at: now)
    }

    /// The freezer takes the place away. In band 0 the process goes to the tail; it does not age again.
    func leaveFreezerBand(at now: Instant) {
        course.elevate(false)
        let band = naturalBand
        bands.set(band, at: band == .idle ? now - BandMachine.appAgeing : now)
    }

    /// A daemon's ageing may be over.
    func age(at now: Instant) {
        if bands.isSettled(at: now) { bands.settle(at: now) } else { stateDidChange() }
    }

    /// Changes what the kernel knows of a daemon: its assertion, its age.
    func changeBands(_ change: (inout BandMachine) throws(BandMachine.Refusal) -> Void) throws(BandMachine.Refusal) {
        try change(&bands)
    }

    /// The band of a process that is no app. What is on the screen, or serves what is there, is in the band of apps
    /// in front. A daemon's own band applies as long as it is dirty.
    private var bandOfPart: JetsamBand {
        guard bands.kind == .app else { return bands.requested }
        if phase.isForeground { return .foreground }
        guard phase == .background else { return .idle }
        if course.companionComes { return .foreground }
        let serves = worksOffScreen || reasons.awaitsEvent
        return serves && profile.part?.kind.isHeldInFront == true ? .foreground : reasons.band
    }
}

extension BandMachine {
    /// The band of a new process: an app's, until it follows what the app does, or a daemon's own.
    fileprivate init(of profile: AppProfile, at now: Instant, isPrewarmed: Bool) {
        guard let part = profile.part, part.kind == .daemon else {
            self.init(.app, band: isPrewarmed ? .idle : .foreground, at: now)
            return
        }
        self.init(.daemon, band: JetsamBand(part.band), isEntitled: part.isEntitled, at: now)
        track(at: now)
    }
}

extension AppProfile {
    /// The declared time of a cold launch, memory to fill included. Policies see it, so it consists of medians.
    func relaunchCost(fillRate: ByteRate) -> TimeSpan {
        let declared = costs.process + costs.launch + costs.connect + costs.enterForeground + costs.activate
        return declared + fillRate.time(for: memory.base + memory.scene)
    }

    /// The declared time of a return to the foreground from memory, in medians, too.
    var returnCost: TimeSpan { costs.enterForeground + costs.activate }
}
