import Quantities

/// The device's size in whole pages, checked.
struct DevicePages {
    let ceiling: ByteCount
    let reserved: ByteCount
    /// The memory that the host is asked to promise: the ceiling, or less if the run cannot come near it.
    let promised: ByteCount
    /// Whether pages may lose their frames, because the device has a compressor.
    let isFramed: Bool

    init(
        ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, isFramed: Bool = false
    ) throws(DeviceMemoryFailure) {
        self.isFramed = isFramed
        let page = DeviceRegion.pageSize
        let whole = ByteCount(ceiling.bytes / page * page)
        let kept = reserved.roundedUp(toMultipleOf: page)
        guard reserved.bytes >= 0, kept < whole else { throw .nothingLeft(ceiling: ceiling, reserved: reserved) }
        let highest = isFramed ? MemoryLimits.highestCompressedCeiling : MemoryLimits.highestCeiling
        guard whole <= highest else { throw .ceilingTooHigh(ceiling, highest: highest) }
        self.ceiling = whole
        self.reserved = kept
        self.promised = min(whole, max(kept, promised ?? whole))
    }

    /// The original device, which this one represents at a scale.
    func meant(at scale: Ratio) throws(DeviceMemoryFailure) -> DevicePages {
        try DevicePages(
            ceiling: ceiling.unscaled(by: scale), reserved: reserved.unscaled(by: scale), isFramed: isFramed)
    }

    /// Addresses per page of the ceiling. Compressed pages keep their addresses.
    var spread: Int { isFramed ? 2 * PageBooks.spread : PageBooks.spread }

    /// The most segments of a compressor's pool: it may take all of the memory, as on iOS.
    var segments: Int { isFramed ? ceiling.bytes / SegmentTable.bytes : 0 }
}

/// The pages of a device: how many are handed out, and where.
///
/// The ceiling counts pages. There are four times as many addresses as pages. This imitates a device with paging,
/// where any free pages can form a run. With only as many addresses as pages, holes between slabs were a problem: a
/// device of 1 GiB refused objects of 1 MiB while 200 MiB were free.
///
/// On a device with a compressor, frames are counted apart from addresses: a compressed or swapped page is handed out,
/// but has no frame.
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
    /// Which pages have frames; nil without a compressor. A pointer, because the heaps and the extent hooks change the
    /// table, too.
    let frames: UnsafeMutablePointer<FrameTable>?

    init(_ size: DevicePages) {
        ceiling = size.ceiling.bytes / DeviceRegion.pageSize
        reserved = size.reserved.bytes / DeviceRegion.pageSize
        peak = reserved
        let addresses = ceiling * size.spread
        runs = PageRuns(pages: addresses)
        runs.give(addresses - reserved, at: reserved)
        guard size.isFramed else {
            frames = nil
            return
        }
        let table = UnsafeMutablePointer<FrameTable>.allocate(capacity: 1)
        table.initialize(to: FrameTable(pages: addresses, segments: size.segments))
        frames = table
    }

    deinit {
        frames?.deinitialize(count: 1)
        frames?.deallocate()
    }

    var resident: Int { reserved + out - frameless }
    /// Pages that are handed out and have no frame.
    private var frameless: Int {
        guard let frames else { return 0 }
        return frames.pointee.frameless
    }
    var free: Int { ceiling - resident }  // promise: ceiling
    /// The free pages that an allocation can get.
    var obtainable: Int { max(0, free - keptBack) }
    /// The longest run that can be handed out.
    var longestRun: Int { min(runs.longestRun, obtainable) }

    /// Hands out a run of pages and returns its first page; nil without a long enough run.
    ///
    /// - Parameter slot: The heap that gets them.
    mutating func handOut(_ count: Int, alignment: Int = 1, offset: Int = 0, to slot: Int = 0) -> Int? {
        guard count <= obtainable, let page = runs.take(count, alignment: alignment, offset: offset) else {
            refused = count
            return nil
        }
        book(count, at: page, to: slot)
        return page
    }

    /// Hands out the pages from `page` on if they are free; returns whether they were.
    mutating func handOut(_ count: Int, startingAt page: Int, to slot: Int = 0) -> Bool {
        guard count <= obtainable, runs.take(count, startingAt: page) else { return false }
        book(count, at: page, to: slot)
        return true
    }

    /// Takes pages back.
    mutating func takeBack(_ count: Int, at page: Int) {
        frames?.pointee.remove(page..<page + count)
        runs.give(count, at: page)
        out -= count
    }

    /// Notes that pages without frames need this many frames, of which there are too few.
    mutating func refuse(_ count: Int) { refused = count }

    /// Notes that pages have got frames again.
    mutating func noteFrames() { peak = max(peak, resident) }

    /// Why the last hand-out failed.
    var refusal: AllocationRefusal {
        .noRoom(wanted: pageBytes(refused), free: pageBytes(obtainable), longestRun: pageBytes(longestRun))
    }

    private mutating func book(_ count: Int, at page: Int, to slot: Int) {
        out += count
        frames?.pointee.add(page..<page + count, to: slot)
        peak = max(peak, resident)
    }
}

/// Whole pages in bytes.
func pageBytes(_ pages: Int) -> ByteCount { ByteCount(pages * DeviceRegion.pageSize) }
