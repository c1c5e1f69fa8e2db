import Quantities

/// Makes a device's memory on the given backend.
///
/// - Parameters:
///   - ceiling: The device's own memory.
///   - reserved: The system's share of it.
///   - promised: The memory that the host is asked to promise; by default the ceiling.
///   - scale: The device's size relative to the device that it represents; see `ScaleModel`.
///   - compressor: The limits of the device's compressor; nil for a device without one.
///   - rewrite: How much of an object a use of it goes over on real memory.
///   - seed: The seed of what compressed pages contain, and of the sizes that they take.
public func makeDeviceMemory(
    _ backend: MemoryBackend, ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, scale: Ratio = .one,
    compressor: CompressorLimits? = nil, rewrite: RewriteExtent = .line, seed: UInt64 = 0
) throws(DeviceMemoryFailure) -> any DeviceMemory {
    guard scale != .one else {
        return try makeDevice(backend, ceiling, reserved, promised, compressor.map { .segments($0) }, rewrite, seed)
    }
    precondition(compressor?.recipe == nil, "a scale model keeps no contents")
    let model = try makeDevice(backend, ceiling, reserved, promised, compressor.map { _ in .model }, rewrite, seed)
    return try ScaleModel(model, scale: scale, compressor, seed: seed)
}

/// - Parameter keeping: How the device's compressor keeps pages; nil without one.
private func makeDevice(
    _ backend: MemoryBackend, _ ceiling: ByteCount, _ reserved: ByteCount, _ promised: ByteCount?,
    _ keeping: PageKeeping?, _ rewrite: RewriteExtent, _ seed: UInt64
) throws(DeviceMemoryFailure) -> any DeviceMemory {
    switch (backend, keeping) {
    case (.jemalloc, nil):
        JemallocDevice(try BookedDevice(ceiling: ceiling, reserved: reserved, promised: promised, rewrite: rewrite))
    case (.accounting, nil):
        AccountingDevice(try BookedDevice(ceiling: ceiling, reserved: reserved))
    case (.jemalloc, let keeping?):
        CompressingJemallocDevice(
            try BookedDevice(
                ceiling: ceiling, reserved: reserved, promised: promised, keeping: keeping, rewrite: rewrite, seed: seed
            ))
    case (.accounting, let keeping?):
        CompressingAccountingDevice(
            try BookedDevice(ceiling: ceiling, reserved: reserved, keeping: keeping, seed: seed))
    }
}
