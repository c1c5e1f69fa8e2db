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
                entry.value.write(afterKeyInto: &text, indent: indent, top: indent == 0)
            }
        case .sequence(let elements):
            for element in elements { element.write(asElementInto: &text, indent: indent) }
        }
    }

    private func write(afterKeyInto text: inout String, indent: Int, top: Bool) {
        let inline = inline
        if fitsInline(inline, indent: indent) {
            text += " \(inline)\n"
        } else {
            text += "\n"
            write(into: &text, indent: indent + 2)
        }
    }

    private func write(asElementInto text: inout String, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        let inline = inline
        guard !fitsInline(inline, indent: indent) else {
            text += "\(margin)- \(inline)\n"
            return
        }
        var block = ""
        write(into: &block, indent: indent + 2)
        text += "\(margin)- \(block.dropFirst(indent + 2))"
    }

    /// Scalars, empty collections, and short collections of scalars stand on one line.
    private func fitsInline(_ inline: String, indent: Int) -> Bool {
        let children: [Tree]
        switch content {
        case .scalar: return true
        case .sequence(let elements): children = elements
        case .mapping(let entries): children = entries.map(\.value)
        }
        return children.isEmpty || (children.allSatisfy(\.isScalar) && inline.count + indent <= Tree.width)
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
