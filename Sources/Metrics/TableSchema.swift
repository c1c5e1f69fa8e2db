/// The type of a column's values, named as in Frictionless Table Schema.
public enum ColumnType: String, Sendable {
    case string
    case integer
    case number
    case boolean
}

/// The unit of a column's numbers; counts, names and flags have none. `datapackage.json` shows the raw value.
public enum ColumnUnit: String, CaseIterable, Sendable {
    case seconds = "s"
    case milliseconds = "ms"
    case bytes = "byte"
    case bytesPerSecond = "byte/s"
    /// A share, where 1 is the whole.
    case share = "1"
}

/// One column of a CSV. Scripts rely on its name.
public struct Column: Sendable {
    /// The column's heading, in snake case.
    public let name: String
    /// The type of the values.
    public let type: ColumnType
    /// The unit, also the last word of most names; nil for counts, names and flags.
    public let unit: ColumnUnit?
    /// What the column holds, for `datapackage.json`.
    public let meaning: String
    /// Whether a value may be absent; its cell is then empty.
    public let isOptional: Bool
    /// The values that may occur, if they are few; empty otherwise.
    public let choices: [String]
    /// Whether a number may be negative.
    public let isSigned: Bool
    /// Whether a share may exceed 1, as a part of something that is used several times over.
    public let mayExceedOne: Bool
    /// The metric of `summary.csv` that it is; nil in other tables.
    public private(set) var metric: SummaryMetric?

    /// The column of a metric.
    public init(_ metric: SummaryMetric, signed: Bool = false) {
        self.init(
            metric.name, metric.type, unit: metric.unit, metric.meaning, optional: metric.isOptional, signed: signed)
        self.metric = metric
    }

    /// A column. By default its values are never absent and never negative.
    public init(
        _ name: String, _ type: ColumnType, unit: ColumnUnit? = nil, _ meaning: String, optional: Bool = false,
        choices: [String] = [], signed: Bool = false, mayExceedOne: Bool = false
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.meaning = meaning
        self.isOptional = optional
        self.choices = choices
        isSigned = signed
        self.mayExceedOne = mayExceedOne
    }

    /// The smallest and largest number that may occur; nil without a bound.
    public var bounds: (lowest: Int?, highest: Int?) {
        guard type == .integer || type == .number, !isSigned else { return (nil, nil) }
        return (0, unit == .share && !mayExceedOne ? 1 : nil)
    }
}

/// Columns whose values occur in another table's columns of the same names.
public struct ForeignKey: Sendable {
    /// The columns' names, alike in both tables.
    public let columns: [String]
    /// The name of the other table, without its extension.
    public let table: String

    /// A reference from these columns to another table.
    public init(_ columns: [String], in table: String) {
        self.columns = columns
        self.table = table
    }
}

/// One CSV file of a run directory.
public struct TableSchema: Sendable {
    /// The file's name without its extension, such as `samples`.
    public let name: String
    /// What a row is, for `datapackage.json`.
    public let meaning: String
    /// The columns, in their order in the file.
    public let columns: [Column]
    /// The columns that identify a row; empty where rows may be equal.
    public let primaryKey: [String]
    /// The columns that refer to other tables.
    public let foreignKeys: [ForeignKey]

    /// The file's name with its extension.
    public var file: String { name + ".csv" }

    /// A table without keys, unless they are given.
    public init(
        _ name: String, _ meaning: String, key: [String] = [], references: [ForeignKey] = [], _ columns: [Column]
    ) {
        self.name = name
        self.meaning = meaning
        self.columns = columns
        primaryKey = key
        foreignKeys = references
    }
}

/// The format version of the run directory.
///
/// A change to what exists raises it: to the name, place, type, unit or meaning of a column, the spelling of a value,
/// or the name of a file or of a key of `manifest.json`. An addition does not: a column at the end of a table, a key,
/// a file. Readers find columns by the names in a table's first record. They read older versions as far as possible,
/// and refuse newer ones in one line.
public let runFormatVersion = 1
