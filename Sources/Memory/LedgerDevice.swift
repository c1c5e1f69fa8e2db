import Quantities

/// A device's memory: the exact ledger over the heaps of its processes.
///
/// The books are exact at every moment and cost nothing: objects and their sizes are booked with each call, pages are
/// counted when they are handed out, active pages are asked of one heap after each call that moves its objects.
/// The same code keeps the books for every backend.
///
/// Limits: one thread; at most `MemoryLimits.liveProcesses` processes at once. The tables of objects are the harness's
/// own memory, not the device's.
final class LedgerDevice<Heaps: ProcessHeaps & ~Copyable>: DeviceMemory {
    var heaps: Heaps
    var processes: [ProcessMemory] = []
    private let size: DeviceSize
    private var metadata = ByteCount.zero
    /// The sum of the heaps' active pages, as of each one's last call.
    private var activePages = 0
    /// The slots whose books have changed since somebody asked.
    private var changes: [Int] = []

    /// - Parameters:
    ///   - ceiling: The device's memory; rounded down to whole pages.
    ///   - reserved: The system's own share; rounded up to whole pages.
    init(ceiling: ByteCount, reserved: ByteCount) throws(DeviceMemoryFailure) {
        size = try DeviceSize(ceiling: ceiling, reserved: reserved)
        heaps = try Heaps(size)
    }

    var books: DeviceBooks {
        let (resident, dirty) = (heaps.residentPages, heaps.pagesOut - activePages)
        return DeviceBooks(
            ceiling: size.ceiling, reserved: size.reserved, resident: pageBytes(resident),
            active: pageBytes(activePages), dirty: pageBytes(dirty), peakResident: pageBytes(heaps.peakPages),
            metadata: metadata)
    }

    var longestFreeRun: ByteCount { pageBytes(heaps.longestRun) }

    func keepBack(_ bytes: ByteCount) {
        heaps.keepBack(bytes.roundedUp(toMultipleOf: DeviceRegion.pageSize).bytes / DeviceRegion.pageSize)
    }

    /// The most memory of its own that the host ever gave to the device; never more than the ceiling.
    var touchedBytes: ByteCount { pageBytes(heaps.backedPages) }

    var allocatorMetadata: ByteCount { ByteCount(heaps.allocatorMetadata) }

    func makeProcess() throws(AllocatorError) -> MemorySlot {
        let slot = try heaps.lend()
        while processes.count <= slot { processes.append(ProcessMemory()) }
        processes[slot].isLive = true
        return MemorySlot(slot)
    }

    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        let index = live(slot)
        let footprint = pageBytes(heaps.pages(index))
        try heaps.giveBack(index)
        settle(index)
        processes[index] = ProcessMemory()
        return footprint
    }

    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        let index = live(slot)
        let before = heaps.pages(index)
        try heaps.purge(index)
        noteChange(index)
        return pageBytes(before - heaps.pages(index))
    }

    func makePool(in slot: MemorySlot) -> PoolID {
        PoolID(slot: slot, index: processes[live(slot)].makePool())
    }

    func endPool(_ pool: PoolID) -> ReleaseResult {
        let ended = self.pool(pool)
        let result = ReleaseResult(objects: ended.table.count, requested: ByteCount(ended.table.requested))
        let usable = heaps.empty(&ended.table, pool.slot.index)
        processes[pool.slot.index].book(objects: -result.objects, requested: -result.requested.bytes, usable: -usable)
        processes[pool.slot.index].endPool(pool.index)
        settle(pool.slot.index)
        return result
    }

    func requested(in pool: PoolID) -> ByteCount {
        ByteCount(self.pool(pool).table.requested)
    }

    func books(of slot: MemorySlot) -> ProcessBooks {
        let index = live(slot)
        let active = heaps.activePages(index)
        return processes[index].books(activePages: active, dirtyPages: heaps.pages(index) - active)
    }

    func allocate(_ sizes: borrowing Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        let filled = self.pool(pool)
        let before = (objects: filled.table.count, requested: filled.table.requested)
        let pageLimit = limit.map { $0.bytes / DeviceRegion.pageSize } ?? Int.max
        let (usable, refusal) = heaps.fill(&filled.table, sizes, pool.slot.index, pageLimit: pageLimit)
        let objects = filled.table.count - before.objects
        let requested = filled.table.requested - before.requested
        processes[pool.slot.index].book(objects: objects, requested: requested, usable: usable)
        settle(pool.slot.index)
        return AllocationResult(objects: objects, requested: ByteCount(requested), refusal: refusal)
    }

    func release(
        _ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder, using generator: inout SeededGenerator
    ) -> ReleaseResult {
        let released = self.pool(pool)
        let before = (objects: released.table.count, requested: released.table.requested)
        let goal = max(0, before.requested - bytes.bytes)
        let usable = heaps.release(&released.table, downTo: goal, order, pool.slot.index, using: &generator)
        let objects = before.objects - released.table.count
        let requested = before.requested - released.table.requested
        processes[pool.slot.index].book(objects: -objects, requested: -requested, usable: -usable)
        settle(pool.slot.index)
        return ReleaseResult(objects: objects, requested: ByteCount(requested))
    }

    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        let touched = self.pool(pool)
        // Once round is enough: a second round would write the same bytes again.
        return ByteCount(heaps.touch(&touched.table, min(bytes.bytes, touched.table.requested)))
    }

    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        let read = self.pool(pool)
        return ByteCount(heaps.read(&read.table, min(bytes.bytes, read.table.requested)))
    }

    func audit(refreshingMetadata: Bool) throws(AuditFailure) {
        let seen = refreshingMetadata ? [] : processes.map(\.metadata)
        let total = try heaps.audit(&processes, activePages: activePages)
        if refreshingMetadata { metadata = total }
        for slot in seen.indices { processes[slot].metadata = seen[slot] }
        for slot in processes.indices where processes[slot].metadata != processes[slot].metadataSeen {
            processes[slot].metadataSeen = processes[slot].metadata
            noteChange(slot)
        }
    }

    func takeChanges(into slots: inout [Int]) {
        slots.removeAll(keepingCapacity: true)
        swap(&slots, &changes)
        for slot in slots { processes[slot].isChanged = false }
    }

    private func noteChange(_ slot: Int) {
        guard !processes[slot].isChanged else { return }
        processes[slot].isChanged = true
        changes.append(slot)
    }

    /// Brings the device's active pages up to date with one heap's; every call that moves objects ends with it.
    func settle(_ slot: Int) {
        let now = heaps.activePages(slot)
        activePages += now - processes[slot].activePages
        processes[slot].activePages = now
        noteChange(slot)
    }

    /// The slot's index; a slot without a process is our own fault.
    func live(_ slot: MemorySlot) -> Int {
        precondition(
            slot.index >= 0 && slot.index < processes.count && processes[slot.index].isLive,
            "slot \(slot.index) has no process")
        return slot.index
    }

    private func pool(_ pool: PoolID) -> ProcessMemory.Pool { processes[live(pool.slot)].pool(pool.index) }
}
