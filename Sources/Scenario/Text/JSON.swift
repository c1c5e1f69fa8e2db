/// A JSON value (RFC 8259) whose keys keep their order, so that equal definitions give equal bytes. It writes all JSON
/// that does not go through `Codable`.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The digits exactly as written.
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package let key: String
        package let value: JSON

        package init(key: String, value: JSON) { (self.key, self.value) = (key, value) }
    }

    package static func whole(_ number: Int) -> JSON { .number("\(number)") }

    package static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { Member(key: $0.key, value: $0.value) })
    }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }

    /// An object with further members at its end; other values stay as they are.
    package func adding(_ members: KeyValuePairs<String, JSON>) -> JSON {
        guard case .object(let own) = self else { return self }
        return .object(own + members.map { Member(key: $0.key, value: $0.value) })
    }

    /// An object without that key; other values stay as they are.
    func removing(_ key: String) -> JSON {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.key != key })
    }

    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    var compact: String {
        var bytes: [UInt8] = []
        write(to: &bytes, .spaced)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Two spaces per level; short values stay on one line.
    func pretty(indent: Int = 0) -> String {
        let compact = compact
        if compact.count + indent <= 100 { return compact }
        let margin = String(repeating: " ", count: indent + 2)
        let end = "\n" + String(repeating: " ", count: indent)
        switch self {
        case .null, .bool, .number, .string: return compact
        case .array(let values):
            let lines = values.map { margin + $0.pretty(indent: indent + 2) }
            return "[\n" + lines.joined(separator: ",\n") + end + "]"
        case .object(let members):
            let lines = members.map {
                margin + JSON.string($0.key).compact + ": " + $0.value.pretty(indent: indent + 2)
            }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        }
    }
}

// As bytes.
extension JSON {
    /// The whitespace between values.
    package enum Layout: Sendable {
        /// Nothing.
        case tight
        /// Spaces, all on one line.
        case spaced
        /// One member or element per line, with spaces around the colon, as in Apple's reports.
        case lines
    }

    package func write(to bytes: inout [UInt8], _ layout: Layout, depth: Int = 0) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let digits): bytes += digits.utf8
        case .string(let text): JSON.quote(text, to: &bytes)
        case .array(let values):
            JSON.write(values, "[", "]", layout, depth, &bytes) { $0.write(to: &$1, layout, depth: depth + 1) }
        case .object(let members):
            JSON.write(members, "{", "}", layout, depth, &bytes) { member, bytes in
                JSON.quote(member.key, to: &bytes)
                bytes += layout.colon.utf8
                member.value.write(to: &bytes, layout, depth: depth + 1)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, _ layout: Layout, _ depth: Int, _ bytes: inout [UInt8],
        _ write: (Item, inout [UInt8]) -> Void
    ) {
        bytes += open.utf8
        for (index, item) in items.enumerated() {
            if index > 0 { bytes += layout.comma.utf8 }
            layout.beginLine(depth + 1, &bytes)
            write(item, &bytes)
        }
        layout.beginLine(depth, &bytes)
        bytes += close.utf8
    }

    private static func quote(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "\n": bytes += "\\n".utf8
            case "\r": bytes += "\\r".utf8
            case "\t": bytes += "\\t".utf8
            default:
                if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
                    let digits = String(scalar.value, radix: 16)
                    bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
                } else {
                    bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
                }
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSON.Layout {
    fileprivate var comma: String { self == .spaced ? ", " : "," }

    fileprivate var colon: String {
        switch self {
        case .tight: ":"
        case .spaced: ": "
        case .lines: " : "
        }
    }

    fileprivate func beginLine(_ depth: Int, _ bytes: inout [UInt8]) {
        guard self == .lines else { return }
        bytes.append(UInt8(ascii: "\n"))
        bytes += repeatElement(UInt8(ascii: " "), count: 2 * depth)
    }
}
