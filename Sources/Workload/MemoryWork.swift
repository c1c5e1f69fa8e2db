import Quantities

/// A pool of an app's memory: what its objects are for, and so when they go.
public enum Pool: Hashable, Sendable {
    /// The process's working set.
    case base
    /// One scene's memory; it goes when the scene disconnects.
    case scene(SceneID)
    /// Recreatable.
    case cache
    /// Never freed.
    case leak
    /// Short-lived.
    case transient
    /// The buffer of a burst.
    case burst
}

/// What an app wants of its memory, in order. Said by the workload, done by the simulation.
public enum MemoryWork: Hashable, Sendable {
    case allocate(Pool, ByteCount)
    /// At most so many bytes; the oldest objects first, as a cache evicts.
    case release(Pool, ByteCount)
    case touch(Pool, ByteCount)
    /// Reads, without writing.
    case read(Pool, ByteCount)
    /// Plays so many operations of the app's trace.
    case trace(Int)
    /// At most such a share, the oldest objects first.
    case releaseShare(Pool, Ratio)
    /// The app forgets to free the scene's pool: it stays with the process, and nobody finds it again.
    case abandonScene(SceneID)
    /// The scene's pool goes whole.
    case endScene(SceneID)
}

/// How long a callback keeps the main thread busy, and what it does to memory.
public struct CallbackWork: Hashable, Sendable {
    public var cost: TimeSpan
    public var memory: [MemoryWork]

    public init(cost: TimeSpan = .zero, memory: [MemoryWork] = []) {
        self.cost = cost
        self.memory = memory
    }
}
