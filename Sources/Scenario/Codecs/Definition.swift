import Quantities

/// A record of the format: its keys in the order in which they are read and written. This is the only place to add a
/// key; decoder, `--set`, encoder, JSON Schema, scale models and random worlds follow.
struct Definition<Root: Sendable>: Sendable {
    /// The initial record where the context gives none.
    let base: Root
    let fields: [Field<Root>]
    /// The key that a bare scalar stands for: `policy: lru` is `policy: { name: lru }`.
    let shorthand: String?
    /// The key of a preset: a record that names one may lack its required keys.
    let preset: String?
    /// Changes the initial record according to the record's own keys, such as a preset or an archetype.
    let start: (@Sendable (Tree, Root) -> Root)?
    /// Looks at the whole record once its keys are read, and reports what they say against each other.
    let check: (@Sendable (Tree, Root, Decoding) -> Void)?

    init(
        base: Root, shorthand: String? = nil, preset: String? = nil,
        start: (@Sendable (Tree, Root) -> Root)? = nil, check: (@Sendable (Tree, Root, Decoding) -> Void)? = nil,
        fields: [Field<Root>]
    ) {
        self.base = base
        self.shorthand = shorthand
        self.preset = preset
        self.start = start
        self.check = check
        self.fields = fields
    }

    var keys: [String] { fields.map(\.key) }
}

/// One key of a record.
struct Field<Root: Sendable>: Sendable {
    let key: String
    let help: String
    let isRequired: Bool
    let expected: String
    let decode: @Sendable (Tree, inout Root, Decoding) -> Void
    /// Returns nil to write nothing.
    private(set) var encode: @Sendable (Root, Encoding) -> Tree?
    /// What is written where the record's preset has another value; nil to write nothing.
    private(set) var state: @Sendable (Root, Encoding) -> Tree?
    let schema: @Sendable (Root?) -> JSON
    /// Changes the value to that of a scale model; nil if every value stays as it is.
    var scale: (@Sendable (inout Root, Ratio) -> Void)?
    /// The key and those within its value; the parameter is the path of the record.
    var keys: @Sendable (String) -> [FormatKey] = { _ in [] }

    /// A key whose value is a property of the record.
    ///
    /// - Parameters:
    ///   - isOmitted: Selects the values that are not written. All others are, so that no default is implicit.
    ///   - isStated: Selects the records that state the value even so.
    ///   - drawn: What random worlds draw.
    ///   - chance: In how many of a hundred records they write the key. Without it, code in `Worlds` has to do so.
    init<Value>(
        _ key: String, _ path: any WritableKeyPath<Root, Value> & Sendable, _ codec: Codec<Value>,
        required: Bool = false, omitted isOmitted: @escaping @Sendable (Value) -> Bool = { _ in false },
        stated isStated: @escaping @Sendable (Root) -> Bool = { _ in false }, drawn: Drawn? = nil, chance: Int64? = nil,
        _ help: String
    ) {
        self.key = key
        self.help = help
        isRequired = required
        expected = codec.expected
        decode = { tree, root, decoding in
            if let value = codec.decode(tree, root[keyPath: path], decoding) { root[keyPath: path] = value }
        }
        encode = { root, encoding in
            let value = root[keyPath: path]
            return isOmitted(value) && !isStated(root) ? nil : codec.encode(value, encoding)
        }
        state = { root, encoding in codec.encode(root[keyPath: path], encoding) }
        schema = { root in
            let schema = codec.schema(root?[keyPath: path])
            return (required ? schema.removing("default") : schema).adding(["description": .string(help)])
        }
        if let scaled = codec.scale {
            scale = { root, ratio in root[keyPath: path] = scaled(root[keyPath: path], ratio) }
        }
        keys = { FormatKey.keys(key, codec, in: $0, drawn: drawn, chance: chance) }
    }

    /// The former name of a key: still read, with a warning, and never written.
    init<Value>(
        former key: String, of present: String, _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ codec: Codec<Value>
    ) {
        let help = "The former name of `\(present)`."
        self.key = key
        self.help = help
        isRequired = false
        expected = codec.expected
        decode = { tree, root, decoding in
            decoding.warnHere(tree.origin, "this key is now called '\(present)'")
            if let value = codec.decode(tree, root[keyPath: path], decoding) { root[keyPath: path] = value }
        }
        (encode, state) = ({ _, _ in nil }, { _, _ in nil })
        schema = { _ in
            codec.schema(nil).adding(["description": .string(help), "deprecated": .bool(true)])
        }
    }

    /// A key that is checked but not stored in the plan. It is written as `constant`, or not at all.
    init<Value>(checked key: String, _ codec: Codec<Value>, constant: String?, required: Bool = false, _ help: String) {
        self.key = key
        self.help = help
        isRequired = required
        expected = codec.expected
        decode = { tree, _, decoding in _ = codec.decode(tree, nil, decoding) }
        (encode, state) = ({ _, _ in constant.map(Tree.plain) }, { _, _ in nil })
        schema = { _ in codec.schema(nil).adding(["description": .string(help)]) }
    }
}

extension Field {
    /// The same key, which is not written for some records: another key says it there.
    func unwritten(where isUnwritten: @escaping @Sendable (Root) -> Bool) -> Field {
        var field = self
        field.encode = { [encode] root, encoding in isUnwritten(root) ? nil : encode(root, encoding) }
        field.state = { [state] root, encoding in isUnwritten(root) ? nil : state(root, encoding) }
        return field
    }
}

extension Codec where Value: Sendable {
    /// A record, applied to the existing value.
    static func record(_ definition: Definition<Value>) -> Codec {
        var codec = Codec(
            expected: "a mapping with the keys " + definition.keys.joined(separator: ", "),
            decode: { tree, existing, decoding in definition.decode(tree, over: existing, decoding) },
            encode: { value, encoding in definition.encode(value, encoding) },
            schema: { definition.schema(default: $0) })
        if definition.fields.contains(where: { $0.scale != nil }) { codec.scale = { definition.scaled($0, by: $1) } }
        codec.keys = { path in definition.fields.flatMap { $0.keys(path) } }
        return codec
    }
}

/// A type whose keys are defined in one place, where a new key is added.
protocol Described: Sendable {
    static var definition: Definition<Self> { get }
}

extension Codec where Value: Described {
    /// A record, applied to the existing value.
    static var record: Codec { .record(Value.definition) }
}

extension Definition {
    /// The mapping's entries. A null becomes an empty mapping, a shorthand its key. Returns nil after reporting a
    /// fault.
    func entries(of tree: Tree, _ decoding: Decoding) -> [Tree.Entry]? {
        if let entries = tree.entries { return entries }
        if tree.isNull { return [] }
        if let shorthand, tree.text != nil {
            return [Tree.Entry(key: shorthand, keyOrigin: tree.origin, value: tree)]
        }
        decoding.faultHere(
            tree.origin, "expected a mapping with the keys \(keys.joined(separator: ", ")), not \(tree.summary)")
        return nil
    }

    func decode(_ tree: Tree, over existing: Root?, _ decoding: Decoding) -> Root? {
        guard let entries = entries(of: tree, decoding) else { return nil }
        decoding.refuseUnknownKeys(in: entries, valid: keys)
        let mapping = Tree(.mapping(entries), origin: tree.origin)
        var root = existing ?? base
        if let start { root = start(mapping, root) }
        for field in fields {
            if let value = mapping[field.key] {
                decoding.within(field.key) { field.decode(value, &root, decoding) }
            } else if field.isRequired && !namesPreset(mapping) {
                // A misspelt key has been reported already and does not also count as missing.
                let isReported = mapping.hasMergeKey || isMisspelt(field.key, in: entries)
                decoding.missing(field.key, in: tree, expected: isReported ? nil : field.expected)
            }
        }
        if let check { check(mapping, root, decoding) }
        return root
    }

    private func namesPreset(_ mapping: Tree) -> Bool {
        guard let preset, let name = mapping[preset]?.text else { return false }
        return name != "none"
    }

    /// Whether one of the unknown keys is a misspelling of this key. Looks at the first hundred unknown keys only.
    private func isMisspelt(_ key: String, in entries: [Tree.Entry]) -> Bool {
        var left = Diagnostics.most
        for entry in entries where !keys.contains(entry.key) {
            if Nearest.name(to: entry.key, among: keys) == key { return true }
            left -= 1
            if left == 0 { return false }
        }
        return false
    }

    func encode(_ root: Root, _ encoding: Encoding) -> Tree {
        let written = fields.map { $0.encode(root, encoding) }
        func record(_ values: [Tree?]) -> Tree {
            .record(zip(fields, values).compactMap { field, value in value.map { (field.key, $0) } })
        }
        guard let start else { return record(written) }
        // What would be left out is written where the reader's preset brings another value.
        let begun = start(record(written), base)
        return record(
            zip(fields, written).map { field, value in
                guard value == nil, let own = field.state(root, encoding) else { return value }
                return field.state(begun, encoding) == own ? nil : own
            })
    }

    /// The record in a scale model.
    func scaled(_ root: Root, by ratio: Ratio) -> Root {
        var root = root
        for field in fields { field.scale?(&root, ratio) }
        return root
    }

    func schema(default root: Root?) -> JSON {
        let required = fields.filter(\.isRequired).map(\.key)
        var object = JSON.object([
            // An empty section is the same as an omitted one.
            "type": required.isEmpty ? .strings(["object", "null"]) : .string("object"),
            "properties": .object(fields.map { JSON.Member(key: $0.key, value: $0.schema(root)) }),
            "required": .strings(preset == nil ? required : []),
            "additionalProperties": .bool(false),
        ])
        if let preset {
            object = object.adding([
                "anyOf": .array([
                    .object(["required": .strings(required)]), .object(["required": .strings([preset])]),
                ])
            ])
        }
        guard let shorthand, let field = fields.first(where: { $0.key == shorthand }) else { return object }
        return .object(["anyOf": .array([field.schema(root), object])])
    }
}

extension Decoding {
    /// Reports a required key that is missing. Without `expected` it only marks the key as faulty.
    func missing(_ key: String, in tree: Tree, expected: String?) {
        let place = place
        within(key) {
            guard let expected else { return markFaulty() }
            fault(tree.origin, "missing key '\(key)' in \(place): expected \(expected)")
        }
    }

    func refuseUnknownKeys(in entries: [Tree.Entry], valid: [String]) {
        for entry in entries where !valid.contains(entry.key) {
            // Writers familiar with YAML aliases may try merge keys, too.
            faultOfStranger(
                entry.keyOrigin,
                entry.key == Tree.mergeKey
                    ? "merge keys (<<) are not supported; write the keys out in \(place)"
                    : "unknown key '\(entry.key.shortened())' in \(place)"
                        + Nearest.advice(for: entry.key, among: valid, kind: "keys"))
        }
    }
}
