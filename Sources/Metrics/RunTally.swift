import Lifecycle
import Quantities

/// What happened in a run, as facts; the metrics are computed from it.
public struct RunTally: Sendable {
    public let run: Identity
    public var duration: TimeSpan = .zero
    public var peakResident: ByteCount = .zero
    public var launches: [LaunchFact] = []
    public var terminations: [TerminationFact] = []
    public var warnings = 0
    public var warningsAnswered = 0
    public var suspensions = 0
    public var scenesDisconnected = 0
    public var scenesReconnected = 0
    public var bytesReclaimed: ByteCount = .zero
    public var bytesPurged: ByteCount = .zero
    /// Written again while in use.
    public var bytesRewritten: ByteCount = .zero
    public var bytesRead: ByteCount = .zero
    public var sampled = SampledMemory()
    public var stalls = 0
    public var stallTime: TimeSpan = .zero
    public var decisions = 0
    public var actionsRefused = 0
    public var levels = LevelTimes()
    public var lives = Lives()
    /// From the last warning to the termination by the system, of each that was warned.
    public var warningLeads: [TimeSpan] = []
    /// How long each reclaim action took.
    public var reclaimTimes: [TimeSpan] = []
    public var events = 0

    public init(scenario: String, policy: String, seed: UInt64, ceiling: ByteCount) {
        run = Identity(scenario: scenario, policy: policy, seed: seed, ceiling: ceiling)
    }

    /// What was run.
    public struct Identity: Sendable {
        public let scenario: String
        public let policy: String
        public let seed: UInt64
        public let ceiling: ByteCount
    }

    /// Sums over all processes and samples, for ratios between them.
    public struct SampledMemory: Sendable {
        public var requested: ByteCount = .zero
        public var usable: ByteCount = .zero
        public var active: ByteCount = .zero
        public var dirty: ByteCount = .zero
    }

    /// How long each level of pressure was in force.
    public struct LevelTimes: Sendable {
        public var normal: TimeSpan = .zero
        public var warning: TimeSpan = .zero
        public var critical: TimeSpan = .zero
    }

    /// What the processes' lives come to.
    public struct Lives: Sendable {
        /// All of them, summed.
        public var time: TimeSpan = .zero
        public var suspended: TimeSpan = .zero
        /// The fewest processes after any termination by the system.
        public var fewest: Int?
    }

    public struct LaunchFact: Sendable {
        public var app: String
        public var kind: LaunchKind
        public var tapped: Instant
        /// Nil: the first frame never came.
        public var latency: TimeSpan?

        public init(app: String, kind: LaunchKind, tapped: Instant, latency: TimeSpan?) {
            self.app = app
            self.kind = kind
            self.tapped = tapped
            self.latency = latency
        }
    }

    /// A process ended by the system; the user's own quitting is not one.
    public struct TerminationFact: Sendable {
        public var app: String
        public var pid: ProcessID
        public var at: Instant
        public var reason: ExitReason
        public var wasForeground: Bool
        /// The user wanted the app again soon after, whether or not the system had launched it in the meantime.
        public var wasPerceived: Bool
        public var footprint: ByteCount

        public init(
            app: String, pid: ProcessID, at: Instant, reason: ExitReason, wasForeground: Bool, wasPerceived: Bool,
            footprint: ByteCount
        ) {
            self.app = app
            self.pid = pid
            self.at = at
            self.reason = reason
            self.wasForeground = wasForeground
            self.wasPerceived = wasPerceived
            self.footprint = footprint
        }
    }
}
