import Quantities

/// What happened in a run, as facts; the metrics are computed from it.
public struct RunTally: Sendable {
    public var scenario: String
    public var policy: String
    public var seed: UInt64
    public var ceiling: ByteCount
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
    /// Sums over all processes and samples, for ratios between them.
    public var sampledRequested: ByteCount = .zero
    public var sampledUsable: ByteCount = .zero
    public var sampledActive: ByteCount = .zero
    public var sampledDirty: ByteCount = .zero
    public var stalls = 0
    public var stallTime: TimeSpan = .zero
    public var decisions = 0
    public var actionsRefused = 0
    public var timeNormal: TimeSpan = .zero
    public var timeWarning: TimeSpan = .zero
    public var timeCritical: TimeSpan = .zero
    /// The lives of all processes, summed.
    public var processTime: TimeSpan = .zero
    public var suspendedTime: TimeSpan = .zero
    /// After any termination by the system.
    public var leastProcesses: Int?
    /// From the last warning to the termination by the system, of each that was warned.
    public var warningLeads: [TimeSpan] = []
    /// How long each reclaim action took.
    public var reclaimTimes: [TimeSpan] = []
    public var events = 0

    public init(scenario: String, policy: String, seed: UInt64, ceiling: ByteCount) {
        self.scenario = scenario
        self.policy = policy
        self.seed = seed
        self.ceiling = ceiling
    }

    public struct LaunchFact: Sendable {
        public enum Kind: Sendable { case cold, warm, hot }
        public var app: String
        public var kind: Kind
        public var tapped: Instant
        /// Nil: the first frame never came.
        public var latency: TimeSpan?

        public init(app: String, kind: Kind, tapped: Instant, latency: TimeSpan?) {
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
        public var reason: String
        public var wasForeground: Bool
        /// The user wanted the app again soon after, whether or not the system had launched it in the meantime.
        public var wasPerceived: Bool
        public var footprint: ByteCount

        public init(
            app: String, pid: ProcessID, at: Instant, reason: String, wasForeground: Bool, wasPerceived: Bool,
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
