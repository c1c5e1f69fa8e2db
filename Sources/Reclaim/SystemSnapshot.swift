import Lifecycle
import Pressure
import Quantities

/// Why the simulation asks the policy.
public enum ReclaimDemand: Hashable, Sendable {
    /// Nothing: the monitor is content. Policies with their own thresholds are asked nevertheless.
    case nothing
    /// The monitor's level is above normal; `deficit` must become available before it is normal again.
    case pressure(deficit: ByteCount)
    /// An allocation found no room; its process waits.
    case allocation(by: ProcessID, wanted: ByteCount)
    /// More processes are off screen than the limit allows.
    case backgroundProcesses(excess: Int)
    /// The processes off screen hold more than the limit allows.
    case backgroundMemory(excess: ByteCount)
}

/// Everything that a policy may know, including the time. Immutable: a decision is a pure function of it.
public struct SystemSnapshot: Sendable {
    /// The instant of the question, from the start of the run.
    public var now: Instant
    /// Why the policy is asked.
    public var demand: ReclaimDemand
    /// The monitor's level; at least `warning` while an allocation waits.
    public var level: PressureLevel
    /// All RAM of the device.
    public var ceiling: ByteCount {
        get { device.ceiling }
        set { device.ceiling = newValue }
    }
    /// Pages handed out to processes, plus what the system keeps for itself.
    public var resident: ByteCount
    /// The ceiling minus `resident`.
    public var available: ByteCount
    /// How much memory must be available. If the monitor measures something else, this is its threshold, converted to
    /// bytes of this device.
    public var threshold: ByteCount
    /// What the monitor measured, in its own unit; nil unless the policy is asked because of the monitor.
    public var reading: PressureReading?
    /// All live processes, by rising process number.
    public var processes: [ProcessSnapshot]
    /// How the monitor decides the level.
    public var monitor: MonitorSettings
    /// Whether the limits forbid to end a process on a screen (`Limits.protectForeground`).
    public var protectsForeground = true
    /// What else the device measures.
    public var measures = SystemMeasures()
    /// What happened before, as far as the simulation keeps it.
    public var history = ReclaimHistory()
    /// The future launches, for the policy that declares it needs them.
    public var oracle: Oracle?
    /// The size of the device. Policies that imitate a real system look up that system's tables by it.
    public var device: DeviceSize
    /// The seed for a policy that draws random numbers (`lots`). It follows from the run's seed and the instant. So the
    /// same run draws the same numbers, and so does a repeated question about the same snapshot.
    public var seed: UInt64 = 0
    /// The control groups of the scenario.
    public var groups: [ControlGroup] = []

    /// A snapshot without history, oracle or further measures, of a device that is not a scale model.
    public init(
        now: Instant, demand: ReclaimDemand, level: PressureLevel, ceiling: ByteCount, resident: ByteCount,
        available: ByteCount, threshold: ByteCount, processes: [ProcessSnapshot], monitor: MonitorSettings
    ) {
        self.now = now
        self.demand = demand
        self.level = level
        device = DeviceSize(ceiling)
        self.resident = resident
        self.available = available
        self.threshold = threshold
        self.processes = processes
        self.monitor = monitor
    }

    /// Free memory and all that the system takes for nothing: pages of files and purgeable memory. Linux calls such a
    /// figure MemAvailable, and jetsam compares it with its thresholds. On a device without either it is `available`.
    public var obtainable: ByteCount {
        available + measures.fileBacked + (device.kernel == nil ? measures.purgeable : .zero)
    }

    /// What the device gets back if a process ends: its resident pages, and what its compressed pages take in the
    /// pool, by the pool's present ratio. Pages on a disk or on flash take no memory, and pages of files stay.
    public func freed(byEndOf process: ProcessSnapshot) -> ByteCount {
        let memory = process.memory
        let onDisk = max(.zero, memory.swapped - memory.compressed)
        let resident = max(.zero, memory.footprint - memory.compressed - onDisk - memory.onFlash)
        guard measures.compressed > .zero else { return resident }
        let pool = scaled(
            Int64(memory.compressed.bytes), by: Int64(measures.pool.bytes), over: Int64(measures.compressed.bytes))
        return resident + min(memory.compressed, ByteCount(Int(pool)))
    }

    /// A generator of random numbers for this question. All questions at one instant get the same numbers. Draw one
    /// for each of `processes`, in their order.
    public var lots: SeededGenerator { SeededGenerator(seed: seed, stream: "lots") }

    /// The seed for the questions at one instant of a run: a number from the run's stream `policy`, mixed with the
    /// time.
    public static func seed(ofRun seed: UInt64, at instant: Instant) -> UInt64 {
        var generator = SeededGenerator(seed: seed, stream: "policy")
        return generator.next() ^ UInt64(bitPattern: instant.microseconds)
    }

    /// The live process with this number; nil if there is none.
    public func process(_ pid: ProcessID) -> ProcessSnapshot? {
        let place = processes.partitionPoint { $0.pid >= pid }
        return place < processes.count && processes[place].pid == pid ? processes[place] : nil
    }
}

/// The size of a device and, in a scale model, the size of the device that it represents.
public struct DeviceSize: Hashable, Sendable {
    /// All RAM of the device.
    public var ceiling: ByteCount
    /// The RAM of the device that this one represents; it differs from `ceiling` in a scale model. Policies look up a
    /// real system's tables by it.
    public var meant: ByteCount { whole ?? ceiling }
    private let whole: ByteCount?
    /// This device's size as a share of the device it represents. A real system's table gives bytes of the
    /// represented device; a policy's parameters give bytes of this device.
    public var scale: Ratio
    /// Thresholds of jetsam that the device itself sets.
    public var marks: JetsamMarks
    /// The release of XNU whose memory management the device has; nil: none of them.
    public var kernel: JetsamKernel?
    /// The release of Linux whose OOM killer the device has, for what imitates it.
    public var linux = LinuxKernel.standard

    /// A device with this much RAM; without `meant` it represents itself.
    public init(
        _ ceiling: ByteCount, meant: ByteCount? = nil, scale: Ratio = .one, marks: JetsamMarks = JetsamMarks(),
        kernel: JetsamKernel? = nil
    ) {
        (self.ceiling, whole, self.scale, self.marks) = (ceiling, meant, scale, marks)
        self.kernel = kernel
    }
}

/// What a process holds. All sizes are at the device's scale.
public struct MemorySnapshot: Hashable, Sendable {
    /// All memory the process holds, `dirty` and `cache` included.
    public var footprint: ByteCount
    /// Unused pages, a part of the footprint.
    public var dirty: ByteCount
    /// Memory whose contents the process can make again, a part of the footprint.
    public var cache: ByteCount
    /// Pages of the process in swap, a part of the footprint: what is compressed, if the compressor is zram, and what
    /// is on a disk. Zero on a device whose compressor is no swap.
    public var swapped = ByteCount.zero
    /// Pages of the process that are compressed, a part of the footprint.
    public var compressed = ByteCount.zero
    /// Pages of the process whose contents the freezer has moved to flash, a part of the footprint. They are no swap.
    public var onFlash = ByteCount.zero
    /// What the freezer has done with the process.
    public var freezer = FreezerPlace.none
    /// What the system may take of the process without asking, a part of `cache`.
    public var purgeable = ByteCount.zero
    /// Pages of the process's files in memory; they are not part of the footprint.
    public var files = ByteCount.zero
    /// What the device took of the process within the last second, the time between two looks of systemd-oomd: pages
    /// that it compressed or moved to swap, pages of its files that it dropped, and unused pages that went back by a
    /// policy's purge or after `device.dirty_decay`.
    ///
    /// It corresponds to what Linux counts as reclaimed from a control group (`pgscan`). A device without a compressor
    /// and without a file cache takes nothing, so unused pages count, too.
    public var recentlyReclaimed = ByteCount.zero

    /// Memory with nothing in swap and nothing reclaimed recently.
    public init(footprint: ByteCount, dirty: ByteCount, cache: ByteCount) {
        (self.footprint, self.dirty, self.cache) = (footprint, dirty, cache)
    }
}

/// A live process.
public struct ProcessSnapshot: Hashable, Sendable {
    /// The app, or the process of the scenario that is no app, to which the process belongs.
    public var app: AppID
    /// The name of that app or process.
    public var name: String
    /// The process number; a relaunch gets a new one.
    public var pid: ProcessID
    /// The process's state in its life cycle.
    public var phase: ProcessPhase
    /// Its jetsam band.
    public var band: JetsamBand
    /// What the process holds.
    public var memory: MemorySnapshot
    /// When the process's launch began.
    public var launchedAt: Instant
    /// When the process was last in the foreground; nil: never, because the system launched it off screen.
    public var lastForeground: Instant?
    /// The background modes that the process holds right now.
    public var modes: [BackgroundMode]
    /// When the process was last sent a memory warning.
    public var warnedAt: Instant?
    /// Whether the process is still answering that warning.
    public var answersWarning: Bool
    /// Whether a launch, a callback or an earlier action is under way.
    public var isBusy: Bool
    /// The declared time of a cold launch, filling its memory included.
    public var relaunchCost: TimeSpan
    /// Its scenes.
    public var scenes: [SceneSnapshot]
    /// When the process got its place in its band. The process with the earliest time is the head of the band.
    public var positionedAt: Instant
    /// The explicit memory limit that applies to the process now.
    public var limit: MemoryLimit?
    /// Whether the process was asked to end and has not ended yet.
    public var isEnding = false
    /// The identifier of the group that the process belongs to; nil if it belongs to none. In the foreground band
    /// jetsam ends the largest group first.
    public var group: Int?
    /// What the process is if it is no app; nil for an app.
    public var kind: ProcessKind?
    /// What the process is in its group.
    public var role: GroupRole = .undefined
    /// The name of the archetype from which an app was made.
    public var like = ""
    /// Its footprint divided by its average footprint.
    public var growth = Ratio.one
    /// Whether the user has asked for the process and waits for it: its launch to the foreground is under way.
    public var isComing = false
    /// What the scenario sets of Linux's and systemd's settings for the process.
    public var linux = LinuxSettings()
    /// How its app has been used, and how it comes back.
    public var use = UseSnapshot()

    /// A process that belongs to no group, has no limit and was never ended by the system. `positionedAt` is the last
    /// time in the foreground, or else the launch.
    public init(
        app: AppID, name: String, pid: ProcessID, phase: ProcessPhase, band: JetsamBand, footprint: ByteCount,
        dirty: ByteCount, cache: ByteCount, launchedAt: Instant, lastForeground: Instant?, modes: [BackgroundMode],
        warnedAt: Instant?, answersWarning: Bool, isBusy: Bool, relaunchCost: TimeSpan, scenes: [SceneSnapshot]
    ) {
        self.app = app
        self.name = name
        self.pid = pid
        self.phase = phase
        self.band = band
        memory = MemorySnapshot(footprint: footprint, dirty: dirty, cache: cache)
        self.launchedAt = launchedAt
        self.lastForeground = lastForeground
        self.modes = modes
        self.warnedAt = warnedAt
        self.answersWarning = answersWarning
        self.isBusy = isBusy
        self.relaunchCost = relaunchCost
        self.scenes = scenes
        positionedAt = lastForeground ?? launchedAt
    }

    /// Whether the user sees the process, or waits for it. For the system, a process is in the foreground from the tap
    /// on, whatever state it reads.
    public var isInFront: Bool { phase.isForeground || isComing }

    /// Whether the process is an app, and no helper, extension or daemon.
    public var isApp: Bool { kind == nil }

    /// Whether the process gets a callback when it is asked to end. A suspended process gets no callback and is gone at
    /// once.
    public var hearsTermination: Bool { phase.runsCode }

    /// How likely the process is to be launched again soon after its end, judged by `relaunchIntervals`.
    public var relaunchLikelihood: RelaunchLikelihood { RelaunchLikelihood(intervals: relaunchIntervals) }

    /// Whether the end of this process, if it is off screen, helps to meet the demand. Only apps count as background
    /// processes. Helpers and extensions count with the memory of apps; daemons are the system's.
    func counts(against demand: ReclaimDemand) -> Bool {
        switch demand {
        case .nothing, .pressure, .allocation: true
        case .backgroundProcesses: isApp
        case .backgroundMemory: kind != .daemon
        }
    }

    /// The time since the user last saw the process. For a process that was never in front, the time counts from its
    /// launch, even if an earlier process of the app was in front. The real systems do the same, whatever caused the
    /// start: XNU puts a new process at the tail of its band, and Android's activity manager treats the start as the
    /// last activity. Sources: xnu-11417.101.15, `memorystatus_add`; android-13, `updateLruProcessLocked`. An event
    /// that wakes the process later does not change its idle time.
    public func idleTime(at now: Instant) -> TimeSpan {
        isInFront ? .zero : now - (lastForeground ?? launchedAt)
    }

    /// The time since the user last saw one of the process's scenes. If the system connected the scene off screen,
    /// the time counts from the process's launch, which connected it. A scene can be hidden behind another window
    /// while its process is in front. So a scene may be idle for longer than its process, but never for less.
    public func idleTime(of scene: SceneSnapshot, at now: Instant) -> TimeSpan {
        scene.phase.isForeground ? .zero : now - (scene.lastForeground ?? launchedAt)
    }

    /// The scenes that may be disconnected: all scenes of a process that is off screen, and the hidden windows of a
    /// process in front.
    public var scenesOffScreen: [SceneSnapshot] { scenes.filter(\.isOffScreen) }

    /// Whether the process is on a screen, and only on the second display.
    public var isOnSecondDisplayAlone: Bool {
        let shown = scenes.filter { $0.phase.isForeground }
        return !shown.isEmpty && shown.allSatisfy(\.isExternal)
    }
}

// The figures of its memory and of its use.
extension ProcessSnapshot {
    /// See `MemorySnapshot.footprint`.
    public var footprint: ByteCount {
        get { memory.footprint }
        set { memory.footprint = newValue }
    }

    /// See `MemorySnapshot.dirty`.
    public var dirty: ByteCount {
        get { memory.dirty }
        set { memory.dirty = newValue }
    }

    /// See `MemorySnapshot.cache`.
    public var cache: ByteCount {
        get { memory.cache }
        set { memory.cache = newValue }
    }

    /// See `LinuxSettings.oomScoreAdj`.
    public var declaredOomScoreAdj: Int? {
        get { linux.oomScoreAdj }
        set { linux.oomScoreAdj = newValue }
    }

    /// See `UseSnapshot.relaunchIntervals`.
    public var relaunchIntervals: [TimeSpan] {
        get { use.relaunchIntervals }
        set { use.relaunchIntervals = newValue }
    }

    /// See `MemorySnapshot.swapped`.
    public var swapped: ByteCount {
        get { memory.swapped }
        set { memory.swapped = newValue }
    }

    /// See `MemorySnapshot.recentlyReclaimed`.
    public var recentlyReclaimed: ByteCount {
        get { memory.recentlyReclaimed }
        set { memory.recentlyReclaimed = newValue }
    }
}

/// The settings of Linux and of systemd for one process, as the scenario sets them.
public struct LinuxSettings: Hashable, Sendable {
    /// The `oom_score_adj`; nil: it follows from the band (`oomScoreAdj`).
    public var oomScoreAdj: Int?
    /// systemd's `ManagedOOMPreference`.
    public var preference = ManagedOOMPreference.none
    /// The number of its control group in `SystemSnapshot.groups`; nil: it is in none.
    public var controlGroup: Int?

    /// By default, nothing is set.
    public init(oomScoreAdj: Int? = nil, preference: ManagedOOMPreference = .none, controlGroup: Int? = nil) {
        (self.oomScoreAdj, self.preference, self.controlGroup) = (oomScoreAdj, preference, controlGroup)
    }
}

/// What a process is in its group. Inside a group jetsam ends processes in the order of these cases.
///
/// Source: xnu-11417.101.15.
public enum GroupRole: Int, CaseIterable, Comparable, Sendable {
    case undefined
    case `extension`
    case helper
    case leader

    /// By the order in which jetsam ends them.
    public static func < (a: GroupRole, b: GroupRole) -> Bool { a.rawValue < b.rawValue }
}

/// A scene of a live process.
public struct SceneSnapshot: Hashable, Sendable {
    /// The scene's number.
    public var scene: SceneID
    /// The scene's state in its life cycle.
    public var phase: ScenePhase
    /// The memory that the scene's objects hold.
    public var size: ByteCount
    /// When the scene was last on a screen; nil: never since its process began, because the system connected it off
    /// screen.
    public var lastForeground: Instant?
    /// Whether the scene belongs to the second display.
    public var isExternal = false

    /// A scene of the main display.
    public init(scene: SceneID, phase: ScenePhase, size: ByteCount, lastForeground: Instant?) {
        self.scene = scene
        self.phase = phase
        self.size = size
        self.lastForeground = lastForeground
    }

    /// Whether the scene is connected and not on a screen.
    public var isOffScreen: Bool {
        switch phase {
        case .background, .suspended: true
        case .unattached, .foregroundInactive, .foregroundActive: false
        }
    }
}
