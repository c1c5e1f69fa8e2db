import CJemalloc
import Glibc
import Quantities

/// How much of an object's memory is written again, or read, when the object is used on the real backend. What the
/// books say, and which pages are resident, is the same.
public enum RewriteExtent: String, CaseIterable, Sendable {
    /// One cache line of each page that is used. The object was written in full when it was made, so its pages are
    /// there.
    case line
    /// Every byte that is written, and every cache line that is read.
    case bytes
}

/// Real memory: every object is a live allocation in its process's arena, written in full when it is made.
struct JemallocHeaps: ProcessHeaps, ~Copyable {
    private let region: DeviceRegion
    private var arenas: ArenaStock
    private var statistics: ArenaStatistics
    private let sizeClasses = SizeClasses()
    private let geometry: AllocatorGeometry
    /// The byte that was written last. Every write uses the next value, so that pages differ.
    private var pattern: Int32 = 0
    /// The sum of the bytes read; kept so that the compiler does not remove the reads.
    private(set) var readSum: UInt8 = 0
    private(set) var allocatorMetadata = 0
    /// Whether a use of an object goes over one cache line of each of its pages.
    private var usesLines = true
    /// The page, from the start of the host's memory, that was used last in a round: its line need not be used again.
    private var lastPage = -1

    /// Throws if the installed jemalloc has a version or options with which the books could not be exact, or if the
    /// host refuses the memory.
    init(_ size: DevicePages) throws(DeviceMemoryFailure) {
        let stock: ArenaStock
        let statistics: ArenaStatistics
        let allocator: AllocatorDescription
        let geometry: AllocatorGeometry
        do throws(AllocatorError) {
            allocator = try AllocatorDescription()
            statistics = try ArenaStatistics()
            geometry = try AllocatorGeometry()
        } catch { throw .allocator(error) }
        try allocator.check()
        let region = try DeviceRegion(size)
        do throws(AllocatorError) { stock = try ArenaStock(region) } catch { throw .allocator(error) }
        self.region = region
        self.statistics = statistics
        self.geometry = geometry
        arenas = stock
    }

    var residentPages: Int { region.state.pointee.pages.resident }
    var pagesOut: Int { region.state.pointee.pages.out }
    var peakPages: Int { region.state.pointee.pages.peak }
    var backedPages: Int { region.state.pointee.backing.peak }
    var longestRun: Int { region.state.pointee.pages.longestRun }
    var refusal: AllocationRefusal { region.state.pointee.pages.refusal }
    mutating func keepBack(_ pages: Int) { region.state.pointee.pages.keptBack = pages }

    /// The start of the region.
    var start: UnsafeMutableRawPointer { region.state.pointee.base }

    /// The pages that the host backs at present.
    var backedByHost: Int { region.backedByHost }

    /// The number of arenas that jemalloc has made for this device, idle ones included.
    var arenaCount: Int { arenas.count }

    mutating func lend() throws(AllocatorError) -> Int { try arenas.lend() }
    mutating func giveBack(_ slot: Int) throws(AllocatorError) { try arenas.giveBack(slot) }
    mutating func purge(_ slot: Int) throws(AllocatorError) { try arenas.purgeDirty(slot) }
    func pages(_ slot: Int) -> Int { arenas[slot].pointee.pages }
    func activePages(_ slot: Int) -> Int { arenas[slot].pointee.activePages }
    func usable(_ size: Int) -> Int { sizeClasses.usable(size) }

    mutating func make(_ size: Int, _ slot: Int) -> PlacedObject? {
        fill(mallocx(size, arenas[slot].pointee.flags), size, usable: sizeClasses.usable(size))
    }

    mutating func make(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject? {
        fill(
            mallocx(size, arenas[slot].pointee.flags | Int32(logAlignment)), size,
            usable: sizeClasses.usable(size, logAlignment: logAlignment))
    }

    @inline(__always)
    private mutating func fill(_ object: UnsafeMutableRawPointer?, _ size: Int, usable: Int) -> PlacedObject? {
        guard let object else { return nil }
        pattern = (pattern + 1) & 0xff
        memset(object, pattern, size)
        return PlacedObject(unit: (object - region.state.pointee.base) >> 3, usable: usable)
    }

    /// Reads one byte of each page or of each cache line (64 bytes), which brings the whole line in.
    @inline(__always)
    mutating func look(at unit: Int, from offset: Int, count: Int) {
        let object = UnsafeRawPointer(region.state.pointee.base + (unit << 3) + offset)
        guard !usesLines else {
            return visitPages(of: object, count) { $0.readSum &+= object.load(fromByteOffset: $1, as: UInt8.self) }
        }
        for line in stride(from: 0, to: count, by: 64) {
            readSum &+= object.load(fromByteOffset: line, as: UInt8.self)
        }
    }

    /// Writes a part of an object again that was filled when the object was made.
    @inline(__always)
    mutating func rewrite(_ unit: Int, from offset: Int, count: Int) {
        guard usesLines else { return fill(unit, from: offset, count: count) }
        pattern = (pattern + 1) & 0xff
        let object = region.state.pointee.base + (unit << 3) + offset
        visitPages(of: object, count) {
            object.storeBytes(of: UInt8(truncatingIfNeeded: $0.pattern), toByteOffset: $1, as: UInt8.self)
        }
    }

    /// Calls `visit` with one place in each page of a range of memory, in bytes from its start, unless the page was the
    /// last one of the range before.
    @inline(__always)
    private mutating func visitPages(
        of start: UnsafeRawPointer, _ count: Int, _ visit: (inout JemallocHeaps, Int) -> Void
    ) {
        guard count > 0 else { return }
        let size = DeviceRegion.pageSize
        let address = Int(bitPattern: start)
        let (first, last) = (address / size, (address + count - 1) / size)
        if first != lastPage { visit(&self, 0) }
        var next = size - address % size
        while next < count {
            visit(&self, next)
            next += size
        }
        lastPage = last
    }

    mutating func free(_ entry: ObjectTable.Entry, _ slot: Int) -> Int {
        sdallocx(region.state.pointee.base + (entry.unit << 3), entry.size, plimsoll_flags_uncached())
        return usable(entry.size)
    }

    @inline(__always)
    mutating func free(_ object: ObjectHandle, _ slot: Int) {
        sdallocx(region.state.pointee.base + (object.unit << 3), Int(object.usable), plimsoll_flags_uncached())
    }

    mutating func write(_ entry: ObjectTable.Entry, from offset: Int, count: Int) -> Bool {
        fill(entry.unit, from: offset, count: count)
        return true
    }

    @inline(__always)
    mutating func fill(_ unit: Int, from offset: Int, count: Int) {
        pattern = (pattern + 1) & 0xff
        memset(region.state.pointee.base + (unit << 3) + offset, pattern, count)
    }

    mutating func setRewrite(_ extent: RewriteExtent) { usesLines = extent == .line }

    mutating func touch(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int {
        beginRound()
        table.goRound(bytes) { rewrite($0.unit, from: $1, count: $2) }
        return bytes
    }

    mutating func read(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int {
        beginRound()
        table.goRound(bytes) { look(at: $0.unit, from: $1, count: $2) }
        return bytes
    }

    mutating func audit(_ processes: inout ProcessMemories, activePages: Int) throws(AuditFailure) -> ByteCount {
        do throws(AllocatorError) {
            try refreshStatistics()
            allocatorMetadata = try readControl("stats.metadata", into: 0)
        } catch { throw .allocator(error) }
        var (pages, active, metadata) = (0, 0, 0)
        for slot in 0..<arenas.count {
            let reading: ArenaStatistics.Reading
            do throws(AllocatorError) {
                reading = try statistics.read(arenas[slot].pointee.index)
            } catch { throw .allocator(error) }
            let isUsed = slot < processes.count && processes[slot].isLive
            try compare(slot, isUsed ? processes[slot].usable : 0, reading)
            pages += arenas[slot].pointee.pages
            active += reading.activePages
            guard isUsed else { continue }
            metadata += reading.metadata
            processes[slot].metadata = reading.metadata
        }
        try agree(nil, "pages handed out", books: pagesOut, allocator: pages)
        try agree(nil, "active pages", books: activePages, allocator: active)
        let runs = region.state.pointee.pages.runs.pages
        let reserved = region.state.pointee.pages.reserved
        try agree(
            nil, "pages", books: reserved + pagesOut + region.state.pointee.pages.runs.freePages, allocator: runs)
        return ByteCount(metadata)
    }

    /// Compares one arena with the books. Idle arenas are compared too: they must hold nothing.
    private func compare(_ slot: Int, _ usable: Int, _ reading: ArenaStatistics.Reading) throws(AuditFailure) {
        let (pages, active) = (pages(slot), activePages(slot))
        try agree(slot, "active pages", books: active, allocator: reading.activePages)
        try agree(slot, "dirty pages", books: pages - active, allocator: reading.dirtyPages)
        try agree(slot, "muzzy pages", books: 0, allocator: reading.muzzyPages)
        try agree(slot, "allocated bytes", books: usable, allocator: reading.allocated)
        try agree(slot, "pages handed out", books: pages, allocator: reading.activePages + reading.dirtyPages)
    }

    private func agree(_ slot: Int?, _ figure: String, books: Int, allocator: Int) throws(AuditFailure) {
        guard books != allocator else { return }  // promise: books
        throw .disagreement(
            BooksDisagree(slot: slot.map { MemorySlot($0) }, figure: figure, books: books, allocator: allocator))
    }
}

// MARK: - Frames

extension JemallocHeaps: FramedHeaps {
    var frames: UnsafeMutablePointer<FrameTable>? { region.state.pointee.pages.frames }
    var obtainablePages: Int { region.state.pointee.pages.obtainable }
    mutating func refuse(_ pages: Int) { region.state.pointee.pages.refuse(pages) }
    mutating func drop(_ pages: Range<Int>) { region.state.pointee.drop(pages) }

    func keepContents(_ recipe: PageRecipe, seed: UInt64) {
        guard let frames else { preconditionFailure("a device without frames compresses no contents") }
        frames.pointee.contents = PageContents(
            at: region.state.pointee.base, pages: region.state.pointee.pages.runs.pages,
            segments: frames.pointee.segments.most, recipe, seed: seed)
    }

    mutating func beginRound() { lastPage = -1 }

    mutating func restore(_ pages: Range<Int>) {
        pattern = (pattern + 1) & 0xff
        region.state.pointee.restore(pages, pattern)
    }

    mutating func place(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject? {
        guard let object = mallocx(size, arenas[slot].pointee.flags | Int32(logAlignment)) else { return nil }
        let usable =
            logAlignment == 0 ? sizeClasses.usable(size) : sizeClasses.usable(size, logAlignment: logAlignment)
        let unit = (object - region.state.pointee.base) >> 3
        if usable <= geometry.largestSmall {
            frames?.pointee.enterSlab(unit >> JemallocHeaps.unitsPerPage, pages: slabPages(usable))
        }
        return PlacedObject(unit: unit, usable: usable)
    }

    mutating func freePlaced(_ entry: ObjectTable.Entry, _ slot: Int) -> Int {
        let usable = free(entry, slot)
        if usable <= geometry.largestSmall {
            frames?.pointee.leaveSlab(entry.unit >> JemallocHeaps.unitsPerPage, pages: slabPages(usable))
        }
        return usable
    }

    /// A large object starts in the first page of its run, at any cache line of it (`opt.cache_oblivious`).
    @inline(__always)
    func location(_ unit: Int, _ size: Int) -> PlacedRun {
        let page = unit >> JemallocHeaps.unitsPerPage
        let usable = sizeClasses.usable(size)
        guard usable <= geometry.largestSmall else {
            return PlacedRun(first: page, count: usable / DeviceRegion.pageSize + geometry.largePad, isSlab: false)
        }
        guard let frames else { preconditionFailure("a device without frames knows no slabs") }
        return PlacedRun(first: frames.pointee.firstOfSlab(page), count: slabPages(usable), isSlab: true)
    }

    private func slabPages(_ usable: Int) -> Int { geometry.bins[geometry.bin(of: usable)].pages }

    /// The base-2 logarithm of a page in units of 8 bytes.
    private static var unitsPerPage: Int { 9 }
}
