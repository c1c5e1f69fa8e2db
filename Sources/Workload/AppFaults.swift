import Quantities

/// How a process fails by itself, which no rule of the system asks of it.
public struct AppFaults: Hashable, Sendable {
    /// The mean time from a process's launch to its crash; nil: it never crashes by itself. From `crashes_after`.
    public var crashesAfter: TimeSpan?
    /// How long a process that was ended stays before its memory begins to come back, as one that waits for a disk or
    /// in a driver does. From `slow_exit`.
    public var slowExit = TimeSpan.zero

    /// Mean time from a process's launch, or from its last hang, to a hang; nil: it never hangs. From `hangs_after`.
    public var hangsAfter: TimeSpan?
    /// How long its own main thread then does not answer. From `hangs_for`.
    public var hangsFor = TimeSpan.seconds(10)

    /// The share of its memory that its process reports to whatever decides by it: less, as a process whose buffers
    /// belong to a driver does, or more, as one that counts shared pages as its own does. From `reports`.
    public var reports = Ratio.one

    /// What is seen of this much of the process's memory.
    public func reported(_ held: ByteCount) -> ByteCount { reports == .one ? held : held * reports }

    /// A process without faults.
    public init() {}
}
