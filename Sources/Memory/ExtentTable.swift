/// All extents of an accounting device: runs of pages that one heap holds, like jemalloc's `edata_t` without memory.
///
/// An extent is an entry of the table, and is named by its number, which is reused. Numbers do not affect the order. As
/// in jemalloc, extents are ordered by serial and page; the serial tells when the pages came from the device.
struct ExtentTable: ~Copyable {
    /// A run of pages, and its links in a list and in a heap.
    ///
    /// It is half a cache line long.
    struct Extent {
        /// From the lowest bit: the first page, the number of pages, and the slot of the process that holds them.
        private var run: UInt64
        var serial: UInt32
        /// The neighbours in the list that the extent is in; -1 at its ends.
        var previous: Int32 = -1
        var next: Int32 = -1
        /// Its links in a heap: the sibling before it, or its parent if it is the first child; the sibling after it;
        /// its first child. -1 stands for none.
        var before: Int32 = -1
        var after: Int32 = -1
        var below: Int32 = -1

        private static let pageBits: UInt64 = 26
        private static let countBits: UInt64 = 24
        private static let pageMask: UInt64 = 1 << pageBits - 1
        private static let countMask: UInt64 = (1 << countBits - 1) << pageBits

        /// The device has fewer than 2^26 pages, a run at most 2^23.
        init(page: Int, pages: Int, serial: UInt32, slot: Int) {
            run =
                UInt64(slot) << (Extent.pageBits + Extent.countBits) | UInt64(pages) << Extent.pageBits | UInt64(page)
            self.serial = serial
        }

        var page: Int {
            get { Int(run & Extent.pageMask) }
            set { run = run & ~Extent.pageMask | UInt64(newValue) }
        }

        var pages: Int {
            get { Int(run >> Extent.pageBits & (1 << Extent.countBits - 1)) }
            set { run = run & ~Extent.countMask | UInt64(newValue) << Extent.pageBits }
        }

        var slot: Int { Int(run >> (Extent.pageBits + Extent.countBits)) }

        /// jemalloc's order: the oldest first; among equally old ones the lowest address (`edata_snad_comp`).
        var key: UInt64 { UInt64(serial) << 32 | run & Extent.pageMask }
    }

    /// The purpose of an extent in use. Freeing reads it for every object, so it is stored apart from the extents,
    /// where many fit into the cache.
    struct Use {
        /// How many more objects a slab takes; not kept up to date while the slab is the current one.
        var room: Int16 = 0
        /// The small size class of a slab.
        fileprivate var bin = Use.large
        fileprivate static let large = UInt8.max
    }

    /// Extents in the order of their arrival.
    struct List {
        fileprivate(set) var first: Int32 = -1
        fileprivate var last: Int32 = -1
    }

    /// Raw memory, because an array would check at every access whether it is shared.
    private(set) var extents: UnsafeMutablePointer<Extent>
    private(set) var uses: UnsafeMutablePointer<Use>
    private var capacity = 1024
    private var count = 0
    private var unused: [Int] = []
    /// By page: one plus the number of the dirty extent that begins or ends there; 0 for none.
    private let edges: UnsafeMutablePointer<UInt32>
    private let pages: Int
    init(pages: Int) {
        edges = HostTable.make(pages, of: UInt32.self)
        precondition(pages < 1 << 26, "a device of \(pages) pages")
        self.pages = pages
        extents = .cacheLines(capacity)
        uses = .allocate(capacity: capacity)
    }

    deinit {
        HostTable.free(edges, pages)
        extents.deallocate()
        uses.deallocate()
    }

    subscript(number: Int) -> Extent {
        _read {
            check(number)
            yield extents[number]
        }
        nonmutating _modify {
            check(number)
            yield &extents[number]
        }
    }

    @inline(__always)
    private func check(_ number: Int) {
        precondition(number >= 0 && number < count, "there is no extent \(number)")
    }

    /// The small size class of a slab; nil for a large object.
    func bin(of number: Int) -> Int? {
        check(number)
        let bin = uses[number].bin
        return bin == Use.large ? nil : Int(bin)
    }

    /// Counts an object freed in a slab that is not the current one; returns how many the slab takes now.
    @inline(__always)
    mutating func noteRoom(in number: Int) -> Int16 {
        let room = uses[number].room &+ 1
        uses[number].room = room
        return room
    }

    mutating func setBin(of number: Int, _ bin: Int?) {
        check(number)
        uses[number].bin = bin.map { UInt8($0) } ?? Use.large
    }

    /// Adds an extent that is in no list or heap and not yet in use.
    mutating func add(_ extent: Extent) -> Int {
        if let number = unused.popLast() {
            extents[number] = extent
            uses[number] = Use()
            return number
        }
        if count == capacity { grow() }
        (extents + count).initialize(to: extent)
        (uses + count).initialize(to: Use())
        count += 1
        return count - 1
    }

    private mutating func grow() {
        let larger: UnsafeMutablePointer<Extent> = .cacheLines(capacity * 2)
        larger.moveInitialize(from: extents, count: count)
        extents.deallocate()
        extents = larger
        let longer = UnsafeMutablePointer<Use>.allocate(capacity: capacity * 2)
        longer.moveInitialize(from: uses, count: count)
        uses.deallocate()
        uses = longer
        capacity *= 2
    }

    /// Removes an extent that is in no list or heap; its number is reused.
    mutating func remove(_ number: Int) {
        unused.append(number)
    }

    mutating func append(_ number: Int, to list: inout List) {
        extents[number].previous = list.last
        extents[number].next = -1
        if list.last >= 0 { extents[Int(list.last)].next = Int32(number) } else { list.first = Int32(number) }
        list.last = Int32(number)
    }

    mutating func remove(_ number: Int, from list: inout List) {
        let (previous, next) = (extents[number].previous, extents[number].next)
        if previous >= 0 { extents[Int(previous)].next = next } else { list.first = next }
        if next >= 0 { extents[Int(next)].previous = previous } else { list.last = previous }
    }

    /// Marks or unmarks both ends of a dirty extent, so that its neighbours find it.
    mutating func mark(_ number: Int, _ isDirty: Bool) {
        let (page, count) = (extents[number].page, extents[number].pages)
        let tag = isDirty ? UInt32(number) + 1 : 0
        edges[page] = tag
        edges[page + count - 1] = tag
    }

    /// The slot's dirty extent that begins or ends at `page`.
    func dirtyExtent(at page: Int, of slot: Int) -> Int? {
        guard page >= 0, page < pages, edges[page] != 0 else { return nil }
        let number = Int(edges[page]) - 1
        return extents[number].slot == slot ? number : nil
    }
}
