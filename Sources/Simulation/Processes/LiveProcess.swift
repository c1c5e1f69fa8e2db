import Lifecycle
import Memory
import Pressure
import Quantities
import Workload

/// Names one process for as long as the run lasts; an event for a process that has died finds none.
struct ProcessReference: Hashable {
    let slot: Int
    let pid: ProcessID
}

/// A process's pools of objects; those of its scenes stand with their sessions.
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
}

/// What a process was not told because no code of it ran.
struct MissedNews {
    /// Its code has run since protected data went, and it has not yet been told that it is back.
    var protectedData = false
    /// The time jumped while it was suspended.
    var timeChange = false
    var deferredWork = false
}

/// What has changed of a process since it was last sampled, and since policies were last shown it.
private struct ChangeMarks {
    /// Something of the next sample may differ from the last one.
    var hasChanged = false
    /// And that not by its memory alone.
    var stateHasChanged = true
    /// What policies were shown of it last still holds, but for what its main thread is doing.
    var isShownAsItIs = false
}

/// A process of the device: its own life. What other components know about it stands with them, by its memory slot.
///
/// Rows, snapshots and the planner keep what they made of its state until the state changes. Every property that they
/// read therefore reports its own changes in a `didSet`, so that no caller can forget to: `stateDidChange()` for what
/// rows and policies are shown, `lookAgain()` for what the planner alone looks at.
final class LiveProcess {
    // First what every tick looks at, in few cache lines.
    let record: AppRecord
    let pid: ProcessID
    let slot: MemorySlot
    private(set) var machine = ProcessMachine() {
        didSet { stateDidChange() }
    }
    var thread = MainThread()
    var ticker: Ticker
    /// What keeps it running off screen.
    var reasons: RunReasons {
        didSet { stateDidChange() }
    }
    let pools: ProcessPools
    var work = WorkInProgress()
    var workload: AppWorkload

    // Then what only some events do.
    var course: Course {
        didSet { thread.lookAgain() }
    }
    var stay = BackgroundStay()
    var launch: LaunchState
    var warnings = Warnings()
    var missed = MissedNews()
    /// The app's allocation trace, from the launch on.
    let trace: TracePlayback?
    /// Its place among the live processes, which are by rising process number; the table of processes sets it.
    var position: Int
    /// Nil: it was never in front.
    private(set) var lastForeground: Instant? {
        didSet { stateDidChange() }
    }
    private(set) var bands: BandMachine {
        didSet { stateDidChange() }
    }
    private var marks = ChangeMarks()
    /// Where the process enters itself when it has changed.
    private let changes: ChangedProcesses

    /// What a new process is made of.
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
        bands = BandMachine(.app, band: .foreground, at: birth.launch.at)
        ticker = Ticker(at: birth.launch.at)
        pools = ProcessPools(in: birth.slot, memory)
        self.changes = changes
    }

    var app: AppID { record.id }
    var reference: ProcessReference { ProcessReference(slot: slot.index, pid: pid) }
    var phase: ProcessPhase { machine.phase }
    /// Lent, for a profile is large: it would be copied for every question about it.
    var profile: AppProfile { _read { yield workload.profile } }

    // MARK: Changes

    /// What rows, policies or the planner know of it may be out of date.
    func stateDidChange() {
        thread.lookAgain()
        marks.stateHasChanged = true
        memoryDidChange()
    }

    /// Likewise, of its memory alone.
    func memoryDidChange() {
        marks.isShownAsItIs = false
        guard !marks.hasChanged else { return }
        marks.hasChanged = true
        changes.insert(position)
    }

    var hasChanged: Bool { marks.hasChanged }
    var stateHasChanged: Bool { marks.stateHasChanged }
    var isShownAsItIs: Bool { marks.isShownAsItIs }

    /// A sample has been taken of it.
    func wasSampled() {
        marks.hasChanged = false
        marks.stateHasChanged = false
    }

    /// Policies have been shown it.
    ///
    /// - Parameter isSettled: Time alone changes nothing of that.
    func wasShown(isSettled: Bool) { marks.isShownAsItIs = isSettled }

    /// It has died: it changes no more.
    func retire() {
        marks.hasChanged = true
        thread.stop()
    }

    func apply(_ event: ProcessEvent) throws(IllegalTransition) { try machine.apply(event) }

    func wasSeen(at now: Instant) { lastForeground = now }

    /// It has waited for memory: its own did not move meanwhile, and the launch under way took longer.
    func hasWaited(from since: Instant, until now: Instant) {
        ticker.pause(now - since)
        launch.addWait(from: since, until: now)
    }

    // MARK: What it does

    var isQuiet: Bool { thread.isQuiet }

    /// It was asked to end and is on its way.
    var isEnding: Bool { course.quit != nil }

    /// A launch, a callback or an earlier action is under way. A task or an event is work off screen; in front it only
    /// promises time for later.
    var isBusy: Bool {
        !isQuiet || launch.pending != nil || isEnding || !phase.isForeground && reasons.holdsMoreThanFinishing
    }

    /// Whether it runs off screen for a reason of its own (a mode, a task, an event), not only for the few seconds that
    /// every app gets: then its memory moves, and its active limit applies.
    var worksOffScreen: Bool { phase == .background && (reasons.hasModes || reasons.holdsMoreThanFinishing) }

    /// Whether its memory moves.
    var mayTick: Bool { phase == .active || worksOffScreen }

    /// A process that is on the second display alone has left the screen already.
    var isLeavingScreen: Bool {
        guard course.goal == .background, phase.isForeground else { return false }
        let shown = record.sessions.filter { $0.machine.phase.isForeground }
        return shown.isEmpty || shown.contains { !$0.isExternal }
    }

    /// A scene is in memory while it is connected; an app without scenes has its own from the end of its launch on.
    func isInMemory(_ scene: SceneID) -> Bool {
        guard profile.scenes.support else { return launch.hasFinished }
        let phase = record.session(scene).machine.phase
        // One that is being taken away is, before it comes back.
        return phase.isForeground || phase.isConnected && !course.reclaiming.contains(scene)
    }

    /// The app is to be told why it comes to the front: the scene that was opened, where the callback is a scene's.
    func deliver(_ reason: LaunchReason, to scene: SceneID?) {
        guard let callback = reason.delivery(in: profile.scenes.world) else { return }
        let isOfTheScene = callback == .sceneOpenURLContexts || callback == .scenePerformAction
        course.deliver(Delivery(callback: callback, scene: isOfTheScene ? scene : nil))
    }

    // MARK: Its band

    /// The band that follows from what it does.
    var naturalBand: JetsamBand {
        phase == .background ? reasons.band : JetsamBand.band(of: phase, modes: [])
    }

    /// Its band follows from what it does; a change puts it at the tail of its new band.
    func followBand(at now: Instant) {
        let band = naturalBand
        if bands.requested != band { bands.set(band, at: now) }
    }
}

extension AppProfile {
    /// The declared time of a cold launch, memory to fill included.
    func relaunchCost(fillRate: ByteRate) -> TimeSpan {
        let declared = costs.process + costs.launch + costs.connect + costs.enterForeground + costs.activate
        return declared + fillRate.time(for: memory.base + memory.scene)
    }
}
