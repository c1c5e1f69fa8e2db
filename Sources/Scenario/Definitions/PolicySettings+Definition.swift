import Quantities
import Reclaim

extension PolicySettings {
    /// The policy of a scenario that names none.
    static let standard = PolicySettings(Ladder.self)

    /// A policy with every parameter at its default, in the order of the policy's table.
    init(_ type: any ReclaimPolicy.Type) {
        self.init(
            name: type.name, parameters: type.parameterTable.map { Assignment(name: $0.name, value: $0.standard) })
    }
}

extension Codec where Value == PolicySettings {
    /// A bare name, or a name with parameters from the policy's own table.
    static var policy: Codec {
        Codec(
            expected: PolicyShape.expected,
            decode: { tree, existing, decoding in
                // Rules of one's own are always a ladder's.
                let hasRules = tree["rules"].map { !$0.isNull } ?? false
                let standard = hasRules ? .standard : existing ?? .standard
                guard let name = PolicyShape.name(of: tree, standard: standard, decoding) else { return nil }
                guard let type = PolicyCatalogue.type(named: name) else { return nil }
                // Without a name, the policy of the device's preset stays, and the text changes its parameters.
                var settings = tree.text == nil && tree["name"] == nil ? standard : PolicySettings(type)
                settings.label = PolicyShape.label(of: tree, decoding) ?? settings.label
                if let rules = tree["rules"], !rules.isNull {
                    PolicyShape.refuseRules(rules, of: type, decoding)
                    let parameters = decoding.within("parameters") {
                        PolicyShape.ruleParameters(of: tree["parameters"], rules: rules, decoding)
                    }
                    decoding.ruleParameters = parameters
                    settings.rules = decoding.within("rules") { PolicyShape.rules(from: rules, decoding) }
                    decoding.ruleParameters = RuleParameters()
                    PolicyShape.settle(parameters, &settings)
                    return settings
                }
                guard let parameters = tree["parameters"] else { return settings }
                settings.parameters = decoding.within("parameters") {
                    PolicyShape.parameters(of: type, from: parameters, over: settings.parameters, decoding)
                }
                // Parameters of the ladder's own come in place of rules.
                (settings.rules, settings.declared) = ([], [])
                return settings
            },
            encode: { settings, encoding in PolicyShape.tree(of: settings, encoding) },
            schema: { _ in PolicyShape.schema }
        ).scaling { $0.scaled(by: $1) }
    }
}

/// The parts of the policy's codec.
enum PolicyShape {
    static let keys = ["name", "label", "parameters", "rules"]
    static let expected = "the name of a policy, or a mapping with the keys \(keys.joined(separator: ", "))"

    private static var nameCodec: Codec<String> {
        .name(of: "policy", "policies") { PolicyCatalogue.all.map { $0.name } }
    }

    static func name(of tree: Tree, standard: PolicySettings, _ decoding: Decoding) -> String? {
        guard let entries = tree.entries else {
            if tree.isNull {
                // An empty value in the text means the default; in an option it is a mistake.
                guard tree.origin.isOption else { return standard.name }
                decoding.faultHere(tree.origin, "expected \(expected), not nothing")
                return nil
            }
            return nameCodec.decode(tree, nil, decoding)
        }
        decoding.refuseUnknownKeys(in: entries, valid: keys)
        guard let name = tree["name"] else {
            // The policy that the parameters belong to is unknown.
            guard !tree.hasMergeKey else { return nil }
            // Parameters without a name belong to the default policy.
            return standard.name
        }
        return decoding.within("name") { nameCodec.decode(name, nil, decoding) }
    }

    static func label(of tree: Tree, _ decoding: Decoding) -> String? {
        guard let label = tree["label"], !label.isNull else { return nil }
        return decoding.within("label") { Codec<String>.name.decode(label, nil, decoding) }
    }

    static func parameters(
        of type: any ReclaimPolicy.Type, from tree: Tree, over present: [PolicySettings.Assignment],
        _ decoding: Decoding
    ) -> [PolicySettings.Assignment] {
        var values = PolicySettings(type).parameters.map { value in
            present.last { $0.name == value.name } ?? value
        }
        guard let entries = tree.isNull ? [] : tree.entries else {
            decoding.faultHere(tree.origin, "expected a mapping of parameters, not \(tree.summary)")
            return values
        }
        for entry in entries {
            guard let index = values.firstIndex(where: { $0.name == entry.key }) else {
                decoding.fault(
                    entry.keyOrigin,
                    "unknown parameter '\(entry.key.shortened())' of policy '\(type.name)'"
                        + Nearest.advice(for: entry.key, among: values.map(\.name), kind: "parameters"))
                continue
            }
            let codec = Codec.parameter(type.parameterTable[index])
            let value = decoding.within(entry.key) { codec.decode(entry.value, nil, decoding) }
            if let value { values[index].value = value }
        }
        return values
    }

    static func tree(of settings: PolicySettings, _ encoding: Encoding) -> Tree {
        guard let type = PolicyCatalogue.type(named: settings.name) else {
            preconditionFailure("no policy is called \(settings.name)")
        }
        var entries: [(String, Tree)] = []
        for parameter in type.parameterTable {
            let given = settings.parameters.last { $0.name == parameter.name }
            let value = given?.value ?? parameter.standard
            entries.append((parameter.name, Codec.parameter(parameter).encode(value, encoding)))
        }
        var record: [(String, Tree)] = [("name", .plain(settings.name))]
        if let label = settings.label { record.append(("label", .string(label))) }
        guard settings.rules.isEmpty else {
            let rules = ruleList.encode(settings.rules, encoding)
            return .record(record + tree(of: settings, encoding, rules: rules))
        }
        record.append(("parameters", .record(entries)))
        return .record(record)
    }

    /// Whether the text means zero for this kind of parameter.
    static func isZero(_ text: String, of parameter: PolicyParameter) -> Bool {
        switch parameter.lowest {
        case .ratio: (try? Ratio(parsing: text)) == .zero
        case .bytes: (try? ByteCount(parsing: text)) == .zero
        case .time: (try? TimeSpan(parsing: text)) == .zero
        case .count, .decimal: Int(text) == 0
        case .flag, .choice, .names, .table: false
        }
    }

    // MARK: Rules

    private static let ruleList = Codec<[LadderRule]>.list(
        of: Codec<LadderRule>.record, called: "rules", atLeast: 1
    ) { tree, index in
        tree["name"]?.text ?? "\(index)"
    }

    /// Refuses rules for another policy than the ladder.
    static func refuseRules(_ rules: Tree, of type: any ReclaimPolicy.Type, _ decoding: Decoding) {
        guard type != Ladder.self else { return }
        decoding.fault(rules.origin, "policy '\(type.name)' has no rules; only '\(Ladder.name)' has")
    }

    static func rules(from tree: Tree, _ decoding: Decoding) -> [LadderRule] {
        let rules = ruleList.decode(tree, nil, decoding) ?? []
        for (index, rule) in rules.enumerated() where rules.prefix(index).contains(where: { $0.name == rule.name }) {
            let names = (tree.elements ?? []).filter { $0["name"]?.text == rule.name }.compactMap { $0["name"] }
            decoding.fault(names.last?.origin ?? tree.origin, "rule name '\(rule.name)' is used twice")
        }
        let claims = rules.reduce(0) { $0 + $1.claimCount }
        if claims > ListLimits.claims {
            decoding.fault(tree.origin, "the rules make \(claims) claims; at most \(ListLimits.claims)")
        }
        return rules
    }

    /// The root definitions that the schemas of conditions refer to.
    static var definitions: JSON.Member {
        JSON.Member(
            key: "$defs",
            value: .object([ConditionShape<SystemClaim>.definition, ConditionShape<ProcessClaim>.definition]))
    }

    static var schema: JSON {
        .object(["anyOf": .array([nameCodec.schema(PolicySettings.standard.name)] + mappings() + [none])])
    }

    /// The schema of each policy's mapping. Every mapping also has the keys in `more`.
    static func mappings(adding more: [JSON.Member] = []) -> [JSON] {
        PolicyCatalogue.all.flatMap { type in
            let parameters = type.parameterTable.map { parameter in
                JSON.Member(
                    key: parameter.name,
                    value: Codec.parameter(parameter).schema(parameter.standard).adding([
                        "description": .string("\(parameter.meaning) (\(parameter.source))")
                    ]))
            }
            let own = JSON.object([
                "type": .strings(["object", "null"]), "properties": .object(parameters),
                "additionalProperties": .bool(false), "description": .string("Those of its own table."),
            ])
            let usual = mapping(of: type, adding: more, parameters: own, rules: none)
            guard type == Ladder.self else { return [usual] }
            // Beside rules there are the parameters that they refer to, and none of the ladder's own.
            let rules = ruleList.schema(nil)
            return [usual, mapping(of: type, adding: more, parameters: ruleParameterSchema, rules: rules)]
        }
    }

    private static let none = JSON.object(["type": .string("null")])

    private static func mapping(
        of type: any ReclaimPolicy.Type, adding more: [JSON.Member], parameters: JSON, rules: JSON
    ) -> JSON {
        let keys: KeyValuePairs<String, JSON> = [
            "name": .object(["const": .string(type.name), "description": .string(type.summary)]),
            "label": Codec<String>.name.schema(nil).adding([
                "description": .string("What results call it, where that is not its name.")
            ]),
            "parameters": parameters,
            "rules": rules.adding([
                "description": .string("Rules of one's own, in place of its own parameters, of \(Ladder.name) alone.")
            ]),
        ]
        var required = type.name == PolicySettings.standard.name ? [] : ["name"]
        if rules != none { required.append("rules") }
        return .object([
            "type": .string("object"), "properties": JSON.object(more).adding(keys),
            "required": .strings(required), "additionalProperties": .bool(false),
        ])
    }
}

extension Codec where Value == ParameterValue {
    /// The codec of one parameter, with the kind and range from the policy's table.
    static func parameter(_ parameter: PolicyParameter) -> Codec {
        let codec = plain(parameter)
        return parameter.mayBeTable ? codec.orTable(parameter) : codec
    }

    private static func plain(_ parameter: PolicyParameter) -> Codec {
        switch (parameter.lowest, parameter.highest) {
        case (.ratio(let lowest), .ratio(let highest)):
            Codec<Ratio>.quantity(from: lowest, to: highest).mapped({ .ratio($0) }, { Ratio($0) })
        case (.bytes(let lowest), .bytes(let highest)):
            Codec<ByteCount>.quantity(within: lowest...highest).mapped({ .bytes($0) }, { ByteCount($0) })
        case (.time(let lowest), .time(let highest)):
            Codec<TimeSpan>.quantity(from: lowest, to: highest).mapped({ .time($0) }, { TimeSpan($0) })
        case (.count(let lowest), .count(let highest)):
            Codec<Int>.count(lowest...highest).mapped({ .count($0) }, { Int($0) })
        case (.decimal, .decimal): preconditionFailure("\(parameter.name): only parameters of rules have decimals")
        case (.flag, .flag): Codec<Bool>.flag.mapped({ .flag($0) }, { $0.flag })
        case (.choice, .choice):
            Codec<String>.choice(parameter.name, among: parameter.choices).mapped({ .choice($0) }, { $0.choice })
        case (.names, .names):
            Codec<[String]>.list(of: .name, called: "app names", atMost: ListLimits.names)
                .mapped({ .names($0) }, { $0.names })
        case (.ratio, _), (.bytes, _), (.time, _), (.count, _), (.decimal, _), (.flag, _), (.choice, _), (.names, _),
            (.table, _):
            preconditionFailure("parameter \(parameter.name) has a range of different kinds")
        }
    }

    /// The value, or `table`. Zero, which meant `table` in earlier versions, still works and gives a warning.
    private func orTable(_ parameter: PolicyParameter) -> Codec {
        let table = ParameterValue.table.description
        let expected = "\(expected), or \(table)"
        return Codec(
            expected: expected,
            decode: { tree, existing, decoding in
                if tree.text == table { return .table }
                guard let text = tree.text, parameter.isQuantity(text) else {
                    decoding.faultHere(tree.origin, "expected \(expected), not \(tree.summary)")
                    return nil
                }
                guard PolicyShape.isZero(text, of: parameter) else { return decode(tree, existing, decoding) }
                decoding.warnHere(
                    tree.origin, "\(text) stands for what the system's table says; write \(table), or leave it out")
                return .table
            },
            encode: { value, encoding in value == .table ? .plain(table) : encode(value, encoding) },
            schema: { _ in
                .object([
                    "anyOf": .array([.object(["const": .string(table)]), schema(nil)]), "default": .string(table),
                ])
            })
    }
}

extension PolicyParameter {
    /// Whether the text has the form of the parameter's quantity, whatever its range. A choice may be any word.
    fileprivate func isQuantity(_ text: String) -> Bool {
        guard choices.isEmpty else { return true }
        guard text.first?.isNumber == true else { return false }
        return switch lowest {
        case .ratio: (try? Ratio(parsing: text)) != nil
        case .bytes: (try? ByteCount(parsing: text)) != nil
        case .time: (try? TimeSpan(parsing: text)) != nil
        case .count, .decimal, .flag, .choice, .names, .table: true
        }
    }
}

extension ParameterValue {
    fileprivate var flag: Bool? {
        guard case .flag(let value) = self else { return nil }
        return value
    }

    fileprivate var choice: String? {
        guard case .choice(let value) = self else { return nil }
        return value
    }

    fileprivate var names: [String]? {
        guard case .names(let value) = self else { return nil }
        return value
    }
}
