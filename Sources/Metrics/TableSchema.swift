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

    public init(_ name: String, _ type: ColumnType, _ meaning: String, optional: Bool = false, choices: [String] = []) {
        self.name = name
        self.type = type
        self.meaning = meaning
        self.isOptional = optional
        self.choices = choices
    }
}

/// One CSV file of a run directory.
public struct TableSchema: Sendable {
    /// Without the extension: `samples`.
    public let name: String
    public let meaning: String
    public let columns: [Column]

    public var file: String { name + ".csv" }

    public init(_ name: String, _ meaning: String, _ columns: [Column]) {
        self.name = name
        self.meaning = meaning
        self.columns = columns
    }
}

/// The format version of the run directory; a change of meaning bumps it.
public let runFormatVersion = 1
