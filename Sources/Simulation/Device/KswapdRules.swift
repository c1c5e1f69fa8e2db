import Plan
import Quantities

/// Linux's watermarks of free memory, and what finding pages costs.
///
/// Source: Linux 6.12, mm/page_alloc.c, `calculate_min_free_kbytes` and `__setup_per_zone_wmarks`, with one zone and a
/// `watermark_scale_factor` of 10. Distributions with huge pages raise them, and so does Android.
struct KswapdRules: Hashable {
    /// kswapd begins below this: *low*, a quarter of `reserve` or a thousandth of RAM above it, whichever is more.
    let begins: ByteCount
    /// kswapd ends here: *high*, twice as far above `reserve`.
    let ends: ByteCount
    /// A process finds no room below this: *min*, in KiB the square root of 16 times the RAM in KiB, from 128 to
    /// 262,144.
    let reserve: ByteCount
    /// The least that direct reclaim takes: 32 pages (`SWAP_CLUSTER_MAX`).
    let cluster: ByteCount

    /// What kswapd and direct reclaim take in addition to compressing, for each page of 4 KiB of the device that is
    /// meant, 20 us: they look at pages that they cannot take, wait for locks, and try again. Fitted to a fill at a
    /// memory group's limit on Linux 6.18, which took 28 us for each page, of which filling takes 3 and compressing 5.
    static let search = ByteRate(bytesPerSecond: 4_096 * 1_000_000 / 20)

    init(_ device: Device) {
        let ram = device.meantCeiling
        let kibibytes = Int(Double(ram.bytes / 1_024 * 16).squareRoot())  // exact: correctly rounded, far below 2^53
        let least = ByteCount.kibibytes(min(max(kibibytes, 128), 262_144))
        let step = max(ByteCount(least.bytes / 4), ByteCount(ram.bytes / 1_000))
        func scaled(_ size: ByteCount) -> ByteCount { size * device.scale }
        (reserve, begins, ends) = (scaled(least), scaled(least + step), scaled(least + step * 2))
        cluster = scaled(.kibibytes(128))
    }
}
