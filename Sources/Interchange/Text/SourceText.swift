import Quantities
import Scenario

/// The bytes and the name of a file from another tool. Its faults state line and column.
struct SourceText: Sendable {
    let file: String
    let bytes: [UInt8]

    /// - Parameter kind: The kind of text, with an article.
    /// - Throws: A fault at the first byte that is not UTF-8.
    init(file: String, bytes: [UInt8], as kind: String) throws(ScenarioFault) {
        (self.file, self.bytes) = (file, bytes)
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid(let scalar): offset += scalar.count
            case .emptyInput: return
            case .error: throw fault(at: offset, "this is not UTF-8; \(kind) is UTF-8 text")
            }
        }
    }

    /// A fault at an offset, in the usual form: `report.ips:12:7: error: …`.
    func fault(at offset: Int, _ message: String) -> ScenarioFault {
        let place = place(of: offset)
        return .invalid([
            Diagnostic(location: .file(file, line: place.line, column: place.column), message: message)
        ])
    }

    /// A hundred times the longest report or usage trace seen so far.
    private static let mostBytes = 256 << 20

    static func read(_ path: String, as kind: String) throws(ScenarioFault) -> [UInt8] {
        try InputFile.read(path, as: kind, atMost: mostBytes)
    }

    /// Line and column count from 1; the column counts Unicode scalars.
    func place(of offset: Int) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for byte in bytes.prefix(offset) {
            if byte == 0x0a {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        return (line, column)
    }
}

/// The scenario names of recorded apps: valid, unique, and as close to the recorded names as possible.
struct ImportedNames {
    private var taken: Set<String> = []

    /// The most characters of a name.
    private static let longest = 64
    /// The most characters before an appended number.
    private static let longestNumbered = 56

    /// A name that is not taken yet, made of letters, digits, spaces, dots, underscores and hyphens; it begins with a
    /// letter.
    mutating func name(for recorded: String) -> String {
        var text = ""
        for scalar in recorded.unicodeScalars.prefix(ImportedNames.longest) {
            let isFit =
                scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789 ._-".unicodeScalars.contains(scalar))
            text.unicodeScalars.append(isFit ? scalar : "-")
        }
        while text.last == " " { text.removeLast() }
        if !text.contains(where: { $0.isLetter || $0.isNumber }) { text = "app" }
        if text.first?.isLetter != true { text = String(("app " + text).prefix(ImportedNames.longest)) }
        var unique = text
        var number = 2
        while !taken.insert(unique).inserted {
            unique = "\(text.prefix(ImportedNames.longestNumbered)) \(number)"
            number += 1
        }
        return unique
    }
}

/// The figures of an import, one per line, for people and scripts.
func importReport(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { $0.0 + String(repeating: " ", count: width + 2 - $0.0.count) + $0.1 }.joined(separator: "\n")
}

/// Recorded text for a comment or a message: on one line, and shortened.
func onOneLine(_ text: String, atMost longest: Int = 100) -> String {
    let line = String(
        String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: " "
                default: scalar
                }
            }))
    return line.count > longest ? String(line.prefix(longest)) + "…" : line
}
