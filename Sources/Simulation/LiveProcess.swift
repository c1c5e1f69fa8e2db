import BasicContainers
import DequeModule
import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

/// An app of the scenario: what outlives its processes. It has an identity and one owner, the simulation.
final class AppRecord {
    // First what every tick looks at, in few cache lines.
    let id: AppID
    /// Streams of its own: adding an app does not change the draws of the others.
    var sizes: SizeStream
    /// In the order of creation.
    var sessions: [SceneSession] = [] {
        didSet { process?.stateDidChange() }
    }
    /// The scene that was in front last.
    var frontScene: SceneID?
    let profile: AppProfile
    var behaviour: SeededGenerator
    /// Whether the app does its duty off screen and on a disconnect.
    var duty: SeededGenerator
    /// Its live process; nil while there is none.
    var process: LiveProcess?
    var wasLaunched = false
    /// The user swiped it away: pushes and refreshes do not launch it before the user opens it again.
    var wasSwipedAway = false
    /// Sessions that the user closed while the app was not running; it is told at the next launch.
    var discardedWhileDead = 0
    /// The last time the system ended it, until the user has launched it again.
    var lastTermination: Instant?
    /// The times the system ended it since the user last wanted it, as far as they may still be perceived.
    var unfelt: [(at: Instant, fact: Int)] = []
    /// A tap that came while the old process was being ended.
    var tapAfterExit: (at: Instant, reason: LaunchReason)?

    var lastScene = 0
    /// What its last process held when it ended.
    var lastFootprint: ByteCount?
    /// How soon it was wanted again after each time the system had ended it; the last ten.
    var relaunchIntervals: [TimeSpan] = [] {
        didSet { process?.stateDidChange() }
    }

    init(_ id: AppID, _ profile: AppProfile, seed: UInt64) {
        self.id = id
        self.profile = profile
        sizes = SizeStream(
            SizeSampler(profile.memory.objects), SeededGenerator(seed: seed, stream: "app/\(profile.name)/sizes"))
        behaviour = SeededGenerator(seed: seed, stream: "app/\(profile.name)/behaviour")
        duty = SeededGenerator(seed: seed, stream: "app/\(profile.name)/duty")
    }
}

/// A scene's session. It outlives the connection and the process; only the user discards it.
struct SceneSession {
    let id: SceneID
    var machine = SceneMachine()
    var wasConnected = false
    var hasRestorationActivity = false
    var pool: PoolID?
    /// When it was last on a screen; nil: never since its process began.
    var lastForeground: Instant?
    /// The system took it away to reclaim memory, and it has not come back.
    var wasReclaimed = false
    /// It is shown on the second display.
    var isExternal = false
    /// Why it was asked for, until it has connected.
    var reason = LaunchReason.userTap
    /// It is connecting, and has been told why: what it is asked for from now on is told when it is on a screen.
    var isTold = false
}

/// What an app is told that is opened with more than a tap.
struct Delivery {
    let callback: Callback
    /// Nil: any scene that comes on screen will do, for the callback is the application's.
    let scene: SceneID?
}

/// Why a process was asked to end, and when.
struct QuitReason {
    let reason: ExitReason
    let explanation: String
    let since: Instant
    /// How long it has: what UIKit gives an app to return from `applicationWillTerminate`, or more.
    let time: TimeSpan
    /// The system's own deadlines do not hold for it.
    var hasGrace: Bool { time > Deadline.terminate.span }

    init(_ reason: ExitReason, _ explanation: String, since: Instant, grace: TimeSpan? = nil) {
        self.reason = reason
        self.explanation = explanation
        self.since = since
        time = max(grace ?? .zero, Deadline.terminate.span)
    }
}

/// What a process is heading for; the planner finds the next transition towards it.
enum Goal: Equatable {
    case foreground(SceneID)
    case background
}

/// One thing that the main thread does. They run one after the other.
enum Step {
    /// The process is created and its code loaded.
    case spawn
    case process(Signal, ProcessEvent)
    case scene(SceneID, Signal, SceneEvent)
    case discardSession(SceneID)
    case memoryWarning
    /// The first frame of the wanted scene is active.
    case firstFrame
    /// The system has taken the scene away.
    case reclaimed(SceneID)
    /// The process ends: by itself, by the user, or because the system does not bear what it does.
    case exit(ExitReason, String)
    /// The delegate hears of an event that is no transition.
    case tell(Callback, SceneID?)
    case post(AppNotification)
    /// The objects that observe a notification do their work.
    case observe(AppNotification)
    case snapshot(SceneID?)
    /// What the system launched or woke the app for.
    case backgroundEvent(LaunchReason, lasting: TimeSpan)
    case expiryHandler
    case deferredWork
    case deadline(Deadline)
    case deadlineMet(Deadline)
}

/// A launch under way: from the tap to the first active frame.
struct PendingLaunch {
    let kind: LaunchKind
    let tapped: Instant
    var declared: TimeSpan = .zero
    /// The costs of answering memory warnings that came meanwhile.
    var answers: TimeSpan = .zero
    var fill: TimeSpan = .zero
    var memoryWait: TimeSpan = .zero

    /// What is known of the latency; the rest was waiting for a core, for earlier work or for the screen.
    var accounted: TimeSpan { declared + answers + fill + memoryWait }
}

/// Work on memory that the main thread is in the middle of. Each process has one, used again and again.
struct WorkInProgress: ~Copyable {
    var items = UniqueArray<MemoryWork>()
    var position = 0
    private(set) var isUnderWay = false
    /// Of the current allocation: what is still to be allocated; nil before it begins.
    var remaining: ByteCount?
    /// Sizes that were drawn and found no room: they are tried again as they are, not drawn anew.
    var refused: [Int] = []
    /// Filled before the refusal; the time for it is paid with the next slice.
    var unpaid: ByteCount = .zero
    /// Filling fresh pages takes time; for a tick the time has already passed.
    private(set) var fillsAtDeviceRate = false
    /// A memory warning is being answered: what the cache held before.
    private(set) var answersWarning: ByteCount?

    mutating func begin(_ items: [MemoryWork], fillsAtDeviceRate: Bool, answersWarning: ByteCount? = nil) {
        self.items.removeAll(keepingCapacity: true)
        self.items.append(copying: items)
        begin(fillsAtDeviceRate: fillsAtDeviceRate, answersWarning: answersWarning)
    }

    /// Begins with the items that are there.
    mutating func begin(fillsAtDeviceRate: Bool, answersWarning: ByteCount? = nil) {
        isUnderWay = true
        position = 0
        self.fillsAtDeviceRate = fillsAtDeviceRate
        self.answersWarning = answersWarning
    }

    mutating func end() {
        isUnderWay = false
        items.removeAll(keepingCapacity: true)
        remaining = nil
        if !refused.isEmpty { refused = [] }
        unpaid = .zero
    }
}

/// A process of the device. It has an identity and one owner, the simulation.
///
/// Rows, snapshots and the planner keep what they made of its state until the state changes. Every property that they
/// read therefore reports its own changes in a `didSet`, so that no caller can forget to: `stateDidChange()` for what
/// rows and policies are shown, `hasArrived = false` for what the planner alone looks at.
final class LiveProcess {
    // First what every tick looks at, in few cache lines.
    let record: AppRecord
    let pid: ProcessID
    let slot: MemorySlot
    var machine = ProcessMachine() {
        didSet { stateDidChange() }
    }
    /// The main thread is paying a cost, filling pages or waiting for memory.
    var isRunning = false
    /// The planner is idle and the process's state is unchanged since; no steps are left. A change of the device (its
    /// display, lock or interruptions) does not reset it: the simulation then advances the processes that it concerns.
    var hasArrived = false
    var isTicking = false
    var decayScheduled = false
    /// The background modes have something to do: the app came from the screen, and they are not over.
    var modesAreActive = true {
        didSet { stateDidChange() }
    }
    /// Whether there are any that keep it running.
    private let hasLastingModes: Bool
    var tickedAt: Instant
    var tickSerial = 0
    /// The reasons to run off screen.
    var assertions = RunAssertions() {
        didSet { stateDidChange() }
    }
    /// Since when an allocation has been waiting.
    var waitingSince: Instant?
    var transient: PoolID
    var work = WorkInProgress()
    var workload: AppWorkload

    // Then what only some events do.
    var cache: PoolID
    var base: PoolID
    var leak: PoolID
    var burst: PoolID
    /// Numbers the continuations; an old one is void.
    var serial = 0
    var steps: Deque<Step> = [] {
        didSet { hasArrived = false }
    }
    var goal: Goal {
        didSet { hasArrived = false }
    }
    /// A policy asks for it.
    var wantsSuspension = false {
        didSet { hasArrived = false }
    }
    /// Scenes that the user closed, and scenes that the system takes away.
    var closing: [SceneID] = [] {
        didSet { hasArrived = false }
    }
    var reclaiming: [SceneID] = [] {
        didSet { hasArrived = false }
    }
    /// The system launched it off screen: the scene that connects to the background.
    var connecting: SceneID? {
        didSet { hasArrived = false }
    }
    /// Its scene on the second display.
    var externalScene: SceneID? {
        didSet { hasArrived = false }
    }
    /// The deadline that runs on its main thread.
    var deadline: (kind: Deadline, serial: Int)?
    var quitReason: QuitReason? {
        didSet { hasArrived = false }
    }
    /// Its place among the live processes, which are by rising process number.
    var position: Int
    let launchedAt: Instant
    /// Lent, for a profile is large: it would be copied for every question about it.
    var profile: AppProfile { _read { yield workload.profile } }
    /// The declared time of a cold launch, memory to fill included.
    let relaunchCost: TimeSpan
    /// Of its background modes those that keep it running.
    private let lastingModes: [BackgroundMode]
    /// The band in the background while these keep it running.
    private let lastingBand: JetsamBand
    var launch: PendingLaunch?
    /// When it was last told to leave the screen.
    var leavingSince: Instant?
    /// How many bytes the allocation wants that waits.
    var wanted: ByteCount = .zero
    /// What was free then, and the longest run of it.
    var found = (free: ByteCount.zero, longestRun: ByteCount.zero)

    /// The user has swiped it away: its sessions go with it, and nobody wants it back.
    var isSwipedAway = false
    var suspendedSince: Instant?
    /// Since when the time for background tasks runs.
    var backgroundSince: Instant?
    /// Numbers the stays in the background; the timers of an old one are void.
    var backgroundSerial = 0
    /// The stay in which the handler of every task that it holds was called.
    var expiryCalled: Int?
    /// The handlers are called as soon as the main thread is free: they end every task that there is by then.
    var isExpiring = false

    /// What it was launched for.
    let launchReason: LaunchReason
    /// The delegate has returned from `didFinishLaunching`.
    var hasFinishedLaunching = false
    /// The events that come before that scene has connected, or before a tap makes it the user's launch.
    var launchEvents: [Step] = []
    /// Launched off screen for an event that has not reached it yet.
    var awaitsEvent = false {
        didSet { stateDidChange() }
    }
    /// What its scenes have still to be told, each before it is active.
    var deliveries: [Delivery] = [] {
        didSet { hasArrived = false }
    }
    /// Its code has run since protected data went, and it has not yet been told that it is back.
    var missesProtectedData = false
    /// The time jumped while it was suspended.
    var missedTimeChange = false
    var missedDeferredWork = false
    var deferredSerial = 0
    var deadlineSerial = 0

    /// Nil: it was never in front.
    var lastForeground: Instant? {
        didSet { stateDidChange() }
    }
    var warnedAt: Instant?
    var answersWarning = false
    /// The warning that it answers is the policy's.
    var warnedByPolicy = false
    var isFirstLaunch: Bool
    /// What it was told about its active limit, and about its inactive one where it has one of its own.
    var toldOfActiveLimit = ToldOfLimit()
    var toldOfInactiveLimit = ToldOfLimit()
    var bands: BandMachine {
        didSet { stateDidChange() }
    }
    /// For policies that look at what was reclaimed.
    var reclaimed = RecentReclaim()
    /// A moving average, for policies that look at growth; zero before the first update.
    var averageFootprint: ByteCount = .zero
    /// Where the process enters itself when it has changed.
    private let changes: ChangedProcesses
    /// Something of the next sample may differ from the last one.
    var hasChanged = false
    /// And that not by its memory alone.
    var stateHasChanged = true
    /// What policies were shown of it last still holds, but for what its main thread is doing.
    var isShownAsItIs = false
    /// The largest footprint that a sample has found.
    var largest: ByteCount = .zero
    /// The facts of its last row, and the row itself.
    var sampled: SampledProcess?
    var rowIsStale = false
    let row = RowMemo()
    /// What the head of `row` says; nil before the first one.
    var rowHead: RowHead?
    /// The app's allocation trace, from the launch on.
    let trace: TracePlayback?

    init(
        record: AppRecord, pid: ProcessID, slot: MemorySlot, position: Int, now: Instant,
        workload: consuming AppWorkload, goal: Goal, launchReason: LaunchReason, isFirstLaunch: Bool,
        relaunchCost: TimeSpan, memory: any DeviceMemory, changes: ChangedProcesses, trace: TracePlayback? = nil
    ) {
        self.record = record
        self.pid = pid
        self.slot = slot
        self.position = position
        lastingModes = workload.profile.backgroundModes.filter(\.keepsRunning)
        hasLastingModes = !lastingModes.isEmpty
        self.workload = workload
        lastingBand = JetsamBand.band(of: .background, modes: lastingModes)
        self.goal = goal
        self.launchReason = launchReason
        self.isFirstLaunch = isFirstLaunch
        self.relaunchCost = relaunchCost
        self.changes = changes
        self.trace = trace
        launchedAt = now
        bands = BandMachine(.app, band: .foreground, at: now)
        tickedAt = now
        base = memory.makePool(in: slot)
        cache = memory.makePool(in: slot)
        leak = memory.makePool(in: slot)
        transient = memory.makePool(in: slot)
        burst = memory.makePool(in: slot)
    }

    /// What rows, policies or the planner know of it may be out of date.
    func stateDidChange() {
        hasArrived = false
        stateHasChanged = true
        memoryDidChange()
    }

    /// Likewise, of its memory alone.
    func memoryDidChange() {
        isShownAsItIs = false
        guard !hasChanged else { return }
        hasChanged = true
        changes.insert(position)
    }

    var app: AppID { record.id }
    var reference: ProcessReference { ProcessReference(slot: slot.index, pid: pid) }
    var phase: ProcessPhase { machine.phase }

    /// Nothing is running and nothing is queued.
    var isQuiet: Bool { !isRunning && (hasArrived || steps.isEmpty) }

    /// The background modes that keep it running off screen; the others only launch it.
    var keepAliveModes: [BackgroundMode] { modesAreActive ? lastingModes : [] }

    /// Whether there are any.
    var hasKeepAliveModes: Bool { modesAreActive && hasLastingModes }

    /// Whether anything keeps it running off screen.
    var hasReasonToRun: Bool { !assertions.isEmpty || hasKeepAliveModes }

    /// Whether it runs off screen for a reason of its own (a mode, a task, an event), not only for the few seconds that
    /// everybody gets: then its memory moves, and its active limit applies.
    var worksOffScreen: Bool { phase == .background && (hasKeepAliveModes || assertions.holdsMoreThanFinishing) }

    /// The band that follows from what it does. Off screen an event raises it for as long as it lasts, as a mode does.
    var naturalBand: JetsamBand {
        guard phase == .background else { return JetsamBand.band(of: phase, modes: []) }
        let band = modesAreActive ? lastingBand : .background
        return assertions.holdsEvent ? max(band, .elevatedInactive) : band
    }
}
