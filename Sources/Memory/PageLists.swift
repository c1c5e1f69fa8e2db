/// Lists of pages, the one used longest ago first, and what each use of a page reads.
///
/// Neighbours that were last used together are one run, which is linked as a whole: a use of a slab moves one run,
/// however many pages the slab has. The last page of a run stands for it, so taking pages from its start leaves it as
/// it is. Pages without a frame are runs of one page.
///
/// The table has only what a use reads, so that more of it fits into the host's caches.
struct PageLists: ~Copyable {
    /// Stands for no page.
    static let none = UInt32.max
    /// The most pages of a run: cutting one writes each of its pages.
    private static let longest = 64

    struct Page {
        /// Of a run: the call in which it was last used; 0 for a page without a frame. Of another page: not 0.
        fileprivate(set) var stamp: UInt32
        /// Of a run: the run before it in its list.
        fileprivate var previous: UInt32
        /// Of a run: the run after it in its list. Of another page: its run.
        fileprivate var next: UInt32
        /// One plus the slot that holds the page; 0 for a free page.
        var owner: UInt16
        /// The pages of a run, which end with this one; 0 for a page that is not the last of its run.
        fileprivate var length: UInt16
    }

    struct List {
        fileprivate var first = PageLists.none
        fileprivate var last = PageLists.none
        fileprivate(set) var count = 0
    }

    /// By page.
    private let table: UnsafeMutablePointer<Page>
    private let pages: Int

    init(pages: Int) {
        self.pages = pages
        table = HostTable.make(pages, of: Page.self)
    }

    deinit { HostTable.free(table, pages) }

    subscript(page: Int) -> Page {
        @inline(__always)
        get { table[page] }
        @inline(__always)
        nonmutating _modify { yield &table[page] }
    }

    // MARK: Runs

    /// The last page of a page's run.
    @inline(__always)
    func run(of page: Int) -> Int { table[page].length == 0 ? Int(table[page].next) : page }

    /// The first page of a run.
    @inline(__always)
    func start(_ run: Int) -> Int { run &+ 1 &- Int(table[run].length) }

    /// The call in which a page was last used.
    @inline(__always)
    func use(of page: Int) -> UInt32 { table[run(of: page)].stamp }

    /// Whether these pages are in one run, which was last used in this call.
    @inline(__always)
    func areOne(_ first: Int, _ end: Int, usedIn stamp: UInt32) -> Bool {
        let run = table[end &- 1]
        return run.stamp == stamp && Int(run.length) >= end &- first
    }

    /// Whether these pages are a run of pages with frames.
    @inline(__always)
    func isRun(_ first: Int, _ end: Int) -> Bool {
        let run = table[end &- 1]
        return Int(run.length) == end &- first && run.stamp != 0
    }

    /// The run that was used longest ago, and the one that was used last.
    @inline(__always)
    func oldest(in list: List) -> Int? { list.first == PageLists.none ? nil : Int(list.first) }
    @inline(__always)
    func newest(in list: List) -> Int? { list.last == PageLists.none ? nil : Int(list.last) }
    /// The run after a run.
    @inline(__always)
    func next(_ run: Int) -> Int? { table[run].next == PageLists.none ? nil : Int(table[run].next) }

    // MARK: Changes

    /// Puts pages at the end of a list, as runs that were used in this call; in call 0, they have no frames.
    func append(_ range: Range<Int>, to list: inout List, usedIn stamp: UInt32) {
        var first = range.lowerBound
        while first < range.upperBound {
            let end = min(range.upperBound, first + PageLists.longest)
            makeRun(first, end, stamp)
            link(end - 1, to: &list)
            first = end
        }
        list.count += range.count
    }

    /// Takes pages out of a list.
    func remove(_ range: Range<Int>, from list: inout List) {
        var page = range.lowerBound
        while page < range.upperBound {
            let run = run(of: page)
            let end = min(run + 1, range.upperBound)
            cut(page, end, outOf: run, of: &list)
            page = end
        }
        list.count -= range.count
    }

    /// Moves a run, which was not used in this call yet, to the end of its list.
    @inline(__always)
    func useRun(_ run: Int, of list: inout List, in stamp: UInt32) {
        table[run].stamp = stamp
        guard table[run].next != PageLists.none else { return }
        unlink(run, from: &list)
        link(run, to: &list)
    }

    /// Moves pages of a list to its end, as runs of their own: they are used in this call. Those that were already used
    /// in it stay.
    func use(_ range: Range<Int>, of list: inout List, in stamp: UInt32) {
        var page = range.lowerBound
        while page < range.upperBound {
            let first = page
            while page < range.upperBound, case let run = run(of: page), table[run].stamp != stamp {
                let end = min(run + 1, range.upperBound)
                cut(page, end, outOf: run, of: &list)
                page = end
            }
            if first < page {
                list.count -= page - first
                append(first..<page, to: &list, usedIn: stamp)
            } else {
                page = run(of: page) + 1
            }
        }
    }

    /// Takes pages out of a run; what is left of it stays where it is. The list's count is not changed.
    private func cut(_ first: Int, _ end: Int, outOf run: Int, of list: inout List) {
        let start = start(run)
        if end <= run {
            table[run].length = UInt16(run + 1 - end)
            guard start < first else { return }
            makeRun(start, first, table[run].stamp)
            link(first - 1, before: run, of: &list)
        } else if start < first {
            makeRun(start, first, table[run].stamp)
            link(first - 1, before: run, of: &list)
            unlink(run, from: &list)
        } else {
            unlink(run, from: &list)
        }
    }

    private func makeRun(_ first: Int, _ end: Int, _ stamp: UInt32) {
        let run = end - 1
        for page in first..<run {
            table[page].stamp = 1
            table[page].next = UInt32(run)
            table[page].length = 0
        }
        table[run].stamp = stamp
        table[run].length = UInt16(end - first)
    }

    // MARK: Links

    @inline(__always)
    private func link(_ run: Int, to list: inout List) {
        table[run].previous = list.last
        table[run].next = PageLists.none
        if list.last == PageLists.none { list.first = UInt32(run) } else { table[Int(list.last)].next = UInt32(run) }
        list.last = UInt32(run)
    }

    private func link(_ run: Int, before other: Int, of list: inout List) {
        let previous = table[other].previous
        table[run].previous = previous
        table[run].next = UInt32(other)
        table[other].previous = UInt32(run)
        if previous == PageLists.none { list.first = UInt32(run) } else { table[Int(previous)].next = UInt32(run) }
    }

    @inline(__always)
    private func unlink(_ run: Int, from list: inout List) {
        let (previous, next) = (table[run].previous, table[run].next)
        if previous == PageLists.none { list.first = next } else { table[Int(previous)].next = next }
        if next == PageLists.none { list.last = previous } else { table[Int(next)].previous = previous }
    }
}
