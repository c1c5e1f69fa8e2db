import Quantities

/// One line of a text, with a place in it.
public struct Excerpt: Hashable, Sendable {
    /// The number of the line, from 1.
    public let line: Int
    /// The line without control characters and invisible ones, cut around the place if it is long.
    public let text: String
    /// The terminal's columns before the place.
    public let indent: Int

    /// The most scalars of a line that are shown.
    private static let longest = 96

    /// - Parameter column: Counts the line's scalars from 1.
    init(line: Int, scalars: [Unicode.Scalar], column: Int) {
        self.line = line
        let place = min(max(0, column - 1), scalars.count)
        let first = scalars.count <= Excerpt.longest ? 0 : max(0, min(place - 40, scalars.count - Excerpt.longest))
        let last = min(scalars.count, first + Excerpt.longest)
        let before = Excerpt.shown(scalars[first..<max(first, min(place, last))], isCut: first > 0)
        let rest = Excerpt.shown(scalars[(first + min(place - first, last - first))..<last], isCut: false)
        text = before + rest + (last < scalars.count ? "…" : "")
        indent = before.terminalColumns
    }

    private static func shown(_ scalars: ArraySlice<Unicode.Scalar>, isCut: Bool) -> String {
        var text = isCut ? "…" : ""
        for scalar in scalars { text.unicodeScalars.append(scalar == "\t" ? " " : scalar.isHidden ? "?" : scalar) }
        return text
    }

    /// The line with its number, and the caret below it.
    public var lines: [String] {
        let number = "\(line)"
        let margin = String(repeating: " ", count: max(0, 5 - number.count))
        let blank = String(repeating: " ", count: margin.count + number.count)
        return ["\(margin)\(number) | \(text)", "\(blank) | \(String(repeating: " ", count: indent))^"]
    }
}

/// A text by its lines, as YAML breaks them.
struct SourceLines {
    private let lines: [[Unicode.Scalar]]

    /// Bytes that are not UTF-8 have no lines.
    init(_ bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            lines = []
            return
        }
        var lines: [[Unicode.Scalar]] = [[]]
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            switch scalar {
            // Editors on some systems begin a file with a byte order mark; it has no column.
            case "\u{FEFF}" where previous == nil: break
            case "\n" where previous == "\r": break
            case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}": lines.append([])
            default: lines[lines.count - 1].append(scalar)
            }
            previous = scalar
        }
        self.lines = lines
    }

    /// The place with its line; nil if there is no such line, or if it is blank.
    func excerpt(line: Int, column: Int) -> Excerpt? {
        guard lines.indices.contains(line - 1) else { return nil }
        let scalars = lines[line - 1]
        guard scalars.contains(where: { $0 != " " && $0 != "\t" }) else { return nil }
        return Excerpt(line: line, scalars: scalars, column: column)
    }
}
