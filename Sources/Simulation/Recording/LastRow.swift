import Metrics
import Quantities

/// A row of a table that has one row per sample of the monitor.
protocol SampleRow {
    static var table: RowTable<Self> { get }
    var at: Instant { get }
    /// Whether all cells but the instant are those of the other row.
    func showsSame(as other: Self) -> Bool
}

/// The last row of such a table. While nothing but the time changes, which is most of a day, the row is copied as
/// bytes.
struct LastRow<Row: SampleRow> {
    private var row: Row?
    private let memo = RowMemo()

    /// - Parameter checks: Whether a copied row is compared with what its table declares.
    mutating func write(_ row: Row, to writer: TableWriter, checks: Bool) {
        guard writer.isRead else { return writer.skipRow() }
        let start = checks ? writer.position : 0
        if let last = self.row, row.showsSame(as: last) {
            writer.repeatRow(memo, at: row.at)
        } else {
            Row.table.write(row, to: writer, keeping: memo)
            self.row = row
        }
        if checks { writer.check(row, of: Row.table, from: start) }
    }
}
