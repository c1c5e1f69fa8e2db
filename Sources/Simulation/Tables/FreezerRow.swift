import Memory
import Metrics
import Quantities

/// One row of `freezer.csv`: what the freezer holds, and what moved between memory and flash since the last sample.
struct FreezerRow {
    let at: Instant
    /// Processes with a slot of the freezer.
    let frozen: Int
    /// Those of them that have run since they were frozen last.
    let thawed: Int
    let books: CompressorBooks
    /// The same at the last sample.
    let before: CompressorBooks
    /// What may still be written within the day; nil: any amount.
    let budgetLeft: ByteCount?
    /// Apps that may be frozen, if there is a slot.
    let candidates: Int

    static let table = RowTable<FreezerRow>(
        "freezer",
        "One row per monitor sample of a device with a freezer: which processes are frozen, and what of them is on "
            + "flash",
        key: ["time_s"],
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .integer("frozen", "Processes with a slot of the freezer, those that have run since then, too") {
                $0.frozen
            },
            .integer("thawed", "The part of frozen that has run since it was frozen last") { $0.thawed },
            .bytes("swapped_bytes", "The processes' active and dirty pages whose contents are on flash") {
                $0.books.swapped
            },
            .bytes("on_storage_bytes", "What the compressed contents of swapped_bytes take on flash") {
                $0.books.onStorage
            },
            .bytes("written_bytes", "Compressed contents written to flash since the last sample") {
                $0.books.writtenInAll - $0.before.writtenInAll
            },
            .bytes("read_bytes", "Compressed contents read from flash since the last sample") {
                $0.books.readInAll - $0.before.readInAll
            },
            .optionalBytes("budget_left_bytes", "What may still be written within the day; empty without a bound") {
                $0.budgetLeft
            },
            .integer("candidates", "Suspended apps that may be frozen, if there is a slot") { $0.candidates },
        ])
}

extension FreezerRow: SampleRow {
    func showsSame(as other: FreezerRow) -> Bool {
        frozen == other.frozen && thawed == other.thawed && candidates == other.candidates
            && budgetLeft == other.budgetLeft && books == other.books && before == other.before
    }
}

extension RunTables {
    /// The schema of `freezer.csv`, which only runs on a device with a freezer write.
    public static var freezer: TableSchema { FreezerRow.table.schema }
}
