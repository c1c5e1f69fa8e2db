import Quantities
import Reclaim

extension LadderRule: Described {
    static let definition = Definition<LadderRule>(
        base: LadderRule(name: "rule"),
        check: { tree, rule, decoding in
            guard rule.unit == .controlGroup, rule.action != .terminate else { return }
            decoding.faultHere(
                tree.origin(ofKey: "unit"), "a control group can only be ended at once (action: terminate)")
        },
        fields: [
            Field("name", \.name, .name, required: true, "The rule's name, unique among the rules. Reasons use it."),
            Field("when", \.when, .condition, "When the rule begins to act: combined claims about the device."),
            Field("action", \.action, .choice("action", "actions"), "What it does."),
            Field(
                "unit", \.unit, .choice("unit", "units"), omitted: { $0 == .process },
                "What one end takes: a `process`, or a `control_group` with all its processes."),
            Field(
                "spare_requester", \.sparesRequester, .flag, omitted: \.self,
                "Whether it suspends, disconnects or ends no process whose own allocation waits. No daemon of a real "
                    + "system knows who waits."),
            Field("who", \.who, .condition, "Which processes it may touch: combined claims about a process."),
            Field("order", \.order, .tiers, "Which process goes first: a name, weights, or a list of tiers."),
            Field(
                "take", \.givenTake, Codec.amount.orNone().orParameter(),
                "How much the rule takes before it rests: a count, a size, or a share of RAM."),
            Field(
                "until", \.until, Codec<RuleCondition<SystemClaim>>.condition.claimingSomething.orNone(),
                "Once begun, the rule goes on until this holds. `none`: as long as `when` holds."),
            Field(
                "cool_down", \.givenCoolDown, Codec<TimeSpan>.quantity().orParameter(),
                "How long the rule rests after it has taken its amount, or, without an amount, after each action."),
        ])
}

extension LadderRule {
    fileprivate var givenTake: Given<RuleAmount?> {
        get { Given(value: take, parameter: takeFrom) }
        set { (take, takeFrom) = (newValue.value, newValue.parameter) }
    }

    fileprivate var givenCoolDown: Given<TimeSpan> {
        get { Given(value: coolDown, parameter: coolDownFrom) }
        set { (coolDown, coolDownFrom) = (newValue.value, newValue.parameter) }
    }

    /// The number of claims in all its conditions.
    var claimCount: Int {
        when.claims.count + who.claims.count + (until?.claims.count ?? 0)
            + order.reduce(0) { $0 + $1.members.claims.count }
    }
}

extension RuleTier: Described {
    static let definition = Definition<RuleTier>(
        base: RuleTier(),
        fields: [
            Field("where", \.members, .condition, "The processes of this tier, among those in no earlier tier."),
            Field("by", \.order, .order, "Which process of the tier goes first."),
        ])
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
    private static var weight: Codec<Given<Ratio>> { Codec<Ratio>.weight.orParameter() }

    /// A name, a product of features, or `{ footprint: 1, idle: 0.5 }`.
    static var order: Codec {
        Codec(
            expected: "the name of an order, a product of features, or a mapping of features to weights",
            decode: { tree, _, decoding in
                if let entries = tree.entries { return weighted(entries, of: tree, decoding).map { .weighted($0) } }
                guard let text = tree.text, RuleTerm.isProduct(text) else {
                    return named.decode(tree, nil, decoding).map { .named($0) }
                }
                do throws(RuleFault) {
                    return .term(try RuleTerm(parsing: text))
                } catch {
                    decoding.report(error, tree.origin)
                    return nil
                }
            },
            encode: { order, encoding in
                switch order {
                case .named(let name): named.encode(name, encoding)
                case .term(let term): .string("\(term)")
                case .weighted(let weights):
                    .record(
                        weights.map { one in
                            let given = Given(value: one.weight, parameter: one.weightFrom)
                            return ("\(one.term)", weight.encode(given, encoding))
                        })
                }
            },
            schema: { _ in
                let weights = RuleTerm.features.map { feature in
                    JSON.Member(
                        key: feature.rawValue,
                        value: weight.schema(nil).adding(["description": .string(feature.meaning)]))
                }
                let products = JSON.Member(key: RuleTerm.pattern, value: weight.schema(nil))
                return .object([
                    "anyOf": .array([
                        named.schema(nil),
                        .object(["type": .string("string"), "pattern": .string(RuleTerm.pattern)]),
                        .object([
                            "type": .string("object"), "properties": .object(weights),
                            "patternProperties": .object([products]),
                            "additionalProperties": .bool(false), "minProperties": .number("1"),
                        ]),
                    ])
                ])
            })
    }

    private static func weighted(_ entries: [Tree.Entry], of tree: Tree, _ decoding: Decoding) -> [RuleWeight]? {
        let names = RuleTerm.features.map(\.rawValue)
        decoding.refuseUnknownKeys(in: entries.filter { !RuleTerm.isProduct($0.key) }, valid: names)
        guard !entries.isEmpty else {
            decoding.faultHere(tree.origin, "expected at least one weight")
            return nil
        }
        var weights: [RuleWeight] = []
        for entry in entries where RuleTerm.isProduct(entry.key) || names.contains(entry.key) {
            do throws(RuleFault) {
                let term = try RuleTerm(parsing: entry.key)
                if weights.contains(where: { $0.term == term }) {
                    throw RuleFault(message: "'\(term)' has two weights")
                }
                let given = decoding.within(entry.key) { weight.decode(entry.value, nil, decoding) }
                if let given { weights.append(RuleWeight(term, given.value, from: given.parameter)) }
            } catch {
                decoding.report(error, entry.keyOrigin)
            }
        }
        return weights
    }
}

extension Codec where Value == Ratio {
    /// A weight from -1000 to 1000. With a negative weight, smaller values go first.
    fileprivate static var weight: Codec {
        .scalar(
            expected: "a weight from -1000 to 1000, such as 0.5", quoted: false,
            schema: .number("number", from: "-1000", to: "1000", pattern: "^-?[0-9]+(\\.[0-9]+)?$"),
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
    /// One order for all processes, or a list of tiers.
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
