import Quantities

/// The device's memory on the backend that a run asks for.
public func makeDeviceMemory(
    _ backend: MemoryBackend, ceiling: ByteCount, reserved: ByteCount
) throws(DeviceMemoryFailure) -> any DeviceMemory {
    switch backend {
    case .jemalloc: try JemallocDevice(ceiling: ceiling, reserved: reserved)
    case .accounting: try AccountingDevice(ceiling: ceiling, reserved: reserved)
    }
}
