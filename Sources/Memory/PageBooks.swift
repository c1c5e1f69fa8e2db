import Quantities

/// The device's size in whole pages, checked.
struct DevicePages {
    let ceiling: ByteCount
    let reserved: ByteCount
    /// The memory that the host is asked to promise: the ceiling, or less if the run cannot come near it.
    let promised: ByteCount

    init(
        ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil
    ) throws(DeviceMemoryFailure) {
        let page = DeviceRegion.pageSize
        let whole = ByteCount(ceiling.bytes / page * page)
        let kept = reserved.roundedUp(toMultipleOf: page)
        guard reserved.bytes >= 0, kept < whole else { throw .nothingLeft(ceiling: ceiling, reserved: reserved) }
        guard whole <= MemoryLimits.highestCeiling else {
            throw .ceilingTooHigh(ceiling, highest: MemoryLimits.highestCeiling)
        }
        self.ceiling = whole
        self.reserved = kept
        self.promised = min(whole, max(kept, promised ?? whole))
    }

    /// The original device, which this one represents at a scale.
    func meant(at scale: Ratio) throws(DeviceMemoryFailure) -> DevicePages {
        try DevicePages(ceiling: ceiling.unscaled(by: scale), reserved: reserved.unscaled(by: scale))
    }
}

/// The pages of a device: how many are handed out, and where.
///
/// The ceiling counts pages. There are four times as many addresses as pages. This imitates a device with paging,
/// where any free pages can form a run. With only as many addresses as pages, holes between slabs were a problem: a
/// device of 1 GiB refused objects of 1 MiB while 200 MiB were free.
struct PageBooks: ~Copyable {
    /// Addresses per page of the ceiling.
    static let spread = 4

    private(set) var runs: PageRuns
    let ceiling: Int
    let reserved: Int
    /// Pages that processes hold.
    private(set) var out = 0
    /// The largest `resident` so far.
    private(set) var peak: Int
    /// The number of pages that the last failed hand-out wanted.
    private(set) var refused = 0
    /// The number of free pages withheld from all allocations.
    var keptBack = 0

    init(_ size: DevicePages) {
        ceiling = size.ceiling.bytes / DeviceRegion.pageSize
        reserved = size.reserved.bytes / DeviceRegion.pageSize
        peak = reserved
        let addresses = ceiling * PageBooks.spread
        runs = PageRuns(pages: addresses)
        runs.give(addresses - reserved, at: reserved)
    }

    var resident: Int { reserved + out }
    var free: Int { ceiling - resident }
    /// The free pages that an allocation can get.
    private var obtainable: Int { max(0, free - keptBack) }
    /// The longest run that can be handed out.
    var longestRun: Int { min(runs.longestRun, obtainable) }

    /// Hands out a run of pages and returns its first page; nil without a long enough run.
    mutating func handOut(_ count: Int, alignment: Int = 1, offset: Int = 0) -> Int? {
        guard count <= obtainable, let page = runs.take(count, alignment: alignment, offset: offset) else {
            refused = count
            return nil
        }
        book(count)
        return page
    }

    /// Hands out the pages from `page` on if they are free; returns whether they were.
    mutating func handOut(_ count: Int, startingAt page: Int) -> Bool {
        guard count <= obtainable, runs.take(count, startingAt: page) else { return false }
        book(count)
        return true
    }

    /// Takes pages back.
    mutating func takeBack(_ count: Int, at page: Int) {
        runs.give(count, at: page)
        out -= count
    }

    /// Why the last hand-out failed.
    var refusal: AllocationRefusal {
        .noRoom(wanted: pageBytes(refused), free: pageBytes(obtainable), longestRun: pageBytes(longestRun))
    }

    private mutating func book(_ count: Int) {
        out += count
        peak = max(peak, resident)
    }
}

/// Whole pages in bytes.
func pageBytes(_ pages: Int) -> ByteCount { ByteCount(pages * DeviceRegion.pageSize) }
