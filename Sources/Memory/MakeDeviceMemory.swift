import Quantities

/// The device's memory on the backend that a run asks for.
///
/// - Parameters:
///   - ceiling: The device's memory, of its own.
///   - reserved: The system's share of it.
///   - scale: How large it is, measured by the device that it stands for; see `ScaleModel`.
public func makeDeviceMemory(
    _ backend: MemoryBackend, ceiling: ByteCount, reserved: ByteCount, scale: Ratio = .one
) throws(DeviceMemoryFailure) -> any DeviceMemory {
    let device: any DeviceMemory =
        switch backend {
        case .jemalloc: try JemallocDevice(ceiling: ceiling, reserved: reserved)
        case .accounting: try AccountingDevice(ceiling: ceiling, reserved: reserved)
        }
    guard scale != .one else { return device }
    return try ScaleModel(device, scale: scale)
}
