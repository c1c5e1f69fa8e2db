import Quantities

/// A device that forwards every call to another device of one fixed type.
///
/// The compiler then specialises the methods that the engine calls through `any DeviceMemory` for that type, down to
/// the heaps. A generic class would have one body for all of its types, and this body would look up the type at each
/// call and for every object.
protocol NamedDevice: DeviceMemory {
    associatedtype Device: DeviceMemory
    var device: Device { get }
}

extension NamedDevice {
    var books: DeviceBooks { device.books }
    var available: ByteCount { device.available }
    var longestFreeRun: ByteCount { device.longestFreeRun }
    var touchedBytes: ByteCount { device.touchedBytes }
    var allocatorMetadata: ByteCount { device.allocatorMetadata }
    var refusal: AllocationRefusal { device.refusal }
    func keepBack(_ bytes: ByteCount) { device.keepBack(bytes) }

    // MARK: Processes

    func makeProcess() throws(AllocatorError) -> MemorySlot { try device.makeProcess() }
    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount { try device.endProcess(slot) }
    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount { try device.purge(slot) }
    func declare(hot: Ratio, of slot: MemorySlot) { device.declare(hot: hot, of: slot) }
    func holdsFiles(_ slot: MemorySlot) { device.holdsFiles(slot) }
    func holdsWired(_ slot: MemorySlot) { device.holdsWired(slot) }
    func books(of slot: MemorySlot) -> ProcessBooks { device.books(of: slot) }
    func peakFootprint(of slot: MemorySlot) -> ByteCount { device.peakFootprint(of: slot) }
    func takeChanges(into slots: inout [Int]) { device.takeChanges(into: &slots) }

    func audit(refreshingMetadata: Bool) throws(AuditFailure) {
        try device.audit(refreshingMetadata: refreshingMetadata)
    }

    // MARK: Pools

    func makePool(in slot: MemorySlot) -> PoolID { device.makePool(in: slot) }
    func endPool(_ pool: PoolID) -> ReleaseResult { device.endPool(pool) }
    func requested(in pool: PoolID) -> ByteCount { device.requested(in: pool) }
    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount { device.touch(bytes, in: pool) }
    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount { device.read(bytes, in: pool) }

    func allocate(_ sizes: Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult {
        device.allocate(sizes, in: pool, limit: limit)
    }

    func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult {
        device.release(bytes, from: pool, order: order)
    }

    func releaseScattered(
        _ bytes: ByteCount, from pool: PoolID, using generator: inout SeededGenerator
    ) -> ReleaseResult {
        device.releaseScattered(bytes, from: pool, using: &generator)
    }

    // MARK: Objects

    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        device.makeObject(size, alignment: alignment, in: slot, limit: limit)
    }

    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation {
        device.resizeObject(object, to: size, in: slot, limit: limit)
    }

    func freeObject(_ object: ObjectHandle, in slot: MemorySlot) { device.freeObject(object, in: slot) }

    func play(
        _ steps: Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps {
        device.play(steps, on: &board, in: slot, limit: limit)
    }
}

/// A named device with a compressor: itself, as the engine sees it. The device that it forwards to names none.
protocol NamedCompressor: NamedDevice, CompressedPages where Device: CompressedPages {}

extension NamedCompressor {
    var compressor: (any CompressedPages)? { self }
    var figures: CompressorBooks { device.figures }
    var use: Ratio { device.use }
    var broughtBack: ByteCount { device.broughtBack }
    var poolSlot: MemorySlot { device.poolSlot }
    var lastUse: Int { device.lastUse }
    func oldestUse(by slot: MemorySlot) -> Int? { device.oldestUse(by: slot) }

    func declare(_ compressibility: Compressibility, of slot: MemorySlot) { device.declare(compressibility, of: slot) }

    func compress(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        device.compress(slot, atMost: bytes, usedBefore: usedBefore)
    }

    func bringBack(_ slot: MemorySlot, atMost bytes: ByteCount) -> ByteCount { device.bringBack(slot, atMost: bytes) }

    func swapOut(_ slot: MemorySlot, atMost bytes: ByteCount, pages: ByteCount?) -> SwappedPages {
        device.swapOut(slot, atMost: bytes, pages: pages)
    }

    func pageOut(_ slot: MemorySlot, atMost bytes: ByteCount, usedBefore: Int) -> ByteCount {
        device.pageOut(slot, atMost: bytes, usedBefore: usedBefore)
    }
}

/// The device with real memory: one jemalloc arena per process, all on one region under the ceiling.
///
/// The extent hooks count the pages of each arena; a counter of jemalloc says how many of them are active. The memory
/// for jemalloc's own bookkeeping is outside the region.
final class JemallocDevice: NamedDevice {
    let device: BookedDevice<JemallocHeaps>

    init(_ device: BookedDevice<JemallocHeaps>) { self.device = device }
}

/// The device without real memory: it computes the pages that jemalloc would use.
final class AccountingDevice: NamedDevice {
    let device: BookedDevice<AccountingHeaps>

    init(_ device: BookedDevice<AccountingHeaps>) { self.device = device }
}

/// The device with real memory and a compressor.
final class CompressingJemallocDevice: NamedCompressor {
    let device: BookedDevice<PagedHeaps<JemallocHeaps>>

    init(_ device: BookedDevice<PagedHeaps<JemallocHeaps>>) { self.device = device }
}

/// The device with a compressor, but without real memory.
final class CompressingAccountingDevice: NamedCompressor {
    let device: BookedDevice<PagedHeaps<AccountingHeaps>>

    init(_ device: BookedDevice<PagedHeaps<AccountingHeaps>>) { self.device = device }
}
