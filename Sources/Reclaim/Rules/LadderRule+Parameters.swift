import Quantities

/// Where a rule refers to one of the parameters that its file declares.
public struct RuleParameterUse: Hashable, Sendable {
    /// The parameter's name, without the dollar sign.
    public let parameter: String
    /// The key of the rule in whose value it stands.
    public let key: String
    /// Whether the parameter is a weight, which may have decimals.
    public let isWeight: Bool
}

extension LadderRule {
    /// Every reference to a parameter, in the order of the rule's keys.
    public var parameterUses: [RuleParameterUse] {
        func uses(_ names: [String?], _ key: String, isWeight: Bool = false) -> [RuleParameterUse] {
            names.compactMap { $0 }.map { RuleParameterUse(parameter: $0, key: key, isWeight: isWeight) }
        }
        func device(_ condition: RuleCondition<SystemClaim>?) -> [String?] {
            (condition?.claims ?? []).flatMap { [$0.valueFrom, $0.durationFrom] }
        }
        let ofOrder = order.flatMap { tier in
            uses(tier.members.claims.map(\.valueFrom), "order")
                + uses(tier.order.weights.map(\.weightFrom), "order", isWeight: true)
        }
        return uses(device(when), "when") + uses(who.claims.map(\.valueFrom), "who") + ofOrder
            + uses([takeFrom], "take") + uses(device(until), "until") + uses([coolDownFrom], "cool_down")
    }

    /// The rule with these values in place of the parameters to which it refers. A parameter without a value here, or
    /// with one of a kind that does not fit, leaves the rule's own value.
    public func bound(to parameters: [PolicySettings.Assignment]) -> LadderRule {
        func value(_ name: String?) -> ParameterValue? { parameters.last { $0.name == name }?.value }
        func span(_ name: String?, _ own: TimeSpan) -> TimeSpan { value(name).flatMap { TimeSpan($0) } ?? own }
        func bound(_ condition: RuleCondition<SystemClaim>) -> RuleCondition<SystemClaim> {
            condition.map { claim in
                var claim = claim
                claim.value = value(claim.valueFrom).flatMap { RuleValue($0) } ?? claim.value
                claim.duration = span(claim.durationFrom, claim.duration)
                return claim
            }
        }
        func bound(_ condition: RuleCondition<ProcessClaim>) -> RuleCondition<ProcessClaim> {
            condition.map { claim in
                var claim = claim
                claim.value = value(claim.valueFrom).flatMap { RuleValue($0) } ?? claim.value
                return claim
            }
        }
        var rule = self
        rule.when = bound(when)
        rule.who = bound(who)
        rule.order = order.map { tier in
            var tier = tier
            tier.members = bound(tier.members)
            if case .weighted(let weights) = tier.order {
                tier.order = .weighted(
                    weights.map { weight in
                        var weight = weight
                        weight.weight = value(weight.weightFrom).flatMap { $0.plain } ?? weight.weight
                        return weight
                    })
            }
            return tier
        }
        rule.take = value(takeFrom).flatMap { RuleValue($0) }.flatMap { RuleAmount($0) } ?? take
        rule.until = until.map { bound($0) }
        rule.coolDown = span(coolDownFrom, coolDown)
        return rule
    }
}

extension ParameterValue {
    /// A plain number, in millionths; nil for every other kind.
    public var plain: Ratio? {
        switch self {
        case .count(let count): Ratio(partsPerMillion: Int64(count) * 1_000_000)
        case .decimal(let number): number
        case .ratio, .bytes, .time, .flag, .choice, .names, .table: nil
        }
    }
}

extension RuleValue {
    /// What a claim compares with if a parameter gives it; nil for a kind with which no claim compares, and for a
    /// number with decimals.
    public init?(_ value: ParameterValue) {
        switch value {
        case .ratio(let share): self = .share(share)
        case .bytes(let size): self = .bytes(size)
        case .time(let span): self = .time(span)
        case .count(let count): self = .count(count)
        case .decimal(let number) where number.partsPerMillion % 1_000_000 == 0:
            self = .count(Int(number.partsPerMillion / 1_000_000))
        case .decimal, .flag, .choice, .names, .table: return nil
        }
    }
}

extension RuleAmount {
    /// The amount as a value of a claim.
    public var value: RuleValue {
        switch self {
        case .count(let count): .count(count)
        case .bytes(let bytes): .bytes(bytes)
        case .share(let share): .share(share)
        }
    }

    /// Nil for zero and for kinds that are no amount.
    public init?(_ value: RuleValue) {
        switch value {
        case .count(let count) where count > 0: self = .count(count)
        case .bytes(let bytes) where bytes > .zero: self = .bytes(bytes)
        case .share(let share) where share > .zero: self = .share(share)
        case .count, .bytes, .share, .time, .word: return nil
        }
    }
}
