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

    /// Maps the ceiling and writes the reserved bytes at its start: the system's own memory.
    init(_ size: DeviceSize) throws(DeviceMemoryFailure) {
        let base = try DeviceRegion.map(size.ceiling)
        state = .allocate(capacity: 1)
        state.initialize(to: RegionState(base: base, pages: PageBooks(size)))
        memset(base, 0x5a, size.reserved.bytes)
    }

    deinit {
        let code = munmap(state.pointee.base, state.pointee.pages.runs.pages * DeviceRegion.pageSize)
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

/// Where the region starts, and the books of its pages: what the extent hooks need.
struct RegionState: ~Copyable {
    let base: UnsafeMutableRawPointer
    var pages: PageBooks

    /// Hands out a run of pages, or nil when there is none.
    mutating func handOut(_ count: Int, alignedTo alignment: Int) -> UnsafeMutableRawPointer? {
        let offset = alignment > DeviceRegion.pageSize ? Int(bitPattern: base) / DeviceRegion.pageSize : 0
        let page = pages.handOut(count, alignment: alignment / DeviceRegion.pageSize, offset: offset)
        return page.map { base + $0 * DeviceRegion.pageSize }
    }

    /// Hands out the pages from `address` on, or nil when they are not free.
    mutating func handOut(_ count: Int, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        guard address >= base else { return nil }
        return pages.handOut(count, startingAt: (address - base) / DeviceRegion.pageSize) ? address : nil
    }

    /// Takes pages back.
    mutating func takeBack(_ count: Int, at address: UnsafeMutableRawPointer) {
        pages.takeBack(count, at: (address - base) / DeviceRegion.pageSize)
    }
}
