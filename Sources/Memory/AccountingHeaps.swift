import Quantities

/// jemalloc 5.3's decisions without its memory, for sweeps and for exact expectations in tests.
///
/// It follows every decision of jemalloc that affects pages. A small object goes into the current slab of its size
/// class, or else into the oldest and lowest slab with room. New slabs and large objects take dirty runs first, the
/// oldest and lowest of them. A run that is too long is split; freed runs of 16 KiB or more are joined with their
/// neighbours. If no dirty run fits, new pages come from the device, first fit by address. jemalloc 5.3.0 does not
/// always find the oldest and lowest run, and the same runs are chosen here: see `ExtentTable.Heap`. Sources:
/// `arena.c`, `eset.c`, `extent.c`, `pac.c` and `ph.h` of 5.3.0.
///
/// Limits: the cost of an arena before its first extent is a constant of 5.3.0 on 64-bit machines; only `metadata`
/// depends on it. Alignments count from the device's first page, jemalloc's from address 0. The region starts at a
/// multiple of 2 MiB, so they agree up to 2 MiB.
struct AccountingHeaps: ProcessHeaps, ~Copyable {
    private typealias Extent = ExtentTable.Extent

    /// The properties that all slabs of one size class share.
    private struct SlabKind {
        /// The bytes of an object.
        let size: Int32
        /// How many objects fit into a slab.
        let objects: Int16
        /// The length of a slab.
        let pages: Int16
    }

    /// The slab from which a size class takes objects. Every allocation and release reads this value, so it is stored
    /// apart from the other slabs, and the values of eight classes share a cache line.
    private struct CurrentSlab {
        /// The extent's number; -1 without a current slab.
        var number: Int32 = -1
        /// How many more objects the slab takes. Only this copy is current; the table of extents is updated when the
        /// current slab changes.
        var room: Int16 = 0
    }

    /// The other slabs of a size class.
    private struct OtherSlabs {
        var withRoom = ExtentTable.Heap()
        /// Full slabs, in the order in which they became full.
        var full = ExtentTable.List()
    }

    /// The dirty runs of one class (`eset_bin_t`).
    private struct DirtyRuns {
        var heap = ExtentTable.Heap()
        /// The least key, as jemalloc keeps it beside the heap. If the heap is out of order, its first extent has
        /// another key.
        var least: UInt64 = 0
    }

    /// A set of classes of runs.
    private struct RunClasses {
        /// Classes 0 to 63; the other word has those from 64 on.
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        mutating func insert(_ index: Int) {
            if index < 64 { low |= 1 << UInt64(index) } else { high |= 1 << UInt64(index - 64) }
        }

        mutating func remove(_ index: Int) {
            if index < 64 { low &= ~(1 << UInt64(index)) } else { high &= ~(1 << UInt64(index - 64)) }
        }

        /// The classes from `lowest` up to, but not including, `limit`.
        init(_ all: RunClasses, from lowest: Int, to limit: Int) {
            // A shift by 64 or more gives zero.
            low = all.low & (UInt64.max << UInt64(lowest)) & ~(UInt64.max << UInt64(limit))
            guard all.high != 0 else { return }
            high =
                all.high & (UInt64.max << UInt64(max(0, lowest - 64))) & ~(UInt64.max << UInt64(max(0, limit - 64)))
        }

        init() {}

        mutating func popFirst() -> Int? {
            if low != 0 {
                defer { low &= low - 1 }
                return low.trailingZeroBitCount
            }
            guard high != 0 else { return nil }
            defer { high &= high - 1 }
            return 64 + high.trailingZeroBitCount
        }
    }

    /// The memory of one process. It is a cache line long.
    private struct Heap {
        var pages = 0
        var active = 0
        var serial: UInt32 = 0
        /// The number of extents now, and the largest number so far. The largest one determines `metadata`, because
        /// jemalloc never frees the description of an extent.
        var extents: Int32 = 0
        var mostExtents: Int32 = 0
        /// Objects with pages of their own, oldest first.
        var large = ExtentTable.List()
        /// All dirty runs, in the order of purging.
        var dirtyByAge = ExtentTable.List()
        /// The classes that have dirty runs.
        var dirtyClasses = RunClasses()
    }

    private(set) var books: PageBooks
    private var extents: ExtentTable
    /// Raw memory, like the slabs and runs below: nested arrays would check at every access whether they are shared.
    private let heaps: UnsafeMutablePointer<Heap>
    /// By slot and size class. The pages of unused slots are never touched.
    private let current: UnsafeMutablePointer<CurrentSlab>
    private let others: UnsafeMutablePointer<OtherSlabs>
    /// By slot and class of runs.
    private let dirty: UnsafeMutablePointer<DirtyRuns>
    /// By size class.
    private let kinds: UnsafeMutablePointer<SlabKind>
    private let bins: Int
    /// The number of places for current slabs per slot: whole cache lines.
    private let currentRow: Int
    private var made = 0
    private var idle: [Int] = []
    private let geometry: AllocatorGeometry
    private let sizeClasses = SizeClasses()

    /// Runs are at most 2^23 pages long (`MemoryLimits.highestCeiling`), and four classes make a doubling.
    private static let runClasses = 104
    /// Dirty runs of this many pages or more are joined at once: jemalloc's smallest large class, 16 KiB.
    private static let joinedPages = 4
    /// `base` + `internal` of a new arena, and the size of each extent's description (`edata_t`); observed on 5.3.0.
    private static let arenaBytes = 91_152
    private static let extentBytes = 128

    init(_ size: DevicePages) throws(DeviceMemoryFailure) {
        do throws(AllocatorError) { geometry = try AllocatorGeometry() } catch { throw .allocator(error) }
        books = PageBooks(size)
        extents = ExtentTable(pages: books.runs.pages)
        heaps = .cacheLines(MemoryLimits.liveProcesses)
        bins = geometry.bins.count
        currentRow = (bins + 7) / 8 * 8
        current = .cacheLines(MemoryLimits.liveProcesses * currentRow)
        others = .cacheLines(MemoryLimits.liveProcesses * bins)
        dirty = .cacheLines(MemoryLimits.liveProcesses * AccountingHeaps.runClasses)
        kinds = .allocate(capacity: bins)
        for (bin, kind) in geometry.bins.enumerated() {
            (kinds + bin).initialize(
                to: SlabKind(size: Int32(kind.size), objects: Int16(kind.objects), pages: Int16(kind.pages)))
        }
    }

    deinit {
        current.deallocate()
        others.deallocate()
        dirty.deallocate()
        heaps.deallocate()
        kinds.deallocate()
    }

    var residentPages: Int { books.resident }
    var pagesOut: Int { books.out }
    var peakPages: Int { books.peak }
    var backedPages: Int { 0 }
    var allocatorMetadata: Int { 0 }
    var longestRun: Int { books.longestRun }
    var refusal: AllocationRefusal { books.refusal }
    mutating func keepBack(_ pages: Int) { books.keptBack = pages }

    func pages(_ slot: Int) -> Int { heaps[slot].pages }
    func activePages(_ slot: Int) -> Int { heaps[slot].active }
    func usable(_ size: Int) -> Int { sizeClasses.usable(size) }

    mutating func lend() throws(AllocatorError) -> Int {
        if let slot = idle.popLast() { return slot }
        guard made < MemoryLimits.liveProcesses else {
            // The same refusal as jemalloc's, EAGAIN.
            throw AllocatorError(control: "experimental.arenas_create_ext", code: 11)
        }
        currentSlab(0, made).initialize(repeating: CurrentSlab(), count: bins)
        otherSlabs(0, made).initialize(repeating: OtherSlabs(), count: bins)
        dirtyRuns(of: made).initialize(repeating: DirtyRuns(), count: AccountingHeaps.runClasses)
        (heaps + made).initialize(to: Heap())
        made += 1
        return made - 1
    }

    /// The slab from which a size class takes objects.
    @inline(__always)
    private func currentSlab(_ bin: Int, _ slot: Int) -> UnsafeMutablePointer<CurrentSlab> {
        current + (slot * currentRow + bin)
    }

    @inline(__always)
    private func otherSlabs(_ bin: Int, _ slot: Int) -> UnsafeMutablePointer<OtherSlabs> {
        others + (slot * bins + bin)
    }

    /// A slot's dirty runs by class.
    @inline(__always)
    private func dirtyRuns(of slot: Int) -> UnsafeMutablePointer<DirtyRuns> {
        dirty + slot * AccountingHeaps.runClasses
    }

    /// Frees the objects in jemalloc's order (`arena_reset`), because the order affects the shapes of the heaps.
    mutating func giveBack(_ slot: Int) throws(AllocatorError) {
        while heaps[slot].large.first >= 0 {
            let number = Int(heaps[slot].large.first)
            extents.remove(number, from: &heaps[slot].large)
            makeDirty(number, slot)
        }
        for bin in geometry.bins.indices {
            let current = currentSlab(bin, slot)
            if current.pointee.number >= 0 { makeDirty(Int(current.pointee.number), slot) }
            current.pointee = CurrentSlab()
            let others = otherSlabs(bin, slot)
            while let slab = extents.removeFirst(from: &others.pointee.withRoom) { makeDirty(slab, slot) }
            while others.pointee.full.first >= 0 {
                let slab = Int(others.pointee.full.first)
                extents.remove(slab, from: &others.pointee.full)
                makeDirty(slab, slot)
            }
        }
        try purge(slot)
        let (pages, active) = (heaps[slot].pages, heaps[slot].active)
        precondition(
            pages == 0 && active == 0, "slot \(slot) still holds \(pages) pages after its end, \(active) in use")
        idle.append(slot)
    }

    /// Gives back one run after another, the one that has been dirty longest first. If that run can be joined with a
    /// neighbour, it is joined instead, and the result counts as the youngest.
    mutating func purge(_ slot: Int) throws(AllocatorError) {
        while heaps[slot].dirtyByAge.first >= 0 {
            let number = Int(heaps[slot].dirtyByAge.first)
            takeDirty(number, slot)
            if joinOnce(number, slot) { keepDirty(number, slot) } else { giveToDevice(number, slot) }
        }
    }

    private mutating func giveToDevice(_ number: Int, _ slot: Int) {
        let extent = extents[number]
        books.takeBack(extent.pages, at: extent.page)
        heaps[slot].pages -= extent.pages
        forget(number, slot)
    }

    private mutating func add(_ extent: Extent, _ slot: Int) -> Int {
        heaps[slot].extents += 1
        return extents.add(extent)
    }

    private mutating func forget(_ number: Int, _ slot: Int) {
        heaps[slot].extents -= 1
        extents.remove(number)
    }

    /// Counts one more description of an extent, because jemalloc takes one before it knows whether it needs it.
    private mutating func describeOneMore(_ slot: Int) {
        heaps[slot].mostExtents = max(heaps[slot].mostExtents, heaps[slot].extents + 1)
    }

    /// Does nothing: there is no memory to write, so no position has to be kept.
    mutating func write(_ entry: ObjectTable.Entry, from offset: Int, count: Int) -> Bool { true }
    mutating func setRewrite(_ extent: RewriteExtent) {}
    mutating func touch(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int { bytes }
    mutating func read(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int { bytes }

    mutating func audit(_ processes: inout ProcessMemories, activePages: Int) throws(AuditFailure) -> ByteCount {
        var (pages, active, metadata) = (0, 0, 0)
        for slot in 0..<made {
            pages += heaps[slot].pages
            active += heaps[slot].active
            guard processes.indices.contains(slot) && processes[slot].isLive else { continue }
            processes[slot].metadata =
                AccountingHeaps.arenaBytes + AccountingHeaps.extentBytes * Int(heaps[slot].mostExtents)
            metadata += processes[slot].metadata
        }
        for (figure, ours, theirs) in [("pages handed out", pagesOut, pages), ("active pages", activePages, active)]
        where ours != theirs {
            throw .disagreement(BooksDisagree(slot: nil, figure: figure, books: ours, allocator: theirs))
        }
        return ByteCount(metadata)
    }
}

// MARK: - Objects

extension AccountingHeaps {
    /// An alignment up to a page only decides the size class; a wider one also decides the place of the pages.
    mutating func make(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject? {
        let usable = sizeClasses.usable(size, logAlignment: logAlignment)
        let alignment = (1 << logAlignment) / DeviceRegion.pageSize
        guard alignment > 1 else { return make(usable, slot) }
        let pages = usable / DeviceRegion.pageSize + geometry.largePad
        guard let number = takeLarge(pages, alignedTo: alignment, slot) else { return nil }
        extents.append(number, to: &heaps[slot].large)
        return PlacedObject(unit: number, usable: usable)
    }

    mutating func make(_ size: Int, _ slot: Int) -> PlacedObject? {
        guard size <= geometry.largestSmall else { return makeLarge(size, slot) }
        let bin = geometry.bin(of: size)
        let current = currentSlab(bin, slot)
        if current.pointee.room == 0 {
            guard changeSlab(bin, slot) else { return nil }
        }
        current.pointee.room &-= 1
        return PlacedObject(unit: Int(current.pointee.number), usable: Int(kinds[bin].size))
    }

    @inline(never)
    private mutating func makeLarge(_ size: Int, _ slot: Int) -> PlacedObject? {
        let usable = usable(size)
        guard let number = take(usable / DeviceRegion.pageSize + geometry.largePad, slot, nil) else { return nil }
        extents.append(number, to: &heaps[slot].large)
        return PlacedObject(unit: number, usable: usable)
    }

    /// Replaces the full current slab by the oldest and lowest slab with room, or by a new one; false if there is
    /// none.
    private mutating func changeSlab(_ bin: Int, _ slot: Int) -> Bool {
        // As in jemalloc, a full slab is no longer the current one, even if no other is found.
        retire(bin, slot)
        currentSlab(bin, slot).pointee.number = -1
        if let first = extents.removeFirst(from: &otherSlabs(bin, slot).pointee.withRoom) {
            use(first, bin, slot)
            return true
        }
        guard let slab = take(Int(kinds[bin].pages), slot, bin) else { return false }
        extents.uses[slab].room = kinds[bin].objects
        use(slab, bin, slot)
        return true
    }

    private mutating func use(_ slab: Int, _ bin: Int, _ slot: Int) {
        currentSlab(bin, slot).pointee = CurrentSlab(number: Int32(slab), room: extents.uses[slab].room)
    }

    /// Moves the current slab, if any, to the slabs with room or to the full ones.
    private mutating func retire(_ bin: Int, _ slot: Int) {
        let current = currentSlab(bin, slot).pointee
        guard current.number >= 0 else { return }
        let (slab, others) = (Int(current.number), otherSlabs(bin, slot))
        extents.uses[slab].room = current.room
        if current.room > 0 {
            extents.insert(slab, into: &others.pointee.withRoom)
        } else {
            extents.append(slab, to: &others.pointee.full)
        }
    }

    @inline(__always)
    mutating func free(_ entry: ObjectTable.Entry, _ slot: Int) -> Int {
        let number = entry.unit
        guard let bin = extents.bin(of: number) else { return freeLarge(number, entry.size, slot) }
        let (kind, current) = (kinds[bin], currentSlab(bin, slot))
        if Int(current.pointee.number) == number {
            current.pointee.room &+= 1
            if current.pointee.room == kind.objects { emptyCurrent(bin, slot) }
        } else {
            let room = extents.noteRoom(in: number)
            // Otherwise the slab stays in its list.
            if room == 1 || room == kind.objects { noteRoom(in: number, isEmpty: room == kind.objects, bin, slot) }
        }
        return Int(kind.size)
    }

    // Rarer cases are not inlined, to keep the loop over objects short.

    @inline(never)
    private mutating func freeLarge(_ number: Int, _ size: Int, _ slot: Int) -> Int {
        extents.remove(number, from: &heaps[slot].large)
        makeDirty(number, slot)
        return usable(size)
    }

    @inline(never)
    private mutating func emptyCurrent(_ bin: Int, _ slot: Int) {
        let current = currentSlab(bin, slot)
        let number = Int(current.pointee.number)
        current.pointee = CurrentSlab()
        makeDirty(number, slot)
    }

    /// Moves a slab that is not the current one, if it was full, is empty now, or both.
    @inline(never)
    private mutating func noteRoom(in number: Int, isEmpty: Bool, _ bin: Int, _ slot: Int) {
        let others = otherSlabs(bin, slot)
        let wasFull = extents.uses[number].room == 1
        if wasFull {
            extents.remove(number, from: &others.pointee.full)
        } else {
            extents.remove(number, from: &others.pointee.withRoom)
        }
        if isEmpty { makeDirty(number, slot) } else { lower(number, bin, slot) }
    }

    /// Files a slab that has room again. If it is older or lower than the current slab, it becomes the current slab.
    private mutating func lower(_ number: Int, _ bin: Int, _ slot: Int) {
        let current = Int(currentSlab(bin, slot).pointee.number)
        guard current >= 0, extents[current].key > extents[number].key else {
            return extents.insert(number, into: &otherSlabs(bin, slot).pointee.withRoom)
        }
        retire(bin, slot)
        use(number, bin, slot)
    }
}

// MARK: - Frames

extension AccountingHeaps: FramedHeaps {
    var frames: UnsafeMutablePointer<FrameTable>? { books.frames }
    var obtainablePages: Int { books.obtainable }
    mutating func refuse(_ pages: Int) { books.refuse(pages) }
    mutating func restore(_ pages: Range<Int>) { books.noteFrames() }
    mutating func drop(_ pages: Range<Int>) {}
    mutating func fill(_ unit: Int, from offset: Int, count: Int) {}
    mutating func rewrite(_ unit: Int, from offset: Int, count: Int) {}
    mutating func beginRound() {}
    mutating func look(at unit: Int, from offset: Int, count: Int) {}
    func keepContents(_ recipe: PageRecipe, seed: UInt64) {
        preconditionFailure("the accounting backend has no contents")
    }
    mutating func place(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject? {
        logAlignment == 0 ? make(size, slot) : make(size, logAlignment: logAlignment, slot)
    }

    @inline(__always)
    func location(_ unit: Int, _ size: Int) -> PlacedRun {
        let extent = extents[unit]
        return PlacedRun(first: extent.page, count: extent.pages, isSlab: extents.bin(of: unit) != nil)
    }
}

// MARK: - Page runs

extension AccountingHeaps {
    /// Takes a run for a slab of the bin, or for a large object: a dirty one if possible, otherwise a new one.
    private mutating func take(_ pages: Int, _ slot: Int, _ bin: Int?) -> Int? {
        let number: Int
        if let extent = takeFitting(pages, slot) {
            split(extent, after: pages, slot)
            number = extent
        } else {
            describeOneMore(slot)
            guard let page = books.handOut(pages, to: slot) else { return nil }
            let extent = Extent(
                page: page, pages: pages, serial: heaps[slot].serial, slot: slot)
            heaps[slot].serial += 1
            number = add(extent, slot)
            heaps[slot].pages += pages
        }
        extents.setBin(of: number, bin)
        heaps[slot].active += pages
        return number
    }

    /// Takes the oldest and lowest dirty run that is long enough and not far too long (`eset_first_fit`).
    private mutating func takeFitting(_ pages: Int, _ slot: Int) -> Int? {
        let dirty = dirtyRuns(of: slot)
        var classes = RunClasses(
            (heaps + slot).pointee.dirtyClasses, from: geometry.classToSearch(pages), to: geometry.classTooLong(pages))
        guard var best = classes.popFirst() else { return nil }
        // jemalloc looks up the first run of the class even here, and the lookup joins the heap's waiting runs.
        extents.settle(&dirty[best].heap)
        while let index = classes.popFirst() {
            guard dirty[index].least < dirty[best].least else { continue }
            best = index
            extents.settle(&dirty[index].heap)
        }
        guard let number = extents.removeFirst(from: &dirty[best].heap) else { return nil }
        forgetDirty(number, best, slot)
        return number
    }

    /// Keeps `pages` in the extent; the rest becomes a dirty run of the same age, not joined with its neighbours.
    private mutating func split(_ number: Int, after pages: Int, _ slot: Int) {
        let extent = extents[number]
        let rest = extent.pages - pages
        guard rest > 0 else { return }
        extents[number].pages = pages
        let trail = Extent(
            page: extent.page + pages, pages: rest, serial: extent.serial, slot: extent.slot)
        describeOneMore(slot)
        keepDirty(add(trail, slot), slot)
    }

    /// Takes a run for a large object that starts at a multiple of `alignment` pages (`eset_fit`,
    /// `extent_split_interior`). The first choice is a dirty run that is long enough wherever it starts, the second a
    /// dirty run that happens to be well placed, the third a new run. The pages before and after the object become
    /// dirty runs, in this order.
    private mutating func takeLarge(_ pages: Int, alignedTo alignment: Int, _ slot: Int) -> Int? {
        guard let found = takeFitting(pages + alignment - 1, slot) ?? takeCrossing(pages, alignment, slot) else {
            describeOneMore(slot)
            guard let page = books.handOut(pages, alignment: alignment, to: slot) else { return nil }
            let extent = Extent(
                page: page, pages: pages, serial: heaps[slot].serial, slot: slot)
            heaps[slot].serial += 1
            heaps[slot].pages += pages
            heaps[slot].active += pages
            return add(extent, slot)
        }
        let extent = extents[found]
        let lead = AccountingHeaps.gap(before: extent.page, alignment)
        var number = found
        if lead > 0 {
            extents[found].pages = lead
            describeOneMore(slot)
            number = add(
                Extent(
                    page: extent.page + lead, pages: extent.pages - lead, serial: extent.serial,
                    slot: extent.slot), slot)
            keepDirty(found, slot)
        }
        split(number, after: pages, slot)
        extents.setBin(of: number, nil)
        heaps[slot].active += pages
        return number
    }

    /// Looks at the first run of each class that may be long enough, and takes one that is long enough from its next
    /// multiple of the alignment on (`eset_fit_alignment`).
    private mutating func takeCrossing(_ pages: Int, _ alignment: Int, _ slot: Int) -> Int? {
        let limit = min(geometry.classToSearch(pages + alignment - 1), AccountingHeaps.runClasses)
        for index in geometry.classToSearch(pages)..<limit where !dirtyRuns(of: slot)[index].heap.isEmpty {
            let number = extents.first(of: &dirtyRuns(of: slot)[index].heap)
            let lead = AccountingHeaps.gap(before: extents[number].page, alignment)
            guard extents[number].pages - lead < pages else {
                takeDirty(number, slot)
                return number
            }
        }
        return nil
    }

    /// The number of pages up to the next multiple of the alignment.
    private static func gap(before page: Int, _ alignment: Int) -> Int {
        (page + alignment - 1) / alignment * alignment - page
    }

    /// Keeps an extent that is no longer in use as a dirty run; a long one is first joined with dirty neighbours.
    private mutating func makeDirty(_ number: Int, _ slot: Int) {
        heaps[slot].active -= extents[number].pages
        if extents[number].pages >= AccountingHeaps.joinedPages {
            while joinOnce(number, slot) {}
        }
        keepDirty(number, slot)
    }

    /// Joins the extent with the dirty run after it, or else with the one before it.
    private mutating func joinOnce(_ number: Int, _ slot: Int) -> Bool {
        join(number, at: extents[number].page + extents[number].pages, slot)
            || join(number, at: extents[number].page - 1, slot)
    }

    /// Joins the extent with the dirty run at `page`, if there is one. The joined extent has the older of the two
    /// serials.
    private mutating func join(_ number: Int, at page: Int, _ slot: Int) -> Bool {
        guard let neighbour = extents.dirtyExtent(at: page, of: slot) else { return false }
        let other = extents[neighbour]
        takeDirty(neighbour, slot)
        forget(neighbour, slot)
        extents[number].page = min(extents[number].page, other.page)
        extents[number].pages += other.pages
        extents[number].serial = min(extents[number].serial, other.serial)
        return true
    }

    private mutating func keepDirty(_ number: Int, _ slot: Int) {
        let heap = heaps + slot
        let (pages, key) = (extents[number].pages, extents[number].key)
        let index = geometry.classToKeep(pages)
        let runs = dirtyRuns(of: slot) + index
        if runs.pointee.heap.isEmpty {
            runs.pointee.least = key
            heap.pointee.dirtyClasses.insert(index)
        } else if key < runs.pointee.least {
            runs.pointee.least = key
        }
        extents.insert(number, into: &runs.pointee.heap)
        extents.append(number, to: &heap.pointee.dirtyByAge)
        extents.mark(number, true)
    }

    private mutating func takeDirty(_ number: Int, _ slot: Int) {
        let index = geometry.classToKeep(extents[number].pages)
        extents.remove(number, from: &dirtyRuns(of: slot)[index].heap)
        forgetDirty(number, index, slot)
    }

    /// Forgets a run that is no longer dirty and has left the heap of its class.
    private mutating func forgetDirty(_ number: Int, _ index: Int, _ slot: Int) {
        let heap = heaps + slot
        let runs = dirtyRuns(of: slot) + index
        extents.mark(number, false)
        extents.remove(number, from: &heap.pointee.dirtyByAge)
        if runs.pointee.heap.isEmpty {
            heap.pointee.dirtyClasses.remove(index)
        } else if runs.pointee.least == extents[number].key {
            runs.pointee.least = extents[extents.first(of: &runs.pointee.heap)].key
        }
    }
}
