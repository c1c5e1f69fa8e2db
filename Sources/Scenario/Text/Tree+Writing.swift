extension Tree {
    /// The tree as YAML, in blocks, with small records on one line.
    package var yaml: String { written(isDense: false) }

    /// The tree as YAML in few lines: everything that fits on one line stays on it.
    package var denseYAML: String { written(isDense: true) }

    /// The tree on one line, however long.
    package var line: String {
        var writer = TreeWriter(isDense: true)
        writer.inline(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func written(isDense: Bool) -> String {
        var writer = TreeWriter(isDense: isDense)
        writer.write(self, indent: 0)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// Writes the lines of a tree in order. A run's own scenario may have a hundred thousand of them.
private struct TreeWriter {
    private(set) var bytes: [UInt8] = []
    private let isDense: Bool
    /// Whether the next line follows the dash of a list; the dash replaces the line's indentation.
    private var isBehindDash = false

    private static let width = 110

    init(isDense: Bool) { self.isDense = isDense }

    /// Writes the tree on lines of its own.
    mutating func write(_ tree: Tree, indent: Int) {
        switch tree.content {
        case .scalar:
            margin(indent)
            inline(tree)
            newLine()
        case .mapping(let entries):
            for entry in entries {
                margin(indent)
                scalar(entry.key, isQuoted: !Tree.isPlainSafe(entry.key))
                append(":")
                write(afterKey: entry.value, indent: indent)
            }
        case .sequence(let elements):
            for element in elements { write(element: element, indent: indent) }
        }
    }

    private mutating func write(afterKey value: Tree, indent: Int) {
        if line(value, behind: " ", indent: indent) { return }
        newLine()
        write(value, indent: indent + 2)
    }

    private mutating func write(element: Tree, indent: Int) {
        margin(indent)
        if line(element, behind: "- ", indent: indent) { return }
        append("- ")
        isBehindDash = true
        write(element, indent: indent + 2)
    }

    /// Writes the tree on the rest of the line if it fits there: a scalar, an empty collection, or a short collection
    /// of scalars.
    private mutating func line(_ tree: Tree, behind sign: StaticString, indent: Int) -> Bool {
        guard isDense || tree.isFlat else { return false }
        let before = bytes.count
        append(sign)
        let start = bytes.count
        inline(tree)
        guard tree.isOneWord || fits(from: start, indent: indent) else {
            bytes.removeLast(bytes.count - before)
            return false
        }
        newLine()
        return true
    }

    /// The width counts characters. A text has at most as many characters as bytes, so the bytes are counted first.
    private func fits(from start: Int, indent: Int) -> Bool {
        bytes.count - start + indent <= TreeWriter.width
            || String(decoding: bytes[start...], as: UTF8.self).count + indent <= TreeWriter.width
    }

    mutating func inline(_ tree: Tree) {
        switch tree.content {
        case .scalar(let text, let isQuoted): scalar(text, isQuoted: isQuoted)
        case .sequence(let elements):
            append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { append(", ") }
                inline(element)
            }
            append("]")
        case .mapping(let entries):
            append(entries.isEmpty ? "{" : "{ ")
            for (index, entry) in entries.enumerated() {
                if index > 0 { append(", ") }
                scalar(entry.key, isQuoted: !Tree.isPlainSafe(entry.key))
                append(": ")
                inline(entry.value)
            }
            append(entries.isEmpty ? "}" : " }")
        }
    }

    private mutating func scalar(_ text: String, isQuoted: Bool) {
        bytes.append(contentsOf: (isQuoted ? JSON.string(text).compact : text).utf8)
    }

    private mutating func margin(_ indent: Int) {
        if !isBehindDash { bytes.append(contentsOf: repeatElement(0x20, count: indent)) }
        isBehindDash = false
    }

    private mutating func append(_ sign: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: sign.utf8Start, count: sign.utf8CodeUnitCount))
    }

    private mutating func newLine() { bytes.append(0x0a) }
}

extension Tree {
    fileprivate var isScalar: Bool {
        switch content {
        case .scalar: true
        case .sequence, .mapping: false
        }
    }

    /// A scalar, or a collection that contains only scalars.
    fileprivate var isFlat: Bool {
        switch content {
        case .scalar: true
        case .sequence(let elements): elements.allSatisfy { $0.isScalar }
        case .mapping(let entries): entries.allSatisfy { $0.value.isScalar }
        }
    }

    /// A scalar or an empty collection, which cannot be broken into lines.
    fileprivate var isOneWord: Bool {
        switch content {
        case .scalar: true
        case .sequence(let elements): elements.isEmpty
        case .mapping(let entries): entries.isEmpty
        }
    }
}
