import Quantities

/// The device's size in whole pages, checked.
struct DeviceSize {
    let ceiling: ByteCount
    let reserved: ByteCount

    init(ceiling: ByteCount, reserved: ByteCount) throws(DeviceMemoryFailure) {
        let page = DeviceRegion.pageSize
        let whole = ByteCount(ceiling.bytes / page * page)
        let kept = reserved.roundedUp(toMultipleOf: page)
        guard reserved.bytes >= 0, kept < whole else { throw .nothingLeft(ceiling: ceiling, reserved: reserved) }
        guard whole <= MemoryLimits.highestCeiling else {
            throw .ceilingTooHigh(ceiling, highest: MemoryLimits.highestCeiling)
        }
        self.ceiling = whole
        self.reserved = kept
    }
}

/// The pages of a device: which are free, how many are out, and how far up they were ever used.
struct PageBooks: ~Copyable {
    private(set) var runs: PageRuns
    let reserved: Int
    /// Pages that processes hold.
    private(set) var out = 0
    /// The largest `resident` that ever was.
    private(set) var peak: Int
    /// No page from here on was ever handed out, so the host never had to back it.
    private(set) var highWater: Int
    /// How many pages the last hand-out that failed was about.
    private(set) var refused = 0

    init(_ size: DeviceSize) {
        let count = size.ceiling.bytes / DeviceRegion.pageSize
        reserved = size.reserved.bytes / DeviceRegion.pageSize
        peak = reserved
        highWater = reserved
        runs = PageRuns(pages: count)
        runs.give(count - reserved, at: reserved)
    }

    var resident: Int { reserved + out }

    /// Hands out a run of pages and answers its first, or nil when there is none.
    mutating func handOut(_ count: Int, alignment: Int = 1, offset: Int = 0) -> Int? {
        guard let page = runs.take(count, alignment: alignment, offset: offset) else {
            refused = count
            return nil
        }
        book(count, at: page)
        return page
    }

    /// Hands out the pages from `page` on, if they are free.
    mutating func handOut(_ count: Int, startingAt page: Int) -> Bool {
        guard runs.take(count, startingAt: page) else { return false }
        book(count, at: page)
        return true
    }

    /// Takes pages back.
    mutating func takeBack(_ count: Int, at page: Int) {
        runs.give(count, at: page)
        out -= count
    }

    /// Why the last hand-out failed.
    var refusal: AllocationRefusal {
        .noRoom(wanted: pageBytes(refused), free: pageBytes(runs.freePages), longestRun: pageBytes(runs.longestRun))
    }

    private mutating func book(_ count: Int, at page: Int) {
        out += count
        peak = max(peak, resident)
        highWater = max(highWater, page + count)
    }
}

/// Whole pages in bytes.
func pageBytes(_ pages: Int) -> ByteCount { ByteCount(pages * DeviceRegion.pageSize) }
