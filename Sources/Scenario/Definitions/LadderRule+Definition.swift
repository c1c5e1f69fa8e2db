import Quantities
import Reclaim

extension LadderRule: Described {
    static let definition = Definition<LadderRule>(
        base: LadderRule(name: "rule"),
        fields: [
            Field("name", \.name, .name, required: true, "What reasons call the rule; unique among the rules."),
            Field("when", \.when, .condition, "When it begins to act: claims about the device, combined."),
            Field("action", \.action, .choice("action", "actions"), "What it does."),
            Field("who", \.who, .condition, "Whom it may touch: claims about a process, combined."),
            Field("order", \.order, .tiers, "Who goes first: a name, weights, or a list of tiers."),
            Field(
                "take", \.take, Codec.amount.orNone(),
                "How much it takes before it rests: a count, a size, or a share of RAM."),
            Field(
                "until", \.until, Codec<RuleCondition<SystemClaim>>.condition.orNone(),
                "Once begun, it goes on until this holds; none: for as long as 'when' holds."),
            Field(
                "cool_down", \.coolDown, .quantity(),
                "The rest after it has taken its amount; without an amount, after each action."),
        ])
}

extension RuleTier: Described {
    static let definition = Definition<RuleTier>(
        base: RuleTier(),
        fields: [
            Field("where", \.members, .condition, "Who stands in this tier, of those who stand in none before it."),
            Field("by", \.order, .order, "Who goes first in it."),
        ])
}

// MARK: Conditions

/// Claims of one kind, as text.
protocol RuleClaim: Hashable, Sendable, CustomStringConvertible {
    /// An example that fits after "such as".
    static var example: String { get }
    static var measures: [String] { get }
    /// Where the JSON Schema describes a condition of such claims.
    static var reference: String { get }
    init(parsing text: String) throws(RuleFault)
}

/// Why a text is not a claim.
struct RuleFault: Error {
    let message: String
}

extension Codec {
    /// A claim, a list of conditions that must all hold, or one of `all`, `any` and `not`.
    fileprivate static func condition<Claim: RuleClaim>(of type: Claim.Type) -> Codec
    where Value == RuleCondition<Claim> {
        Codec(
            expected: "a claim such as '\(Claim.example)', or a mapping with one of the keys all, any, not",
            decode: { tree, _, decoding in ConditionShape<Claim>.decode(tree, decoding) },
            encode: { condition, _ in ConditionShape<Claim>.encode(condition) },
            schema: { _ in .object(["$ref": .string("#/$defs/\(Claim.reference)")]) })
    }
}

extension Codec where Value == RuleCondition<SystemClaim> {
    static var condition: Codec { condition(of: SystemClaim.self) }
}

extension Codec where Value == RuleCondition<ProcessClaim> {
    static var condition: Codec { condition(of: ProcessClaim.self) }
}

/// How a condition is read, written and described.
enum ConditionShape<Claim: RuleClaim> {
    private static var keys: [String] { ["all", "any", "not"] }

    private static var expected: String { Codec<RuleCondition<Claim>>.condition(of: Claim.self).expected }

    static func decode(_ tree: Tree, _ decoding: Decoding) -> RuleCondition<Claim>? {
        if let elements = tree.elements { return .all(parts(elements, decoding)) }
        if let text = tree.text {
            do throws(RuleFault) {
                return .claim(try Claim(parsing: text))
            } catch {
                decoding.faultHere(tree.origin, error.message)
                return nil
            }
        }
        guard let entries = tree.entries else {
            decoding.faultHere(tree.origin, "expected \(expected), not \(tree.summary)")
            return nil
        }
        decoding.refuseUnknownKeys(in: entries, valid: keys)
        guard let entry = entries.first, entries.count == 1, keys.contains(entry.key) else {
            if entries.allSatisfy({ keys.contains($0.key) }) {
                decoding.faultHere(tree.origin, "expected \(expected), not \(entries.count) of them")
            }
            return nil
        }
        return decoding.within(entry.key) {
            if entry.key == "not" { return decode(entry.value, decoding).map { .not($0) } }
            guard let elements = entry.value.elements else {
                decoding.faultHere(entry.value.origin, "expected a list of conditions, not \(entry.value.summary)")
                return nil
            }
            let parts = parts(elements, decoding)
            return entry.key == "all" ? .all(parts) : .any(parts)
        }
    }

    private static func parts(_ elements: [Tree], _ decoding: Decoding) -> [RuleCondition<Claim>] {
        elements.enumerated().compactMap { index, element in
            decoding.within("\(index)") { decode(element, decoding) }
        }
    }

    static func encode(_ condition: RuleCondition<Claim>) -> Tree {
        switch condition {
        // In as few levels as any text of it has: what could be read can be written and read again.
        case .all(let parts): .list(parts.map(encode))
        case .any(let parts): .record([("any", .list(parts.map(encode)))])
        case .not(let part): .record([("not", encode(part))])
        case .claim(let claim): .string("\(claim)")
        }
    }

    /// The definition that conditions refer to.
    static var definition: JSON.Member {
        let here = JSON.object(["$ref": .string("#/$defs/\(Claim.reference)")])
        let list = JSON.object(["type": .string("array"), "items": here])
        let names = Claim.measures.joined(separator: "|")
        let claim = JSON.object([
            "type": .string("string"), "pattern": .string("^ *(\(names)) *(==|!=|<=|>=|<|>) *[^ ].*$"),
        ])
        let forms = [("all", list), ("any", list), ("not", here)].map { key, value in
            JSON.object([
                "type": .string("object"), "properties": .object([JSON.Member(key: key, value: value)]),
                "required": .strings([key]), "additionalProperties": .bool(false),
            ])
        }
        return JSON.Member(key: Claim.reference, value: .object(["anyOf": .array([claim, list] + forms)]))
    }
}

// MARK: Claims

extension SystemClaim: RuleClaim {
    static let example = "available < 10% for 5s"
    static let reference = "system_condition"
    static var measures: [String] { SystemMeasure.allCases.map(\.rawValue) }

    init(parsing text: String) throws(RuleFault) {
        let parts = try ClaimParts(text, names: SystemClaim.measures, kind: "measure", example: SystemClaim.example)
        guard let measure = SystemMeasure(rawValue: parts.name) else {
            preconditionFailure("\(parts.name) was checked before")
        }
        var value = parts.value
        var duration = TimeSpan.zero
        if let range = ClaimParts.duration(in: value) {
            let written = value[range.upperBound...]
            guard let span = try? TimeSpan(parsing: String(written)), span <= TimeSpan.ordinary.upperBound else {
                let advice = TimeSpan.advice(for: String(written))
                throw RuleFault(message: "expected \(TimeSpan.expectation) after 'for', not '\(written)'\(advice)")
            }
            duration = span
            value = String(value[..<range.lowerBound])
        }
        self.init(measure, parts.comparison, try parts.value(of: measure.kind, from: value), for: duration)
    }
}

extension ProcessClaim: RuleClaim {
    static let example = "state == suspended"
    static let reference = "process_condition"
    static var measures: [String] { ProcessFeature.allCases.map(\.rawValue) }

    init(parsing text: String) throws(RuleFault) {
        let parts = try ClaimParts(text, names: ProcessClaim.measures, kind: "feature", example: ProcessClaim.example)
        guard let feature = ProcessFeature(rawValue: parts.name) else {
            preconditionFailure("\(parts.name) was checked before")
        }
        self.init(feature, parts.comparison, try parts.value(of: feature.kind, from: parts.value))
    }
}

/// A claim's text in its pieces: name, comparison, the rest.
private struct ClaimParts {
    let name: String
    let comparison: RuleComparison
    let value: String

    init(_ text: String, names: [String], kind: String, example: String) throws(RuleFault) {
        let comparisons = RuleComparison.allCases.map(\.rawValue).joined(separator: ", ")
        let symbols: [Character] = ["=", "!", "<", ">"]
        guard let start = text.firstIndex(where: symbols.contains) else {
            throw RuleFault(
                message: "'\(text)' compares nothing; expected a claim such as '\(example)', with one of \(comparisons)"
            )
        }
        let operation = text[start...].prefix(while: symbols.contains)
        guard let comparison = RuleComparison(rawValue: String(operation)) else {
            throw RuleFault(message: "unknown comparison '\(operation)'; expected one of \(comparisons)")
        }
        name = text[..<start].trimmed
        guard names.contains(name) else {
            throw RuleFault(
                message: "unknown \(kind) '\(name)'" + Nearest.advice(for: name, among: names, kind: "\(kind)s"))
        }
        self.comparison = comparison
        value = text[operation.endIndex...].trimmed
    }

    /// Where ` for ` stands.
    static func duration(in value: String) -> Range<String.Index>? {
        guard let start = value.range(of: " for ") else { return nil }
        return start
    }

    func value(of kind: RuleKind, from text: String) throws(RuleFault) -> RuleValue {
        let found: RuleValue? =
            switch kind {
            case .memory:
                ClaimParts.share(text, upTo: .one).map { .share($0) } ?? ClaimParts.bytes(text).map { .bytes($0) }
            case .share: ClaimParts.share(text, upTo: Ratio(partsPerMillion: 1_000_000_000)).map { .share($0) }
            case .time: (try? TimeSpan(parsing: text)).map { .time($0) }
            case .count: text.first == "+" ? nil : Int(text).flatMap { $0 >= 0 ? .count($0) : nil }
            case .ladder(let words), .choice(let words): words.contains(text) ? .word(text) : nil
            case .name: Codec<String>.isName(text) ? .word(text) : nil
            }
        guard let found else {
            let advice = ClaimParts.advice(of: kind, for: text)
            throw RuleFault(message: "\(name): expected \(ClaimParts.expectation(of: kind)), not '\(text)'\(advice)")
        }
        switch kind {
        case .choice, .name:
            guard comparison == .equal || comparison == .notEqual else {
                throw RuleFault(message: "\(name) has no order; it is compared with == or !=")
            }
        case .memory, .share, .time, .count, .ladder: break
        }
        return found
    }

    private static func share(_ text: String, upTo most: Ratio) -> Ratio? {
        guard let ratio = try? Ratio(parsing: text), ratio <= most else { return nil }
        return ratio
    }

    private static func bytes(_ text: String) -> ByteCount? {
        guard let bytes = try? ByteCount(parsing: text), bytes <= ByteCount.ordinary.upperBound else { return nil }
        return bytes
    }

    private static func advice(of kind: RuleKind, for text: String) -> String {
        switch kind {
        case .memory: ByteCount.advice(for: text)
        case .time: TimeSpan.advice(for: text)
        case .share, .count, .ladder, .choice, .name: ""
        }
    }

    private static func expectation(of kind: RuleKind) -> String {
        switch kind {
        case .memory: "a share such as 5% or a size such as 150MB"
        case .share: "a share such as 60%"
        case .time: TimeSpan.expectation
        case .count: "a whole number"
        case .ladder(let words), .choice(let words): "one of \(words.joined(separator: ", "))"
        case .name: "a name"
        }
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

// MARK: Orders and amounts

extension Codec where Value == RuleAmount {
    /// A count, a size, or a share of RAM: `2`, `100MiB`, `5%`.
    static var amount: Codec {
        .scalar(
            expected: "a count such as 2, a size such as 100MiB or a share such as 5%", quoted: false,
            schema: .object([
                "type": .strings(["string", "integer"]),
                "pattern": .string("(^[0-9]+$)|(^[0-9]+(\\.[0-9]+)?%$)|(\(ByteCount.pattern))"),
            ]),
            parse: { text in
                if let count = Int(text), count > 0, text.first != "+" { return .count(count) }
                if text.last == "%", let share = try? Ratio(parsing: text), share > .zero, share <= .one {
                    return .share(share)
                }
                let bytes = try? ByteCount(parsing: text)
                return bytes.flatMap { $0 > .zero && $0 <= ByteCount.ordinary.upperBound ? .bytes($0) : nil }
            },
            text: { amount in
                switch amount {
                case .count(let count): "\(count)"
                case .bytes(let bytes): "\(bytes)"
                case .share(let share): "\(share)"
                }
            })
    }
}

extension Codec where Value == RuleOrder {
    private static var named: Codec<RuleOrder.Name> { .choice("order", "orders") }

    /// A name, or `{ footprint: 1, idle: 0.5 }`.
    static var order: Codec {
        let features = ProcessFeature.allCases.filter(\.isNumber)
        return Codec(
            expected: "the name of an order, or a mapping of features to weights",
            decode: { tree, _, decoding in
                guard let entries = tree.entries else {
                    return named.decode(tree, nil, decoding).map { .named($0) }
                }
                decoding.refuseUnknownKeys(in: entries, valid: features.map(\.rawValue))
                guard !entries.isEmpty else {
                    decoding.faultHere(tree.origin, "expected at least one weight")
                    return nil
                }
                return .weighted(
                    entries.compactMap { entry in
                        guard let feature = features.first(where: { $0.rawValue == entry.key }) else { return nil }
                        let weight = decoding.within(entry.key) {
                            Codec<Ratio>.weight.decode(entry.value, nil, decoding)
                        }
                        return weight.map { RuleWeight(feature, $0) }
                    })
            },
            encode: { order, encoding in
                switch order {
                case .named(let name): named.encode(name, encoding)
                case .weighted(let weights):
                    .record(weights.map { ($0.feature.rawValue, Codec<Ratio>.weight.encode($0.weight, encoding)) })
                }
            },
            schema: { _ in
                let weights = features.map { feature in
                    JSON.Member(
                        key: feature.rawValue,
                        value: Codec<Ratio>.weight.schema(nil).adding(["description": .string(feature.meaning)]))
                }
                return .object([
                    "anyOf": .array([
                        named.schema(nil),
                        .object([
                            "type": .string("object"), "properties": .object(weights),
                            "additionalProperties": .bool(false), "minProperties": .number("1"),
                        ]),
                    ])
                ])
            })
    }
}

extension Codec where Value == Ratio {
    /// From -1000 to 1000; below zero less is preferred.
    fileprivate static var weight: Codec {
        .scalar(
            expected: "a weight from -1000 to 1000, such as 0.5", quoted: false,
            schema: .object([
                "type": .string("number"), "minimum": .number("-1000"), "maximum": .number("1000"),
            ]),
            parse: { text in
                let isNegative = text.first == "-"
                guard text.last != "%", let ratio = try? Ratio(parsing: isNegative ? String(text.dropFirst()) : text),
                    ratio.partsPerMillion <= 1_000_000_000
                else { return nil }
                return isNegative ? Ratio(partsPerMillion: -ratio.partsPerMillion) : ratio
            },
            text: { weight in
                let digits = decimalText(abs(weight.partsPerMillion), digits: 6)
                return weight < .zero ? "-\(digits)" : digits
            })
    }
}

extension Codec where Value == [RuleTier] {
    /// One order for all, or a list of tiers.
    static var tiers: Codec {
        let list = Codec<[RuleTier]>.list(of: Codec<RuleTier>.record, called: "tiers", atLeast: 1)
        return Codec(
            expected: "the name of an order, weights, or a list of tiers",
            decode: { tree, _, decoding in
                if tree.elements != nil { return list.decode(tree, nil, decoding) }
                return Codec<RuleOrder>.order.decode(tree, nil, decoding).map { [RuleTier($0)] }
            },
            encode: { tiers, encoding in
                if tiers.count == 1, tiers[0].members == .all([]) {
                    return Codec<RuleOrder>.order.encode(tiers[0].order, encoding)
                }
                return list.encode(tiers, encoding)
            },
            schema: { _ in .object(["anyOf": .array([Codec<RuleOrder>.order.schema(nil), list.schema(nil)])]) })
    }
}
