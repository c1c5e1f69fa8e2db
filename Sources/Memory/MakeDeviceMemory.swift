import Quantities

/// Makes a device's memory on the given backend.
///
/// - Parameters:
///   - ceiling: The device's own memory.
///   - reserved: The system's share of it.
///   - promised: The memory that the host is asked to promise; by default the ceiling.
///   - scale: The device's size relative to the device that it represents; see `ScaleModel`.
public func makeDeviceMemory(
    _ backend: MemoryBackend, ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, scale: Ratio = .one
) throws(DeviceMemoryFailure) -> any DeviceMemory {
    let device: any DeviceMemory =
        switch backend {
        case .jemalloc: try JemallocDevice(ceiling: ceiling, reserved: reserved, promised: promised)
        case .accounting: try AccountingDevice(ceiling: ceiling, reserved: reserved)
        }
    guard scale != .one else { return device }
    return try ScaleModel(device, scale: scale)
}
