/// What a column holds, in Frictionless Table Schema's words.
public enum ColumnType: String, Sendable {
    case string
    case integer
    case number
    case boolean
}

/// One column of a CSV: its name is a contract, its unit is last in the name.
public struct Column: Sendable {
    public let name: String
    public let type: ColumnType
    public let meaning: String
    /// An absence is an empty cell; false where there is always a value.
    public let isOptional: Bool
    /// The values that may occur, where they are few.
    public let choices: [String]
    /// Whether a number may be below zero.
    public let isSigned: Bool

    public init(
        _ name: String, _ type: ColumnType, _ meaning: String, optional: Bool = false, choices: [String] = [],
        signed: Bool = false
    ) {
        self.name = name
        self.type = type
        self.meaning = meaning
        self.isOptional = optional
        self.choices = choices
        isSigned = signed
    }

    private static let units = ["s": "s", "ms": "ms", "bytes": "byte", "ratio": "1"]

    /// The unit, which the last word of the name says; nil for counts, names and flags.
    public var unit: String? {
        guard type == .integer || type == .number else { return nil }
        // Pressure stall information is named as the kernel names it; it is a share of time.
        if name.hasPrefix("psi_") { return "1" }
        return name.split(separator: "_").last.flatMap { Column.units[String($0)] }
    }

    /// The smallest and the largest number that may occur.
    public var bounds: (lowest: Int?, highest: Int?) {
        guard type == .integer || type == .number, !isSigned else { return (nil, nil) }
        return (0, unit == "1" ? 1 : nil)
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

/// The format version of the run directory; a change of meaning bumps it.
public let runFormatVersion = 1
