import Quantities

/// Which pages of a device have a frame (a page of real memory), which are compressed, which are in the store on
/// flash, and in which order each process used its pages.
///
/// A page that is handed out belongs to one holder, a slot. It has a frame, is compressed, or is swapped. A page
/// without a frame keeps its address: for jemalloc it is still in use. The contents of a compressed page take room in a
/// segment of the compressor's pool, or none if they are one repeated word. A swapped page was compressed; then its
/// contents moved from the pool to the store, where they take no memory.
///
/// The extent hooks change the table, so nothing here allocates after `init`. The host backs only the parts of the
/// table that are written: 36 bytes for each address that was ever handed out.
struct FrameTable: ~Copyable {
    /// Where the contents of a page are.
    enum Place {
        static let frame: UInt32 = 0
        /// The contents are one repeated word: only the table keeps them.
        static let word: UInt32 = 1
        /// The contents are in the store on flash.
        static let store: UInt32 = 2
        /// The number of the first segment.
        static let segments: UInt32 = 3
    }

    /// What is known of a page beside its last use.
    struct Page {
        /// The links in its segment.
        var earlier: UInt32
        var later: UInt32
        /// See `Place`.
        var place: UInt32
        /// The bytes that the compressed contents take.
        var size: UInt16
        /// For the first page of a slab: how many objects live in it.
        var objects: UInt16
        /// For a page of a slab: one plus the number of pages since the slab's start.
        var slab: UInt8
    }

    /// The pages of one slot.
    struct Holder {
        fileprivate(set) var framed = PageLists.List()
        fileprivate(set) var compressed = PageLists.List()
        /// Older than all of `compressed` but repeated words.
        fileprivate(set) var swapped = PageLists.List()
        /// Pages that came back so far because they were used.
        fileprivate(set) var refaulted = 0
        /// What `disagreement` found in `compressed` and `swapped`; nil since one of them has changed.
        fileprivate var found: Found?
    }

    /// What the pages without a frame amount to.
    fileprivate struct Found {
        var compressed = 0
        /// Those of them that are one repeated word.
        var words = 0
        /// The bytes of the contents of the others.
        var stored = 0
        var swapped = 0
        /// The bytes of their contents in the store.
        var onStorage = 0
        /// A page of the wrong list.
        var strayed: Int?
    }

    /// What went to the store on flash and came back from there.
    struct StoreFigures: Equatable {
        /// Pages whose contents are there now, and the bytes of these contents.
        fileprivate(set) var swapped = 0
        fileprivate(set) var onStorage = 0
        /// Pages that went there so far, and the bytes that were written.
        fileprivate(set) var swappedInAll = 0
        fileprivate(set) var writtenInAll = 0
        /// Pages that came back from there because they were used, and the bytes that were read.
        fileprivate(set) var swappedBack = 0
        fileprivate(set) var readInAll = 0
    }

    private let lists: PageLists
    private let pages: UnsafeMutablePointer<Page>
    private let holders: UnsafeMutablePointer<Holder>
    private let count: Int
    /// No slot from this one on has ever had pages.
    private var slots = 0
    var segments: SegmentTable
    /// What compressed pages contain; nil if only their sizes are known.
    var contents: PageContents?
    /// Pages without a frame whose contents are in memory.
    private(set) var compressed = 0
    /// Those of them that are one repeated word.
    private(set) var words = 0
    /// Pages that came back so far because they were used.
    private(set) var refaulted = 0
    /// Those of them that were one repeated word.
    private(set) var refaultedWords = 0
    private(set) var store = StoreFigures()
    /// The number of the present call. All pages used in one call are equally old; their order is that of first use.
    private var stamp: UInt32 = 1

    /// - Parameters:
    ///   - pages: How many addresses the device has, in pages.
    ///   - segments: The most segments of the pool.
    init(pages count: Int, segments: Int) {
        lists = PageLists(pages: count)
        pages = HostTable.make(count, of: Page.self)
        holders = .allocate(capacity: MemoryLimits.liveProcesses)
        holders.initialize(repeating: Holder(), count: MemoryLimits.liveProcesses)
        self.count = count
        self.segments = SegmentTable(most: segments)
    }

    deinit {
        HostTable.free(pages, count)
        holders.deallocate()
    }

    /// Pages of one slot that are compressed, and that are swapped.
    func compressed(of slot: Int) -> Int { holders[slot].compressed.count }
    func swapped(of slot: Int) -> Int { holders[slot].swapped.count }

    /// Begins a call: pages used from now on are younger than all others.
    mutating func beginCall() {
        stamp &+= 1
        // No call has the number 0.
        if stamp == 0 { stamp = 1 }
    }

    // MARK: Pages come and go

    /// Pages are handed out to a slot; they have frames.
    mutating func add(_ range: Range<Int>, to slot: Int) {
        for page in range {
            precondition(lists[page].owner == 0, "page \(page) is handed out twice")
            lists[page].owner = UInt16(slot + 1)
        }
        lists.append(range, to: &holders[slot].framed, usedIn: stamp)
        slots = max(slots, slot + 1)
    }

    /// Pages go back to the device, with or without frames.
    mutating func remove(_ range: Range<Int>) {
        var first = range.lowerBound
        while first < range.upperBound {
            let (slot, end) = (slot(of: first), min(lists.run(of: first) + 1, range.upperBound))
            if pages[first].place == Place.frame {
                lists.remove(first..<end, from: &holders[slot].framed)
            } else {
                dropContents(first, of: slot)
            }
            for page in first..<end {
                precondition(self.slot(of: page) == slot, "page \(page) is not of slot \(slot)")
                lists[page].owner = 0
                pages[page].slab = 0
                pages[page].objects = 0
            }
            first = end
        }
    }

    private func slot(of page: Int) -> Int {
        let owner = Int(lists[page].owner)
        precondition(owner > 0, "page \(page) is in use, but not handed out")
        return owner - 1
    }

    /// Whether a page that is handed out has a frame.
    @inline(__always)
    func hasFrame(_ page: Int) -> Bool { lists[page].stamp != 0 }

    /// Pages that are handed out and have no frame.
    var frameless: Int { compressed + store.swapped }

    /// Whether any of these pages is compressed or swapped.
    func holdsFrameless(_ range: Range<Int>) -> Bool {
        for page in range where pages[page].place != Place.frame { return true }
        return false
    }

    // MARK: Use

    /// Whether all pages were used in this call, together, so that they have frames and nothing has to be noted.
    @inline(__always)
    func areFresh(_ first: Int, _ end: Int) -> Bool { lists.areOne(first, end, usedIn: stamp) }

    /// Notes that pages are used if they are one run, as the pages of a slab mostly are; false if they are not.
    mutating func useRun(_ first: Int, _ end: Int) -> Bool {
        guard lists.isRun(first, end) else { return false }
        lists.useRun(end &- 1, of: &holders[slot(of: first)].framed, in: stamp)
        return true
    }

    @inline(__always)
    func missing(_ range: Range<Int>) -> Int {
        var (missing, page) = (0, range.lowerBound)
        while page < range.upperBound {
            if hasFrame(page) {
                page = lists.run(of: page) &+ 1
            } else {
                missing &+= 1
                page &+= 1
            }
        }
        return missing
    }

    /// Notes that pages, which have frames and one holder, are used.
    @inline(__always)
    mutating func use(_ range: Range<Int>) {
        lists.use(range, of: &holders[slot(of: range.lowerBound)].framed, in: stamp)
    }

    /// A page without a frame gets one again.
    mutating func restore(_ page: Int, isUse: Bool) {
        let slot = slot(of: page)
        let place = pages[page].place
        dropContents(page, of: slot)
        lists.append(page..<page + 1, to: &holders[slot].framed, usedIn: stamp)
        guard isUse else { return }
        if place == Place.word { refaultedWords += 1 }
        if place == Place.store {
            store.swappedBack += 1
            store.readInAll += Int(pages[page].size)
        }
        holders[slot].refaulted += 1
        refaulted += 1
    }

    // MARK: Compression

    /// The page with a frame that the slot used longest ago.
    func oldest(of slot: Int) -> Int? { lists.oldest(in: holders[slot].framed).map { lists.start($0) } }

    /// The call in which the slot last used that page.
    func oldestUse(by slot: Int) -> Int? {
        guard let page = oldest(of: slot) else { return nil }
        return use(of: page)
    }

    /// The call in which a page was last used.
    func use(of page: Int) -> Int { Int(lists.use(of: page)) }

    /// The number of the present call.
    var lastUse: Int { Int(stamp) }

    /// The page that was compressed last; if no page is compressed, the one that was swapped last.
    func newestFrameless(of slot: Int) -> Int? {
        lists.newest(in: holders[slot].compressed) ?? lists.newest(in: holders[slot].swapped)
    }

    /// Compresses a page into the segment that is filled, or into none if `size` is 0.
    mutating func compress(_ page: Int, size: Int) {
        let slot = slot(of: page)
        precondition(pages[page].place == Place.frame, "page \(page) is compressed twice")
        lists.remove(page..<page + 1, from: &holders[slot].framed)
        lists.append(page..<page + 1, to: &holders[slot].compressed, usedIn: 0)
        holders[slot].found = nil
        compressed += 1
        guard size > 0 else {
            pages[page].size = 0
            pages[page].place = Place.word
            words += 1
            return
        }
        enterSegment(page, size)
        contents?.keep(page, at: justWritten(page))
    }

    /// The segment of contents that were just written, and where in it they begin.
    private func justWritten(_ page: Int) -> StoredPlace {
        let segment = Int(pages[page].place - Place.segments)
        return StoredPlace(
            segment: segment, offset: Int(segments.table[segment].written) - Int(pages[page].size))
    }

    private mutating func enterSegment(_ page: Int, _ size: Int) {
        pages[page].size = UInt16(size)
        let segment = segments.write(size)
        pages[page].place = Place.segments + UInt32(segment)
        let last = segments.table[segment].last
        pages[page].earlier = last
        pages[page].later = PageLists.none
        if last == PageLists.none {
            segments.table[segment].first = UInt32(page)
        } else {
            pages[Int(last)].later = UInt32(page)
        }
        segments.table[segment].last = UInt32(page)
    }

    /// A page without a frame leaves its list, and its contents their place.
    private mutating func dropContents(_ page: Int, of slot: Int) {
        holders[slot].found = nil
        if pages[page].place == Place.store {
            lists.remove(page..<page + 1, from: &holders[slot].swapped)
            store.swapped -= 1
            store.onStorage -= Int(pages[page].size)
        } else {
            lists.remove(page..<page + 1, from: &holders[slot].compressed)
            compressed -= 1
            if pages[page].place == Place.word { words -= 1 } else { takeOut(page) }
        }
        pages[page].place = Place.frame
    }

    /// Moves contents from the segments to the store, those of the slot's page first that was compressed first. Pages
    /// of one repeated word stay.
    ///
    /// - Parameters:
    ///   - bytes: The most bytes of contents. The first page whose contents would be too much ends it.
    ///   - most: The most pages.
    mutating func swapOut(_ slot: Int, atMost bytes: Int, pages most: Int) -> SwappedPages {
        precondition(contents == nil, "the store keeps no contents that LZ4 compressed")
        var (moved, written) = (0, 0)
        var next = lists.oldest(in: holders[slot].compressed)
        while let page = next, moved < most {
            next = lists.next(page)
            guard pages[page].place != Place.word else { continue }
            let size = Int(pages[page].size)
            guard written + size <= bytes else { break }
            takeOut(page)
            pages[page].place = Place.store
            lists.remove(page..<page + 1, from: &holders[slot].compressed)
            lists.append(page..<page + 1, to: &holders[slot].swapped, usedIn: 0)
            moved += 1
            written += size
        }
        holders[slot].found = nil
        compressed -= moved
        store.swapped += moved
        store.onStorage += written
        store.swappedInAll += moved
        store.writtenInAll += written
        return SwappedPages(pages: pageBytes(moved), written: ByteCount(written))
    }

    /// Moves a page with a frame to the store as it is.
    mutating func pageOut(_ page: Int) {
        precondition(contents == nil, "the store keeps no contents that LZ4 compressed")
        let slot = slot(of: page)
        lists.remove(page..<page + 1, from: &holders[slot].framed)
        lists.append(page..<page + 1, to: &holders[slot].swapped, usedIn: 0)
        holders[slot].found = nil
        pages[page].size = UInt16(DeviceRegion.pageSize)
        pages[page].place = Place.store
        store.swapped += 1
        store.onStorage += DeviceRegion.pageSize
        store.swappedInAll += 1
        store.writtenInAll += DeviceRegion.pageSize
    }

    private mutating func takeOut(_ page: Int) {
        let segment = Int(pages[page].place - Place.segments)
        let (earlier, later) = (pages[page].earlier, pages[page].later)
        if earlier == PageLists.none {
            segments.table[segment].first = later
        } else {
            pages[Int(earlier)].later = later
        }
        if later == PageLists.none {
            segments.table[segment].last = earlier
        } else {
            pages[Int(later)].earlier = earlier
        }
        segments.erase(Int(pages[page].size), from: segment)
    }

    /// Moves the contents of a sparse segment into the segment that is filled, as far as they fit. Returns the bytes
    /// that were moved.
    mutating func compact(_ segment: Int) -> Int {
        var moved = 0
        while case let first = segments.table[segment].first, first != PageLists.none {
            let page = Int(first)
            let size = Int(pages[page].size)
            guard segments.hasRoom(for: size) else { return moved }
            takeOut(page)
            enterSegment(page, size)
            contents?.move(page, to: justWritten(page))
            moved += size
        }
        return moved
    }

    // MARK: Slabs

    /// Notes an object in a slab. A new slab starts with its first object.
    @inline(__always)
    mutating func enterSlab(_ page: Int, pages length: Int) {
        if pages[page].slab == 0 {
            for offset in 0..<length { pages[page + offset].slab = UInt8(offset + 1) }
        }
        pages[page - Int(pages[page].slab) + 1].objects += 1
    }

    /// Notes that an object has left its slab; a slab without objects is none.
    @inline(__always)
    mutating func leaveSlab(_ page: Int, pages length: Int) {
        let first = firstOfSlab(page)
        pages[first].objects -= 1
        guard pages[first].objects == 0 else { return }
        for offset in 0..<length { pages[first + offset].slab = 0 }
    }

    /// The first page of a page's slab.
    @inline(__always)
    func firstOfSlab(_ page: Int) -> Int { page - Int(pages[page].slab) + 1 }

    // MARK: Claims

    /// Counts everything anew, but for lists that have not changed since they were counted; returns what disagrees.
    func disagreement() -> String? {
        var all = Found()
        for slot in 0..<slots {
            if let claim = contentsDisagreement(in: slot) { return claim }
            let found = holders[slot].found ?? count(holders[slot])
            holders[slot].found = found
            if let page = found.strayed { return "page \(page) of slot \(slot) is in the wrong list" }
            guard found.compressed == holders[slot].compressed.count else {
                return "slot \(slot) lists \(found.compressed) compressed pages, not \(holders[slot].compressed.count)"
            }
            guard found.swapped == holders[slot].swapped.count else {
                return "slot \(slot) lists \(found.swapped) swapped pages, not \(holders[slot].swapped.count)"
            }
            all.compressed += found.compressed
            all.words += found.words
            all.stored += found.stored
            all.swapped += found.swapped
            all.onStorage += found.onStorage
        }
        return disagreement(with: all)
    }

    private func disagreement(with all: Found) -> String? {
        guard all.compressed == compressed else { return "\(all.compressed) pages are compressed, not \(compressed)" }
        guard all.swapped == store.swapped else { return "\(all.swapped) pages are swapped, not \(store.swapped)" }
        guard all.onStorage == store.onStorage else {
            return "swapped pages take \(all.onStorage) bytes, the store counts \(store.onStorage)"
        }
        guard all.words == words else { return "\(all.words) pages are one word, not \(words)" }
        guard all.stored == segments.used else {
            return "pages take \(all.stored) bytes, segments count \(segments.used)"
        }
        return nil
    }

    private func count(_ holder: Holder) -> Found {
        var found = Found()
        var next = lists.oldest(in: holder.compressed)
        while let page = next {
            found.compressed += 1
            let entry = pages[page]
            if entry.place == Place.word { found.words += 1 } else { found.stored += Int(entry.size) }
            if entry.place == Place.frame || entry.place == Place.store { found.strayed = page }
            next = lists.next(page)
        }
        next = lists.oldest(in: holder.swapped)
        while let page = next {
            found.swapped += 1
            found.onStorage += Int(pages[page].size)
            if pages[page].place != Place.store { found.strayed = page }
            next = lists.next(page)
        }
        return found
    }

    /// Compares what is stored with what was compressed.
    private func contentsDisagreement(in slot: Int) -> String? {
        guard let contents else { return nil }
        var next = lists.oldest(in: holders[slot].compressed)
        while let page = next {
            if let claim = contents.disagreement(about: page, with: pages[page]) { return claim }
            next = lists.next(page)
        }
        return nil
    }
}
