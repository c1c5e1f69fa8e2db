import Quantities

/// What the harness can hold at most, and why.
public enum MemoryLimits {
    /// Processes alive at once. jemalloc numbers arenas with 12 bits (`MALLOCX_ARENA_LIMIT` is 4,095); one automatic
    /// arena serves the harness's own heap, one its very large objects, and a few are left for the host's libraries.
    public static let liveProcesses = 4_090

    /// The largest object: an object's table entry has 30 bits for its size.
    public static let largestObject = ByteCount(1 << 30 - 1)

    /// The highest ceiling: an object's table entry has 34 bits for its place, in units of 8 bytes, and there are four
    /// times as many addresses as pages.
    public static let highestCeiling = ByteCount.gibibytes(32)

    /// Why no host can give such a device, nor what it stands for; nil where that is up to the host. Parameters as for
    /// `makeDeviceMemory`.
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
