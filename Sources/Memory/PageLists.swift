/// Lists of pages, the one used longest ago first, and what each use of a page reads.
///
/// The table has only what a use reads, so that more of it fits into the host's caches.
struct PageLists: ~Copyable {
    /// Stands for no page.
    static let none = UInt32.max

    struct Use {
        /// The call in which the page was last used; 0 for a page without a frame.
        var stamp: UInt32
        /// The pages before and after it in its list.
        fileprivate var previous: UInt32
        fileprivate(set) var next: UInt32
        /// One plus the slot that holds the page; 0 for a free page.
        var owner: UInt16
    }

    struct List {
        fileprivate(set) var first = PageLists.none
        fileprivate(set) var last = PageLists.none
        fileprivate(set) var count = 0
    }

    /// By page.
    private let uses: UnsafeMutablePointer<Use>
    private let pages: Int

    init(pages: Int) {
        self.pages = pages
        uses = HostTable.make(pages, of: Use.self)
    }

    deinit { HostTable.free(uses, pages) }

    subscript(page: Int) -> Use {
        @inline(__always)
        get { uses[page] }
        @inline(__always)
        nonmutating _modify { yield &uses[page] }
    }

    func append(_ page: Int, to list: inout List) {
        uses[page].previous = list.last
        uses[page].next = PageLists.none
        if list.last == PageLists.none { list.first = UInt32(page) } else { uses[Int(list.last)].next = UInt32(page) }
        list.last = UInt32(page)
        list.count += 1
    }

    func remove(_ page: Int, from list: inout List) {
        let (previous, next) = (uses[page].previous, uses[page].next)
        if previous == PageLists.none { list.first = next } else { uses[Int(previous)].next = next }
        if next == PageLists.none { list.last = previous } else { uses[Int(next)].previous = previous }
        list.count -= 1
    }

    /// Moves pages that follow each other in the list to its end.
    @inline(__always)
    func moveToEnd(_ first: Int, _ last: Int, of list: inout List) {
        let (previous, next) = (uses[first].previous, uses[last].next)
        guard next != PageLists.none else { return }
        if previous == PageLists.none { list.first = next } else { uses[Int(previous)].next = next }
        uses[Int(next)].previous = previous
        uses[Int(list.last)].next = UInt32(first)
        uses[first].previous = list.last
        uses[last].next = PageLists.none
        list.last = UInt32(last)
    }
}
