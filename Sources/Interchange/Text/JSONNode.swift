/// A value of a JSON text, with the position where it begins.
struct JSONNode: Sendable {
    enum Content: Sendable {
        case object([Member])
        case array([JSONNode])
        case string(String)
        /// The number as written.
        case number(String)
        case bool(Bool)
        case null
    }

    struct Member: Sendable {
        let key: String
        let value: JSONNode
    }

    let content: Content
    let offset: Int

    /// The member with this key; the first of several.
    subscript(key: String) -> JSONNode? {
        guard case .object(let members) = content else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// The value in a few words, for messages such as `expected a list, not an object`.
    var summary: String {
        switch content {
        case .object: "an object"
        case .array: "a list"
        case .string(let text): "\"\(onOneLine(text, atMost: 40))\""
        case .number(let text): onOneLine(text, atMost: 40)
        case .bool(let flag): "\(flag)"
        case .null: "null"
        }
    }
}

/// A fault in a text, with its position.
struct TextFault: Error, Hashable, Sendable {
    let offset: Int
    let message: String
}

/// Reads JSON values one after another. Never traps, whatever the bytes hold.
struct JSONReader {
    private let bytes: [UInt8]
    private var position: Int

    /// The most levels of nesting that are read. Reports have four levels.
    private static let deepest = 64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // Editors on some systems begin a file with a byte order mark.
        position = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    }

    /// The next value, or nil at the end of the text.
    mutating func next() throws(TextFault) -> JSONNode? {
        skipBlanks()
        return position < bytes.count ? try value(depth: 0) : nil
    }

    private mutating func skipBlanks() {
        while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
    }

    private var here: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func fault(_ message: String) -> TextFault { TextFault(offset: position, message: message) }

    private func expected(_ what: String) -> TextFault {
        guard let byte = here else { return fault("the text ends here; expected \(what)") }
        let isPlain = byte > 0x20 && byte < 0x7f
        return fault("expected \(what), not \(isPlain ? "'\(Character(UnicodeScalar(byte)))'" : "this")")
    }

    private mutating func value(depth: Int) throws(TextFault) -> JSONNode {
        guard depth < JSONReader.deepest else { throw fault("nested more than \(JSONReader.deepest) levels deep") }
        skipBlanks()
        let start = position
        let content: JSONNode.Content
        switch here {
        case UInt8(ascii: "{"): content = .object(try members(depth))
        case UInt8(ascii: "["): content = .array(try elements(depth))
        case UInt8(ascii: "\""): content = .string(try string())
        case let byte? where "-0123456789".utf8.contains(byte): content = .number(try number())
        default: content = try word()
        }
        return JSONNode(content: content, offset: start)
    }

    private mutating func word() throws(TextFault) -> JSONNode.Content {
        let words: [(String, JSONNode.Content)] = [("true", .bool(true)), ("false", .bool(false)), ("null", .null)]
        for (text, content) in words where bytes[position...].starts(with: text.utf8) {
            position += text.utf8.count
            return content
        }
        throw expected("a JSON value")
    }

    private mutating func members(_ depth: Int) throws(TextFault) -> [JSONNode.Member] {
        position += 1
        var members: [JSONNode.Member] = []
        skipBlanks()
        if here == UInt8(ascii: "}") {
            position += 1
            return members
        }
        while true {
            skipBlanks()
            guard here == UInt8(ascii: "\"") else { throw expected("a key in quotes") }
            let key = try string()
            skipBlanks()
            guard here == UInt8(ascii: ":") else { throw expected("':' after the key") }
            position += 1
            members.append(JSONNode.Member(key: key, value: try value(depth: depth + 1)))
            if try isOver(UInt8(ascii: "}")) { return members }
        }
    }

    private mutating func elements(_ depth: Int) throws(TextFault) -> [JSONNode] {
        position += 1
        var elements: [JSONNode] = []
        skipBlanks()
        if here == UInt8(ascii: "]") {
            position += 1
            return elements
        }
        while true {
            elements.append(try value(depth: depth + 1))
            if try isOver(UInt8(ascii: "]")) { return elements }
        }
    }

    /// After a member or an element: true at the closing bracket, false after a comma.
    private mutating func isOver(_ end: UInt8) throws(TextFault) -> Bool {
        skipBlanks()
        guard let byte = here, byte == end || byte == UInt8(ascii: ",") else {
            throw expected("',' or '\(Character(UnicodeScalar(end)))'")
        }
        position += 1
        return byte == end
    }

    private mutating func number() throws(TextFault) -> String {
        let start = position
        while let byte = here, "+-.eE0123456789".utf8.contains(byte) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard Double(text) != nil else {
            position = start
            throw fault("'\(onOneLine(text, atMost: 40))' is not a number")
        }
        return text
    }

    private mutating func string() throws(TextFault) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = here {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case 0x0a, 0x0d: throw TextFault(offset: start, message: "this string has no closing quote on its line")
            default: text.append(byte)
            }
        }
        throw TextFault(offset: start, message: "the file ends within this string")
    }

    private mutating func escape(into text: inout [UInt8]) throws(TextFault) {
        guard let byte = here else { throw expected("the rest of an escape") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "u"):
            var units = [try unit()]
            if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: "\\u".utf8) {
                position += 2
                units.append(try unit())
            }
            text.append(contentsOf: String(decoding: units, as: UTF16.self).utf8)
        default:
            position -= 1
            throw expected("one of n, t, r, b, f, u, \", \\ and / in an escape")
        }
    }

    private mutating func unit() throws(TextFault) -> UInt16 {
        let end = min(position + 4, bytes.count)
        let digits = bytes[position..<end]
        guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw expected("four hexadecimal digits") }
        position = end
        return unit
    }
}
