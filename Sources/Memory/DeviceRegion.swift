import Glibc
import Quantities

/// The device's RAM: one mapping as large as the ceiling, and the books of its pages.
///
/// A page beyond the ceiling does not exist, so the ceiling cannot be broken. Pages that come back stay mapped and are
/// handed out again without a new fault. The extent hooks reach the state through a pointer, because jemalloc calls
/// them; nothing in here allocates after `init`.
final class DeviceRegion {
    /// jemalloc's page and the host's.
    static let pageSize = 4096

    let state: UnsafeMutablePointer<RegionState>

    /// Maps `ceiling` and writes `reserved` bytes from its start: the system's own memory. Both are whole pages.
    init(ceiling: ByteCount, reserved: ByteCount) throws(DeviceMemoryFailure) {
        let pages = ceiling.bytes / DeviceRegion.pageSize
        let base = try DeviceRegion.map(ceiling)
        state = .allocate(capacity: 1)
        state.initialize(to: RegionState(base: base, pages: pages))
        state.pointee.reserve(reserved.bytes / DeviceRegion.pageSize)
    }

    deinit {
        let code = munmap(state.pointee.base, state.pointee.runs.pages * DeviceRegion.pageSize)
        precondition(code == 0, "the device's memory refused to be unmapped: errno \(errno)")
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Starts at a multiple of 2 MiB, so that alignments mean the same pages in every process.
    private static func map(_ size: ByteCount) throws(DeviceMemoryFailure) -> UnsafeMutableRawPointer {
        let alignment = 2 << 20
        let mapped = size.bytes + alignment
        let start = mmap(nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else { throw .notMapped(size, code: errno) }
        let base = start.alignedUp(toMultipleOf: alignment)
        if base > start { munmap(start, base - start) }
        let end = base + size.bytes
        let rest = start + mapped - end
        if rest > 0 { munmap(end, rest) }
        return base
    }
}

/// The pages of the region: which are free, how many are out, and how far up they were ever used.
struct RegionState: ~Copyable {
    let base: UnsafeMutableRawPointer
    var runs: PageRuns
    private(set) var reservedPages = 0
    /// Pages that arenas hold.
    private(set) var pagesOut = 0
    /// The largest `reservedPages + pagesOut` that ever was.
    private(set) var peakPages = 0
    /// No page from here on was ever handed out, so the host never had to back it.
    private(set) var highWater = 0
    /// How many pages the last hand-out that failed was about.
    private(set) var refusedPages = 0

    init(base: UnsafeMutableRawPointer, pages: Int) {
        self.base = base
        runs = PageRuns(pages: pages)
        runs.give(pages, at: 0)
    }

    var residentPages: Int { reservedPages + pagesOut }

    fileprivate mutating func reserve(_ count: Int) {
        guard count > 0 else { return }
        precondition(runs.take(count, startingAt: 0), "\(count) pages cannot be reserved of \(runs.pages)")
        reservedPages = count
        peakPages = count
        highWater = count
        memset(base, 0x5a, count * DeviceRegion.pageSize)
    }

    /// Hands out a run of pages, or nil when there is none.
    mutating func handOut(_ count: Int, alignedTo alignment: Int) -> UnsafeMutableRawPointer? {
        let offset = alignment > DeviceRegion.pageSize ? Int(bitPattern: base) / DeviceRegion.pageSize : 0
        let page = runs.take(count, alignment: alignment / DeviceRegion.pageSize, offset: offset)
        guard let page else {
            refusedPages = count
            return nil
        }
        book(count, at: page)
        return base + page * DeviceRegion.pageSize
    }

    /// Hands out the pages from `address` on, or nil when they are not free.
    mutating func handOut(_ count: Int, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        guard address >= base else { return nil }
        let page = (address - base) / DeviceRegion.pageSize
        guard runs.take(count, startingAt: page) else { return nil }
        book(count, at: page)
        return address
    }

    /// Takes pages back.
    mutating func takeBack(_ count: Int, at address: UnsafeMutableRawPointer) {
        runs.give(count, at: (address - base) / DeviceRegion.pageSize)
        pagesOut -= count
    }

    private mutating func book(_ count: Int, at page: Int) {
        pagesOut += count
        peakPages = max(peakPages, reservedPages + pagesOut)
        highWater = max(highWater, page + count)
    }
}
