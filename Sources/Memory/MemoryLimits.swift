import Quantities

/// The largest values that Plimsoll supports, and the reasons.
public enum MemoryLimits {
    /// Live processes. jemalloc numbers arenas with 12 bits (`MALLOCX_ARENA_LIMIT` is 4,095); one automatic arena
    /// serves Plimsoll's own heap, one its very large objects, and a few are left for the host's libraries.
    public static let liveProcesses = 4_090

    /// The largest object: an entry of an object table has 30 bits for the size.
    public static let largestObject = ByteCount(1 << 30 - 1)

    /// The highest ceiling: an entry of an object table has 34 bits for the place, in units of 8 bytes, and a device
    /// has four times as many addresses as pages.
    public static let highestCeiling = ByteCount.gibibytes(32)

    /// The highest ceiling of a device with a compressor, which has eight times as many addresses as pages.
    public static let highestCompressedCeiling = ByteCount.gibibytes(16)

    /// Why no host can provide such a device, or the device that it represents at a scale; nil if a host may. The
    /// parameters are those of `makeDeviceMemory`.
    public static func refusal(
        ceiling: ByteCount, reserved: ByteCount, scale: Ratio = .one
    ) -> DeviceMemoryFailure? {
        do throws(DeviceMemoryFailure) {
            _ = try DevicePages(ceiling: ceiling, reserved: reserved).meant(at: scale)
            return nil
        } catch {
            return error
        }
    }
}
