import Lifecycle
import Pressure
import Quantities

/// Why the policy is asked.
public enum ReclaimDemand: Hashable, Sendable {
    /// Nothing: the monitor is content. Asked all the same are policies that have thresholds of their own.
    case nothing
    /// The monitor is not at normal; so much must become available before it is.
    case pressure(deficit: ByteCount)
    /// An allocation found no room; its process waits.
    case allocation(by: ProcessID, wanted: ByteCount)
    /// More processes off screen than the limit allows.
    case backgroundProcesses(excess: Int)
    /// The processes off screen hold more than the limit allows.
    case backgroundMemory(excess: ByteCount)
}

/// Everything that a policy may know, the time included. Immutable: a decision is a pure function of it.
public struct SystemSnapshot: Sendable {
    public var now: Instant
    public var demand: ReclaimDemand
    public var level: PressureLevel
    public var ceiling: ByteCount {
        get { device.ceiling }
        set { device.ceiling = newValue }
    }
    public var resident: ByteCount
    public var available: ByteCount
    /// What is needed of it; where the monitor's measure is not memory, the threshold as a share of the device.
    public var threshold: ByteCount
    /// What the monitor's measure showed, in its own terms, if it is why the policy is asked.
    public var reading: PressureReading?
    /// Every live process, by rising process number.
    public var processes: [ProcessSnapshot]
    public var monitor: MonitorSettings
    /// What else the device measures.
    public var measures = SystemMeasures()
    public var history = ReclaimHistory()
    /// The future, for the one policy that declares to know it.
    public var oracle: Oracle?
    /// What a system's tables by the size of a device are looked up by.
    public var device: DeviceSize
    /// Where chance comes from for a policy that draws lots (`lots`). It follows from the run's seed and the instant,
    /// so that the same run draws the same lots, and so does the same snapshot when it is asked about again.
    public var seed: UInt64 = 0

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

    /// A generator for this question. Every question at one instant gets the same numbers; draw them in the order of
    /// `processes`, one for each.
    public var lots: SeededGenerator { SeededGenerator(seed: seed, stream: "lots") }

    /// The seed of the questions at an instant of a run: a number of the run's stream `policy`, mixed with the time.
    public static func seed(ofRun seed: UInt64, at instant: Instant) -> UInt64 {
        var generator = SeededGenerator(seed: seed, stream: "policy")
        return generator.next() ^ UInt64(bitPattern: instant.microseconds)
    }

    /// The process of that number.
    public func process(_ pid: ProcessID) -> ProcessSnapshot? {
        let place = processes.partitionPoint { $0.pid >= pid }
        return place < processes.count && processes[place].pid == pid ? processes[place] : nil
    }
}

/// How large a device is, and what it is a model of.
public struct DeviceSize: Hashable, Sendable {
    /// All of its RAM.
    public var ceiling: ByteCount
    /// All RAM of the device that is meant: more than the ceiling in a smaller scale model. A system's tables by the
    /// size of a device are looked up by it.
    public var meant: ByteCount { whole ?? ceiling }
    private let whole: ByteCount?
    /// How large the device is, measured by the one that is meant. A figure in bytes that a system's table gives is
    /// about the latter; parameters are about this one.
    public var scale: Ratio

    public init(_ ceiling: ByteCount, meant: ByteCount? = nil, scale: Ratio = .one) {
        (self.ceiling, whole, self.scale) = (ceiling, meant, scale)
    }
}

/// What a process holds; all sizes at the device's scale.
public struct MemorySnapshot: Hashable, Sendable {
    public var footprint: ByteCount
    /// Unused pages, a part of the footprint.
    public var dirty: ByteCount
    /// What it can make again, a part of the footprint.
    public var cache: ByteCount
    /// What it has in swap.
    public var swapped = ByteCount.zero
    /// The unused pages that went back to the device from it within the last 30 s, by a policy's purge or by themselves
    /// after `device.dirty_decay`.
    ///
    /// It stands for what Linux counts as reclaimed from a control group (`pgscan`). systemd-oomd, the policy that asks
    /// for it, purges nothing itself, so what goes back by decay has to count.
    public var recentlyReclaimed = ByteCount.zero

    public init(footprint: ByteCount, dirty: ByteCount, cache: ByteCount) {
        (self.footprint, self.dirty, self.cache) = (footprint, dirty, cache)
    }
}

/// A live process.
public struct ProcessSnapshot: Hashable, Sendable {
    public var app: AppID
    public var name: String
    public var pid: ProcessID
    public var phase: ProcessPhase
    public var band: JetsamBand
    public var memory: MemorySnapshot
    public var launchedAt: Instant
    /// When it was last in the foreground; nil: never since its launch, for the system has launched it off screen.
    public var lastForeground: Instant?
    /// Reasons to run in the background that it holds right now.
    public var modes: [BackgroundMode]
    /// When it was last sent a memory warning.
    public var warnedAt: Instant?
    /// That warning is not yet answered.
    public var answersWarning: Bool
    /// A launch, a callback or an earlier action is under way.
    public var isBusy: Bool
    /// The declared time of a cold launch, memory to fill included.
    public var relaunchCost: TimeSpan
    public var scenes: [SceneSnapshot]
    /// Since when it has had its place in its band: the least recent is the head.
    public var positionedAt: Instant
    /// The explicit limit that applies to it now.
    public var limit: MemoryLimit?
    /// It was asked to end and is on its way.
    public var isEnding = false
    /// How soon it was launched again after each time the system had ended it, oldest first.
    public var relaunchIntervals: [TimeSpan] = []
    /// Processes that belong together; the largest group in the foreground goes first.
    public var group: Int?
    public var role: GroupRole = .undefined
    /// The archetype that it was made from.
    public var like = ""
    /// Its footprint over its average one.
    public var growth = Ratio.one

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

    /// Whether it is called back when it is asked to end; suspended it hears nothing and is gone at once.
    public var hearsTermination: Bool { phase.runsCode }

    public var relaunchLikelihood: RelaunchLikelihood { RelaunchLikelihood(intervals: relaunchIntervals) }

    /// How long the user has not seen it; who was never in front counts from its launch. What an earlier process of the
    /// app showed counts no more: XNU puts a new process at the tail of its band, and Android's activity manager takes
    /// its start for its last activity, whatever it was started for. Sources: xnu-11417.101.15, `memorystatus_add`;
    /// android-13, `updateLruProcessLocked`. An event that wakes it later is no look at it, and does not count.
    public func idleTime(at now: Instant) -> TimeSpan {
        phase.isForeground ? .zero : now - (lastForeground ?? launchedAt)
    }

    /// How long the user has not seen one of its scenes; one that the system has connected off screen counts from the
    /// launch that connected it, as its process does. A window behind another one of its app is not seen while the app
    /// is: its time is never less than the process's own.
    public func idleTime(of scene: SceneSnapshot, at now: Instant) -> TimeSpan {
        scene.phase.isForeground ? .zero : now - (scene.lastForeground ?? launchedAt)
    }

    /// Those that may be disconnected: all of a process off screen, and the windows behind of one in front.
    public var scenesOffScreen: [SceneSnapshot] { scenes.filter(\.isOffScreen) }

    /// It is on a screen, and on the second display's alone.
    public var isOnSecondDisplayAlone: Bool {
        let shown = scenes.filter { $0.phase.isForeground }
        return !shown.isEmpty && shown.allSatisfy(\.isExternal)
    }
}

// The figures of its memory.
extension ProcessSnapshot {
    public var footprint: ByteCount {
        get { memory.footprint }
        set { memory.footprint = newValue }
    }

    public var dirty: ByteCount {
        get { memory.dirty }
        set { memory.dirty = newValue }
    }

    public var cache: ByteCount {
        get { memory.cache }
        set { memory.cache = newValue }
    }

    public var swapped: ByteCount {
        get { memory.swapped }
        set { memory.swapped = newValue }
    }

    public var recentlyReclaimed: ByteCount {
        get { memory.recentlyReclaimed }
        set { memory.recentlyReclaimed = newValue }
    }
}

/// What a process is in its group; inside a group the first of these dies first.
///
/// Source: xnu-11417.101.15.
public enum GroupRole: Int, CaseIterable, Comparable, Sendable {
    case undefined
    case `extension`
    case helper
    case leader

    public static func < (a: GroupRole, b: GroupRole) -> Bool { a.rawValue < b.rawValue }
}

public struct SceneSnapshot: Hashable, Sendable {
    public var scene: SceneID
    public var phase: ScenePhase
    /// What its objects hold.
    public var size: ByteCount
    /// When it was last on a screen; nil: never since its process began, for the system has connected it off screen.
    public var lastForeground: Instant?
    /// It is the second display's.
    public var isExternal = false

    public init(scene: SceneID, phase: ScenePhase, size: ByteCount, lastForeground: Instant?) {
        self.scene = scene
        self.phase = phase
        self.size = size
        self.lastForeground = lastForeground
    }

    /// Connected, and not on a screen.
    public var isOffScreen: Bool {
        switch phase {
        case .background, .suspended: true
        case .unattached, .foregroundInactive, .foregroundActive: false
        }
    }
}
