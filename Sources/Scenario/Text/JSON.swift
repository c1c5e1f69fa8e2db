/// A JSON value whose keys keep their order, so that the same definitions give the same bytes.
enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The digits as they are to be written.
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    struct Member: Hashable, Sendable {
        let key: String
        let value: JSON
    }

    static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { Member(key: $0.key, value: $0.value) })
    }

    static func strings(_ texts: [String]) -> JSON { .array(texts.map(JSON.string)) }

    /// An object with further members at its end; other values stay as they are.
    func adding(_ members: KeyValuePairs<String, JSON>) -> JSON {
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
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): JSON.quoted(text)
        case .array(let values): "[" + values.map(\.compact).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(JSON.quoted($0.key)): \($0.value.compact)" }.joined(separator: ", ") + "}"
        }
    }

    /// Two spaces per level; what is short stays on one line.
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
            let lines = members.map { margin + JSON.quoted($0.key) + ": " + $0.value.pretty(indent: indent + 2) }
            return "{\n" + lines.joined(separator: ",\n") + end + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}
