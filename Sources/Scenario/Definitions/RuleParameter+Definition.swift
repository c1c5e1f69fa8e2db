import Quantities
import Reclaim

/// One entry of a policy file's `parameters`, beside `rules`.
struct RuleParameter: Described {
    /// `table` until it is read.
    var standard = ParameterValue.table
    var range = ParameterRange(lowest: .time(.zero), highest: .time(.zero))
    /// The value in its place; nil: the default.
    var value: ParameterValue?
    var meaning = ""

    static let definition = Definition<RuleParameter>(
        base: RuleParameter(),
        check: { tree, parameter, decoding in parameter.check(tree, decoding) },
        fields: [
            Field(
                "default", \.standard, .plain, required: true,
                "The value unless `value` gives another: a time, a size, a share with a percent sign, or a number."),
            Field(
                "range", \.range, .range, required: true,
                "The least and the greatest value, of the same kind: `5s..5min`. `tune` searches it."),
            Field(
                "value", \.value, Codec<ParameterValue>.plain.orNone("default"), omitted: { $0 == nil },
                "The value that the rules get; `--set policy.parameters.NAME=VALUE` sets it."),
            Field(
                "meaning", \.meaning, .text(length: 1_000), omitted: { $0.isEmpty }, "What it does, for lists."),
        ])

    private func check(_ tree: Tree, _ decoding: Decoding) {
        // What was not read has been reported.
        guard standard != .table, range.isSound else { return }
        for (key, value) in [("default", standard), ("value", value ?? standard)] {
            guard let text = tree[key], key == "default" || self.value != nil else { continue }
            decoding.within(key) {
                if !range.isAlike(value) {
                    decoding.faultHere(text.origin, "\(value) is of another kind than the range \(range)")
                } else if !range.contains(value) {
                    decoding.faultHere(text.origin, "\(value) is outside of the range \(range)")
                }
            }
        }
    }
}

/// The least and the greatest value of a parameter.
struct ParameterRange: Hashable, CustomStringConvertible {
    var lowest: ParameterValue
    var highest: ParameterValue

    var description: String { "\(lowest)..\(highest)" }
    var isSound: Bool { isAlike(lowest) && contains(lowest) && lowest != highest }

    func isAlike(_ value: ParameterValue) -> Bool {
        switch (value, lowest, highest) {
        case (.time, .time, .time), (.bytes, .bytes, .bytes), (.ratio, .ratio, .ratio),
            (.decimal, .decimal, .decimal):
            true
        default: false
        }
    }

    func contains(_ value: ParameterValue) -> Bool {
        guard let low = lowest.number, let high = highest.number, let number = value.number else { return false }
        return low <= number && number <= high
    }
}

extension ParameterValue {
    /// A value whose kind its unit tells; nil for a text of none.
    fileprivate init?(plain text: String) {
        let isNegative = text.first == "-"
        let digits = isNegative ? text.dropFirst() : text[...]
        guard digits.first?.isNumber == true else { return nil }
        if let ratio = try? Ratio(parsing: String(digits)) {
            guard ratio.partsPerMillion <= ParameterValue.largest.partsPerMillion else { return nil }
            if text.last != "%" {
                self = .decimal(Ratio(partsPerMillion: isNegative ? -ratio.partsPerMillion : ratio.partsPerMillion))
            } else if !isNegative {
                self = .ratio(ratio)
            } else {
                return nil
            }
        } else if let size = try? ByteCount(parsing: text), size <= ByteCount.ordinary.upperBound {
            self = .bytes(size)
        } else if let span = try? TimeSpan(parsing: text), span <= TimeSpan.ordinary.upperBound {
            self = .time(span)
        } else {
            return nil
        }
    }

    /// The largest number without a unit.
    private static let largest = Ratio(partsPerMillion: 1_000_000_000 * 1_000_000)

    /// A number without decimals as a count; every other value as it is.
    fileprivate var counted: ParameterValue {
        guard case .decimal = self, case .count(let count)? = RuleValue(self) else { return self }
        return .count(count)
    }

    /// A count as a number that may have decimals; every other value as it is.
    fileprivate var uncounted: ParameterValue {
        guard case .count = self, let plain else { return self }
        return .decimal(plain)
    }
}

extension Codec where Value == ParameterValue {
    /// A value of a parameter of rules, with its unit.
    fileprivate static var plain: Codec {
        .scalar(
            expected: "a time such as 30s, a size such as 150MB, a share such as 5% or a number", quoted: false,
            schema: .object(["type": .strings(["string", "number"])]), parse: { ParameterValue(plain: $0) },
            text: { "\($0)" })
    }
}

extension Codec where Value == ParameterRange {
    fileprivate static var range: Codec {
        Codec.scalar(
            expected: "a range such as 5s..5min", quoted: false,
            schema: .object(["type": .string("string"), "pattern": .string("^.+\\.\\..+$")]),
            parse: { text in
                guard let dots = text.firstRange(of: ".."),
                    let low = ParameterValue(plain: text[..<dots.lowerBound].trimmed),
                    let high = ParameterValue(plain: text[dots.upperBound...].trimmed)
                else { return nil }
                return ParameterRange(lowest: low, highest: high)
            },
            text: { "\($0)" }
        ).checked { range in
            if !range.isAlike(range.lowest) { return "\(range.lowest) and \(range.highest) are not of one kind" }
            return range.isSound ? nil : "the range \(range) is empty or upside down"
        }
    }
}

// MARK: What rules may refer to

/// The parameters that rules may refer to, while they are read.
struct RuleParameters {
    var declared: [PolicyParameter] = []
    var values: [PolicySettings.Assignment] = []
    /// The names of declarations with faults.
    var faulty: [String] = []

    /// A regular expression for a reference.
    static let form = "\\$[a-z][a-z0-9_]*"

    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7a).contains(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f }
    }

    /// The parameter with this name.
    func named(_ name: String) throws(RuleFault) -> PolicyParameter {
        if let found = declared.first(where: { $0.name == name }) { return found }
        guard !faulty.contains(name) else { throw RuleFault(message: "", isReported: true) }
        guard !declared.isEmpty else {
            throw RuleFault(
                message: "unknown parameter '$\(name.shortened())'; the policy declares none beside its rules")
        }
        throw RuleFault(
            message: "unknown parameter '$\(name.shortened())'"
                + Nearest.advice(for: name, among: declared.map(\.name), kind: "parameters"))
    }

    /// All values that must fit wherever the parameter is used, each with words for a message; the present one last.
    func tests(_ parameter: PolicyParameter) -> [(text: String, words: String)] {
        let present = values.last { $0.name == parameter.name }?.value ?? parameter.standard
        return [
            (parameter.standard, "the default"), (parameter.lowest, "the lowest value"),
            (parameter.highest, "the highest value"), (present, "the value"),
        ].map { ("\($0.0)", " (\($0.1) of $\(parameter.name))") }
    }

    /// Reads a text that may refer to a parameter.
    ///
    /// - Parameter wrap: The value as claims have it, by which its kind is compared with the parameter's.
    /// - Returns: The present value, and the parameter's name.
    func read<Value>(
        _ text: String, _ parse: (String) throws(RuleFault) -> Value, _ wrap: (Value) -> RuleValue
    ) throws(RuleFault) -> (Value, String?) {
        guard text.first == "$" else { return (try parse(text), nil) }
        let parameter = try named(String(text.dropFirst()))
        var last: Value?
        for test in tests(parameter) {
            do throws(RuleFault) {
                last = try parse(test.text)
            } catch {
                throw RuleFault(message: error.message + test.words, isReported: error.isReported)
            }
        }
        guard let last, RuleValue(parameter.standard).map({ $0.isAlike(wrap(last)) }) == true else {
            throw RuleFault(message: "\(text) is \(parameter.standard), which has no unit; a share is written 5%")
        }
        return (last, parameter.name)
    }
}

extension RuleValue {
    /// Whether the other value is of the same kind.
    fileprivate func isAlike(_ other: RuleValue) -> Bool {
        switch (self, other) {
        case (.share, .share), (.bytes, .bytes), (.time, .time), (.count, .count), (.word, .word): true
        case (.share, _), (.bytes, _), (.time, _), (.count, _), (.word, _): false
        }
    }
}

/// A value of a rule, and the parameter that gives it.
struct Given<Value: Sendable>: Sendable {
    var value: Value
    var parameter: String?
}

extension Codec where Value: Sendable {
    /// The value, or a parameter of the policy: `$calm`.
    func orParameter() -> Codec<Given<Value>> {
        Codec<Given<Value>>(
            expected: expected,
            decode: { tree, existing, decoding in
                guard let text = tree.text, text.first == "$" else {
                    return decode(tree, existing?.value, decoding).map { Given(value: $0) }
                }
                do throws(RuleFault) {
                    let parameter = try decoding.ruleParameters.named(String(text.dropFirst()))
                    var last: Value?
                    for test in decoding.ruleParameters.tests(parameter) {
                        last = decode(Tree(.scalar(test.text, isQuoted: false), origin: tree.origin), nil, Decoding())
                        guard last != nil else {
                            throw RuleFault(message: "expected \(expected), not '\(test.text)'\(test.words)")
                        }
                    }
                    return last.map { Given(value: $0, parameter: parameter.name) }
                } catch {
                    decoding.report(error, tree.origin)
                    return nil
                }
            },
            encode: { given, encoding in
                given.parameter.map { .string("$" + $0) } ?? encode(given.value, encoding)
            },
            schema: { standard in
                let reference = JSON.object(["type": .string("string"), "pattern": .string("^\(RuleParameters.form)$")])
                let both = JSON.object(["anyOf": .array([schema(nil), reference])])
                guard let standard else { return both }
                return schema(standard.value)["default"].map { both.adding(["default": $0]) } ?? both
            })
    }
}

// MARK: In a policy

extension PolicyShape {
    /// The keys of a policy's mapping that hold the parameters of its rules.
    static func ruleParameters(of tree: Tree?, rules: Tree, _ decoding: Decoding) -> RuleParameters {
        guard let tree, !tree.isNull else { return RuleParameters() }
        guard let entries = tree.entries else {
            decoding.faultHere(tree.origin, "expected a mapping of parameters, not \(tree.summary)")
            return RuleParameters()
        }
        guard entries.count <= ListLimits.most else {
            decoding.faultHere(
                tree.origin, "\(entries.count) parameters are too many; at most \(ListLimits.most)")
            return RuleParameters()
        }
        let used = rules.references
        let known = entries.filter { $0.value.entries != nil }.map(\.key)
        var found = RuleParameters()
        for entry in entries {
            if entry.keyOrigin.isOption && entry.value.entries == nil {
                let advice = known.isEmpty ? "" : Nearest.advice(for: entry.key, among: known, kind: "parameters")
                decoding.fault(entry.keyOrigin, "the rules have no parameter '\(entry.key.shortened())'\(advice)")
                continue
            }
            guard RuleParameters.isName(entry.key) else {
                decoding.fault(
                    entry.keyOrigin,
                    "'\(entry.key.shortened())' is no name of a parameter: a small letter, then small letters, digits "
                        + "or _, at most 64")
                continue
            }
            if entry.value.entries != nil && !used.contains(entry.key) {
                decoding.fault(
                    entry.keyOrigin,
                    "no rule uses the parameter '\(entry.key)'; write $\(entry.key) in a rule, or leave it out")
            }
            decoding.within(entry.key) {
                guard let read = Codec<RuleParameter>.record.decode(entry.value, nil, decoding), read.range.isSound
                else { return found.faulty.append(entry.key) }
                found.add(read, called: entry.key)
            }
        }
        return found
    }

    /// The parameters as far as the rules use them: a number that stands for a count has no decimals.
    static func settle(_ parameters: RuleParameters, _ settings: inout PolicySettings) {
        let uses = settings.rules.flatMap { rule in rule.parameterUses.map { (rule.name, $0) } }
        settings.declared = parameters.declared.map { parameter in
            let own = uses.filter { $0.1.parameter == parameter.name }
            var places: [String] = []
            for (rule, use) in own where places.last != "\(rule).\(use.key)" { places.append("\(rule).\(use.key)") }
            return parameter.used(in: places, counts: own.contains { !$0.1.isWeight })
        }
        settings.parameters = zip(settings.declared, parameters.values).map { parameter, value in
            var value = value
            if case .count = parameter.lowest { value.value = value.value.counted }
            return value
        }
    }

    static func tree(of settings: PolicySettings, _ encoding: Encoding, rules: Tree) -> [(String, Tree)] {
        guard !settings.declared.isEmpty else { return [("rules", rules)] }
        let entries = settings.declared.map { parameter in
            var written = RuleParameter(parameter)
            let value = settings.value(of: parameter)
            written.value = value == parameter.standard ? nil : value.uncounted
            return (parameter.name, Codec<RuleParameter>.record.encode(written, encoding))
        }
        return [("parameters", .record(entries)), ("rules", rules)]
    }

    /// The schema of the parameters beside rules.
    static var ruleParameterSchema: JSON {
        .object([
            "type": .strings(["object", "null"]),
            "patternProperties": .object([
                JSON.Member(key: "^[a-z][a-z0-9_]*$", value: Codec<RuleParameter>.record.schema(nil))
            ]),
            "additionalProperties": .bool(false), "description": .string("What the rules refer to as $NAME."),
        ])
    }
}

extension RuleParameters {
    fileprivate mutating func add(_ read: RuleParameter, called name: String) {
        // What does not fit the range has been reported.
        func fits(_ value: ParameterValue) -> Bool { read.range.isAlike(value) && read.range.contains(value) }
        let standard = fits(read.standard) ? read.standard : read.range.lowest
        declared.append(
            PolicyParameter(
                name: name, standard: standard, range: (read.range.lowest, read.range.highest),
                meaning: read.meaning, source: ""))
        values.append(.init(name: name, value: read.value.flatMap { fits($0) ? $0 : nil } ?? standard))
    }
}

extension RuleParameter {
    fileprivate init(_ parameter: PolicyParameter) {
        standard = parameter.standard.uncounted
        range = ParameterRange(lowest: parameter.lowest.uncounted, highest: parameter.highest.uncounted)
        meaning = parameter.meaning
    }
}

extension PolicyParameter {
    fileprivate func used(in places: [String], counts: Bool) -> PolicyParameter {
        func settled(_ value: ParameterValue) -> ParameterValue { counts ? value.counted : value }
        return PolicyParameter(
            name: name, standard: settled(standard), range: (settled(lowest), settled(highest)), meaning: meaning,
            source: "in \(places.joined(separator: ", "))")
    }
}

extension Tree {
    /// The names of all parameters to which texts in the tree refer.
    fileprivate var references: Set<String> {
        switch content {
        case .scalar(let text, _):
            Set(
                text.split(separator: " ").filter { $0.contains("$") }.map { word in
                    String(word[word.index(after: word.firstIndex(of: "$") ?? word.startIndex)...])
                })
        case .sequence(let elements): elements.reduce(into: []) { $0.formUnion($1.references) }
        case .mapping(let entries): entries.reduce(into: []) { $0.formUnion($1.value.references) }
        }
    }
}
