import Memory
import Quantities

/// The device's compressor (`device.compressor`).
public struct CompressorSettings: Hashable, Sendable {
    /// How fast a fast core compresses. No figure for Apple silicon is public; 2 GiB/s is a guess (8 us per 16 KiB).
    public var compressRate = ByteRate(bytesPerSecond: 2 << 30)
    /// How fast a fast core decompresses. 4 GiB/s is a guess (4 us per 16 KiB).
    public var decompressRate = ByteRate(bytesPerSecond: 4 << 30)
    /// The compressor works while less than this share of the RAM is available. A guess: just above the highest mark at
    /// which jetsam ends processes (20 %, the reaper), because on a real device the compressor works before jetsam.
    public var keepFree = Ratio.percent(21)
    /// The share of a process's compressed pages that come back when it is resumed. A guess.
    public var resumeShare = Ratio.percent(40)
    /// The most that the pool takes, as a share of the RAM. XNU on iOS: all of it.
    public var pool = Ratio.one
    /// The most that may be compressed at once, as a share of the RAM. XNU on iOS: the size of the RAM.
    public var input = Ratio.one
    /// How many batches are compressed at once, each on a core. XNU has one thread, and two on systems with fast and
    /// slow cores since iOS 14 (xnu-7195, `vm_compressor.c`).
    public var threads = 1

    /// The most threads that a scenario may ask for; our own bound.
    public static let mostThreads = 8

    /// The settings of an iPhone.
    public init() {}

    /// The limits on a device with this RAM.
    func limits(of ram: ByteCount) -> CompressorLimits { CompressorLimits(pool: ram * pool, input: ram * input) }
}
