import Plan
import Quantities
import Reclaim

/// A policy with one number changed, as `--set` can change it.
public struct PolicyChange: Hashable, Sendable {
    /// The changed number: `critical`, or `make-room: available < 16%` for a rule.
    public let name: String
    /// `critical = 3.4% instead of 4%`, or `available < 12% instead of available < 16%, in the rule make-room (when)`.
    public let words: String
    /// The number or claim before the change, as written.
    public let from: String
    /// The number or claim after the change, as written.
    public let to: String
    /// The size of the change, as a share of the number, or of its range where the number is zero.
    public let distance: Double
    /// The argument of `--set`: `policy.parameters.critical=3.4%`.
    public let assignment: String
    /// The policy with the change.
    public let settings: PolicySettings

    /// Every change of one number of the plan's policy, nearest first for each number.
    public static func all(of plan: RunPlan) -> [PolicyChange] {
        parameters(of: plan) + rules(of: plan)
    }

    /// The option for a command line, quoted where a shell needs it.
    public var option: String { "--set \(ShellWord.quoted(assignment))" }

    // MARK: Parameters

    private static func parameters(of plan: RunPlan) -> [PolicyChange] {
        let device = plan.device.size(ofRAM: plan.device.ceiling)
        var changes: [PolicyChange] = []
        for (parameter, present) in zip(plan.policy.table, plan.policy.present(on: device)) {
            for step in ParameterSteps(parameter, from: present).values {
                changes.append(
                    PolicyChange(
                        name: parameter.name,
                        words: "\(parameter.name) = \(step.value) instead of \(present)",
                        from: "\(present)", to: "\(step.value)", distance: step.distance,
                        assignment: "policy.parameters.\(parameter.name)=\(step.value)",
                        settings: plan.policy.setting(parameter.name, to: step.value)))
            }
        }
        return changes
    }

    // MARK: Rules

    private static func rules(of plan: RunPlan) -> [PolicyChange] {
        plan.policy.rules.enumerated().flatMap { index, rule in
            changes(of: rule, ceiling: plan.effectiveCeiling).map { key, from, to, distance, changed in
                var settings = plan.policy
                settings.rules[index] = changed
                let place = key.prefix { $0 != "." }
                return PolicyChange(
                    name: "\(rule.name).\(key): \(from)",
                    words: "\(to) instead of \(from), in the rule \(rule.name) (\(place))",
                    from: from, to: to, distance: distance,
                    assignment: "policy.rules.\(rule.name).\(key)=\(to)", settings: settings)
            }
        }
    }

    private typealias RuleChange = (key: String, from: String, to: String, distance: Double, rule: LadderRule)

    private static func changes(of rule: LadderRule, ceiling: ByteCount) -> [RuleChange] {
        var changes: [RuleChange] = []
        for (path, change) in rule.when.changes(ceiling) {
            changes.append(
                RuleChange("when\(path)", change.from, change.to, change.distance, rule.with { $0.when = change.whole })
            )
        }
        for (path, change) in rule.who.changes(ceiling) {
            changes.append(
                RuleChange("who\(path)", change.from, change.to, change.distance, rule.with { $0.who = change.whole }))
        }
        for (path, change) in rule.until?.changes(ceiling) ?? [] {
            changes.append(
                RuleChange(
                    "until\(path)", change.from, change.to, change.distance, rule.with { $0.until = change.whole }))
        }
        // What a parameter gives changes with the parameter.
        let take = rule.takeFrom == nil ? rule.take : nil
        for (to, distance) in take?.value.steps(ClaimScope(kind: .memory), ceiling) ?? [] {
            guard let amount = RuleAmount(to) else { continue }
            changes.append(
                RuleChange("take", "\(take?.value ?? to)", "\(to)", distance, rule.with { $0.take = amount }))
        }
        guard rule.coolDownFrom == nil else { return changes }
        for (to, distance) in RuleValue.time(rule.coolDown).steps(ClaimScope(kind: .time), ceiling) {
            guard case .time(let span) = to else { continue }
            changes.append(
                RuleChange("cool_down", "\(rule.coolDown)", "\(to)", distance, rule.with { $0.coolDown = span }))
        }
        return changes
    }
}

extension LadderRule {
    fileprivate func with(_ change: (inout LadderRule) -> Void) -> LadderRule {
        var rule = self
        change(&rule)
        return rule
    }
}

/// A condition with one of its claims changed.
private struct ConditionChange<Claim: RuleClaim> {
    let from: String
    let to: String
    let distance: Double
    let whole: RuleCondition<Claim>
}

/// A claim with numbers that can be changed.
private protocol SteppedClaim: RuleClaim {
    func steps(_ ceiling: ByteCount) -> [(claim: Self, distance: Double)]
}

extension SystemClaim: SteppedClaim {
    func steps(_ ceiling: ByteCount) -> [(claim: SystemClaim, distance: Double)] {
        func changed(_ change: (inout SystemClaim) -> Void) -> SystemClaim {
            var claim = self
            change(&claim)
            return claim
        }
        let steps = valueFrom == nil ? value.steps(measure.scope, ceiling) : []
        var found = steps.map { value, distance in (changed { $0.value = value }, distance) }
        guard duration > .zero, durationFrom == nil else { return found }
        for (value, distance) in RuleValue.time(duration).steps(ClaimScope(kind: .time), ceiling) {
            if case .time(let span) = value { found.append((changed { $0.duration = span }, distance)) }
        }
        return found
    }
}

extension ProcessClaim: SteppedClaim {
    func steps(_ ceiling: ByteCount) -> [(claim: ProcessClaim, distance: Double)] {
        guard valueFrom == nil else { return [] }
        return value.steps(feature.scope, ceiling).map { (ProcessClaim(feature, comparison, $0), $1) }
    }
}

extension RuleCondition where Claim: SteppedClaim {
    /// Every change of one claim, with its path in the effective scenario as `ConditionShape.encode` writes it.
    fileprivate func changes(_ ceiling: ByteCount) -> [(path: String, change: ConditionChange<Claim>)] {
        switch self {
        case .claim(let claim):
            return claim.steps(ceiling).map { other, distance in
                ("", ConditionChange(from: claim.written, to: other.written, distance: distance, whole: .claim(other)))
            }
        case .not(let part):
            return part.changes(ceiling).map { path, change in (".not\(path)", change.wrapped { .not($0) }) }
        case .all(let parts): return RuleCondition.changes(of: parts, "", ceiling) { .all($0) }
        case .any(let parts): return RuleCondition.changes(of: parts, ".any", ceiling) { .any($0) }
        }
    }

    private static func changes(
        of parts: [RuleCondition], _ list: String, _ ceiling: ByteCount,
        _ wrap: @escaping ([RuleCondition]) -> RuleCondition
    ) -> [(path: String, change: ConditionChange<Claim>)] {
        parts.indices.flatMap { index in
            parts[index].changes(ceiling).map { path, change in
                (
                    "\(list).\(index)\(path)",
                    change.wrapped { part in
                        var parts = parts
                        parts[index] = part
                        return wrap(parts)
                    }
                )
            }
        }
    }
}

extension ConditionChange {
    fileprivate func wrapped(_ wrap: (RuleCondition<Claim>) -> RuleCondition<Claim>) -> ConditionChange {
        ConditionChange(from: from, to: to, distance: distance, whole: wrap(whole))
    }
}

extension RuleValue {
    /// Other values that the claim allows, nearest first.
    fileprivate func steps(_ scope: ClaimScope, _ ceiling: ByteCount) -> [(RuleValue, Double)] {
        switch self {
        case .share(let share):
            return ParameterSteps.around(share.partsPerMillion, 0, scope.mostShare.partsPerMillion, unit: 1_000)
                .map { (.share(Ratio(partsPerMillion: $0.0)), $0.1) }
        case .bytes(let size):
            return ParameterSteps.around(Int64(size.bytes), 0, Int64(max(ceiling, size).bytes), unit: 1 << 12)
                .map { (.bytes(ByteCount(Int($0.0))), $0.1) }
        case .time(let span):
            return ParameterSteps.around(
                span.microseconds, 0, max(TimeSpan.hours(1), span).microseconds, unit: 1_000
            ).map { (.time(TimeSpan(microseconds: $0.0)), $0.1) }
        case .count(let count):
            let most = min(scope.counts.upperBound, max(1_000, count))
            return ParameterSteps.around(Int64(count), Int64(scope.counts.lowerBound), Int64(most), unit: 1)
                .map { (.count(Int($0.0)), $0.1) }
        case .word: return []
        }
    }
}
