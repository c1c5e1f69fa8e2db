import Quantities

/// Where the objects of a device's processes lie, one heap per slot, all of them on the device's pages.
///
/// Backends write the primitives; the batches over them are the same for all, but each backend calls them by itself:
/// only so are they compiled for it, instead of asking a table of functions for every object.
protocol ProcessHeaps: ObjectBatches, ~Copyable {
    init(_ size: DeviceSize) throws(DeviceMemoryFailure)

    var residentPages: Int { get }
    var pagesOut: Int { get }
    var peakPages: Int { get }
    /// The most pages that the host ever backed.
    var backedPages: Int { get }
    var longestRun: Int { get }
    /// All of the allocator's bookkeeping, as of the last audit.
    var allocatorMetadata: Int { get }
    /// Free pages that no heap gets from now on.
    mutating func keepBack(_ pages: Int)
    /// Why the last allocation failed.
    var refusal: AllocationRefusal { get }

    /// An empty heap for a new process.
    mutating func lend() throws(AllocatorError) -> Int
    /// Frees everything in the heap and gives all of its pages back.
    mutating func giveBack(_ slot: Int) throws(AllocatorError)
    /// Gives the unused pages of the heap back.
    mutating func purge(_ slot: Int) throws(AllocatorError)
    /// The pages that the heap holds, and those of them that are in use.
    func pages(_ slot: Int) -> Int
    func activePages(_ slot: Int) -> Int

    /// Makes and writes one object; answers its place for the table, or nil when there is no room.
    mutating func make(_ size: Int, _ slot: Int) -> Int?
    /// The same at a multiple of 2 to the power of `logAlignment`.
    mutating func make(_ size: Int, logAlignment: Int, _ slot: Int) -> Int?
    mutating func free(_ entry: ObjectTable.Entry, _ slot: Int)
    mutating func write(_ entry: ObjectTable.Entry, from offset: Int, count: Int)
    /// The bytes that an object of this size really gets.
    func usable(_ size: Int) -> Int
    /// The same for an aligned one.
    func usable(_ size: Int, logAlignment: Int) -> Int

    /// Compares the books with the heaps' own statistics; notes and answers the size of the heaps' bookkeeping.
    mutating func audit(_ processes: inout ProcessTable, activePages: Int) throws(AuditFailure) -> ByteCount
}

/// The batches, as each backend offers them.
extension JemallocHeaps {
    mutating func fill(
        _ table: inout ObjectTable, _ sizes: borrowing Span<Int>, _ slot: Int, pageLimit: Int
    ) -> (usable: Int, refusal: AllocationRefusal?) {
        makeAll(&table, sizes, slot, pageLimit: pageLimit)
    }

    mutating func release(
        _ table: inout ObjectTable, downTo goal: Int, _ order: ReleaseOrder, _ slot: Int,
        using generator: inout SeededGenerator
    ) -> Int { freeSome(&table, downTo: goal, order, slot, using: &generator) }

    mutating func empty(_ table: inout ObjectTable, _ slot: Int) -> Int { freeAll(&table, slot) }

    mutating func touch(_ table: inout ObjectTable, _ bytes: Int) {
        table.goRound(bytes) { write($0, from: $1, count: $2) }
    }

    mutating func read(_ table: inout ObjectTable, _ bytes: Int) {
        table.goRound(bytes) { read($0, from: $1, count: $2) }
    }

    mutating func play(
        _ steps: borrowing Span<ObjectStep>, _ board: inout ObjectBoard, _ slot: Int, pageLimit: Int,
        _ sums: inout BoardSums
    ) -> PlayedSteps { playAll(steps, &board, slot, pageLimit: pageLimit, &sums) }
}

extension AccountingHeaps {
    mutating func fill(
        _ table: inout ObjectTable, _ sizes: borrowing Span<Int>, _ slot: Int, pageLimit: Int
    ) -> (usable: Int, refusal: AllocationRefusal?) {
        makeAll(&table, sizes, slot, pageLimit: pageLimit)
    }

    mutating func release(
        _ table: inout ObjectTable, downTo goal: Int, _ order: ReleaseOrder, _ slot: Int,
        using generator: inout SeededGenerator
    ) -> Int { freeSome(&table, downTo: goal, order, slot, using: &generator) }

    mutating func empty(_ table: inout ObjectTable, _ slot: Int) -> Int { freeAll(&table, slot) }

    /// There is nothing to write or to read, and so nobody can tell where a round has stopped.
    mutating func touch(_ table: inout ObjectTable, _ bytes: Int) {}
    mutating func read(_ table: inout ObjectTable, _ bytes: Int) {}

    mutating func play(
        _ steps: borrowing Span<ObjectStep>, _ board: inout ObjectBoard, _ slot: Int, pageLimit: Int,
        _ sums: inout BoardSums
    ) -> PlayedSteps { playAll(steps, &board, slot, pageLimit: pageLimit, &sums) }
}

extension ProcessHeaps where Self: ~Copyable {
    mutating func makeAll(
        _ table: inout ObjectTable, _ sizes: borrowing Span<Int>, _ slot: Int, pageLimit: Int
    ) -> (usable: Int, refusal: AllocationRefusal?) {
        var total = 0
        for index in sizes.indices {
            let size = sizes[index]
            precondition(size > 0 && size <= MemoryLimits.largestObject.bytes, "an object of \(size) bytes")
            guard let unit = make(size, slot) else { return (total, refusal) }
            total += usable(size)
            table.append(ObjectTable.Entry(unit: unit, size: size))
            if pages(slot) > pageLimit { return (total, .limitCrossed(footprint: pageBytes(pages(slot)))) }
        }
        return (total, nil)
    }

    mutating func freeSome(
        _ table: inout ObjectTable, downTo goal: Int, _ order: ReleaseOrder, _ slot: Int,
        using generator: inout SeededGenerator
    ) -> Int {
        var total = 0
        while table.requested > goal {
            let entry = table.remove(order, using: &generator)
            free(entry, slot)
            total += usable(entry.size)
        }
        return total
    }

    mutating func freeAll(_ table: inout ObjectTable, _ slot: Int) -> Int {
        var total = 0
        while !table.isEmpty {
            let entry = table.removeNewest()
            free(entry, slot)
            total += usable(entry.size)
        }
        return total
    }
}
