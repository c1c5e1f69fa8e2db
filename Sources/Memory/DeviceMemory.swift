import Quantities

/// A process's memory on the device: a dense slot, reused after the process has ended.
public struct MemorySlot: Hashable, Sendable {
    /// The slot's number, from 0.
    public let index: Int
    /// Names a slot; it need not hold a process.
    @inlinable
    public init(_ index: Int) { self.index = index }
}

/// One pool of objects within a slot, for example the process's caches or one scene's memory.
public struct PoolID: Hashable, Sendable {
    /// The process's slot.
    public let slot: MemorySlot
    /// The pool's number within the process, from 0.
    public let index: Int
    /// Names a pool; it need not exist.
    @inlinable
    public init(slot: MemorySlot, index: Int) {
        self.slot = slot
        self.index = index
    }
}

/// Which objects of a pool are freed first.
public enum ReleaseOrder: Sendable {
    case oldestFirst
    case newestFirst
}

/// The memory that one process holds, from the books: Plimsoll's own accounting, which is exact at every moment.
public struct ProcessBooks: Hashable, Sendable {
    /// Live objects.
    public var objects: Int
    /// The bytes that the process asked for.
    public var requested: ByteCount
    /// The bytes of its objects' size classes: jemalloc's `allocated`.
    public var usable: ByteCount
    /// Pages in use: jemalloc's `pactive`.
    public var active: ByteCount
    /// Unused pages not yet given back: jemalloc's `pdirty` (plus `pmuzzy`, which is always zero here).
    public var dirty: ByteCount

    /// jemalloc's bookkeeping for the process's arena, outside the ceiling, as of the last audit; at first zero.
    public var metadata: ByteCount
    /// Active and dirty pages that have no frame, because the compressor keeps their contents.
    public var compressed: ByteCount
    /// Active and dirty pages that have no frame, because their contents are in the store on flash.
    public var swapped: ByteCount

    /// Active and dirty pages that have a frame.
    public var resident: ByteCount { footprint - compressed - swapped }

    /// The process's share of the device's memory: active and dirty pages, with or without frames.
    public var footprint: ByteCount { active + dirty }

    /// Books with these figures.
    public init(
        objects: Int, requested: ByteCount, usable: ByteCount, active: ByteCount, dirty: ByteCount,
        metadata: ByteCount = .zero, compressed: ByteCount = .zero, swapped: ByteCount = .zero
    ) {
        self.compressed = compressed
        self.swapped = swapped
        self.objects = objects
        self.requested = requested
        self.usable = usable
        self.active = active
        self.dirty = dirty
        self.metadata = metadata
    }
}

/// The memory of the whole device, from the books (see `ProcessBooks`).
public struct DeviceBooks: Hashable, Sendable {
    /// The device's memory, which `resident` never exceeds.
    public var ceiling: ByteCount
    /// The part of the ceiling that the system keeps for itself, with the pages of the slot of `holdsWired`.
    public var reserved: ByteCount
    /// `reserved` plus every frame of a process, of the compressor's pool and of the file cache.
    public var resident: ByteCount
    /// The processes' pages in use.
    public var active: ByteCount
    /// The processes' unused pages not yet given back.
    public var dirty: ByteCount
    /// The bytes that the processes asked for.
    public var requested: ByteCount
    /// The bytes of the size classes of the processes' objects.
    public var usable: ByteCount
    /// The largest `resident` ever reached, tracked at every hand-out of pages.
    public var peakResident: ByteCount
    /// jemalloc's own bookkeeping for the processes' arenas, outside the ceiling, as of the last audit.
    public var metadata: ByteCount

    /// The processes' pages whose contents the compressor keeps. Without a compressor zero.
    public var compressed: ByteCount
    /// The processes' pages whose contents are in the store on flash. Without a compressor zero.
    public var swapped: ByteCount
    /// The frames of the compressor's pool.
    public var compressor: ByteCount
    /// The frames of the file cache.
    public var files: ByteCount

    /// Free memory.
    public var available: ByteCount { ceiling - resident }

    /// What all frames add up to; `resident` says the same.
    public var frames: ByteCount { reserved + active + dirty - compressed - swapped + compressor + files }

    /// Books with these figures.
    public init(
        ceiling: ByteCount, reserved: ByteCount, resident: ByteCount, active: ByteCount, dirty: ByteCount,
        requested: ByteCount, usable: ByteCount, peakResident: ByteCount, metadata: ByteCount,
        compressed: ByteCount = .zero, swapped: ByteCount = .zero, compressor: ByteCount = .zero,
        files: ByteCount = .zero
    ) {
        self.compressed = compressed
        self.swapped = swapped
        self.compressor = compressor
        self.files = files
        self.ceiling = ceiling
        self.reserved = reserved
        self.resident = resident
        self.active = active
        self.dirty = dirty
        self.requested = requested
        self.usable = usable
        self.peakResident = peakResident
        self.metadata = metadata
    }
}

extension DeviceBooks {
    /// Takes a slot that holds no process out of the processes' figures. Returns its footprint.
    mutating func take(_ part: ProcessBooks) -> ByteCount {
        active -= part.active
        dirty -= part.dirty
        requested -= part.requested
        usable -= part.usable
        metadata -= part.metadata
        return part.footprint
    }
}

/// Why an object was not allocated.
public enum AllocationRefusal: Hashable, Sendable {
    /// The device has too few free pages. If `free` is large enough but `longestRun` is too short, memory is
    /// fragmented. This is not expected, because any free pages can form a run.
    case noRoom(wanted: ByteCount, free: ByteCount, longestRun: ByteCount)
    /// The footprint has crossed the given limit. The object that crossed it was allocated.
    case limitCrossed(footprint: ByteCount)
}

/// How far an allocation of several objects came.
public struct AllocationResult: Hashable, Sendable {
    /// How many of the sizes, from the front, were allocated.
    public var objects: Int
    /// The sum of the allocated sizes.
    public var requested: ByteCount
    /// Why it stopped; nil if every size was allocated and no limit was crossed.
    public var refusal: AllocationRefusal?

    /// A result with these figures.
    public init(objects: Int, requested: ByteCount, refusal: AllocationRefusal?) {
        self.objects = objects
        self.requested = requested
        self.refusal = refusal
    }
}

/// One object outside the pools. Valid until it is freed or its process ends.
public struct ObjectHandle: Hashable, Sendable {
    /// The object's place, in units of the backend.
    let unit: Int
    /// The bytes that were asked for.
    let requested: UInt32
    /// The bytes of its size class.
    let usable: UInt32

    /// The bytes that were asked for.
    public var size: ByteCount { ByteCount(Int(requested)) }
}

/// The outcome of making or resizing one object.
public struct ObjectAllocation: Hashable, Sendable {
    /// The object that was made or resized; nil without room.
    public var object: ObjectHandle?
    /// Why there is no object, or that the object crossed the limit; nil otherwise.
    public var refusal: AllocationRefusal?
}

/// What was freed.
public struct ReleaseResult: Hashable, Sendable {
    /// The number of objects.
    public var objects: Int
    /// The sum of their sizes, as they were asked for.
    public var requested: ByteCount

    /// A result with these figures.
    public init(objects: Int, requested: ByteCount) {
        self.objects = objects
        self.requested = requested
    }
}

/// jemalloc refused to read or set a control.
public struct AllocatorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The control's name.
    public let control: String
    /// The `errno` that jemalloc returned.
    public let code: Int32

    /// A refusal of `control`.
    public init(control: String, code: Int32) {
        self.control = control
        self.code = code
    }

    /// One line with the name and the `errno`.
    public var description: String { "jemalloc refused \(control) (errno \(code))" }
}

/// The books differ from jemalloc's refreshed statistics; always a fault of Plimsoll.
public struct BooksDisagree: Error, Hashable, Sendable, CustomStringConvertible {
    /// The process's slot; nil for the whole device.
    public let slot: MemorySlot?
    /// The name of the figure that differs.
    public let figure: String
    /// The figure in the books.
    public let books: Int
    /// The figure in jemalloc's statistics.
    public let allocator: Int

    /// A difference in one figure.
    public init(slot: MemorySlot?, figure: String, books: Int, allocator: Int) {
        self.slot = slot
        self.figure = figure
        self.books = books
        self.allocator = allocator
    }

    /// One line with both values.
    public var description: String {
        let place = slot.map { "slot \($0.index)" } ?? "the device"
        return "\(figure) of \(place): Plimsoll's accounting has \(books), jemalloc has \(allocator)"
    }
}

/// Which kind of memory a run uses.
public enum MemoryBackend: String, CaseIterable, Sendable {
    /// Real memory, through jemalloc.
    case jemalloc
    /// No memory: only computes the pages that jemalloc would use. For sweeps.
    case accounting
}

/// The memory of the simulated device under its hard ceiling; the engine reaches memory only through it.
///
/// One owner uses it from one thread. Calls take batches, so that dynamic dispatch costs once per batch, not per
/// object. Every call must name a live slot and pool; anything else is a fault of Plimsoll and stops the run.
public protocol DeviceMemory: AnyObject {
    /// The device's size relative to the original device that it represents; see `ScaleModel`. Requests to pools and
    /// the contents of pools are in bytes of the original; everything else is in bytes of this device.
    var scale: Ratio { get }

    /// The figures of the whole device; reading them is free.
    var books: DeviceBooks { get }

    /// Free memory: the same as `books.available`, but faster, because it is read most often.
    var available: ByteCount { get }

    /// The longest run of pages that can be handed out.
    var longestFreeRun: ByteCount { get }

    /// Withholds this many free bytes, rounded up to whole pages, from all allocations; zero releases them. Refusals
    /// then count only the other free bytes.
    func keepBack(_ bytes: ByteCount)

    /// The most memory that the host ever backed: at most the ceiling, zero on the accounting backend.
    var touchedBytes: ByteCount { get }

    /// All of the allocator's bookkeeping in this program (jemalloc's `stats.metadata`) as of the last audit, including
    /// arenas without a process and jemalloc's statistics. Zero on the accounting backend.
    var allocatorMetadata: ByteCount { get }

    /// Makes a new process's memory: an arena without pools.
    func makeProcess() throws(AllocatorError) -> MemorySlot

    /// Ends a process's memory; every page goes back to the device. Returns the footprint that the process had.
    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount

    /// Declares that a slot holds no process but the device's file cache. The device's books then count its pages as
    /// `files`. Call it once, before the slot holds anything.
    func holdsFiles(_ slot: MemorySlot)

    /// Declares that a slot holds no process but wired memory of the system that comes and goes. The device's books
    /// then count its pages as `reserved`. Call it once, before the slot holds anything. Nobody compresses its pages.
    func holdsWired(_ slot: MemorySlot)

    /// Makes an empty pool. Pool indices are dense within the process and reused after `endPool`.
    func makePool(in slot: MemorySlot) -> PoolID

    /// Frees every object of the pool and ends the pool. Its pages stay with the process, dirty, until purged.
    func endPool(_ pool: PoolID) -> ReleaseResult

    /// Allocates and writes one object per size, in order, until one is refused.
    /// - Parameter limit: Stops right after the object with which the footprint crosses it (jetsam's per-process
    /// limit).
    func allocate(_ sizes: Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult

    /// Frees objects from one end of the pool until at least `bytes` requested bytes are freed or the pool is empty.
    func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult

    /// Frees objects that the generator draws, until at least `bytes` requested bytes are freed or the pool is empty;
    /// this leaves holes.
    func releaseScattered(
        _ bytes: ByteCount, from pool: PoolID, using generator: inout SeededGenerator
    ) -> ReleaseResult

    /// Rewrites `bytes` of the pool's objects in turn, from where the last call stopped, each byte at most once.
    /// Returns the bytes written; 0 for an empty pool. On a device with a compressor they may be fewer, if compressed
    /// pages find no room; `refusal` says so.
    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount

    /// Allocates and writes one object outside the pools, for traces, whose objects come and go by name. The holder of
    /// the handle frees the object; otherwise it is freed when the process ends.
    /// - Parameters:
    ///   - size: May be zero: such an object has the smallest size class.
    ///   - alignment: A power of two; nil for the allocator's own.
    ///   - limit: As for `allocate`: the object that crosses it is allocated, and the refusal says so.
    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation

    /// Gives the object another size. If the size class is the same, the object stays in place. Otherwise a new object
    /// is made before the old one is freed, as when `realloc` moves an object. If there is no room, the old object
    /// stays.
    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation

    /// Frees an object of `makeObject`; its handle becomes invalid.
    func freeObject(_ object: ObjectHandle, in slot: MemorySlot)

    /// Makes, resizes and frees many objects of a board, in order, until one is refused; see `makeObject`,
    /// `resizeObject` and `freeObject`. Making a live object, and freeing or resizing one that is not live, does
    /// nothing.
    func play(
        _ steps: Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps

    /// Reads `bytes` of the pool's objects in turn, like `touch`. Returns the bytes read; 0 for an empty pool.
    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount

    /// The bytes requested by the pool's live objects.
    func requested(in pool: PoolID) -> ByteCount

    /// Gives the process's dirty pages back to the device. Returns their bytes.
    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount

    /// Whether the process has unused pages. In a scale model: whether it has any in the model or on the original.
    func hasDirtyPages(_ slot: MemorySlot) -> Bool

    /// The figures of one process; reading them is free.
    func books(of slot: MemorySlot) -> ProcessBooks

    /// The largest footprint that the process has had so far, between samples, too.
    func peakFootprint(of slot: MemorySlot) -> ByteCount

    /// The device's compressor; nil for a device without one.
    var compressor: (any CompressedPages)? { get }

    /// Declares which share of each of the process's pools `touch` and `read` visit: the newest objects. It matters
    /// only on a device with a compressor, where the rest may lose its frames for good.
    func declare(hot: Ratio, of slot: MemorySlot)

    /// Why the last allocation, `touch` or `read` stopped early.
    var refusal: AllocationRefusal { get }

    /// Adds the slots whose books may have changed since the last call, in arbitrary order. A slot may occur twice, and
    /// its process may have ended. The books of all other slots are unchanged.
    func takeChanges(into slots: inout [Int])

    /// Refreshes the allocator's statistics and compares the device and every live process with the books, byte for
    /// byte.
    ///
    /// - Parameter refreshingMetadata: Whether `metadata` is updated, for the device and for each process. Its value
    ///   goes into files, so it must not depend on how often audits run.
    func audit(refreshingMetadata: Bool) throws(AuditFailure)
}

/// Why an audit failed: the books are wrong, or jemalloc refused a control.
public enum AuditFailure: Error, Hashable, Sendable {
    case disagreement(BooksDisagree)
    case allocator(AllocatorError)
}
