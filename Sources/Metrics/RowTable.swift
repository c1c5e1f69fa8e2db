import Quantities

/// A column and the closure that writes its cell: one declaration, so that a cell cannot end up in another column.
///
/// The functions are inlinable, so that the compiler knows the types of rows and cells where a table is declared;
/// otherwise they are looked up for each cell.
public struct RowColumn<Row>: Sendable {
    /// Computes a cell's value from a row.
    public typealias Value<Cell> = @Sendable (Row) -> Cell

    /// The column's entry in the table's schema.
    public let column: Column
    @usableFromInline let write: @Sendable (Row, TableWriter) -> Void

    @usableFromInline
    init(_ column: Column, _ write: @escaping @Sendable (Row, TableWriter) -> Void) {
        self.column = column
        self.write = write
    }

    /// A text; `choices` lists the values that may occur, empty for any.
    @inlinable
    public static func text(
        _ name: String, _ meaning: String, choices: [String] = [], _ value: @escaping Value<String>
    ) -> RowColumn {
        RowColumn(Column(name, .string, meaning, choices: choices)) { $1.text(value($0)) }
    }

    /// A text that may be absent. Here and in the other optional columns, nil makes an empty cell.
    @inlinable
    public static func optionalText(
        _ name: String, _ meaning: String, choices: [String] = [], _ value: @escaping Value<String?>
    ) -> RowColumn {
        RowColumn(Column(name, .string, meaning, optional: true, choices: choices)) { $1.text(value($0)) }
    }

    /// A raw value of an enumeration; all its cases are the column's choices.
    @inlinable
    public static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ meaning: String, _ value: @escaping Value<Choice>
    ) -> RowColumn {
        let choices = Choice.allCases.map(\.rawValue)
        return RowColumn(Column(name, .string, meaning, choices: choices)) { $1.text(value($0).rawValue) }
    }

    /// A raw value of an enumeration, or an empty cell.
    @inlinable
    public static func optionalChoice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ meaning: String, _ value: @escaping Value<Choice?>
    ) -> RowColumn {
        let column = Column(name, .string, meaning, optional: true, choices: Choice.allCases.map(\.rawValue))
        return RowColumn(column) { $1.text(value($0)?.rawValue) }
    }

    /// A whole number without a unit, zero or more.
    @inlinable
    public static func integer(_ name: String, _ meaning: String, _ value: @escaping Value<Int>) -> RowColumn {
        RowColumn(Column(name, .integer, meaning)) { $1.integer(value($0)) }
    }

    /// A whole number without a unit, zero or more, or an empty cell.
    @inlinable
    public static func optionalInteger(_ name: String, _ meaning: String, _ value: @escaping Value<Int?>) -> RowColumn {
        RowColumn(Column(name, .integer, meaning, optional: true)) { $1.integer(value($0)) }
    }

    /// A whole number that may be negative or absent. If it has a unit, another column of the row names it.
    @inlinable
    public static func amount(_ name: String, _ meaning: String, _ value: @escaping Value<Int64?>) -> RowColumn {
        RowColumn(Column(name, .integer, meaning, optional: true, signed: true)) {
            $1.integer(value($0).map { Int($0) })
        }
    }

    /// A number of bytes.
    @inlinable
    public static func bytes(_ name: String, _ meaning: String, _ value: @escaping Value<ByteCount>) -> RowColumn {
        RowColumn(Column(name, .integer, unit: .bytes, meaning)) { $1.bytes(value($0)) }
    }

    /// A number of bytes, or an empty cell.
    @inlinable
    public static func optionalBytes(_ name: String, _ meaning: String, _ value: @escaping Value<ByteCount?>)
        -> RowColumn
    {
        RowColumn(Column(name, .integer, unit: .bytes, meaning, optional: true)) { $1.integer(value($0)?.bytes) }
    }

    /// `true` or `false`.
    @inlinable
    public static func flag(_ name: String, _ meaning: String, _ value: @escaping Value<Bool>) -> RowColumn {
        RowColumn(Column(name, .boolean, meaning)) { $1.boolean(value($0)) }
    }

    /// An instant in seconds since the run began.
    @inlinable
    public static func seconds(_ name: String, _ meaning: String, _ value: @escaping Value<Instant>) -> RowColumn {
        RowColumn(Column(name, .number, unit: .seconds, meaning)) { $1.seconds(value($0)) }
    }

    /// An instant in seconds since the run began, or an empty cell.
    @inlinable
    public static func optionalSeconds(_ name: String, _ meaning: String, _ value: @escaping Value<Instant?>)
        -> RowColumn
    {
        RowColumn(Column(name, .number, unit: .seconds, meaning, optional: true)) { $1.seconds(value($0)) }
    }

    /// A time span in seconds.
    @inlinable
    public static func span(_ name: String, _ meaning: String, _ value: @escaping Value<TimeSpan>) -> RowColumn {
        RowColumn(Column(name, .number, unit: .seconds, meaning)) { $1.seconds(value($0)) }
    }

    /// A time span in seconds, or an empty cell.
    @inlinable
    public static func optionalSpan(_ name: String, _ meaning: String, _ value: @escaping Value<TimeSpan?>) -> RowColumn
    {
        RowColumn(Column(name, .number, unit: .seconds, meaning, optional: true)) { $1.seconds(value($0)) }
    }

    /// A time span in milliseconds.
    @inlinable
    public static func milliseconds(
        _ name: String, _ meaning: String, _ value: @escaping Value<TimeSpan>
    ) -> RowColumn {
        RowColumn(Column(name, .number, unit: .milliseconds, meaning)) { $1.milliseconds(value($0)) }
    }

    /// A time span in milliseconds, or an empty cell.
    @inlinable
    public static func optionalMilliseconds(
        _ name: String, _ meaning: String, _ value: @escaping Value<TimeSpan?>
    ) -> RowColumn {
        RowColumn(Column(name, .number, unit: .milliseconds, meaning, optional: true)) { $1.milliseconds(value($0)) }
    }

    /// A share from 0 to 1.
    @inlinable
    public static func share(_ name: String, _ meaning: String, _ value: @escaping Value<Ratio>) -> RowColumn {
        RowColumn(Column(name, .number, unit: .share, meaning)) { $1.ratio(value($0)) }
    }

    /// A share that may exceed 1.
    @inlinable
    public static func openShare(_ name: String, _ meaning: String, _ value: @escaping Value<Ratio>) -> RowColumn {
        RowColumn(Column(name, .number, unit: .share, meaning, mayExceedOne: true)) { $1.ratio(value($0)) }
    }
}

/// A table whose rows have one type: its schema, and how a row becomes cells.
///
/// A table with a row for every sample says which of its columns usually stay as they are: those of the head while
/// others change, and those of the tail. A row's head or tail that is that of the row before is copied as bytes.
public struct RowTable<Row>: Sendable {
    /// A cell of a row, as it is written.
    public typealias Cell = @Sendable (Row, TableWriter) -> Void

    /// The schema, made from the columns.
    public let schema: TableSchema
    @usableFromInline let stamp: [Cell]
    @usableFromInline let head: [Cell]
    @usableFromInline let cells: [Cell]
    @usableFromInline let tail: [Cell]

    /// Declares a table; see `TableSchema` for the other parameters.
    ///
    /// - Parameters:
    ///   - stamp: The column of the instant, if the table has a head. It then has no tail: one memo keeps one of them.
    ///   - head: The columns after it that are copied together.
    ///   - columns: The columns that are written in every row.
    ///   - tail: The last columns, which are copied together.
    public init(
        _ name: String, _ meaning: String, key: [String] = [], references: [ForeignKey] = [],
        stamp: RowColumn<Row>? = nil, head: [RowColumn<Row>] = [], _ columns: [RowColumn<Row>],
        tail: [RowColumn<Row>] = []
    ) {
        precondition(head.isEmpty || (stamp != nil && tail.isEmpty), "\(name).csv has a head, but no stamp, or a tail")
        let stamp = [stamp].compactMap(\.self)
        let all = stamp + head + columns + tail
        schema = TableSchema(name, meaning, key: key, references: references, all.map(\.column))
        (self.stamp, self.head, cells) = (stamp.map(\.write), head.map(\.write), columns.map(\.write))
        self.tail = tail.map(\.write)
    }

    /// Writes the row's cells in the order of the columns and ends the row.
    @inlinable
    public func write(_ row: Row, to writer: TableWriter) {
        writeCells(of: row, to: writer)
        writer.endRow()
    }

    @usableFromInline
    func writeCells(of row: Row, to writer: TableWriter) {
        for write in stamp { write(row, writer) }
        for write in head { write(row, writer) }
        for write in cells { write(row, writer) }
        for write in tail { write(row, writer) }
    }

    /// Writes the head of a row, after its stamp; the memo keeps it for `TableWriter.repeatHead`.
    @inlinable
    public func writeHead(_ row: Row, to writer: TableWriter, _ memo: RowMemo) {
        for write in head { write(row, writer) }
        writer.endHead(of: memo)
    }

    /// Writes a row of which the caller knows whether its tail is that of the last row that the memo has kept.
    @inlinable
    public func write(_ row: Row, to writer: TableWriter, _ memo: RowMemo, tailIsSame: Bool) {
        for write in cells { write(row, writer) }
        if tailIsSame {
            writer.repeatTail(of: memo)
        } else {
            writer.beginTail(of: memo)
            for write in tail { write(row, writer) }
        }
        writer.endRow(keeping: memo)
    }

    /// Writes a row; the memo keeps it for `TableWriter.repeatRow`.
    @inlinable
    public func write(_ row: Row, to writer: TableWriter, keeping memo: RowMemo) {
        writeCells(of: row, to: writer)
        writer.endRow(keeping: memo)
    }
}
