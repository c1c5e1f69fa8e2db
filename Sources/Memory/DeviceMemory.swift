import Quantities

/// A process's memory on the device: a dense slot that is used again after the process ended.
public struct MemorySlot: Hashable, Sendable {
    public let index: Int
    @inlinable
    public init(_ index: Int) { self.index = index }
}

/// One pool of objects within a slot, for example the process's caches or one scene's memory.
public struct PoolID: Hashable, Sendable {
    public let slot: MemorySlot
    public let index: Int
    @inlinable
    public init(slot: MemorySlot, index: Int) {
        self.slot = slot
        self.index = index
    }
}

/// Which objects of a pool go first.
public enum ReleaseOrder: Sendable {
    case oldestFirst
    case newestFirst
}

/// What a process holds, from the books; exact at every moment.
public struct ProcessBooks: Hashable, Sendable {
    public var objects: Int
    /// The bytes that the app asked for.
    public var requested: ByteCount
    /// The bytes of the size classes that it got: jemalloc's `allocated`.
    public var usable: ByteCount
    /// Pages in use: jemalloc's `pactive`.
    public var active: ByteCount
    /// Unused pages that are not yet given back: jemalloc's `pdirty` (plus `pmuzzy`, which is always zero here).
    public var dirty: ByteCount

    /// jemalloc's bookkeeping for the process's arena, outside the ceiling; as of the last audit, zero before it.
    public var metadata: ByteCount

    public var footprint: ByteCount { active + dirty }

    public init(
        objects: Int, requested: ByteCount, usable: ByteCount, active: ByteCount, dirty: ByteCount,
        metadata: ByteCount = .zero
    ) {
        self.objects = objects
        self.requested = requested
        self.usable = usable
        self.active = active
        self.dirty = dirty
        self.metadata = metadata
    }
}

/// What the whole device holds, from the books.
public struct DeviceBooks: Hashable, Sendable {
    public var ceiling: ByteCount
    /// The part of the ceiling that the system keeps for itself.
    public var reserved: ByteCount
    /// `reserved` plus every page handed out to a process.
    public var resident: ByteCount
    public var active: ByteCount
    public var dirty: ByteCount
    /// The sums of what the processes asked for, and of the bytes of the size classes that they got.
    public var requested: ByteCount
    public var usable: ByteCount
    /// The largest `resident` ever reached, tracked at every hand-out of pages.
    public var peakResident: ByteCount
    /// jemalloc's own bookkeeping for the processes' arenas, outside the ceiling; as of the last audit.
    public var metadata: ByteCount

    public var available: ByteCount { ceiling - resident }

    public init(
        ceiling: ByteCount, reserved: ByteCount, resident: ByteCount, active: ByteCount, dirty: ByteCount,
        requested: ByteCount, usable: ByteCount, peakResident: ByteCount, metadata: ByteCount
    ) {
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

/// Why an object was not allocated.
public enum AllocationRefusal: Hashable, Sendable {
    /// The device has not enough free pages. Were `free` enough and `longestRun` not, that would be fragmentation; it
    /// is not to be expected, because any free pages make a run.
    case noRoom(wanted: ByteCount, free: ByteCount, longestRun: ByteCount)
    /// The footprint has crossed the given limit; the object that crossed it was allocated.
    case limitCrossed(footprint: ByteCount)
}

public struct AllocationResult: Hashable, Sendable {
    /// How many of the sizes, from the front, were allocated.
    public var objects: Int
    public var requested: ByteCount
    public var refusal: AllocationRefusal?

    public init(objects: Int, requested: ByteCount, refusal: AllocationRefusal?) {
        self.objects = objects
        self.requested = requested
        self.refusal = refusal
    }
}

/// One object outside of the pools. Valid until it is freed or its process ends.
public struct ObjectHandle: Hashable, Sendable {
    /// Where it lies, in units of the backend.
    let unit: Int
    /// What was asked for.
    let requested: UInt32
    /// The bytes of its size class.
    let usable: UInt32

    /// What was asked for.
    public var size: ByteCount { ByteCount(Int(requested)) }
}

public struct ObjectAllocation: Hashable, Sendable {
    public var object: ObjectHandle?
    public var refusal: AllocationRefusal?
}

public struct ReleaseResult: Hashable, Sendable {
    public var objects: Int
    public var requested: ByteCount

    public init(objects: Int, requested: ByteCount) {
        self.objects = objects
        self.requested = requested
    }
}

/// jemalloc refused a control: its name and the errno it gave.
public struct AllocatorError: Error, Hashable, Sendable, CustomStringConvertible {
    public let control: String
    public let code: Int32

    public init(control: String, code: Int32) {
        self.control = control
        self.code = code
    }

    public var description: String { "jemalloc refused \(control) (errno \(code))" }
}

/// The books and jemalloc's refreshed statistics say different things: our own fault, always.
public struct BooksDisagree: Error, Hashable, Sendable, CustomStringConvertible {
    public let slot: MemorySlot?
    public let figure: String
    public let books: Int
    public let allocator: Int

    public init(slot: MemorySlot?, figure: String, books: Int, allocator: Int) {
        self.slot = slot
        self.figure = figure
        self.books = books
        self.allocator = allocator
    }

    public var description: String {
        let place = slot.map { "slot \($0.index)" } ?? "the device"
        return "\(figure) of \(place): the books say \(books), jemalloc says \(allocator)"
    }
}

/// Which memory a run uses: the one seam between the engine and its memory.
public enum MemoryBackend: String, CaseIterable, Sendable {
    /// Real memory, through jemalloc.
    case jemalloc
    /// jemalloc's arithmetic without its memory, for sweeps.
    case accounting
}

/// The memory of the simulated device under its hard ceiling.
///
/// One owner uses it from one thread. Calls come in batches: a box is opened per batch, not per object. Every call
/// must name a live slot and pool; anything else is our own fault and stops the run.
public protocol DeviceMemory: AnyObject {
    /// How large the device is, measured by the one that it stands for; see `ScaleModel`. What is asked of pools and
    /// what pools hold is in that one's bytes, all else in the device's own.
    var scale: Ratio { get }

    /// The figures of the whole device, at no cost.
    var books: DeviceBooks { get }

    /// Of these figures the one that is asked for most.
    var available: ByteCount { get }

    /// The longest run of pages that can be handed out.
    var longestFreeRun: ByteCount { get }

    /// So much of what is free no allocation gets from now on, because it is meant for somebody else; zero lets go.
    /// Refusals then speak of the rest. Rounded up to whole pages.
    func keepBack(_ bytes: ByteCount)

    /// The most memory of its own that the host ever backed the device with; never more than the ceiling, and zero on
    /// the accounting backend.
    var touchedBytes: ByteCount { get }

    /// All of the allocator's own bookkeeping in this program (jemalloc's `stats.metadata`), as of the last audit: also
    /// that of arenas without a process, and of its statistics. Zero on the accounting backend.
    var allocatorMetadata: ByteCount { get }

    /// A new process's memory: an arena and no pool.
    func makeProcess() throws(AllocatorError) -> MemorySlot

    /// Ends a process's memory; every page goes back to the device. Returns the footprint that went.
    func endProcess(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount

    /// A new, empty pool; pool indices are dense within the process and used again after `endPool`.
    func makePool(in slot: MemorySlot) -> PoolID

    /// Frees every object of the pool and forgets the pool. Its pages stay with the process, dirty, until purged.
    func endPool(_ pool: PoolID) -> ReleaseResult

    /// Allocates and writes one object per size, in order, until one is refused.
    /// - Parameter limit: Stops right after the object with which the footprint crosses it (jetsam's per-process
    /// limit).
    func allocate(_ sizes: Span<Int>, in pool: PoolID, limit: ByteCount?) -> AllocationResult

    /// Frees objects from one end of the pool until at least `bytes` requested bytes are gone or the pool is empty.
    func release(_ bytes: ByteCount, from pool: PoolID, order: ReleaseOrder) -> ReleaseResult

    /// The same with objects that the generator draws, which leaves holes.
    func releaseScattered(
        _ bytes: ByteCount, from pool: PoolID, using generator: inout SeededGenerator
    ) -> ReleaseResult

    /// Rewrites `bytes` of the pool's objects, going round from where the last call stopped, at most once round.
    /// Returns the bytes written; 0 for an empty pool.
    func touch(_ bytes: ByteCount, in pool: PoolID) -> ByteCount

    /// Allocates and writes one object outside of the pools; whoever holds the handle frees it, or it goes with the
    /// process. For traces, whose objects come and go by name.
    /// - Parameters:
    ///   - size: May be zero: such an object has the smallest size class.
    ///   - alignment: A power of two; nil for the allocator's own.
    ///   - limit: As for `allocate`: the object that crosses it is allocated, and the refusal says so.
    func makeObject(
        _ size: ByteCount, alignment: ByteCount?, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation

    /// Gives the object another size. It stays where it is while its size class is the same; otherwise a new object
    /// is made before the old one is freed, as a `realloc` that has to move does. Without room the old one is left.
    func resizeObject(
        _ object: ObjectHandle, to size: ByteCount, in slot: MemorySlot, limit: ByteCount?
    ) -> ObjectAllocation

    /// Frees an object of `makeObject`; its handle is void.
    func freeObject(_ object: ObjectHandle, in slot: MemorySlot)

    /// Makes, resizes and frees objects of a board, in order, until one is refused: `makeObject`, `resizeObject` and
    /// `freeObject` for many. Making what is live already, and freeing or resizing what is not, does nothing.
    func play(
        _ steps: Span<ObjectStep>, on board: inout ObjectBoard, in slot: MemorySlot, limit: ByteCount?
    ) -> PlayedSteps

    /// Reads `bytes` of the pool's objects, going round as `touch` does. Returns the bytes read; 0 for an empty pool.
    func read(_ bytes: ByteCount, in pool: PoolID) -> ByteCount

    /// The bytes requested by the pool's live objects.
    func requested(in pool: PoolID) -> ByteCount

    /// Gives the process's dirty pages back to the device. Returns the bytes that went back.
    func purge(_ slot: MemorySlot) throws(AllocatorError) -> ByteCount

    /// Whether the process has unused pages: on the device that is meant, where this one stands for another.
    func hasDirtyPages(_ slot: MemorySlot) -> Bool

    /// The figures of one process, at no cost.
    func books(of slot: MemorySlot) -> ProcessBooks

    /// The slots whose books may have changed since the last call, in no order that means anything; a slot may be named
    /// twice, and its process may be gone. What is not named has the books that it had.
    func takeChanges(into slots: inout [Int])

    /// Refreshes the allocator's statistics and compares every live process and the device with the books, to the
    /// byte.
    ///
    /// - Parameter refreshingMetadata: Whether `metadata` is read anew, for the device and for each process. It goes
    ///   into files, so it is refreshed at instants that do not depend on how often somebody audits.
    func audit(refreshingMetadata: Bool) throws(AuditFailure)
}

public enum AuditFailure: Error, Hashable, Sendable {
    case disagreement(BooksDisagree)
    case allocator(AllocatorError)
}
