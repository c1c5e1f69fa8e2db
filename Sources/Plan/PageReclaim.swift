/// Who makes room on a device with a compressor, and which time is lost to it (`device.reclaim`); the raw values are
/// the texts in scenarios.
public enum PageReclaim: String, CaseIterable, Sendable {
    /// The compressor works in the background alone. Only a process that finds no page is stalled.
    case background
    /// Linux: kswapd works between two watermarks of free memory. A process that finds less than the lowest watermark
    /// makes room itself (direct reclaim). That time, and the time in which pages come back from swap, is a stall of
    /// memory (PSI).
    ///
    /// Source: Linux 6.12, mm/page_alloc.c (`__perform_reclaim`), mm/memory.c (`do_swap_page`), mm/vmscan.c
    /// (`balance_pgdat`).
    case linux
}

extension Device {
    /// How the device makes room where the scenario does not say so: like Linux if its compressor is zram.
    public var reclaimByDefault: PageReclaim { isZram ? .linux : .background }

    /// Whether it makes room like Linux.
    public var reclaimsLikeLinux: Bool { compressor != nil && (reclaim ?? reclaimByDefault) == .linux }

    /// How the device makes room, as a scenario states it.
    public var statedReclaim: PageReclaim {
        get { reclaim ?? reclaimByDefault }
        set { reclaim = newValue == reclaimByDefault ? nil : newValue }
    }
}
