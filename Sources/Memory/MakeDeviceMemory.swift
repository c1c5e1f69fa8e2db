import Quantities

/// The device's memory on the backend that a run asks for.
///
/// - Parameters:
///   - ceiling: The device's memory, of its own.
///   - reserved: The system's share of it.
///   - promised: What the host is asked to promise; the ceiling, unless less is said.
///   - scale: How large it is, measured by the device that it stands for; see `ScaleModel`.
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
