import Quantities

/// The batches over a backend's primitives.
protocol ObjectBatches: ~Copyable {
    /// Makes objects until one is refused. Answers the bytes of their size classes.
    mutating func fill(
        _ table: inout ObjectTable, _ sizes: borrowing Span<Int>, _ slot: Int, pageLimit: Int
    ) -> (usable: Int, refusal: AllocationRefusal?)
    /// Frees objects until at most `goal` requested bytes are left. Answers the bytes of their size classes.
    mutating func release(
        _ table: inout ObjectTable, downTo goal: Int, _ order: ReleaseOrder, _ slot: Int,
        using generator: inout SeededGenerator
    ) -> Int
    /// Frees all objects, newest first. Answers the bytes of their size classes.
    mutating func empty(_ table: inout ObjectTable, _ slot: Int) -> Int
    /// Writes so many bytes of the table's objects again, at most all of them, going round.
    mutating func touch(_ table: inout ObjectTable, _ bytes: Int)
    /// Reads them instead.
    mutating func read(_ table: inout ObjectTable, _ bytes: Int)
    /// Does the steps in order until one is refused.
    mutating func play(
        _ steps: borrowing Span<ObjectStep>, _ board: inout ObjectBoard, _ slot: Int, pageLimit: Int,
        _ sums: inout BoardSums
    ) -> PlayedSteps
}
