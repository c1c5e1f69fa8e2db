import CJemalloc
import Glibc

/// Tracks the pages of the region that the host has backed with memory, and keeps them within the ceiling.
///
/// A page that a process gives back stays backed, so that it can be handed out again without a fault. So does a page
/// whose contents the compressor took: it is **spare**. Memory that the host provides has to be cleared, which costs
/// more than anything else here. So a page that is handed out gets the memory of a spare page, if there is one: the
/// host moves it from address to address (Linux 6.8). Runs may be so spread out that more pages would be backed than
/// the ceiling allows. Only then is the memory of free pages moved, from the top.
///
/// A host may not move memory. Then spare pages go back to the host at once, and free pages when the ceiling asks for
/// it. Nothing else differs: which pages are handed out does not depend on where they are backed.
///
/// Plimsoll asks the host for sixteen or more pages at a time (`MADV_POPULATE_WRITE`, Linux 5.14), because a fault for
/// each page costs twice as much. On a host without this advice, pages are faulted in one by one; nothing else differs.
struct PageBacking: ~Copyable {
    private let base: UnsafeMutableRawPointer
    private let addresses: Int
    private let most: Int
    private var backed: PageBits
    /// Backed pages that have no frame in the device's books.
    private var spare: PageBits
    private var spares = 0
    /// Where the search for spare pages goes on.
    private var cursor = 0
    /// No free page from this one on is backed, unless it is spare.
    private var top = 0
    /// What moves memory; -1 on a host that does not.
    private var mover: Int32
    private(set) var count = 0
    private(set) var peak = 0

    /// The fewest pages given back to the host at a time: a call costs more than a page.
    private static let piece = 1024
    /// The fewest pages asked of the host at a time.
    private static let granule = 16
    /// `MADV_POPULATE_WRITE` of `asm-generic/mman-common.h`; older C libraries do not name it.
    private static let populateForWriting: Int32 = 23

    /// - Parameter mayMove: Whether memory is moved if the host can do it.
    init(base: UnsafeMutableRawPointer, addresses: Int, most: Int, mayMove: Bool) {
        self.base = base
        self.addresses = addresses
        self.most = most
        backed = PageBits(pages: addresses)
        spare = PageBits(pages: addresses)
        mover = mayMove ? plimsoll_open_mover(base, addresses * DeviceRegion.pageSize) : -1
    }

    deinit { if mover >= 0 { close(mover) } }

    /// Whether the host moves memory.
    var moves: Bool { mover >= 0 }

    /// Backs pages that will be written. `runs` are the free runs, without these pages.
    ///
    /// - Parameter mayWiden: Whether the neighbours may be backed, too.
    mutating func add(_ length: Int, at page: Int, free runs: borrowing PageRuns, mayWiden: Bool = true) {
        let pages = page..<page + length
        if spares > 0 { spares -= spare.set(pages, false) }
        var missing = length - backed.count(in: pages)
        guard missing > 0 else { return }
        if moves { missing -= moveMemory(to: pages, missing, runs) }
        guard missing > 0 else { return }
        count += backed.set(pages, true)
        while count > most {
            guard let idle = idle(atMost: PageBacking.piece, orFree: true, runs) else {
                preconditionFailure("\(count) pages are backed under a ceiling of \(most)")
            }
            discard(idle)
        }
        populate(page, length, mayWiden)
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
            count += backed.set(first..<last, true)
            top = max(top, last)
        }
        let size = DeviceRegion.pageSize
        _ = madvise(base + first * size, (last - first) * size, PageBacking.populateForWriting)
    }

    /// Pages are free.
    mutating func noteFree(_ pages: Range<Int>) { top = max(top, pages.upperBound) }

    /// Pages lose their frames, and keep their addresses.
    mutating func drop(_ pages: Range<Int>) {
        guard moves else { return discard(pages) }
        if spares == 0 { cursor = pages.lowerBound }
        spares += spare.set(pages, true)
    }

    // MARK: Memory that is not needed

    /// Moves memory that is not needed to those of the pages that are not backed. Returns their number.
    private mutating func moveMemory(to pages: Range<Int>, _ missing: Int, _ runs: borrowing PageRuns) -> Int {
        let size = DeviceRegion.pageSize
        var (done, page) = (0, pages.lowerBound)
        while done < missing {
            page = backed.first(false, in: page..<pages.upperBound)
            let end = backed.first(true, in: page..<pages.upperBound)
            guard let idle = idle(atMost: end - page, orFree: count + missing - done > most, runs) else { break }
            let bytes = plimsoll_move_pages(
                mover, base + page * size, base + idle.lowerBound * size, idle.count * size)
            let moved = idle.lowerBound..<idle.lowerBound + bytes / size
            spares -= spare.set(moved, false)
            _ = backed.set(moved, false)
            _ = backed.set(page..<page + moved.count, true)
            done += moved.count
            guard moved.count == idle.count else {
                stopMoving()
                break
            }
        }
        return done
    }

    /// The host refused to move memory that it had provided: it is not asked again.
    private mutating func stopMoving() {
        close(mover)
        mover = -1
    }

    /// Backed pages that are not needed: spare ones, or else the last free ones, if those are wanted.
    private mutating func idle(atMost most: Int, orFree: Bool, _ runs: borrowing PageRuns) -> Range<Int>? {
        guard spares == 0 else { return nextSpare(atMost: most) }
        guard orFree else { return nil }
        while let run = runs.lastRun(before: top) {
            let upper = backed.endOfLast(true, in: run.lowerBound..<min(run.upperBound, top))
            top = upper
            guard upper > run.lowerBound else { continue }
            return backed.endOfLast(false, in: max(run.lowerBound, upper - most)..<upper)..<upper
        }
        return nil
    }

    private mutating func nextSpare(atMost most: Int) -> Range<Int> {
        var first = spare.first(true, in: cursor..<addresses)
        if first == addresses { first = spare.first(true, in: 0..<cursor) }
        let end = spare.first(false, in: first..<min(first + most, addresses))
        cursor = end
        return first..<end
    }

    /// Gives pages back to the host.
    private mutating func discard(_ pages: Range<Int>) {
        let cleared = backed.set(pages, false)
        guard cleared > 0 else { return }
        if spares > 0 { spares -= spare.set(pages, false) }
        count -= cleared
        let size = DeviceRegion.pageSize
        let code = madvise(base + pages.lowerBound * size, pages.count * size, MADV_DONTNEED)
        if code != 0 { HostRefusal.end("did not take \(pages.count) pages back") }
    }
}
