import Memory
import Quantities

/// The swap of a Linux machine (`device.swap`): its compressor as zram, and a disk behind it.
///
/// With zram, `compressor.input` is the size of the swap device, and every compressed page takes a slot of it, one of a
/// repeated word, too (Linux 6.12, drivers/block/zram/zram_drv.c, `zram_write_page`). Without it, a disk makes the
/// compressor a zswap: its pages take slots of the disk from the beginning (mm/zswap.c, `zswap_store`).
///
/// When the compressor is full, the disk takes pages one by one and uncompressed (`diskTakes`). With zram, the slots of
/// the disk count beside those of zram, as if each were a swap device: zram's own backing device adds none.
public struct SwapSettings: Hashable, Sendable {
    /// What a disk takes when the compressor is full; the raw values are the texts in scenarios.
    public enum DiskTakes: String, CaseIterable, Sendable {
        /// The oldest contents of the compressor, as the writeback of zram and the shrinker of zswap (Linux 6.12,
        /// `zram_writeback_slots`, `zswap_writeback_entry`).
        case oldest
        /// What is to be swapped next, as a swap device of a lower priority than zram (Linux 6.12, mm/swapfile.c,
        /// `get_swap_pages`). The pages used longest ago then stay in zram, and newer ones are on the slower disk.
        case newest
    }

    /// Whether the compressor is the zram of Linux; nil: as the device is (`Device.isZramByDefault`).
    public var zram: Bool?
    /// The size of the disk's swap, in bytes of pages of the device; zero: there is no disk.
    public var disk = ByteCount.zero
    /// What the disk takes.
    public var diskTakes = DiskTakes.oldest
    /// How fast the disk takes pages. A guess: flash storage, in pieces of a page.
    public var writeRate = ByteRate(bytesPerSecond: 200 << 20)
    /// How fast the disk gives pages back. A guess: flash storage, read in small pieces.
    public var readRate = ByteRate(bytesPerSecond: 400 << 20)
    /// What kswapd and direct reclaim take in addition to compressing, for each page of 4 KiB: they look at pages that
    /// they cannot take, wait for locks, and try again. An assumption: fitted to a fill at a memory group's limit on
    /// Linux 6.18, which took 28 us for each page, of which filling takes 3 and compressing 5.
    public var searchTime = TimeSpan(microseconds: 20)
    /// How far above Linux's own figures kswapd begins and ends, in bytes of free memory. Android sets
    /// `extra_free_kbytes` to three screens of 32-bit pixels (ProcessList.java, `updateOomLevels`): 29.7 MiB for 1,080
    /// by 2,400.
    public var extraFree = ByteCount.zero
    /// How long a process is suspended until all its pages are compressed, as Android compacts what it freezes
    /// (android-14, CachedAppOptimizer.java, `onProcessFrozen`); nil: never.
    public var compactAfter: TimeSpan?

    /// The swap that a device has by default.
    public init() {}
}

extension Device {
    /// Whether the compressor is the zram of Linux where the scenario does not say so: on any device but those of
    /// Apple and those with an XNU.
    public var isZramByDefault: Bool { compressor != nil && kernel == nil && !linuxMemory.isOfApple }

    /// Whether the compressor is a swap device of Linux.
    public var isZram: Bool { compressor != nil && (swap.zram ?? isZramByDefault) }

    /// Whether the device has swap that Linux counts.
    public var hasSwap: Bool { swapTotal > .zero }

    /// All swap, in bytes of pages (SwapTotal of /proc/meminfo).
    public var swapTotal: ByteCount {
        guard let compressor else { return .zero }
        return (isZram ? ceiling * compressor.input : .zero) + swap.disk
    }

    /// The swap with all its values, as a scenario states it.
    public var statedSwap: SwapSettings {
        get {
            var stated = swap
            stated.zram = isZram
            return stated
        }
        set {
            swap = newValue
            if newValue.zram == isZramByDefault { swap.zram = nil }
        }
    }

    /// What its compressor may take.
    var compressorLimits: CompressorLimits? {
        guard var limits = compressor?.limits(of: ceiling) else { return nil }
        if hasSwap { limits.slots = swapTotal }
        return limits
    }
}
