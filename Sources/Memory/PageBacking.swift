import Glibc

/// Tracks the pages of the region that the host has backed with memory, and keeps them within the ceiling.
///
/// A page that a process gives back stays backed, so that it can be handed out again without a fault. Runs may be so
/// spread out that more pages would be backed than the ceiling allows. Only then do free pages go back to the host,
/// from the top.
///
/// Plimsoll asks the host for sixteen or more pages at a time (`MADV_POPULATE_WRITE`, Linux 5.14), because a fault for
/// each page costs twice as much. On a host without this advice, pages are faulted in one by one; nothing else differs.
struct PageBacking: ~Copyable {
    private let base: UnsafeMutableRawPointer
    private let addresses: Int
    private let most: Int
    /// One bit per address.
    private let words: UnsafeMutablePointer<UInt64>
    /// No page from this one on is backed.
    private var end = 0
    private(set) var count = 0
    private(set) var peak = 0

    /// The fewest pages given back to the host at a time: a call costs more than a page.
    private static let piece = 1024
    /// The fewest pages asked of the host at a time.
    private static let granule = 16
    /// `MADV_POPULATE_WRITE` of `asm-generic/mman-common.h`; older C libraries do not name it.
    private static let populateForWriting: Int32 = 23

    init(base: UnsafeMutableRawPointer, addresses: Int, most: Int) {
        self.base = base
        self.addresses = addresses
        self.most = most
        guard let memory = calloc(addresses / 64 + 1, MemoryLayout<UInt64>.stride) else {
            preconditionFailure("the host has no memory for \(addresses) page bits")
        }
        words = memory.bindMemory(to: UInt64.self, capacity: addresses / 64 + 1)
    }

    deinit { free(words) }

    /// Backs pages that will be written. `runs` are the free runs, without these pages.
    ///
    /// - Parameter mayWiden: Whether the neighbours may be backed, too.
    mutating func add(_ length: Int, at page: Int, free runs: borrowing PageRuns, mayWiden: Bool = true) {
        let fresh = set(page..<page + length, true)
        count += fresh
        end = max(end, page + length)
        if count > most { discard(runs) }
        if fresh > 0 { populate(page, length, mayWiden) }
        peak = max(peak, count)
    }

    /// Pages and the neighbours that are backed with them.
    static func widest(_ pages: Range<Int>, of addresses: Int) -> Range<Int> {
        let lower = pages.lowerBound / granule * granule
        return lower..<min((pages.upperBound + granule - 1) / granule * granule, addresses)
    }

    /// Asks the host for the pages and for their neighbours, which are handed out next.
    private mutating func populate(_ page: Int, _ length: Int, _ mayWiden: Bool) {
        let widest = PageBacking.widest(page..<page + length, of: addresses)
        let (lower, upper) = (widest.lowerBound, widest.upperBound)
        let isWide = mayWiden && count + upper - lower - length <= most
        let (first, last) = isWide ? (lower, upper) : (page, page + length)
        if isWide {
            count += set(first..<last, true)
            end = max(end, last)
        }
        let size = DeviceRegion.pageSize
        _ = madvise(base + first * size, (last - first) * size, PageBacking.populateForWriting)
    }

    /// Gives free pages back to the host until no more are backed than allowed.
    private mutating func discard(_ runs: borrowing PageRuns) {
        var page = end
        while count > most, let run = runs.lastRun(before: page) {
            var upper = min(run.upperBound, page)
            while count > most && upper > run.lowerBound {
                let lower = max(run.lowerBound, upper - PageBacking.piece)
                discard(lower..<upper)
                upper = lower
            }
            page = upper
        }
        precondition(count <= most, "\(count) pages are backed under a ceiling of \(most)")
    }

    /// Gives pages back to the host.
    mutating func discard(_ pages: Range<Int>) {
        let cleared = set(pages, false)
        guard cleared > 0 else { return }
        count -= cleared
        let size = DeviceRegion.pageSize
        let code = madvise(base + pages.lowerBound * size, pages.count * size, MADV_DONTNEED)
        if code != 0 { HostRefusal.end("did not take \(pages.count) pages back") }
    }

    /// Sets the bits of a range; returns how many of them changed.
    private func set(_ pages: Range<Int>, _ value: Bool) -> Int {
        var changed = 0
        var page = pages.lowerBound
        while page < pages.upperBound {
            let (word, bit) = (page >> 6, page & 63)
            let length = min(64 - bit, pages.upperBound - page)
            let mask = (UInt64.max >> UInt64(64 - length)) << UInt64(bit)
            let before = words[word]
            words[word] = value ? before | mask : before & ~mask
            changed += (before ^ words[word]).nonzeroBitCount
            page += length
        }
        return changed
    }
}
