import Quantities

/// A pool of an app's memory: what its objects are for, and so when they are freed.
public enum Pool: Hashable, Sendable {
    /// The process's working set.
    case base
    /// One scene's memory, freed when the scene disconnects.
    case scene(SceneID)
    /// Memory that the app can recreate.
    case cache
    /// Memory that is never freed.
    case leak
    /// Short-lived objects.
    case transient
    /// The buffer of a burst.
    case burst
}

/// What an app does to its memory, in order. The workload states it and the simulation does it.
public enum MemoryWork: Hashable, Sendable {
    /// Allocates this many bytes.
    case allocate(Pool, ByteCount)
    /// Allocates this many bytes in objects of one page each.
    case allocatePages(Pool, ByteCount)
    /// Frees at most this many bytes, the oldest objects first, as a cache evicts.
    case release(Pool, ByteCount)
    /// Rewrites this many bytes.
    case touch(Pool, ByteCount)
    /// Reads this many bytes without writing.
    case read(Pool, ByteCount)
    /// Uses this many bytes of the app's files, which may have to be read from storage.
    case readFiles(ByteCount)
    /// Plays this many operations of the app's trace.
    case trace(Int)
    /// Frees at most this share, the oldest objects first.
    case releaseShare(Pool, Ratio)
    /// The app forgets to free the scene's pool: it stays with the process and is never used again.
    case abandonScene(SceneID)
    /// Frees the scene's whole pool.
    case endScene(SceneID)
}

/// How long a callback keeps the main thread busy, and what it does to memory.
public struct CallbackWork: Hashable, Sendable {
    /// How long the main thread is busy, apart from filling memory.
    public var cost: TimeSpan
    /// What is done to memory, in order.
    public var memory: [MemoryWork]

    /// By default no work.
    public init(cost: TimeSpan = .zero, memory: [MemoryWork] = []) {
        self.cost = cost
        self.memory = memory
    }
}
