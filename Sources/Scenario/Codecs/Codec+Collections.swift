import Quantities

/// The most elements a list may have: far more than a person writes, and few enough to read and run quickly.
enum ListLimits {
    /// For a list that has no limit of its own.
    static let most = 1_000
    /// For lists of app names, and therefore for apps.
    static let names = 4_000
    /// For the entries of `user`.
    static let entries = 100_000
    /// For the events that all entries of `user` stand for.
    static let events = 1_000_000
    /// For the claims of all rules of a policy.
    static let claims = 10_000
}

extension Codec {
    /// A list. A list in the text replaces the existing one. `step` names an element in paths.
    ///
    /// - Parameters:
    ///   - maximum: A longer list is refused before its elements are decoded.
    ///   - reason: Why the list may not be longer; follows the number in the message.
    static func list<Element>(
        of codec: Codec<Element>, called kind: String, atLeast minimum: Int = 0, atMost maximum: Int = ListLimits.most,
        because reason: String = "",
        step: @escaping @Sendable (Tree, Int) -> String = { _, index in "\(index)" }
    ) -> Codec<[Element]> {
        var list = Codec<[Element]>(
            expected: "a list of \(kind)",
            decode: { tree, _, decoding in
                let elements = tree.isNull ? [] : tree.elements
                guard let elements else {
                    decoding.faultHere(tree.origin, "expected a list of \(kind), not \(tree.summary)")
                    return nil
                }
                guard elements.count >= minimum else {
                    decoding.faultHere(
                        tree.origin, "expected a list of \(kind) with at least \(minimum), not \(elements.count)")
                    return nil
                }
                guard elements.count <= maximum else {
                    decoding.faultHere(
                        tree.origin, "\(elements.count) \(kind) are too many; at most \(maximum)\(reason)")
                    return nil
                }
                return elements.enumerated().compactMap { index, element in
                    decoding.within(step(element, index)) { codec.decode(element, nil, decoding) }
                }
            },
            encode: { values, encoding in .list(values.map { codec.encode($0, encoding) }) },
            schema: { _ in
                .object([
                    "type": minimum == 0 ? .strings(["array", "null"]) : .string("array"), "items": codec.schema(nil),
                    "minItems": .number("\(minimum)"), "maxItems": .number("\(maximum)"),
                ])
            })
        if let scale = codec.scale { list.scale = { values, ratio in values.map { scale($0, ratio) } } }
        list.keys = { codec.keys($0 + "[]") }
        return list
    }

    /// The value, or `none` or another word.
    func orNone(_ word: String = "none") -> Codec<Value?> {
        var optional = Codec<Value?>(
            expected: "\(expected), or \(word)",
            decode: { tree, existing, decoding -> Value?? in
                if tree.text == word { return .some(nil) }
                guard let value = decode(tree, existing ?? nil, decoding) else { return nil }
                return .some(value)
            },
            encode: { value, encoding in value.map { encode($0, encoding) } ?? .plain(word) },
            schema: { standard in
                let both = JSON.object(["anyOf": .array([.object(["const": .string(word)]), schema(nil)])])
                guard let standard else { return both }
                // The value's own schema shows the default if the default is a value.
                guard let standard else { return both.adding(["default": .string(word)]) }
                return schema(standard)["default"].map { both.adding(["default": $0]) } ?? both
            })
        if let scale { optional.scale = { value, ratio in value.map { scale($0, ratio) } } }
        (optional.isUnscaled, optional.keys, optional.drawn, optional.none) = (isUnscaled, keys, drawn, word)
        return optional
    }
}

extension Codec where Value == AppID {
    /// One of the scenario's apps, by its name.
    static var app: Codec {
        Codec(
            expected: "the name of an app",
            decode: { tree, _, decoding in
                guard let name = tree.text else {
                    decoding.faultHere(tree.origin, "expected the name of an app, not \(tree.summary)")
                    return nil
                }
                if let index = decoding.appIndex[name] { return AppID(index) }
                decoding.faultHere(
                    tree.origin,
                    "unknown app '\(name.shortened())'"
                        + Nearest.advice(for: name, among: decoding.appNames, kind: "apps"))
                return nil
            },
            encode: { .string($1.appNames[$0.index]) },
            schema: { _ in Codec<String>.wordSchema })
    }
}

/// One of the forms that a value may take: `{ constant: 4KiB }` or `{ uniform: { … } }`.
struct Variant<Value: Sendable>: Sendable {
    let key: String
    let decode: @Sendable (Tree, Value?, Decoding) -> Value?
    /// Nil if the value has another form.
    let encode: @Sendable (Value, Encoding) -> Tree?
    let schema: @Sendable () -> JSON
    /// See `Codec.keys`.
    let keys: @Sendable (String) -> [FormatKey]

    init<Payload>(
        _ key: String, _ codec: Codec<Payload>, _ wrap: @escaping @Sendable (Payload) -> Value,
        _ unwrap: @escaping @Sendable (Value) -> Payload?, _ help: String
    ) {
        self.key = key
        decode = { tree, existing, decoding in codec.decode(tree, existing.flatMap(unwrap), decoding).map(wrap) }
        encode = { value, encoding in unwrap(value).map { codec.encode($0, encoding) } }
        schema = { codec.schema(nil).adding(["description": .string(help)]) }
        keys = { FormatKey.keys(key, codec, in: $0) }
    }
}

extension Codec where Value: Sendable {
    /// A mapping with exactly one of the variants' keys.
    static func oneOf(_ variants: [Variant<Value>]) -> Codec {
        let keys = variants.map(\.key)
        let expected = "a mapping with one of the keys " + keys.joined(separator: ", ")
        var codec = Codec(
            expected: expected,
            decode: { tree, existing, decoding in
                guard var entries = tree.entries else {
                    decoding.faultHere(tree.origin, "expected \(expected), not \(tree.summary)")
                    return nil
                }
                // An option that names another form replaces the form in the text.
                if let option = entries.last(where: \.keyOrigin.isOption) { entries = [option] }
                decoding.refuseUnknownKeys(in: entries, valid: keys)
                let known = entries.compactMap { entry in
                    variants.first { $0.key == entry.key }.map { (variant: $0, entry: entry) }
                }
                guard let first = known.first, known.count == 1 else {
                    if known.count != entries.count { return nil }
                    decoding.faultHere(tree.origin, "expected \(expected), not \(known.count) of them")
                    return nil
                }
                return decoding.within(first.variant.key) {
                    first.variant.decode(first.entry.value, existing, decoding)
                }
            },
            encode: { value, encoding in
                for variant in variants {
                    if let tree = variant.encode(value, encoding) { return .record([(variant.key, tree)]) }
                }
                preconditionFailure("\(value) has none of the forms \(keys)")
            },
            schema: { _ in
                .object([
                    "oneOf": .array(
                        variants.map { variant in
                            .object([
                                "type": .string("object"),
                                "properties": .object([JSON.Member(key: variant.key, value: variant.schema())]),
                                "required": .strings([variant.key]), "additionalProperties": .bool(false),
                            ])
                        })
                ])
            })
        codec.keys = { path in variants.flatMap { $0.keys(path) } }
        return codec
    }
}
