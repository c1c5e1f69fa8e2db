import Lifecycle
import Quantities

/// The facts of a run, from which the metrics are computed.
public struct RunTally: Sendable {
    /// What was run.
    public let run: Identity
    /// The virtual time that was run.
    public var duration: TimeSpan = .zero
    /// The largest resident size, tracked at every hand-out of pages.
    public var peakResident: ByteCount = .zero
    /// Every launch, in order.
    public var launches: [LaunchFact] = []
    /// Every process that the system ended, in order.
    public var terminations: [TerminationFact] = []
    /// Memory warnings sent.
    public var warnings = 0
    /// Warnings after which the app freed memory.
    public var warningsAnswered = 0
    /// Times that a process was suspended.
    public var suspensions = 0
    /// Scenes that the system disconnected.
    public var scenesDisconnected = 0
    /// Disconnected scenes that connected again.
    public var scenesReconnected = 0
    /// Bytes that reclaim actions gave back to the device.
    public var bytesReclaimed: ByteCount = .zero
    /// Dirty pages given back by purging, decay included.
    public var bytesPurged: ByteCount = .zero
    /// What apps did with their live memory.
    public var use = MemoryUse()
    /// Memory summed over all processes and samples.
    public var sampled = SampledMemory()
    /// Times that an allocation found no room.
    public var stalls = 0
    /// The time that processes waited for memory, summed.
    public var stallTime: TimeSpan = .zero
    /// How often the policy ranked a process, or was asked for memory and ranked none.
    public var decisions = 0
    /// Actions that a limit refused.
    public var actionsRefused = 0
    /// How long each level of pressure was in force.
    public var levels = LevelTimes()
    /// Sums over the lives of all processes.
    public var lives = Lives()
    /// For each warned process that the system ended, the time from its last warning to its end.
    public var warningLeads: [TimeSpan] = []
    /// How long each reclaim action took.
    public var reclaimTimes: [TimeSpan] = []
    /// The time of the device's cores.
    public var cpu = CPUTally()
    /// The number of events in the run.
    public var events = 0
    /// What happened to each app, in the scenario's order. Its launches and terminations are in the lists above.
    public var apps: [AppTally]

    /// The part of `stallTime` that active apps waited.
    public var activeStallTime: TimeSpan { apps.reduce(.zero) { $0 + $1.activeStallTime } }

    /// Processes that ended before they had saved their data.
    public var dataLost: Int { apps.reduce(0) { $0 + $1.dataLost } }

    /// A tally in which nothing has happened yet.
    ///
    /// - Parameter apps: The names of the scenario's apps, in its order.
    public init(scenario: String, policy: String, seed: UInt64, ceiling: ByteCount, apps: [String] = []) {
        run = Identity(scenario: scenario, policy: policy, seed: seed, ceiling: ceiling)
        self.apps = apps.map { AppTally(name: $0) }
    }

    /// What was run.
    public struct Identity: Sendable {
        /// The scenario's name.
        public let scenario: String
        /// The reclaim policy's name.
        public let policy: String
        /// The seed of the run's generators.
        public let seed: UInt64
        /// The device's memory.
        public let ceiling: ByteCount
    }

    /// Memory summed over all processes and samples, for ratios.
    public struct SampledMemory: Sendable {
        /// The bytes that the apps asked for.
        public var requested: ByteCount = .zero
        /// The bytes of the size classes that they got.
        public var usable: ByteCount = .zero
        /// Pages in use.
        public var active: ByteCount = .zero
        /// Unused pages that are not given back.
        public var dirty: ByteCount = .zero
        /// What the device's compressor did; not a sum.
        public var compressor = CompressorTally()
    }

    /// What apps did with their live memory.
    public struct MemoryUse: Sendable {
        /// Bytes of live objects that apps wrote again.
        public var rewritten: ByteCount = .zero
        /// Bytes of live objects that apps read.
        public var read: ByteCount = .zero
    }

    /// How long each level of pressure was in force.
    public struct LevelTimes: Sendable {
        /// Time at the normal level.
        public var normal: TimeSpan = .zero
        /// Time at the warning level.
        public var warning: TimeSpan = .zero
        /// Time at the critical level.
        public var critical: TimeSpan = .zero
    }

    /// Sums over the lives of all processes.
    public struct Lives: Sendable {
        /// The lifetimes of all processes, summed.
        public var time: TimeSpan = .zero
        /// The time that processes were suspended, summed.
        public var suspended: TimeSpan = .zero
        /// The fewest live processes right after a termination by the system; nil without one.
        public var fewest: Int?
    }

    /// One launch of an app.
    public struct LaunchFact: Sendable {
        /// The app's name.
        public var app: String
        /// Hot, warm or cold.
        public var kind: LaunchKind
        /// When the user tapped.
        public var tapped: Instant
        /// The time from the tap to the first active frame; nil if the frame never came.
        public var latency: TimeSpan?

        /// All facts of one launch.
        public init(app: String, kind: LaunchKind, tapped: Instant, latency: TimeSpan?) {
            self.app = app
            self.kind = kind
            self.tapped = tapped
            self.latency = latency
        }
    }
}
