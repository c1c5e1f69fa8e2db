import Quantities

/// Makes a device's memory on the given backend.
///
/// - Parameters:
///   - ceiling: The device's own memory.
///   - reserved: The system's share of it.
///   - promised: The memory that the host is asked to promise; by default the ceiling.
///   - scale: The device's size relative to the device that it represents; see `ScaleModel`.
///   - compressor: The limits of the device's compressor; nil for a device without one.
///   - seed: The seed of what compressed pages contain, and of the sizes that they take.
public func makeDeviceMemory(
    _ backend: MemoryBackend, ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, scale: Ratio = .one,
    compressor: CompressorLimits? = nil, seed: UInt64 = 0
) throws(DeviceMemoryFailure) -> any DeviceMemory {
    if let compressor {
        switch backend {
        case .jemalloc:
            precondition(compressor.recipe == nil || scale == .one, "a scale model keeps no contents")
            let paged = try PagedJemallocDevice(
                ceiling: ceiling, reserved: reserved, promised: promised, recipe: compressor.recipe, seed: seed)
            guard scale == .one else { return try ScaleModel(FramedModel(paged), scale: scale, compressor, seed: seed) }
            return CompressingJemallocDevice(try CompressingDevice(paged, compressor, seed: seed))
        case .accounting:
            precondition(compressor.recipe == nil, "the accounting backend has no contents")
            let paged = try PagedAccountingDevice(ceiling: ceiling, reserved: reserved)
            guard scale == .one else { return try ScaleModel(FramedModel(paged), scale: scale, compressor, seed: seed) }
            return CompressingAccountingDevice(try CompressingDevice(paged, compressor, seed: seed))
        }
    }
    let device: any DeviceMemory =
        switch backend {
        case .jemalloc: try JemallocDevice(ceiling: ceiling, reserved: reserved, promised: promised)
        case .accounting: try AccountingDevice(ceiling: ceiling, reserved: reserved)
        }
    guard scale != .one else { return device }
    return try ScaleModel(device, scale: scale)
}
