import Metrics

/// A row of a CSV table, for tests: its cells are read by the names of their columns.
public struct TableRow: Sendable {
    private let columns: [String]
    private let cells: [String]

    /// The rows of a whole table; the first record names the columns.
    public static func all(in bytes: [UInt8]) -> [TableRow] {
        let columns = TableReader(Array(bytes.prefix { $0 != UInt8(ascii: "\n") }) + [UInt8(ascii: "\n")], columns: [])
            .columns
        return TableReader(bytes, columns: columns).rows.map { TableRow(columns: columns, cells: $0) }
    }

    /// The rows of a whole table; the first record names the columns.
    public static func all(in text: String) -> [TableRow] { all(in: Array(text.utf8)) }

    /// The text of the cell in this column. The table must have the column.
    public subscript(column: String) -> String {
        guard let index = columns.firstIndex(of: column) else {
            preconditionFailure("there is no column \(column) among \(columns)")
        }
        return cells[index]
    }

    /// The texts of the cells in these columns.
    public func texts(_ columns: String...) -> [String] { columns.map { self[$0] } }

    /// The texts of all cells but the one in this column.
    public func texts(besides column: String) -> [String] { zip(columns, cells).filter { $0.0 != column }.map(\.1) }

    /// The number in this column; nil if the cell is empty or another text.
    public func number(_ column: String) -> Double? { Double(self[column]) }

    /// The whole number in this column; nil if the cell is empty or another text.
    public func integer(_ column: String) -> Int? { Int(self[column]) }
}

extension TableRow: CustomStringConvertible {
    public var description: String { cells.joined(separator: ",") }
}
