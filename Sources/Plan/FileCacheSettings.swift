import Quantities

/// The device's cache of file pages (`device.file_cache`).
public struct FileCacheSettings: Hashable, Sendable {
    /// How fast storage delivers pages that are not in memory. A guess: flash storage, read in small pieces.
    public var readRate = ByteRate(bytesPerSecond: 400 << 20)
    /// The system drops file pages while less than this share of the RAM is free. A guess: just above the default of
    /// lmkd's low watermark, because Linux's kswapd keeps free memory above that watermark by dropping file pages.
    public var keepFree = Ratio.percent(4)

    /// Pages of the system's own files that are in memory at the beginning, in bytes of the device.
    public var system = ByteCount.zero
    /// How fast the system's own files come back into free memory, in bytes of the device that is meant. A guess: a
    /// file cache that was emptied takes minutes to fill again.
    public var systemReadRate = ByteRate(bytesPerSecond: 2 << 20)

    /// The settings of a phone.
    public init() {}
}
