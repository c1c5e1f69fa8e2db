import Quantities

/// A fault in a scenario: its location, what is wrong, and what would be right.
public struct Diagnostic: Error, Hashable, Sendable, CustomStringConvertible {
    /// Where the fault was written.
    public enum Location: Hashable, Sendable {
        /// Line and column count from 1; the column counts Unicode scalars.
        case file(String, line: Int, column: Int)
        /// An option of the command line, as it was given: `--set apps.maps.memory.base=20`.
        case option(String)
    }

    /// Where the fault is.
    public let location: Location
    /// The fault in words, bounded in length whatever the input holds.
    public let message: String
    /// The place in the text; nil for an option, and where the text is not at hand.
    public let excerpt: Excerpt?

    public init(location: Location, message: String, excerpt: Excerpt? = nil) {
        self.location = location
        self.message = message.asMessage
        self.excerpt = excerpt
    }

    /// `path/to/file.yaml:12:7: error: unknown key 'ceilng' in device; did you mean 'ceiling'?`
    public var description: String { "\(location): error: \(message)".onOneLine }
}

/// The faults of an input in the order of its text: the first ones, and the number of the others.
public struct Diagnostics: Hashable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral,
    CustomStringConvertible
{
    /// The most faults that are shown.
    public static let most = 100

    private let shown: [Diagnostic]
    /// The number of faults that are not shown.
    public let more: Int

    /// - Parameter more: The number of faults that are not shown.
    public init(_ shown: [Diagnostic], more: Int = 0) { (self.shown, self.more) = (shown, more) }

    public init(arrayLiteral elements: Diagnostic...) { self.init(elements) }

    public var startIndex: Int { shown.startIndex }
    public var endIndex: Int { shown.endIndex }
    public subscript(position: Int) -> Diagnostic { shown[position] }

    /// One line per fault shown, and one with the number of the others.
    public var description: String {
        (shown.map(\.description) + rest).joined(separator: "\n")
    }

    private var rest: [String] { more == 0 ? [] : ["and \(more.grouped) more \(more == 1 ? "error" : "errors")"] }

    /// As `description`, with the line of the text below each fault, and a caret below its column.
    public var illustrated: String {
        (shown.flatMap { [$0.description] + ($0.excerpt?.lines ?? []) } + rest).joined(separator: "\n")
    }
}

extension Diagnostic.Location: CustomStringConvertible {
    /// `path/to/file.yaml:12:7`, or the option's text.
    public var description: String {
        switch self {
        case .file(let file, let line, let column): "\(file):\(line):\(column)"
        case .option(let option): option.shortened(to: 120)
        }
    }
}

/// Where a piece of a scenario came from.
enum Origin: Hashable, Sendable {
    case text(line: Int, column: Int)
    /// A file other than the scenario, such as a policy file.
    case file(String, line: Int, column: Int)
    case option(String)

    static let start = Origin.text(line: 1, column: 1)

    var isOption: Bool {
        switch self {
        case .text, .file: false
        case .option: true
        }
    }

    /// The line of the scenario's own text; nil for a piece from elsewhere.
    var line: Int? {
        switch self {
        case .text(let line, _): line
        case .file, .option: nil
        }
    }

    /// The order of diagnostics: the scenario's text, other files, then options in their given order.
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

/// One fault with its origin. Diagnostics add the file's name later.
struct Fault: Error, Hashable, Sendable {
    let origin: Origin
    let message: String
}

/// Collects the faults of one input: those that come first in its text, and the number of all. A fault that is only
/// counted costs no message.
struct FaultList {
    private struct Found {
        let fault: Fault
        let number: Int
    }

    /// The faults that may be shown, in no particular order.
    private var kept: [Found] = []
    /// The origin of the last fault that is shown, once there are enough.
    private var last: Origin?
    private(set) var count = 0
    private var files: [(file: String, bytes: [UInt8])] = []

    var isEmpty: Bool { count == 0 }

    /// - Parameter message: Evaluated only if the fault may be shown.
    mutating func add(_ origin: Origin, _ message: @autoclosure () -> String) {
        count += 1
        if let last, !Origin.precedes(origin, last) { return }
        kept.append(Found(fault: Fault(origin: origin, message: message()), number: count))
        if kept.count >= 2 * Diagnostics.most { settle() }
    }

    mutating func add(_ fault: Fault) { add(fault.origin, fault.message) }

    mutating func add(_ others: FaultList) {
        for found in others.kept { add(found.fault) }
        count += others.count - others.kept.count
    }

    /// Sorts the faults by origin, then by the time they were found, and removes duplicates.
    private mutating func settle() {
        kept.sort { a, b in
            if Origin.precedes(a.fault.origin, b.fault.origin) { return true }
            return !Origin.precedes(b.fault.origin, a.fault.origin) && a.number < b.number
        }
        var distinct: [Found] = []
        for found in kept {
            if distinct.last?.fault == found.fault { count -= 1 } else { distinct.append(found) }
        }
        kept = Array(distinct.prefix(Diagnostics.most))
        if kept.count == Diagnostics.most { last = kept.last?.fault.origin }
    }

    /// Keeps the bytes of a file, for the lines that diagnostics show.
    mutating func keep(_ bytes: [UInt8], of file: String) { files.append((file, bytes)) }

    /// - Parameter file: The scenario's name.
    func diagnostics(file: String) -> Diagnostics {
        var settled = self
        settled.settle()
        let sources = files.map { (file: $0.file, lines: SourceLines($0.bytes)) }
        let shown = settled.kept.map { found in
            let location = found.fault.origin.location(in: file)
            var excerpt: Excerpt?
            if case .file(let path, let line, let column) = location {
                excerpt = sources.first { $0.file == path }?.lines.excerpt(line: line, column: column)
            }
            return Diagnostic(location: location, message: found.fault.message, excerpt: excerpt)
        }
        return Diagnostics(shown, more: settled.count - shown.count)
    }
}
