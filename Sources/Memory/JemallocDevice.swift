import CJemalloc
import Glibc
import Quantities

/// The device with real memory: one jemalloc arena per process, all of them on one region as large as the ceiling.
///
/// The books are exact at every moment and cost nothing: pages are counted by the extent hooks, active pages are
/// jemalloc's own counter, objects and their sizes are booked with each call. `audit()` compares them with jemalloc's
/// statistics, to the byte.
///
/// Limits: one thread; at most `MemoryLimits.liveProcesses` processes at once. jemalloc's own bookkeeping and the
/// object tables lie outside of the region.
public final class JemallocDevice: DeviceMemory {
    let region: DeviceRegion
    var arenas: ArenaStock
    var processes: [ProcessMemory] = []
    var statistics: ArenaStatistics
    var metadata = ByteCount.zero
    /// The sum of the arenas' active pages, as of each one's last call.
    private var activePages = 0
    private let sizeClasses = SizeClasses()
    /// What is written next; it changes with every object, so that no two pages need be alike.
    private var pattern: Int32 = 0
    private let ceiling: ByteCount

    /// Maps the device's memory and writes the system's share of it.
    /// - Parameters:
    ///   - ceiling: The device's memory; rounded down to whole pages.
    ///   - reserved: The system's own share; rounded up to whole pages.
    public init(ceiling: ByteCount, reserved: ByteCount) throws(DeviceMemoryFailure) {
        let size = try DeviceSize(ceiling: ceiling, reserved: reserved)
        do throws(AllocatorError) {
            arenas = try ArenaStock()
            statistics = try ArenaStatistics()
        } catch { throw .allocator(error) }
        try JemallocDevice.checkAllocator()
        region = try DeviceRegion(ceiling: size.ceiling, reserved: size.reserved)
        self.ceiling = size.ceiling
    }

    private static func checkAllocator() throws(DeviceMemoryFailure) {
        let allocator: AllocatorDescription
        do throws(AllocatorError) { allocator = try AllocatorDescription() } catch { throw .allocator(error) }
        try allocator.check()
    }

    deinit {
        // The arenas still hold pages of the region: they go first.
        for slot in processes.indices where processes[slot].isLive {
            do throws(AllocatorError) { try arenas.giveBack(slot) } catch {
                preconditionFailure("slot \(slot) could not be ended: \(error)")
            }
        }
        arenas.destroyAll()
    }

    public var books: DeviceBooks {
        let state = region.state
        return DeviceBooks(
            ceiling: ceiling,
            reserved: pageBytes(state.pointee.reservedPages),
            resident: pageBytes(state.pointee.residentPages),
            active: pageBytes(activePages),
            dirty: pageBytes(state.pointee.pagesOut - activePages),
            peakResident: pageBytes(state.pointee.peakPages),
            metadata: metadata)
    }

    public var longestFreeRun: ByteCount { pageBytes(region.state.pointee.runs.longestRun) }

    /// How far up the region was ever used: what the host has backed with memory of its own.
    public var touchedBytes: ByteCount { pageBytes(region.state.pointee.highWater) }

    public func makeProcess() throws(AllocatorError) -> MemorySlot {
        let slot = try arenas.lend(region: region.state)
        while processes.count <= slot { processes.append(ProcessMemory()) }
        processes[slot].isLive = true
        return MemorySlot(slot)
    }

    public func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        let index = live(slot)
        let footprint = pageBytes(arenas[index].pointee.pages)
        try arenas.giveBack(index)
        settle(index)
        processes[index] = ProcessMemory()
        return footprint
    }

    public func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount {
        let index = live(slot)
        let before = arenas[index].pointee.pages
        try arenas.purgeDirty(index)
        return pageBytes(before - arenas[index].pointee.pages)
    }

    public func makePool(in slot: MemorySlot) -> PoolID {
        PoolID(slot: slot, index: processes[live(slot)].makePool())
    }

    public func endPool(_ pool: PoolID) -> ReleaseResult {
        var table = takeTable(pool)
        let result = ReleaseResult(objects: table.count, requested: ByteCount(table.requested))
        var usable = 0
        while !table.isEmpty { usable += free(table.removeNewest()) }
        processes[pool.slot.index].book(objects: -result.objects, requested: -result.requested.bytes, usable: -usable)
        processes[pool.slot.index].endPool(pool.index)
        settle(pool.slot.index)
        return result
    }

    public func requested(in pool: PoolID) -> ByteCount {
        ByteCount(processes[live(pool.slot)].table(pool.index).requested)
    }

    public func books(of slot: MemorySlot) -> ProcessBooks {
        let index = live(slot)
        let active = arenas[index].pointee.activePages
        return processes[index].books(activePages: active, dirtyPages: arenas[index].pointee.pages - active)
    }

    public func allocate(_ sizes: borrowing Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        var table = takeTable(pool)
        let before = (objects: table.count, requested: table.requested)
        let arena = arenas[pool.slot.index]
        let (flags, owner, base) = (arena.pointee.flags, arena.pointee.owner, region.state.pointee.base)
        let pageLimit = limit.map { $0.bytes / DeviceRegion.pageSize } ?? Int.max
        var usable = 0
        var refusal: AllocationRefusal?
        for index in sizes.indices {
            let size = sizes[index]
            precondition(size > 0 && size <= MemoryLimits.largestObject.bytes, "an object of \(size) bytes")
            guard let object = mallocx(size, flags) else {
                refusal = noRoom()
                break
            }
            pattern = (pattern + 1) & 0xff
            memset(object, pattern, size)
            usable += sizeClasses.usable(size)
            table.append(ObjectTable.Entry(unit: (object - base) >> 3, size: size))
            if owner.pointee.pages > pageLimit {
                refusal = .limitCrossed(footprint: pageBytes(owner.pointee.pages))
                break
            }
        }
        let objects = table.count - before.objects
        let requested = table.requested - before.requested
        putTable(&table, pool)
        processes[pool.slot.index].book(objects: objects, requested: requested, usable: usable)
        settle(pool.slot.index)
        return AllocationResult(objects: objects, requested: ByteCount(requested), refusal: refusal)
    }

    public func release(
        _ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder, using generator: inout SeededGenerator
    ) -> ReleaseResult {
        var table = takeTable(pool)
        let before = (objects: table.count, requested: table.requested)
        let goal = max(0, before.requested - bytes.bytes)
        var usable = 0
        while table.requested > goal { usable += free(table.remove(order, using: &generator)) }
        let objects = before.objects - table.count
        let requested = before.requested - table.requested
        putTable(&table, pool)
        processes[pool.slot.index].book(objects: -objects, requested: -requested, usable: -usable)
        settle(pool.slot.index)
        return ReleaseResult(objects: objects, requested: ByteCount(requested))
    }

    public func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount {
        var table = takeTable(pool)
        let base = region.state.pointee.base
        // Once round is enough: a second round would write the same bytes again.
        let goal = min(bytes.bytes, table.requested)
        var written = 0
        while written < goal {
            let piece = table.nextPiece(goal - written)
            pattern = (pattern + 1) & 0xff
            memset(base + (piece.entry.unit << 3) + piece.offset, pattern, piece.length)
            written += piece.length
        }
        putTable(&table, pool)
        return ByteCount(written)
    }

    /// Frees one object and answers how many bytes its size class gives back.
    private func free(_ entry: ObjectTable.Entry) -> Int {
        sdallocx(region.state.pointee.base + (entry.unit << 3), entry.size, plimsoll_flags_uncached())
        return sizeClasses.usable(entry.size)
    }

    private func noRoom() -> AllocationRefusal {
        let state = region.state
        return .noRoom(
            wanted: pageBytes(state.pointee.refusedPages), free: pageBytes(state.pointee.runs.freePages),
            longestRun: pageBytes(state.pointee.runs.longestRun))
    }

    /// Brings the device's active pages up to date with one arena's; every call that moves objects ends with it.
    private func settle(_ slot: Int) {
        let now = arenas[slot].pointee.activePages
        activePages += now - processes[slot].activePages
        processes[slot].activePages = now
    }

    /// The slot's index; a slot without a process is our own fault.
    func live(_ slot: MemorySlot) -> Int {
        precondition(
            slot.index >= 0 && slot.index < processes.count && processes[slot.index].isLive,
            "slot \(slot.index) has no process")
        return slot.index
    }

    /// Moves a pool's table out, so that a batch works on it alone, without a check per object.
    private func takeTable(_ pool: PoolID) -> ObjectTable {
        processes[live(pool.slot)].takeTable(pool.index)
    }

    private func putTable(_ table: inout ObjectTable, _ pool: PoolID) {
        processes[pool.slot.index].putTable(&table, pool.index)
    }
}

/// Whole pages in bytes.
func pageBytes(_ pages: Int) -> ByteCount { ByteCount(pages * DeviceRegion.pageSize) }
