/// What a column holds, in Frictionless Table Schema's words.
public enum ColumnType: String, Sendable {
    case string
    case integer
    case number
    case boolean
}

/// What the numbers of a column measure; counts, names and flags have no unit. The raw value stands in
/// `datapackage.json`.
public enum ColumnUnit: String, CaseIterable, Sendable {
    case seconds = "s"
    case milliseconds = "ms"
    case bytes = "byte"
    case bytesPerSecond = "byte/s"
    /// A part of one.
    case share = "1"
}

/// One column of a CSV: its name is a contract.
public struct Column: Sendable {
    public let name: String
    public let type: ColumnType
    /// The unit, which is the last word of most names, too; nil for counts, names and flags.
    public let unit: ColumnUnit?
    public let meaning: String
    /// An absence is an empty cell; false where there is always a value.
    public let isOptional: Bool
    /// The values that may occur, where they are few.
    public let choices: [String]
    /// Whether a number may be below zero.
    public let isSigned: Bool

    public init(
        _ name: String, _ type: ColumnType, unit: ColumnUnit? = nil, _ meaning: String, optional: Bool = false,
        choices: [String] = [], signed: Bool = false
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.meaning = meaning
        self.isOptional = optional
        self.choices = choices
        isSigned = signed
    }

    /// The smallest and the largest number that may occur.
    public var bounds: (lowest: Int?, highest: Int?) {
        guard type == .integer || type == .number, !isSigned else { return (nil, nil) }
        return (0, unit == .share ? 1 : nil)
    }
}

/// Columns whose values are found in another table's columns of that name.
public struct ForeignKey: Sendable {
    public let columns: [String]
    public let table: String

    public init(_ columns: [String], in table: String) {
        self.columns = columns
        self.table = table
    }
}

/// One CSV file of a run directory.
public struct TableSchema: Sendable {
    /// Without the extension: `samples`.
    public let name: String
    public let meaning: String
    public let columns: [Column]
    /// The columns that tell every row from every other; empty where rows may be alike.
    public let primaryKey: [String]
    public let foreignKeys: [ForeignKey]

    public var file: String { name + ".csv" }

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
/// It is raised when something that was there changes: the name, place, type, unit or meaning of a column, the spelling
/// of a value, the name of a file or of a key of `manifest.json`. Columns at the end of a table, keys and files that
/// are added do not raise it: readers look at a table's first record. Readers read older versions as far as they go,
/// and refuse newer ones in one line.
public let runFormatVersion = 1
