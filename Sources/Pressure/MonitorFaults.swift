import Quantities

/// How a monitor fails: what it does not see, and what it says in vain.
public struct MonitorFaults: Hashable, Sendable {
    /// The share of samples at which the monitor does not look. From `missed`.
    public var missed = Ratio.zero
    /// The share of its warnings that never reach their process. From `warnings_lost`.
    public var warningsLost = Ratio.zero

    /// How long each of its warnings takes to reach its process. From `warnings_late`.
    public var warningsLate = TimeSpan.zero

    /// A monitor without faults.
    public init() {}
}
