import Plan
import Quantities
import Reclaim

extension RunPlan {
    /// The smallest scale that a ratio can express.
    public static let smallestScale = Ratio(partsPerMillion: 1)
    /// A larger scale is almost certainly a mistake.
    public static let largestScale = Ratio(partsPerMillion: 64_000_000)

    /// The same run on a smaller or larger device. Multiplies its memory, and every size that is compared with memory,
    /// by the ratio; all shares and times stay as they are.
    ///
    /// The apps stay as they are: their requests are granted at the device's scale (`Device.scale`). Their limits are
    /// scaled, because limits count pages. Not scaled are times, counts and ratios; the rate at which apps fill memory,
    /// because it counts their requests; and expectations, so a claim about bytes applies to the scaled run. Pages and
    /// the allocator's own metadata do not shrink, either, so very small scales distort the results. The scaled values
    /// stay within the ranges of a scenario, and parameters within the range in their policy's table.
    public func scaled(by ratio: Ratio) -> RunPlan {
        var plan = RunPlan.definition.scaled(self, by: ratio)
        let whole = Quantities.scaled(device.scale.partsPerMillion, by: ratio.partsPerMillion, over: 1_000_000)
        precondition(
            whole > 0 && whole <= RunPlan.largestScale.partsPerMillion,
            "a device of scale \(device.scale) times \(ratio)")
        plan.device.scale = Ratio(partsPerMillion: whole)
        return plan
    }
}

extension PolicySettings {
    /// Defaults are scaled, too: on a quarter of a phone, the size at which a purge is worthwhile is smaller.
    func scaled(by ratio: Ratio) -> PolicySettings {
        var settings = self
        settings.parameters.removeAll()
        guard rules.isEmpty else { return scaledRules(by: ratio) }
        for parameter in PolicyCatalogue.type(named: name)?.parameterTable ?? [] {
            let given = parameters.first { $0.name == parameter.name }
            if let value = parameter.scaled(given?.value ?? parameter.standard, by: ratio) {
                settings.parameters.append(Assignment(name: parameter.name, value: value))
            } else if let given {
                settings.parameters.append(given)
            }
        }
        return settings
    }

    /// Rules that refer to parameters get the scaled values of these.
    private func scaledRules(by ratio: Ratio) -> PolicySettings {
        var settings = self
        settings.rules = rules.map { $0.scaled(by: ratio) }
        settings.declared = declared.map { $0.scaled(by: ratio) }
        settings.parameters = settings.declared.map { parameter in
            Assignment(name: parameter.name, value: parameter.clamped(value(of: parameter).scaled(by: ratio)))
        }
        return settings.bound
    }
}

extension LadderRule {
    fileprivate func scaled(by ratio: Ratio) -> LadderRule {
        func scaled(_ value: RuleValue) -> RuleValue {
            guard case .bytes(let size) = value else { return value }
            return .bytes(size.scaled(by: ratio))
        }
        func scaled(_ condition: RuleCondition<ProcessClaim>) -> RuleCondition<ProcessClaim> {
            condition.map { ProcessClaim($0.feature, $0.comparison, scaled($0.value), from: $0.valueFrom) }
        }
        func scaled(_ condition: RuleCondition<SystemClaim>) -> RuleCondition<SystemClaim> {
            condition.map { claim in
                var claim = claim
                claim.value = scaled(claim.value)
                return claim
            }
        }
        var rule = self
        rule.when = scaled(when)
        rule.until = until.map { scaled($0) }
        rule.who = scaled(who)
        rule.order = order.map { RuleTier($0.order, where: scaled($0.members)) }
        if case .bytes(let size) = take { rule.take = .bytes(max(size.scaled(by: ratio), ByteCount(1))) }
        return rule
    }
}

extension PolicyParameter {
    /// Nil for a value that is not a size of the device's memory, and for `table`, whose value follows the original
    /// device.
    fileprivate func scaled(_ value: ParameterValue, by ratio: Ratio) -> ParameterValue? {
        guard isScaled, case .bytes(let size) = value, size > .zero, case .bytes(let lowest) = lowest,
            case .bytes(let highest) = highest
        else { return nil }
        return .bytes(min(max(size.scaled(by: ratio), lowest), highest))
    }

    /// A parameter of rules in a scale model. Its range keeps at least two sizes, and none becomes zero.
    fileprivate func scaled(by ratio: Ratio) -> PolicyParameter {
        guard case .bytes(let low) = lowest.scaled(by: ratio), case .bytes(let high) = highest.scaled(by: ratio) else {
            return self
        }
        let range = (lowest: ParameterValue.bytes(low), highest: ParameterValue.bytes(max(high, low + ByteCount(1))))
        let whole = PolicyParameter(name: name, standard: standard, range: range, meaning: meaning, source: source)
        return PolicyParameter(
            name: name, standard: whole.clamped(standard.scaled(by: ratio)), range: range, meaning: meaning,
            source: source)
    }

    /// The value within the range.
    fileprivate func clamped(_ value: ParameterValue) -> ParameterValue {
        guard let number = value.number, let numbers else { return value }
        return self.value(min(max(number, numbers.lowerBound), numbers.upperBound))
    }
}

extension ParameterValue {
    /// A size in a scale model, at least a byte unless it is zero; every other value as it is.
    fileprivate func scaled(by ratio: Ratio) -> ParameterValue {
        guard case .bytes(let size) = self, size > .zero else { return self }
        return .bytes(max(size.scaled(by: ratio), ByteCount(1)))
    }
}
