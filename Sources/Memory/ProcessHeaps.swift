import Quantities

/// The heaps of a device's processes, one per slot, all on the device's pages.
///
/// Each backend implements the primitives. The batches, which call them, are shared.
protocol ProcessHeaps: ~Copyable {
    init(_ size: DevicePages) throws(DeviceMemoryFailure)

    var residentPages: Int { get }
    var pagesOut: Int { get }
    var peakPages: Int { get }
    /// The most pages that the host has ever backed.
    var backedPages: Int { get }
    var longestRun: Int { get }
    /// All of the allocator's bookkeeping, as of the last audit.
    var allocatorMetadata: Int { get }
    /// Withholds this many free pages from all heaps.
    mutating func keepBack(_ pages: Int)
    /// Why the last allocation failed.
    var refusal: AllocationRefusal { get }

    /// Provides an empty heap for a new process.
    mutating func lend() throws(AllocatorError) -> Int
    /// Frees everything in the heap and gives all of its pages back.
    mutating func giveBack(_ slot: Int) throws(AllocatorError)
    /// Gives the unused pages of the heap back.
    mutating func purge(_ slot: Int) throws(AllocatorError)
    /// The pages that the heap holds, and those of them that are in use.
    func pages(_ slot: Int) -> Int
    func activePages(_ slot: Int) -> Int

    /// Makes and writes one object; nil when there is no room.
    mutating func make(_ size: Int, _ slot: Int) -> PlacedObject?
    /// Makes and writes one object at a multiple of 2 to the power of `logAlignment`; nil when there is no room.
    mutating func make(_ size: Int, logAlignment: Int, _ slot: Int) -> PlacedObject?
    /// Frees an object; returns the bytes of the class of its size, without regard to an alignment.
    @discardableResult
    mutating func free(_ entry: ObjectTable.Entry, _ slot: Int) -> Int
    /// Frees an object with the bytes that it really got.
    mutating func free(_ object: ObjectHandle, _ slot: Int)
    /// Writes a part of an object; false if its pages are compressed and there is no room to bring them back.
    mutating func write(_ entry: ObjectTable.Entry, from offset: Int, count: Int) -> Bool
    /// How much of an object `touch` and `read` go over; it matters on real memory alone.
    mutating func setRewrite(_ extent: RewriteExtent)
    /// Rewrites this many bytes of the table's objects in turn, each byte at most once. Returns the bytes written,
    /// which are fewer if compressed pages find no room.
    mutating func touch(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int
    /// Reads this many bytes of the table's objects in turn, as `touch` writes them.
    mutating func read(_ table: inout ObjectTable, _ bytes: Int, hot: Ratio) -> Int
    /// The bytes that an object of this size really gets.
    func usable(_ size: Int) -> Int

    /// The heap's pages without a frame whose contents are in memory.
    func compressedPages(_ slot: Int) -> Int
    /// Those whose contents are in the store on flash.
    func swappedPages(_ slot: Int) -> Int
    /// Tells that a batch of operations begins.
    mutating func beginBatch()
    /// Compares the books with the heaps' own statistics; notes and returns the size of the heaps' bookkeeping.
    mutating func audit(_ processes: inout ProcessMemories, activePages: Int) throws(AuditFailure) -> ByteCount
}

/// An object's place, in units of the backend, and the bytes that it really got.
struct PlacedObject {
    let unit: Int
    let usable: Int
}

extension ObjectHandle {
    init(_ object: PlacedObject, requested: Int) {
        self.init(unit: object.unit, requested: UInt32(requested), usable: UInt32(object.usable))
    }
}

/// The objects added or removed in one call.
struct ObjectBatch {
    private(set) var objects = 0
    private(set) var requested = 0
    /// The bytes of the size classes.
    private(set) var usable = 0

    @inline(__always)
    mutating func add(_ size: Int, usable: Int) {
        objects += 1
        requested += size
        self.usable += usable
    }
}

/// Heaps without a compressor: every page has a frame.
extension ProcessHeaps where Self: ~Copyable {
    @inline(__always)
    func compressedPages(_ slot: Int) -> Int { 0 }
    @inline(__always)
    func swappedPages(_ slot: Int) -> Int { 0 }
    @inline(__always)
    mutating func beginBatch() {}
}

extension ProcessHeaps where Self: ~Copyable {
    /// The object is freed by the size of its class, because an aligned object may have a larger class than its size
    /// implies.
    @inline(__always)
    mutating func free(_ object: ObjectHandle, _ slot: Int) {
        free(ObjectTable.Entry(unit: object.unit, size: Int(object.usable)), slot)
    }
}

/// The batches.
extension ProcessHeaps where Self: ~Copyable {
    /// The heap's pages without a frame.
    @inline(__always)
    func framelessPages(_ slot: Int) -> Int { compressedPages(slot) + swappedPages(slot) }

    /// Makes objects until one is refused.
    mutating func fill(
        _ table: inout ObjectTable, _ sizes: borrowing Span<Int>, _ slot: Int, pageLimit: Int
    ) -> (batch: ObjectBatch, refusal: AllocationRefusal?) {
        var batch = ObjectBatch()
        beginBatch()
        for index in sizes.indices {
            let size = sizes[index]
            precondition(size > 0 && size <= MemoryLimits.largestObject.bytes, "an object of \(size) bytes")
            guard let object = make(size, slot) else { return (batch, refusal) }
            batch.add(size, usable: object.usable)
            table.append(ObjectTable.Entry(unit: object.unit, size: size))
            if pages(slot) > pageLimit { return (batch, .limitCrossed(footprint: pageBytes(pages(slot)))) }
        }
        return (batch, nil)
    }

    /// Frees one object after another, as `next` takes them out of the table. Stops when at least this many requested
    /// bytes are freed or no object is left.
    @inline(__always)
    mutating func release(
        _ table: inout ObjectTable, _ bytes: Int, _ slot: Int, _ next: (inout ObjectTable) -> ObjectTable.Entry
    ) -> ObjectBatch {
        var batch = ObjectBatch()
        while batch.requested < bytes, !table.isEmpty {
            let entry = next(&table)
            batch.add(entry.size, usable: free(entry, slot))
        }
        return batch
    }
}
