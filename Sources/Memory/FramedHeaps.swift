import Quantities

/// Where an object's pages are.
struct PlacedRun {
    /// The first page of the slab, or of the object's own run.
    let first: Int
    let count: Int
    /// Whether other objects may share the pages.
    let isSlab: Bool
}

/// Heaps whose pages may lose their frames. Each backend implements what differs: where an object is, and what happens
/// to real memory.
protocol FramedHeaps: ProcessHeaps, ~Copyable {
    /// Nil without a compressor.
    var frames: UnsafeMutablePointer<FrameTable>? { get }
    /// The free frames that an allocation can get.
    var obtainablePages: Int { get }
    /// Notes that compressed pages need this many frames, of which there are too few; `refusal` then says so.
    mutating func refuse(_ pages: Int)
    /// Gives pages frames again.
    mutating func restore(_ pages: Range<Int>)
    /// Gives the frames of pages back.
    mutating func drop(_ pages: Range<Int>)
    /// Places an object without writing it; nil when there is no room.
    mutating func place(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject?
    /// Frees an object of `place`.
    mutating func freePlaced(_ entry: ObjectTable.Entry, _ slot: Int) -> Int
    /// Fills, writes again and reads a part of an object, whose pages have frames.
    mutating func fill(_ unit: Int, from offset: Int, count: Int)
    mutating func rewrite(_ unit: Int, from offset: Int, count: Int)
    /// A round of uses begins.
    mutating func beginRound()
    mutating func look(at unit: Int, from offset: Int, count: Int)
    /// Where an object of `place` is.
    func location(_ unit: Int, _ size: Int) -> PlacedRun
    /// From now on pages that lose their frames have contents, which LZ4 compresses.
    func keepContents(_ recipe: PageRecipe, seed: UInt64)
}

extension FramedHeaps where Self: ~Copyable {
    mutating func freePlaced(_ entry: ObjectTable.Entry, _ slot: Int) -> Int { free(entry, slot) }
}

/// Heaps whose pages a compressor takes and gives back.
protocol CompressingHeaps: ProcessHeaps, ~Copyable {
    /// The pages without a frame, and the segments that keep their contents.
    var frames: UnsafeMutablePointer<FrameTable> { get }
    /// See `FramedHeaps`.
    func keepContents(_ recipe: PageRecipe, seed: UInt64)
    /// Compresses the slot's pages that were used longest ago, as long as the pool has room for them.
    ///
    /// - Parameters:
    ///   - usedBefore: Only pages whose last use has a lower number.
    ///   - stores: Whether the contents go into the pool.
    ///   - size: The bytes that a page's contents take there; asked once per page, which still has its frame. Zero if
    ///     they are not stored.
    /// - Returns: The number of pages.
    mutating func compress(_ slot: Int, most: Int, usedBefore: Int, stores: Bool, size: (Int) -> Int) -> Int

    /// Moves pages of the slot that have a frame to the store as they are, those used longest ago first.
    mutating func pageOut(_ slot: Int, most: Int, usedBefore: Int) -> Int
    /// Brings the slot's pages back that were compressed last, and then those that were swapped last. Returns their
    /// number.
    mutating func restore(_ slot: Int, most: Int) -> Int
}

/// Heaps with a compressor: notes which pages each object uses, and brings compressed pages back before they are used.
///
/// The unit of use is the slab of a small object, which both backends know, and the single page of a large object. On
/// jemalloc a large object starts anywhere in its first page, so a part of it counts as using one page more.
struct PagedHeaps<Base: FramedHeaps & ~Copyable>: CompressingHeaps, ~Copyable {
    var base: Base
    let frames: UnsafeMutablePointer<FrameTable>

    /// Uses of a large object bring at most this many pages back at a time: 64 KiB.
    private static var pieceBytes: Int { 16 * DeviceRegion.pageSize }

    init(_ size: DevicePages) throws(DeviceMemoryFailure) {
        base = try Base(size)
        guard let table = base.frames else { preconditionFailure("a device with a compressor has no frames") }
        frames = table
    }

    var residentPages: Int { base.residentPages }
    var pagesOut: Int { base.pagesOut }
    var peakPages: Int { base.peakPages }
    var backedPages: Int { base.backedPages }
    var longestRun: Int { base.longestRun }
    var allocatorMetadata: Int { base.allocatorMetadata }
    var refusal: AllocationRefusal { base.refusal }
    mutating func keepBack(_ pages: Int) { base.keepBack(pages) }
    mutating func lend() throws(AllocatorError) -> Int { try base.lend() }
    mutating func giveBack(_ slot: Int) throws(AllocatorError) { try base.giveBack(slot) }
    mutating func purge(_ slot: Int) throws(AllocatorError) { try base.purge(slot) }
    func pages(_ slot: Int) -> Int { base.pages(slot) }
    func activePages(_ slot: Int) -> Int { base.activePages(slot) }
    func compressedPages(_ slot: Int) -> Int { frames.pointee.compressed(of: slot) }
    func swappedPages(_ slot: Int) -> Int { frames.pointee.swapped(of: slot) }
    func usable(_ size: Int) -> Int { base.usable(size) }
    mutating func beginBatch() { frames.pointee.beginCall() }
    func keepContents(_ recipe: PageRecipe, seed: UInt64) { base.keepContents(recipe, seed: seed) }

    mutating func audit(_ processes: inout ProcessMemories, activePages: Int) throws(AuditFailure) -> ByteCount {
        if let claim = frames.pointee.disagreement() { preconditionFailure(claim) }
        return try base.audit(&processes, activePages: activePages)
    }

    // MARK: Objects

    mutating func make(_ size: Int, _ slot: Int) -> PlacedObject? { make(size, logAlignment: 0, slot) }

    /// An object whose slab has compressed pages, for which there is no room, is freed again.
    @inline(__always)
    mutating func make(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject? {
        guard let object = base.place(size, logAlignment: logAlignment, slot) else { return nil }
        let run = base.location(object.unit, object.usable)
        guard use(run.first, run.first + run.count) else {
            _ = base.freePlaced(ObjectTable.Entry(unit: object.unit, size: object.usable), slot)
            return nil
        }
        base.fill(object.unit, from: 0, count: size)
        return object
    }

    mutating func free(_ entry: ObjectTable.Entry, _ slot: Int) -> Int { base.freePlaced(entry, slot) }

    mutating func write(_ entry: ObjectTable.Entry, from offset: Int, count: Int) -> Bool {
        guard use(base.location(entry.unit, entry.size), from: offset, count: count) else { return false }
        base.fill(entry.unit, from: offset, count: count)
        return true
    }

    mutating func setRewrite(_ extent: RewriteExtent) { base.setRewrite(extent) }

    mutating func touch(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int {
        goRound(&table, bytes, hot) { $0.base.rewrite($1.unit, from: $2, count: $3) }
    }

    mutating func read(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int {
        goRound(&table, bytes, hot) { $0.base.look(at: $1.unit, from: $2, count: $3) }
    }

    @inline(__always)
    private mutating func goRound(
        _ table: inout ObjectTable, _ bytes: Int, _ hot: Ratio,
        _ visit: (inout PagedHeaps, ObjectTable.Entry, Int, Int) -> Void
    ) -> Int {
        beginBatch()
        base.beginRound()
        var done = 0
        // Slabs that this call has used, by the last bits of their units. In the accounting, all objects of a slab have
        // one unit, so most need not be looked up.
        var used = InlineArray<256, Int>(repeating: -1)
        let first = table.firstOfNewest(hot)
        table.keepCursor(from: first)
        while true {
            done += table.passWhole(bytes - done) { entry in
                guard used[entry.unit & 255] == entry.unit || useSlab(of: entry, &used) else { return false }
                visit(&self, entry, 0, entry.size)
                return true
            }
            guard done < bytes else { return done }
            table.keepCursor(from: first)
            let piece = table.peekPiece(min(bytes - done, PagedHeaps.pieceBytes))
            let run = base.location(piece.entry.unit, piece.entry.size)
            guard use(run, from: piece.offset, count: piece.length) else { return done }
            visit(&self, piece.entry, piece.offset, piece.length)
            table.takePiece(piece)
            done += piece.length
        }
    }

    /// Uses an object's slab; false if the object has pages of its own, or if there are too few frames.
    @inline(__always)
    private mutating func useSlab(of entry: ObjectTable.Entry, _ used: inout InlineArray<256, Int>) -> Bool {
        let run = base.location(entry.unit, entry.size)
        guard run.isSlab, use(run.first, run.first + run.count) else { return false }
        used[entry.unit & 255] = entry.unit
        return true
    }

    // MARK: Pages

    @inline(__always)
    private mutating func use(_ run: PlacedRun, from offset: Int, count: Int) -> Bool {
        guard !run.isSlab else { return use(run.first, run.first + run.count) }
        let last = (offset + max(count, 1) - 1) / DeviceRegion.pageSize + 1
        return use(run.first + offset / DeviceRegion.pageSize, run.first + min(run.count, last + 1))
    }

    /// Brings pages back and notes their use; false if there are too few frames.
    @inline(__always)
    private mutating func use(_ first: Int, _ end: Int) -> Bool {
        frames.pointee.areFresh(first, end) || frames.pointee.useRun(first, end) || useOld(first..<end)
    }

    @inline(never)
    private mutating func useOld(_ pages: Range<Int>) -> Bool {
        let missing = frames.pointee.missing(pages)
        guard missing == 0 || bringBack(pages, missing) else { return false }
        frames.pointee.use(pages)
        return true
    }

    private mutating func bringBack(_ pages: Range<Int>, _ missing: Int) -> Bool {
        guard missing <= base.obtainablePages else {
            base.refuse(missing)
            return false
        }
        var page = pages.lowerBound
        while page < pages.upperBound {
            guard !frames.pointee.hasFrame(page) else {
                page += 1
                continue
            }
            let start = page
            while page < pages.upperBound, !frames.pointee.hasFrame(page) {
                frames.pointee.restore(page, isUse: true)
                page += 1
            }
            base.restore(start..<page)
        }
        return true
    }

    mutating func compress(_ slot: Int, most: Int, usedBefore: Int, stores: Bool, size: (Int) -> Int) -> Int {
        takeFrames(slot, most, usedBefore) { frames, page in
            guard !stores || frames.pointee.segments.hasRoom(for: DeviceRegion.pageSize) else { return false }
            frames.pointee.compress(page, size: size(page))
            return true
        }
    }

    mutating func pageOut(_ slot: Int, most: Int, usedBefore: Int) -> Int {
        takeFrames(slot, most, usedBefore) { frames, page in
            frames.pointee.pageOut(page)
            return true
        }
    }

    /// Takes frames from the slot's pages, those used longest ago first, until `take` refuses one.
    @inline(__always)
    private mutating func takeFrames(
        _ slot: Int, _ most: Int, _ usedBefore: Int, _ take: (UnsafeMutablePointer<FrameTable>, Int) -> Bool
    ) -> Int {
        var (done, run) = (0, 0..<0)
        while done < most, let page = frames.pointee.oldest(of: slot), frames.pointee.use(of: page) < usedBefore {
            guard take(frames, page) else { break }
            done += 1
            if page == run.upperBound, !run.isEmpty {
                run = run.lowerBound..<page + 1
            } else {
                if !run.isEmpty { base.drop(run) }
                run = page..<page + 1
            }
        }
        if !run.isEmpty { base.drop(run) }
        return done
    }

    mutating func restore(_ slot: Int, most: Int) -> Int {
        let count = min(most, base.obtainablePages)
        var (done, run) = (0, 0..<0)
        while done < count, let page = frames.pointee.newestFrameless(of: slot) {
            frames.pointee.restore(page, isUse: true)
            done += 1
            if page == run.lowerBound - 1, !run.isEmpty {
                run = page..<run.upperBound
            } else {
                if !run.isEmpty { base.restore(run) }
                run = page..<page + 1
            }
        }
        if !run.isEmpty { base.restore(run) }
        return done
    }
}
