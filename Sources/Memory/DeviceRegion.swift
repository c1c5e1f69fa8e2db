import Glibc
import Quantities

/// The device's RAM: one mapping and the books of its pages.
///
/// No page beyond the ceiling is ever handed out or backed by the host. Pages that come back stay mapped and are handed
/// out again without a new fault. The extent hooks reach the state through a pointer, because jemalloc calls them;
/// nothing here allocates after `init`.
final class DeviceRegion {
    /// jemalloc's page and the host's.
    static let pageSize = 4096

    let state: UnsafeMutablePointer<RegionState>

    /// Maps the region and writes the reserved bytes at its start: the system's own memory.
    ///
    /// - Parameter mayMove: Whether the host may move memory within the region; see `PageBacking`.
    init(_ size: DevicePages, mayMove: Bool = true) throws(DeviceMemoryFailure) {
        try DeviceRegion.probe(size.promised)
        let base = try DeviceRegion.map(size.ceiling * size.spread, of: size.ceiling)
        state = .allocate(capacity: 1)
        state.initialize(to: RegionState(base: base, size: size, mayMove: mayMove))
        memset(base, 0x5a, size.reserved.bytes)
    }

    deinit {
        let code = munmap(state.pointee.base, state.pointee.pages.runs.pages * DeviceRegion.pageSize)
        precondition(code == 0, "the device's memory refused to be unmapped: errno \(errno)")
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// The pages of the region that the host backs at present, as the host says it (`mincore`).
    var backedByHost: Int {
        let pages = state.pointee.pages.runs.pages
        var marks = [UInt8](repeating: 0, count: pages)
        let code = mincore(state.pointee.base, pages * DeviceRegion.pageSize, &marks)
        precondition(code == 0, "the host does not tell which pages it backs: errno \(errno)")
        return marks.count { $0 & 1 == 1 }
    }

    /// Checks whether the host can promise all memory that the device may need; the host's own rules decide that.
    private static func probe(_ size: ByteCount) throws(DeviceMemoryFailure) {
        let start = mmap(nil, size.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let start, start != MAP_FAILED else { throw .notMapped(size, code: errno) }
        munmap(start, size.bytes)
    }

    /// Maps the region at a multiple of 2 MiB, so that an alignment selects the same pages in every process of the
    /// host. Huge pages are declined: they would back pages that are not handed out.
    private static func map(
        _ size: ByteCount, of ceiling: ByteCount
    ) throws(DeviceMemoryFailure) -> UnsafeMutableRawPointer {
        let alignment = 2 << 20
        let mapped = size.bytes + alignment
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        let start = mmap(nil, mapped, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let start, start != MAP_FAILED else { throw .notMapped(ceiling, code: errno) }
        let base = start.alignedUp(toMultipleOf: alignment)
        if base > start { munmap(start, base - start) }
        let end = base + size.bytes
        let rest = start + mapped - end
        if rest > 0 { munmap(end, rest) }
        // A host without huge pages refuses the advice, which does no harm.
        _ = madvise(base, size.bytes, MADV_NOHUGEPAGE)
        return base
    }
}

/// Where the region starts, and the books of its pages: what the extent hooks need.
struct RegionState: ~Copyable {
    let base: UnsafeMutableRawPointer
    var pages: PageBooks
    private(set) var backing: PageBacking

    init(base: UnsafeMutableRawPointer, size: DevicePages, mayMove: Bool) {
        self.base = base
        pages = PageBooks(size)
        backing = PageBacking(base: base, addresses: pages.runs.pages, most: pages.ceiling, mayMove: mayMove)
        if pages.reserved > 0 { backing.add(pages.reserved, at: 0, free: pages.runs) }
    }

    /// Hands out a run of pages; nil without a long enough run.
    mutating func handOut(_ count: Int, alignedTo alignment: Int, to slot: Int = 0) -> UnsafeMutableRawPointer? {
        let offset = alignment > DeviceRegion.pageSize ? Int(bitPattern: base) / DeviceRegion.pageSize : 0
        let page = pages.handOut(
            count, alignment: alignment / DeviceRegion.pageSize, offset: offset, to: slot)
        guard let page else { return nil }
        back(count, at: page)
        return base + page * DeviceRegion.pageSize
    }

    /// Hands out the pages from `address` on; nil when they are not free.
    mutating func handOut(
        _ count: Int, at address: UnsafeMutableRawPointer, to slot: Int = 0
    ) -> UnsafeMutableRawPointer? {
        guard address >= base else { return nil }
        let page = (address - base) / DeviceRegion.pageSize
        guard pages.handOut(count, startingAt: page, to: slot) else { return nil }
        back(count, at: page)
        return address
    }

    /// Backs pages that are handed out. With a compressor, neighbours that may have no frames are left alone.
    private mutating func back(_ count: Int, at page: Int) {
        var mayWiden = true
        if let frames = pages.frames {
            let widest = PageBacking.widest(page..<page + count, of: pages.runs.pages)
            mayWiden = !frames.pointee.holdsFrameless(widest)
        }
        backing.add(count, at: page, free: pages.runs, mayWiden: mayWiden)
    }

    /// Gives frames to pages without frames, with their contents, or filled with a byte if none are kept.
    mutating func restore(_ range: Range<Int>, _ byte: Int32) {
        pages.noteFrames()
        backing.add(range.count, at: range.lowerBound, free: pages.runs, mayWiden: false)
        if let contents = pages.frames?.pointee.contents {
            for page in range { contents.restore(page) }
            return
        }
        memset(base + range.lowerBound * DeviceRegion.pageSize, byte, range.count * DeviceRegion.pageSize)
    }

    /// Compressed pages lose their frames.
    mutating func drop(_ range: Range<Int>) { backing.drop(range) }

    /// Takes pages back.
    mutating func takeBack(_ count: Int, at address: UnsafeMutableRawPointer) {
        let page = (address - base) / DeviceRegion.pageSize
        pages.takeBack(count, at: page)
        backing.noteFree(page..<page + count)
    }
}
