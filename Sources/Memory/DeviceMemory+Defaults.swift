import Quantities

// What every device's memory answers alike, unless it says otherwise.
extension DeviceMemory {
    /// It stands for itself.
    public var scale: Ratio { .one }

    public var available: ByteCount { books.available }

    public func hasDirtyPages(_ slot: MemorySlot) -> Bool { books(of: slot).dirty > .zero }

    /// An audit that refreshes `metadata`, too.
    public func audit() throws(AuditFailure) { try audit(refreshingMetadata: true) }
}
