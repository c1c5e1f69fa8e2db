import Quantities

// What every device's memory answers alike, unless it says otherwise.
extension DeviceMemory {
    /// It stands for itself.
    public var scale: Ratio { .one }

    public var available: ByteCount { books.available }

    public func hasDirtyPages(_ slot: MemorySlot) -> Bool { books(of: slot).dirty > .zero }

    /// Frees objects from one end of the pool, `.oldestFirst` or `.newestFirst`: nothing is drawn.
    public func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult {
        precondition(order != .scattered, "a scattered release draws from a generator")
        var unused = neverDrawn
        return release(bytes, from: pool, order: order, using: &unused)
    }

    /// An audit that refreshes `metadata`, too.
    public func audit() throws(AuditFailure) { try audit(refreshingMetadata: true) }
}

private let neverDrawn = SeededGenerator(seed: 0, stream: "unused")
