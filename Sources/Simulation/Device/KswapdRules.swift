import Plan
import Quantities

/// Linux's watermarks of free memory, and what finding pages costs.
///
/// Source: Linux 6.12, mm/page_alloc.c, `calculate_min_free_kbytes` and `__setup_per_zone_wmarks`, with one zone and a
/// `watermark_scale_factor` of 10. Distributions with huge pages raise them, and so does Android
/// (`SwapSettings.extraFree`).
struct KswapdRules: Hashable {
    /// kswapd begins below this: *low*, a quarter of `reserve` or a thousandth of RAM above it, whichever is more, and
    /// the device's extra.
    let begins: ByteCount
    /// kswapd ends here: *high*, twice as far above `reserve`, and the extra.
    let ends: ByteCount
    /// A process finds no room below this: *min*, in KiB the square root of 16 times the RAM in KiB, from 128 to
    /// 262,144.
    let reserve: ByteCount
    /// The least that direct reclaim takes: 32 pages (`SWAP_CLUSTER_MAX`).
    let cluster: ByteCount
    /// See `SwapSettings.searchTime`.
    private let searchTime: TimeSpan

    init(_ device: Device) {
        let ram = device.meantCeiling
        let kibibytes = Int(Double(ram.bytes / 1_024 * 16).squareRoot())  // exact: correctly rounded, far below 2^53
        let least = ByteCount.kibibytes(min(max(kibibytes, 128), 262_144))
        let step = max(ByteCount(least.bytes / 4), ByteCount(ram.bytes / 1_000))
        func scaled(_ size: ByteCount) -> ByteCount { size * device.scale }
        let extra = device.swap.extraFree
        (reserve, begins, ends) = (scaled(least), scaled(least + step) + extra, scaled(least + step * 2) + extra)
        cluster = scaled(.kibibytes(128))
        searchTime = device.swap.searchTime
    }

    /// What finding pages costs, in bytes of the device that is meant.
    func searchTime(_ bytes: ByteCount) -> TimeSpan {
        TimeSpan(microseconds: (searchTime.microseconds * Int64(bytes.bytes) + 4_095) / 4_096)
    }
}

/// When Android compresses all pages of a cached process.
///
/// Source: AOSP android-14, CachedAppOptimizer.java. Compaction of running apps' files is not modelled.
struct CompactionRules: Hashable {
    /// How long a process is suspended before.
    let delay: TimeSpan
    /// Smaller processes are left alone (`DEFAULT_COMPACT_FULL_RSS_THROTTLE_KB`).
    let least: ByteCount
    /// A process that is as large as after its last compaction, but for this, is left alone
    /// (`DEFAULT_COMPACT_FULL_DELTA_RSS_THROTTLE_KB`).
    let change: ByteCount
    /// With less free swap only pages of files would be taken (`COMPACT_DOWNGRADE_FREE_SWAP_THRESHOLD`).
    let freeSwap: ByteCount

    /// Nil on a device that compacts nothing, for want of swap or of the wish.
    init?(_ device: Device) {
        guard let delay = device.swap.compactAfter, device.hasSwap else { return nil }
        self.delay = delay
        least = ByteCount.kibibytes(12_000) * device.scale
        change = ByteCount.kibibytes(8_000) * device.scale
        freeSwap = device.swapTotal * .percent(20)
    }
}
