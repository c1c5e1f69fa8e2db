import Quantities

// Default implementations.
extension DeviceMemory {
    /// 1: the device is no scale model.
    public var scale: Ratio { .one }

    /// Free memory, read from `books`.
    public var available: ByteCount { books.available }

    /// Whether the process has unused pages.
    public func hasDirtyPages(_ slot: MemorySlot) -> Bool { books(of: slot).dirty > .zero }

    /// The device has no compressor.
    public var compressor: (any CompressedPages)? { nil }

    /// Audits and refreshes `metadata`.
    public func audit() throws(AuditFailure) { try audit(refreshingMetadata: true) }
}
