import Quantities

/// A device's memory, with books: an exact ledger of what the heaps of its processes hold.
///
/// The books are exact at every moment, and reading them costs nothing. Each call books the objects and sizes that it
/// adds or removes, and counts the pages that are handed out. After a call that makes or frees objects, the device
/// reads the active pages of that heap. Both backends share this code; `NamedDevice` has it compiled for each.
///
/// Limits: one thread; at most `MemoryLimits.liveProcesses` processes at once. The object tables are Plimsoll's own
/// memory, not the device's.
final class BookedDevice<Heaps: ProcessHeaps & ~Copyable>: DeviceMemory {
    var heaps: Heaps
    var processes = ProcessMemories()
    /// The pool of the device's compressor; nil without one.
    var pool: CompressorPool?
    private let size: DevicePages
    private var metadata = ByteCount.zero
    /// The sum of the heaps' active pages, each as of its last call.
    private var activePages = 0
    /// The requested bytes, summed over the processes.
    private var requested = 0
    private var usable = 0
    /// The slot of the file cache; nil: there is none.
    private var files: Int?
    /// The slot of the wired memory that comes and goes; nil: there is none.
    private var wired: Int?
    /// The slots whose books have changed since the last `takeChanges`.
    private var changes: [Int] = []

    /// - Parameters:
    ///   - ceiling: The device's memory; rounded down to whole pages.
    ///   - reserved: The system's own share; rounded up to whole pages.
    ///   - promised: The memory that the host is asked to promise; by default the ceiling.
    ///   - isFramed: Whether pages may lose their frames to a compressor.
    ///   - rewrite: How much of an object a use of it goes over.
    init(
        ceiling: ByteCount, reserved: ByteCount, promised: ByteCount? = nil, isFramed: Bool = false,
        rewrite: RewriteExtent = .line
    ) throws(DeviceMemoryFailure) {
        size = try DevicePages(ceiling: ceiling, reserved: reserved, promised: promised, isFramed: isFramed)
        heaps = try Heaps(size)
        heaps.setRewrite(rewrite)
    }

    var books: DeviceBooks {
        let (resident, dirty) = (heaps.residentPages, heaps.pagesOut - activePages)
        let books = DeviceBooks(
            ceiling: size.ceiling, reserved: size.reserved, resident: pageBytes(resident),
            active: pageBytes(activePages), dirty: pageBytes(dirty), requested: ByteCount(requested),
            usable: ByteCount(usable), peakResident: pageBytes(heaps.peakPages), metadata: metadata)
        return files == nil && wired == nil && pool == nil ? books : apart(books)
    }

    /// The books with the file cache, wired memory and the compressor's pool counted apart from the processes.
    private func apart(_ all: DeviceBooks) -> DeviceBooks {
        var books = all
        if let files { books.files = books.take(self.books(of: MemorySlot(files))) }
        if let wired { books.reserved += books.take(self.books(of: MemorySlot(wired))) }
        if let pool {
            books.compressor = books.take(self.books(of: pool.slot))
            books.compressed = pageBytes(pool.frames.pointee.compressed)
            books.swapped = pageBytes(pool.frames.pointee.store.swapped)
        }
        return books
    }

    /// Why the last allocation, `touch` or `read` stopped early.
    var refusal: AllocationRefusal { heaps.refusal }

    var available: ByteCount { size.ceiling - pageBytes(heaps.residentPages) }

    var longestFreeRun: ByteCount { pageBytes(heaps.longestRun) }

    func keepBack(_ bytes: ByteCount) {
        heaps.keepBack(bytes.roundedUp(toMultipleOf: DeviceRegion.pageSize).bytes / DeviceRegion.pageSize)
    }

    /// The most memory with which the host has ever backed the device; at most the ceiling.
    var touchedBytes: ByteCount { pageBytes(heaps.backedPages) }

    var allocatorMetadata: ByteCount { ByteCount(heaps.allocatorMetadata) }

    func makeProcess() throws(AllocatorError) -> MemorySlot {
        let slot = try heaps.lend()
        while processes.count <= slot { processes.append(ProcessMemory()) }
        processes[slot].isLive = true
        pool?.begin(MemorySlot(slot))
        return MemorySlot(slot)
    }

    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        defer { tidy() }
        let index = live(slot)
        let footprint = pageBytes(heaps.pages(index))
        try heaps.giveBack(index)
        settle(index)
        if files == index { files = nil }
        if wired == index { wired = nil }
        requested -= processes[index].requested
        usable -= processes[index].usable
        processes[index] = ProcessMemory()
        return footprint
    }

    func declare(hot: Ratio, of slot: MemorySlot) { processes[live(slot)].hot = hot }

    func holdsFiles(_ slot: MemorySlot) { files = live(slot) }

    func holdsWired(_ slot: MemorySlot) { wired = live(slot) }

    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        defer { tidy() }
        return try purgePages(of: live(slot))
    }

    func purgePages(of index: Int) throws(AllocatorError) -> ByteCount {
        let before = heaps.pages(index)
        try heaps.purge(index)
        noteChange(index)
        return pageBytes(before - heaps.pages(index))
    }

    func makePool(in slot: MemorySlot) -> PoolID {
        PoolID(slot: slot, index: processes[live(slot)].makePool())
    }

    func endPool(_ pool: PoolID) -> ReleaseResult {
        defer { tidy() }
        let slot = live(pool.slot)
        let gone = heaps.release(&processes[slot][pool.index], .max, slot) { $0.removeNewest() }
        processes[slot].endPool(pool.index)
        return book(gone, of: slot)
    }

    func requested(in pool: PoolID) -> ByteCount {
        ByteCount(processes[live(pool.slot)][pool.index].requested)
    }

    func books(of slot: MemorySlot) -> ProcessBooks {
        let index = live(slot)
        let active = heaps.activePages(index)
        return processes[index].books(
            activePages: active, dirtyPages: heaps.pages(index) - active,
            compressedPages: heaps.compressedPages(index), swappedPages: heaps.swappedPages(index))
    }

    /// A heap's pages grow and never shrink within a call, because only a purge gives pages back to the device. So
    /// it is enough to note the footprint after each call.
    func peakFootprint(of slot: MemorySlot) -> ByteCount { pageBytes(processes[live(slot)].peakPages) }

    func allocate(_ sizes: borrowing Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        defer { tidy() }
        let slot = live(pool.slot)
        let pageLimit = limit.map { $0.bytes / DeviceRegion.pageSize } ?? Int.max
        let (made, refusal) = heaps.fill(&processes[slot][pool.index], sizes, slot, pageLimit: pageLimit)
        book(slot, objects: made.objects, requested: made.requested, usable: made.usable)
        return AllocationResult(objects: made.objects, requested: ByteCount(made.requested), refusal: refusal)
    }

    func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult {
        let slot = live(pool.slot)
        let gone =
            switch order {
            case .oldestFirst:
                heaps.release(&processes[slot][pool.index], bytes.bytes, slot) { $0.removeOldest() }
            case .newestFirst:
                heaps.release(&processes[slot][pool.index], bytes.bytes, slot) { $0.removeNewest() }
            }
        return book(gone, of: slot)
    }

    func releaseScattered(
        _ bytes: ByteCount, from pool: PoolID, using generator: inout SeededGenerator
    ) -> ReleaseResult {
        let slot = live(pool.slot)
        let gone = heaps.release(&processes[slot][pool.index], bytes.bytes, slot) {
            $0.remove(at: Int(generator.below(UInt64($0.count))))
        }
        return book(gone, of: slot)
    }

    @inline(__always)
    private func book(_ gone: ObjectBatch, of slot: Int) -> ReleaseResult {
        book(slot, objects: -gone.objects, requested: -gone.requested, usable: -gone.usable)
        return ReleaseResult(objects: gone.objects, requested: ByteCount(gone.requested))
    }

    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        defer { tidy() }
        let slot = live(pool.slot)
        // One round is enough: a second would write the same bytes again.
        let count = min(bytes.bytes, processes[slot][pool.index].requested)
        let before = heaps.framelessPages(slot)
        let hot = processes[slot].hot
        let done = heaps.touch(&processes[slot][pool.index], count, hot: hot)
        if heaps.framelessPages(slot) != before { noteChange(slot) }
        return ByteCount(done)
    }

    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        defer { tidy() }
        let slot = live(pool.slot)
        let count = min(bytes.bytes, processes[slot][pool.index].requested)
        let before = heaps.framelessPages(slot)
        let hot = processes[slot].hot
        let done = heaps.read(&processes[slot][pool.index], count, hot: hot)
        if heaps.framelessPages(slot) != before { noteChange(slot) }
        return ByteCount(done)
    }

    func audit(refreshingMetadata: Bool) throws(AuditFailure) {
        let total = try heaps.audit(&processes, activePages: activePages)
        guard refreshingMetadata else { return }
        metadata = total
        for slot in processes.indices where processes[slot].metadataTold != processes[slot].metadata {
            processes[slot].metadataTold = processes[slot].metadata
            noteChange(slot)
        }
    }

    func takeChanges(into slots: inout [Int]) {
        slots.removeOneByOne()
        swap(&slots, &changes)
        for slot in slots { processes[slot].isChanged = false }
        if let pool { slots.removeAll { $0 == pool.slot.index } }
    }

    @inline(__always)
    func noteChange(_ slot: Int) {
        guard !processes[slot].isChanged else { return }
        processes[slot].isChanged = true
        changes.append(slot)
    }

    /// Adds these numbers to the books; negative numbers remove. Every call that adds or removes objects ends with
    /// it.
    @inline(__always)
    func book(_ slot: Int, objects: Int, requested: Int, usable: Int) {
        processes[slot].book(objects: objects, requested: requested, usable: usable)
        self.requested += requested
        self.usable += usable
        settle(slot)
    }

    /// Updates the device's active pages after a change in one heap.
    @inline(__always)
    private func settle(_ slot: Int) {
        let now = heaps.activePages(slot)
        activePages += now - processes[slot].activePages
        processes[slot].activePages = now
        processes[slot].peakPages = max(processes[slot].peakPages, heaps.pages(slot))
        noteChange(slot)
    }

    /// The slot's index; traps on a slot without a process, which is a fault of Plimsoll.
    @inline(__always)
    func live(_ slot: MemorySlot) -> Int {
        precondition(
            slot.index >= 0 && slot.index < processes.count && processes[slot.index].isLive,
            "slot \(slot.index) has no process")
        return slot.index
    }
}
