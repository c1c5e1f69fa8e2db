extension Tree {
    /// The tree as YAML: blocks, and small records on one line.
    var yaml: String {
        var text = ""
        write(into: &text, indent: 0)
        return text
    }

    private static let width = 110

    private func write(into text: inout String, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        switch content {
        case .scalar:
            text += "\(margin)\(inline)\n"
        case .mapping(let entries):
            for entry in entries {
                text += "\(margin)\(Tree.string(entry.key).inline):"
                entry.value.write(afterKeyInto: &text, indent: indent)
            }
        case .sequence(let elements):
            for element in elements { element.write(asElementInto: &text, indent: indent) }
        }
    }

    private func write(afterKeyInto text: inout String, indent: Int) {
        if let line = line(indent: indent) {
            text += " \(line)\n"
        } else {
            text += "\n"
            write(into: &text, indent: indent + 2)
        }
    }

    private func write(asElementInto text: inout String, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        if let line = line(indent: indent) {
            text += "\(margin)- \(line)\n"
            return
        }
        var block = ""
        write(into: &block, indent: indent + 2)
        text += "\(margin)- \(block.dropFirst(indent + 2))"
    }

    /// The text on one line where it fits: scalars, empty collections, and short collections of scalars do.
    private func line(indent: Int) -> String? {
        switch content {
        case .scalar: return inline
        case .sequence(let elements): guard elements.allSatisfy(\.isScalar) else { return nil }
        case .mapping(let entries): guard entries.allSatisfy(\.value.isScalar) else { return nil }
        }
        let line = inline
        return isEmpty || line.count + indent <= Tree.width ? line : nil
    }

    private var isEmpty: Bool {
        switch content {
        case .scalar: false
        case .sequence(let elements): elements.isEmpty
        case .mapping(let entries): entries.isEmpty
        }
    }

    private var isScalar: Bool {
        switch content {
        case .scalar: true
        case .sequence, .mapping: false
        }
    }

    private var inline: String {
        switch content {
        case .scalar(let text, let isQuoted): isQuoted ? JSON.string(text).compact : text
        case .sequence(let elements): "[" + elements.map(\.inline).joined(separator: ", ") + "]"
        case .mapping(let entries):
            entries.isEmpty
                ? "{}"
                : "{ "
                    + entries.map { "\(Tree.string($0.key).inline): \($0.value.inline)" }.joined(separator: ", ") + " }"
        }
    }
}
