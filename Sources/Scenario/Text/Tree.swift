/// A piece of a scenario as text: scalars stay text, so that units are kept, and every key and value knows its origin.
package struct Tree: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case scalar(String, isQuoted: Bool)
        case sequence([Tree])
        /// In the order of the text; keys are unique.
        case mapping([Entry])
    }

    package struct Entry: Hashable, Sendable {
        package var key: String
        var keyOrigin: Origin
        package var value: Tree
    }

    package var content: Content
    var origin: Origin

    init(_ content: Content, origin: Origin) {
        self.content = content
        self.origin = origin
    }

    /// An empty value, `~` or `null`.
    var isNull: Bool {
        guard case .scalar(let text, false) = content else { return false }
        return ["", "~", "null"].contains(text)
    }

    /// The text of a scalar that is not null.
    package var text: String? {
        guard case .scalar(let text, _) = content, !isNull else { return nil }
        return text
    }

    package var entries: [Entry]? {
        guard case .mapping(let entries) = content else { return nil }
        return entries
    }

    package var elements: [Tree]? {
        guard case .sequence(let elements) = content else { return nil }
        return elements
    }

    /// The value of a mapping's key.
    package subscript(key: String) -> Tree? { entries?.first { $0.key == key }?.value }

    /// The origin of the key, or of the mapping if it lacks the key.
    func origin(ofKey key: String) -> Origin { entries?.first { $0.key == key }?.keyOrigin ?? origin }

    /// YAML's key for merging another mapping. It is refused; keys that it might supply are not reported as missing.
    static let mergeKey = "<<"
    var hasMergeKey: Bool { self[Tree.mergeKey] != nil }

    /// A summary that fits after "not".
    var summary: String {
        switch content {
        case .scalar(let text, _): isNull ? "nothing" : "'\(text.shortened())'"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}

// For writing, where origins are irrelevant.
extension Tree {
    package static func plain(_ text: String) -> Tree { Tree(.scalar(text, isQuoted: false), origin: .start) }

    /// A text that YAML must read back unchanged, quoted where needed.
    package static func string(_ text: String) -> Tree {
        Tree(.scalar(text, isQuoted: !isPlainSafe(text)), origin: .start)
    }

    package static func list(_ elements: [Tree]) -> Tree { Tree(.sequence(elements), origin: .start) }

    package static func record(_ entries: [(String, Tree)]) -> Tree {
        Tree(.mapping(entries.map { Entry(key: $0.0, keyOrigin: .start, value: $0.1) }), origin: .start)
    }

    /// Whether YAML reads the bare text as exactly this text in every context.
    static func isPlainSafe(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x41...0x5a).contains(first) || (0x61...0x7a).contains(first),
            text.utf8.last != 0x20
        else { return false }
        if "fnoty".utf8.contains(first | 0x20), wordsWithSecondMeaning.contains(text.lowercased()) { return false }
        return text.utf8.allSatisfy(isPlain)
    }

    /// All words begin with one of five letters.
    private static let wordsWithSecondMeaning = [
        "null", "true", "false", "yes", "no", "on", "off", "none", "y", "n",
    ]

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "._-/<>=%+ ".utf8.contains(byte)
        }
    }
}
