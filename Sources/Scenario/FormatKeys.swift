import Quantities

/// The vocabulary of scenario files, read from the schema, for tests that must use all of it.
package enum FormatKeys {
    /// Every key by its path (`apps[].memory.base`), and every named value (`monitor.preset=ios`). Each occurs once, in
    /// the order of the definitions.
    package static let all: [String] = {
        var keys: [String] = []
        collect(ScenarioSchema.schema, at: "", into: &keys)
        var seen: Set<String> = []
        return keys.filter { seen.insert($0).inserted }
    }()

    /// The keys of a document, and each scalar as `path=value`. A key appears once for each use in the document.
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

    /// The named values of a schema.
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

/// The form of an event in a scenario: the key of its action, and its payload.
package struct ActionForm: Sendable {
    package enum Payload: Hashable, Sendable {
        case app
        case nothing
        case time
        case choice([String])
    }

    package let key: String
    package let payload: Payload
    /// The key of a second value.
    package let extraKey: String?
    /// Whether that value is a time; otherwise it is the number of a scene.
    package let extraIsTime: Bool
    package let needsExtra: Bool

    /// Every action of the format.
    package static let all: [ActionForm] = ActionKind.all.map(ActionForm.init)

    private init(_ kind: ActionKind) {
        key = kind.key
        extraKey = kind.extraKey
        needsExtra = kind.extraKey != nil && !kind.extraIsOptional
        let schema = kind.schema()[0].value
        extraIsTime = kind.schema().last?.value["pattern"] == .string(TimeSpan.pattern)
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
