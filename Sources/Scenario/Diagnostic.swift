import Quantities

/// A fault of a scenario: where it is, what is wrong, and what would be right.
public struct Diagnostic: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the fault was written.
    public enum Location: Hashable, Sendable {
        /// Line and column count from 1; the column counts Unicode scalars.
        case file(String, line: Int, column: Int)
        /// An option of the command line, as it was given: `--set apps.maps.memory.base=20`.
        case option(String)
    }

    public let location: Location
    public let message: String

    public init(location: Location, message: String) {
        self.location = location
        self.message = message
    }

    /// `path/to/file.yaml:12:7: error: unknown key 'ceilng' in device; did you mean 'ceiling'?`
    public var description: String { "\(location): error: \(message)".onOneLine }
}

extension Diagnostic.Location: CustomStringConvertible {
    public var description: String {
        switch self {
        case .file(let file, let line, let column): "\(file):\(line):\(column)"
        case .option(let option): option
        }
    }
}

/// Where a piece of a scenario came from.
enum Origin: Hashable, Sendable {
    case text(line: Int, column: Int)
    /// Another file than the scenario: a policy's.
    case file(String, line: Int, column: Int)
    case option(String)

    static let start = Origin.text(line: 1, column: 1)

    var isOption: Bool {
        switch self {
        case .text, .file: false
        case .option: true
        }
    }

    /// Text before other files before options; options among themselves keep their order.
    static func precedes(_ a: Origin, _ b: Origin) -> Bool {
        switch (a, b) {
        case (.text(let lineA, let columnA), .text(let lineB, let columnB)): (lineA, columnA) < (lineB, columnB)
        case (.file(let fileA, let lineA, let columnA), .file(let fileB, let lineB, let columnB)):
            (fileA, lineA, columnA) < (fileB, lineB, columnB)
        case (.text, .file), (.text, .option), (.file, .option): true
        case (.file, .text), (.option, .text), (.option, .file), (.option, .option): false
        }
    }

    func location(in file: String) -> Diagnostic.Location {
        switch self {
        case .text(let line, let column): .file(file, line: line, column: column)
        case .file(let other, let line, let column): .file(other, line: line, column: column)
        case .option(let option): .option(option)
        }
    }
}

/// One fault with its origin; the file's name is added at the end.
struct Fault: Error, Hashable, Sendable {
    let origin: Origin
    let message: String
}
