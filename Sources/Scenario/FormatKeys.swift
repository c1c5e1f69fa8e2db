import Quantities

/// The vocabulary of scenario files, read from the schema: for a test that must have used all of it.
package enum FormatKeys {
    /// Every key by its path (`apps[].memory.base`) and every value that has a name (`monitor.preset=ios`), in the
    /// order of the definitions, each once.
    package static let all: [String] = {
        var keys: [String] = []
        collect(ScenarioSchema.schema, at: "", into: &keys)
        var seen: Set<String> = []
        return keys.filter { seen.insert($0).inserted }
    }()

    /// The same of a document: its keys, and each scalar as `path=value`. A key occurs as often as the document has it.
    package static func used(in document: Tree) -> [String] {
        var keys: [String] = []
        collect(document, at: "", into: &keys)
        return keys
    }

    private static func collect(_ tree: Tree, at path: String, into keys: inout [String]) {
        switch tree.content {
        case .scalar(let text, _): keys.append("\(path)=\(text)")
        case .sequence(let elements): for element in elements { collect(element, at: path + "[]", into: &keys) }
        case .mapping(let entries):
            for entry in entries {
                let here = path.isEmpty ? entry.key : "\(path).\(entry.key)"
                keys.append(here)
                collect(entry.value, at: here, into: &keys)
            }
        }
    }

    private static func collect(_ schema: JSON, at path: String, into keys: inout [String]) {
        if case .object(let members)? = schema["properties"] {
            for member in members {
                let here = path.isEmpty ? member.key : "\(path).\(member.key)"
                keys.append(here)
                collect(member.value, at: here, into: &keys)
            }
        }
        if let items = schema["items"] { collect(items, at: path + "[]", into: &keys) }
        for key in ["anyOf", "oneOf"] {
            if case .array(let forms)? = schema[key] { for form in forms { collect(form, at: path, into: &keys) } }
        }
        keys += names(schema).map { "\(path)=\($0)" }
    }

    /// The values that a schema names.
    private static func names(_ schema: JSON) -> [String] {
        if schema["pattern"] == .string("^(true|false)$") { return ["true", "false"] }
        var values: [JSON] = schema["const"].map { [$0] } ?? []
        if case .array(let choices)? = schema["enum"] { values += choices }
        return values.compactMap { value in
            guard case .string(let name) = value else { return nil }
            return name
        }
    }
}

/// What an event of a scenario looks like: the key of its action, and what stands behind it.
package struct ActionForm: Sendable {
    package enum Payload: Hashable, Sendable {
        case app
        case nothing
        case time
        case choice([String])
    }

    package let key: String
    package let payload: Payload
    /// A second key, which is a time.
    package let extraKey: String?
    package let needsExtra: Bool

    /// Every action of the format.
    package static let all: [ActionForm] = ActionKind.all.map(ActionForm.init)

    private init(_ kind: ActionKind) {
        key = kind.key
        extraKey = kind.extraKey
        needsExtra = kind.extraKey != nil && !kind.extraIsOptional
        let schema = kind.schema()[0].value
        if case .array(let choices)? = schema["enum"] {
            let names = choices.compactMap { choice -> String? in
                guard case .string(let name) = choice else { return nil }
                return name
            }
            payload = choices.contains(.bool(true)) ? .nothing : .choice(names)
        } else {
            payload = schema["pattern"] == .string(TimeSpan.pattern) ? .time : .app
        }
    }
}
