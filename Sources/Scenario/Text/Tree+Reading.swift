import Yams

/// The limits of a scenario's text: enough for thousands of apps, too little to exhaust the host.
enum TextLimits {
    static let bytes = 8 << 20
    /// Keys and values after aliases are resolved.
    static let nodes = 1_000_000
    static let depth = 32
}

extension Tree {
    /// The tree of a YAML text, or its first fault. Never traps, whatever the bytes hold.
    /// - Parameter kind: The kind of text, for messages.
    static func read(bytes: [UInt8], as kind: String = "scenario") throws(Fault) -> Tree {
        guard bytes.count <= TextLimits.bytes else {
            throw Fault(
                origin: .start,
                message: "the file has \(bytes.count) bytes; a \(kind) may have at most \(TextLimits.bytes)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw invalidUTF8(in: bytes, as: kind) }
        return try read(text: text, as: kind)
    }

    static func read(text: String, as kind: String = "scenario") throws(Fault) -> Tree {
        // Editors on some systems begin a file with a byte order mark.
        let mark: Unicode.Scalar = "\u{feff}"
        let text = text.unicodeScalars.first == mark ? String(text.unicodeScalars.dropFirst()) : text
        if let fault = forbiddenCharacter(in: text) ?? hazardousKey(in: text) { throw fault }
        let root: Node?
        do {
            // The key decides the type of a plain text; the form of the text does not.
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch let error as YamlError {
            throw Fault(error, text: text, kind: kind)
        } catch {
            throw Fault(origin: .start, message: "this is not YAML: \(error)")
        }
        guard let root else {
            throw Fault(origin: .start, message: "the \(kind) is empty; it begins with 'plimsoll: 1'")
        }
        var budget = TextLimits.nodes
        return try Tree(root, depth: 0, budget: &budget)
    }

    /// Checks the depth of the whole tree, because overrides and policy files insert trees below others.
    func checkDepth(_ depth: Int = 0) throws(Fault) {
        guard depth < TextLimits.depth else { throw Tree.tooDeep(origin) }
        switch content {
        case .scalar: return
        case .sequence(let elements): for element in elements { try element.checkDepth(depth + 1) }
        case .mapping(let entries): for entry in entries { try entry.value.checkDepth(depth + 1) }
        }
    }

    fileprivate static func tooDeep(_ origin: Origin) -> Fault {
        Fault(origin: origin, message: "nested more than \(TextLimits.depth) levels deep")
    }

    private init(_ node: Node, depth: Int, budget: inout Int) throws(Fault) {
        let origin = Origin(node.mark)
        budget -= 1
        guard budget > 0 else {
            throw Fault(origin: origin, message: "more than \(TextLimits.nodes) keys and values, aliases resolved")
        }
        guard depth < TextLimits.depth else { throw Tree.tooDeep(origin) }
        switch node {
        case .scalar(let scalar):
            let isPlain = scalar.style == .plain || scalar.style == .any
            self.init(.scalar(scalar.string, isQuoted: !isPlain), origin: origin)
        case .sequence(let sequence):
            var elements: [Tree] = []
            for element in sequence { elements.append(try Tree(element, depth: depth + 1, budget: &budget)) }
            self.init(.sequence(elements), origin: origin)
        case .mapping(let mapping):
            var entries: [Entry] = []
            for (key, value) in mapping {
                guard case .scalar(let name) = key else {
                    throw Fault(origin: Origin(key.mark), message: "a key must be a plain text")
                }
                let value = try Tree(value, depth: depth + 1, budget: &budget)
                entries.append(Entry(key: name.string, keyOrigin: Origin(key.mark), value: value))
            }
            self.init(.mapping(entries), origin: origin)
        case .alias:
            throw Fault(origin: origin, message: "this alias has no anchor")
        }
    }
}

extension Origin {
    fileprivate init(_ mark: Mark?) {
        guard let mark else {
            self = .start
            return
        }
        self = .text(line: mark.line, column: mark.column)
    }
}

extension Fault {
    fileprivate init(_ error: YamlError, text: String, kind: String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
            // The parser's message about its nesting limit is meant for programmers, so this message replaces it.
            if problem.contains("nesting level") {
                self = Tree.tooDeep(Origin(mark))
                return
            }
            let isTab = Tree.scalar(at: mark, of: text) == "\t"
            self.init(
                origin: Origin(mark),
                message: isTab ? "YAML is indented with spaces, not with tabs" : "this is not YAML: \(problem)")
        case .composer(let context, let problem, let mark, _):
            let isSecond = context?.text.contains("single document") ?? false
            self.init(
                origin: Origin(mark),
                message: isSecond
                    ? "a \(kind) is one YAML document; here begins another" : "this is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let all = duplicates.sorted()
            let keys =
                all.prefix(10).map { "'\($0.shortened())'" }.joined(separator: ", ")
                + (all.count > 10 ? " and \((all.count - 10).grouped) more" : "")
            self.init(
                origin: Origin(context.mark),
                message: "key \(keys) is given more than once in this mapping; once is right")
        case .memory:
            self = Tree.tooDeep(.start)
        case .reader(let problem, _, _, _):
            self.init(origin: .start, message: "this is not YAML: \(problem)")
        case .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            self.init(origin: .start, message: "this is not YAML")
        }
    }
}

// Checks that run before the parser.
extension Tree {
    fileprivate static func scalar(at mark: Mark, of text: String) -> Unicode.Scalar? {
        var line = 1
        var column = 1
        for scalar in text.unicodeScalars {
            if line == mark.line && column == mark.column { return scalar }
            if scalar == "\n" { (line, column) = (line + 1, 1) } else { column += 1 }
        }
        return nil
    }

    private static func invalidUTF8(in bytes: [UInt8], as kind: String) -> Fault {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var line = 1
        var column = 1
        while case .valid(let encoded) = parser.parseScalar(from: &iterator) {
            if encoded.first == 0x0a { (line, column) = (line + 1, 1) } else { column += 1 }
        }
        return Fault(origin: .text(line: line, column: column), message: "this is not UTF-8; a \(kind) is UTF-8 text")
    }

    private static func forbiddenCharacter(in text: String) -> Fault? {
        var line = 1
        var column = 1
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0a: (line, column) = (line + 1, 1)
            case 0..<0x09, 0x0b, 0x0c, 0x0e..<0x20, 0x7f..<0x85, 0x86..<0xa0, 0xfffe, 0xffff:
                return Fault(
                    origin: .text(line: line, column: column),
                    message: "the control character U+\(String(scalar.value, radix: 16, uppercase: true)) is not text")
            default: column += 1
            }
        }
        return nil
    }

    /// The parser compares keys with all their contents. A key that is a collection of aliases could take exponential
    /// time to compare. So in a text with anchors, every key must be plain text. This check works line by line and
    /// may refuse harmless texts.
    private static func hazardousKey(in text: String) -> Fault? {
        guard text.contains("&") else { return nil }
        var number = 0
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            let line = Array(line.unicodeScalars)
            if let column = hazardousKey(inLine: line) {
                return Fault(
                    origin: .text(line: number, column: column + 1),
                    message: "in a file with '&', a key must be plain text, not an alias or a collection")
            }
        }
        return nil
    }

    private static func hazardousKey(inLine line: [Unicode.Scalar]) -> Int? {
        var previous: Unicode.Scalar?
        for (column, scalar) in line.enumerated() {
            if scalar == "#" && (column == 0 || line[column - 1] == " ") { return nil }
            let rest = line[(column + 1)...]
            switch scalar {
            case "]", "}":
                if rest.first(where: { $0 != " " && $0 != "\t" }) == ":" { return column }
            case "*":
                let tail = rest.drop {
                    $0.properties.isAlphabetic || $0 == "_" || $0 == "-" || ("0"..."9").contains($0)
                }
                if tail.first(where: { $0 != " " && $0 != "\t" }) == ":" { return column }
            case "?":
                let opens: [Unicode.Scalar?] = [nil, "-", "[", "{", ","]
                if opens.contains(previous) { return column }
            default: break
            }
            if scalar != " " && scalar != "\t" && scalar != "\r" { previous = scalar }
        }
        return nil
    }
}
