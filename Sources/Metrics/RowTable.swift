import Quantities

/// A column, and how its cell is written from a row: one declaration, so that no cell gets into another column.
///
/// Inlinable, so that the types of rows and cells are known where a table is declared; else they are looked up for each
/// cell.
public struct RowColumn<Row>: Sendable {
    public typealias Value<Cell> = @Sendable (Row) -> Cell

    public let column: Column
    @usableFromInline let write: @Sendable (Row, TableWriter) -> Void

    @usableFromInline
    init(_ column: Column, _ write: @escaping @Sendable (Row, TableWriter) -> Void) {
        self.column = column
        self.write = write
    }

    @inlinable
    public static func text(
        _ name: String, _ meaning: String, choices: [String] = [], _ value: @escaping Value<String>
    ) -> RowColumn {
        RowColumn(Column(name, .string, meaning, choices: choices)) { $1.text(value($0)) }
    }

    /// A text that may be absent: an empty cell then. The same holds for the other optional columns.
    @inlinable
    public static func optionalText(
        _ name: String, _ meaning: String, choices: [String] = [], _ value: @escaping Value<String?>
    ) -> RowColumn {
        RowColumn(Column(name, .string, meaning, optional: true, choices: choices)) { $1.text(value($0)) }
    }

    /// One of the names of an enumeration.
    @inlinable
    public static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ meaning: String, _ value: @escaping Value<Choice>
    ) -> RowColumn {
        let choices = Choice.allCases.map(\.rawValue)
        return RowColumn(Column(name, .string, meaning, choices: choices)) { $1.text(value($0).rawValue) }
    }

    @inlinable
    public static func optionalChoice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ meaning: String, _ value: @escaping Value<Choice?>
    ) -> RowColumn {
        let column = Column(name, .string, meaning, optional: true, choices: Choice.allCases.map(\.rawValue))
        return RowColumn(column) { $1.text(value($0)?.rawValue) }
    }

    /// A whole number that has no unit.
    @inlinable
    public static func integer(_ name: String, _ meaning: String, _ value: @escaping Value<Int>) -> RowColumn {
        RowColumn(Column(name, .integer, meaning)) { $1.integer(value($0)) }
    }

    @inlinable
    public static func optionalInteger(_ name: String, _ meaning: String, _ value: @escaping Value<Int?>) -> RowColumn {
        RowColumn(Column(name, .integer, meaning, optional: true)) { $1.integer(value($0)) }
    }

    /// A whole number that may be below zero, and whose unit another column of its row says, if it has one.
    @inlinable
    public static func amount(_ name: String, _ meaning: String, _ value: @escaping Value<Int64?>) -> RowColumn {
        RowColumn(Column(name, .integer, meaning, optional: true, signed: true)) {
            $1.integer(value($0).map { Int($0) })
        }
    }

    @inlinable
    public static func bytes(_ name: String, _ meaning: String, _ value: @escaping Value<ByteCount>) -> RowColumn {
        RowColumn(Column(name, .integer, unit: .bytes, meaning)) { $1.bytes(value($0)) }
    }

    @inlinable
    public static func flag(_ name: String, _ meaning: String, _ value: @escaping Value<Bool>) -> RowColumn {
        RowColumn(Column(name, .boolean, meaning)) { $1.boolean(value($0)) }
    }

    @inlinable
    public static func seconds(_ name: String, _ meaning: String, _ value: @escaping Value<Instant>) -> RowColumn {
        RowColumn(Column(name, .number, unit: .seconds, meaning)) { $1.seconds(value($0)) }
    }

    @inlinable
    public static func optionalSeconds(_ name: String, _ meaning: String, _ value: @escaping Value<Instant?>)
        -> RowColumn
    {
        RowColumn(Column(name, .number, unit: .seconds, meaning, optional: true)) { $1.seconds(value($0)) }
    }

    @inlinable
    public static func milliseconds(
        _ name: String, _ meaning: String, _ value: @escaping Value<TimeSpan>
    ) -> RowColumn {
        RowColumn(Column(name, .number, unit: .milliseconds, meaning)) { $1.milliseconds(value($0)) }
    }

    @inlinable
    public static func optionalMilliseconds(
        _ name: String, _ meaning: String, _ value: @escaping Value<TimeSpan?>
    ) -> RowColumn {
        RowColumn(Column(name, .number, unit: .milliseconds, meaning, optional: true)) { $1.milliseconds(value($0)) }
    }

    /// A share of something: from 0 to 1.
    @inlinable
    public static func share(_ name: String, _ meaning: String, _ value: @escaping Value<Ratio>) -> RowColumn {
        RowColumn(Column(name, .number, unit: .share, meaning)) { $1.ratio(value($0)) }
    }
}

/// A table whose rows are of one type: its schema, and how a row becomes cells.
public struct RowTable<Row>: Sendable {
    public let schema: TableSchema
    @usableFromInline let cells: [@Sendable (Row, TableWriter) -> Void]

    public init(
        _ name: String, _ meaning: String, key: [String] = [], references: [ForeignKey] = [],
        _ columns: [RowColumn<Row>]
    ) {
        schema = TableSchema(name, meaning, key: key, references: references, columns.map(\.column))
        cells = columns.map(\.write)
    }

    /// Writes the row's cells in the order of the columns, and ends the row.
    @inlinable
    public func write(_ row: Row, to writer: TableWriter) {
        for write in cells { write(row, writer) }
        writer.endRow()
    }
}
