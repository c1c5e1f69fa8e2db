import Memory
import Quantities

/// How a compressor gets the sizes of compressed contents; the raw values are the texts in scenarios.
public enum CompressionCodec: String, CaseIterable, Sendable {
    /// They are drawn, and no byte is compressed. Both backends draw the same.
    case model
    /// LZ4 compresses real contents. Only with real memory, at scale 1.
    case lz4
}

/// The device's compressor (`device.compressor`).
public struct CompressorSettings: Hashable, Sendable {
    /// How the sizes of compressed contents come about.
    public var codec = CompressionCodec.model
    /// What the pages that compress contain, for LZ4. Only a page of random bytes and zeros takes any size that the
    /// model draws.
    public var contents = PageRecipe.head
    /// How fast a fast core compresses. No figure for Apple silicon is public; 2 GiB/s is a guess (8 us per 16 KiB).
    public var compressRate = ByteRate(bytesPerSecond: 2 << 30)
    /// How fast a fast core decompresses. 4 GiB/s is a guess (4 us per 16 KiB).
    public var decompressRate = ByteRate(bytesPerSecond: 4 << 30)
    /// How fast a fast core takes pages from their processes, whatever they contain: 4 KiB over the time per page. Nil:
    /// that costs nothing, and a page of one repeated word is compressed like any other. Otherwise such a page costs
    /// this and no more. On a Linux 6.18 host with zram 3 to 4 us per page (1,302 to 977 MiB/s), which is reclaim.
    public var pageOutRate: ByteRate?
    /// How fast a fast core gives pages that are used again to their processes, whatever they contain. On the same host
    /// 3.3 to 4.2 us per page (1,184 to 930 MiB/s), which is the page fault.
    public var pageInRate: ByteRate?
    /// The compressor works while less than this share of the RAM is available. Nil: as a device with zram does by
    /// default, between the watermarks of Linux's kswapd (`device.reclaim`), otherwise `keptFree`.
    public var keepFree: Ratio? = CompressorSettings.keptFree
    /// A guess: just above the highest mark at which jetsam ends processes (20 %, the reaper), because on a real device
    /// the compressor works before jetsam.
    public static let keptFree = Ratio.percent(21)
    /// The share of a process's compressed pages that come back when it is resumed. A guess.
    public var resumeShare = Ratio.percent(40)
    /// The most that the pool takes, as a share of the RAM. XNU on iOS: all of it.
    public var pool = Ratio.one
    /// The most that may be compressed at once, as a share of the RAM. XNU on iOS: the size of the RAM.
    public var input = Ratio.one
    /// How many batches are compressed at once, each on a core. XNU has one thread, and two on systems with fast and
    /// slow cores since iOS 14 (xnu-7195, `vm_compressor.c`). Linux has one kswapd, and none works for a memory group
    /// that reaches its limit: 0.
    public var threads = 1

    /// The most threads that a scenario may ask for; our own bound.
    public static let mostThreads = 8

    /// The settings of an iPhone.
    public init() {}

    /// zram with LZO-RLE or LZ4 under Linux 6.18, by the page: 3 us of reclaim or 3.3 us of the page fault, and 2 us
    /// for the codec. Each of 24 measurements is within 30 % of these figures, but for the codec with words, 7 us.
    public static let zram: CompressorSettings = {
        var settings = CompressorSettings()
        settings.pageOutRate = ByteRate(bytesPerSecond: 1_302 << 20)
        settings.pageInRate = ByteRate(bytesPerSecond: 1_184 << 20)
        settings.compressRate = ByteRate(bytesPerSecond: 1_953 << 20)
        settings.decompressRate = ByteRate(bytesPerSecond: 1_953 << 20)
        settings.keepFree = nil
        return settings
    }()

    /// The limits on a device with this RAM.
    func limits(of ram: ByteCount) -> CompressorLimits {
        CompressorLimits(pool: ram * pool, input: ram * input, recipe: codec == .lz4 ? contents : nil)
    }

    /// The time of a fast core to compress pages.
    ///
    /// - Parameter repeated: How many of these bytes are in pages of one repeated word.
    public func compressTime(_ bytes: ByteCount, repeated: ByteCount) -> TimeSpan {
        CompressorSettings.time(bytes, repeated, pageOutRate, compressRate)
    }

    /// The time of a fast core to bring pages back.
    public func decompressTime(_ bytes: ByteCount, repeated: ByteCount) -> TimeSpan {
        CompressorSettings.time(bytes, repeated, pageInRate, decompressRate)
    }

    private static func time(
        _ bytes: ByteCount, _ repeated: ByteCount, _ fixed: ByteRate?, _ codec: ByteRate
    ) -> TimeSpan {
        guard let fixed else { return codec.time(for: bytes) }
        return fixed.time(for: bytes) + codec.time(for: max(.zero, bytes - repeated))
    }
}
