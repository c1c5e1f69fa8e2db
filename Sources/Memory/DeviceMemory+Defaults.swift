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
    public var compressor: CompressorBooks? { nil }

    /// Does nothing: the device has no compressor.
    public func declare(_ compressibility: Compressibility, of slot: MemorySlot) {}

    /// Nil: the device has no compressor.
    public func oldestUse(by slot: MemorySlot) -> Int? { nil }

    /// Compresses nothing: the device has no compressor.
    public func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount { .zero }

    /// Compresses pages of any age.
    public func compress(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount {
        compress(slot, atMost: bytes, usedBefore: .max)
    }

    /// The figure of `compressor`.
    public var broughtBack: ByteCount { compressor?.broughtBack ?? .zero }

    /// 0: the device has no compressor.
    public var lastUse: Int { 0 }

    /// Brings nothing back: the device has no compressor.
    public func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount { .zero }

    /// Only devices with a compressor stop early without a result that says why.
    public var refusal: AllocationRefusal { .noRoom(wanted: .zero, free: available, longestRun: longestFreeRun) }

    /// Audits and refreshes `metadata`.
    public func audit() throws(AuditFailure) { try audit(refreshingMetadata: true) }
}
