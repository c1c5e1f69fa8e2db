import Plan
import Pressure
import Quantities
import Reclaim
import Workload

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
        var plan = self
        plan.device = device.scaled(by: ratio)
        plan.monitor.warningMinimumFootprint = monitor.warningMinimumFootprint.scaled(by: ratio)
        plan.monitor.debounce = monitor.debounce.scaled(by: ratio)
        plan.monitor.warning = monitor.warning.scaled(by: ratio)
        plan.monitor.critical = monitor.critical.scaled(by: ratio)
        plan.limits.backgroundMemory = limits.backgroundMemory?.scaled(by: ratio)
        plan.policy = policy.scaled(by: ratio)
        plan.apps = apps.map { $0.scaled(by: ratio) }
        for index in start.indices {
            plan.start[index].footprint = start[index].footprint?.scaled(by: ratio)
            plan.start[index].compressed = start[index].compressed.scaled(by: ratio)
        }
        return plan
    }
}

extension Threshold {
    fileprivate func scaled(by ratio: Ratio) -> Threshold {
        switch self {
        case .share: self
        case .bytes(let bytes): .bytes(bytes.scaled(by: ratio))
        }
    }
}

extension LevelThresholds {
    fileprivate func scaled(by ratio: Ratio) -> LevelThresholds {
        LevelThresholds(enter: enter.scaled(by: ratio), leave: leave.scaled(by: ratio))
    }
}

extension JetsamMarks {
    fileprivate func scaled(by ratio: Ratio) -> JetsamMarks {
        JetsamMarks(
            critical: critical?.scaled(by: ratio), idle: idle?.scaled(by: ratio), soft: soft?.scaled(by: ratio),
            reaper: reaper?.scaled(by: ratio))
    }
}

extension Device {
    fileprivate func scaled(by ratio: Ratio) -> Device {
        var device = self
        device.ceiling = max(ceiling.scaled(by: ratio), .mebibytes(1))
        device.reserved = reserved.scaled(by: ratio)
        let whole = Quantities.scaled(scale.partsPerMillion, by: ratio.partsPerMillion, over: 1_000_000)
        precondition(
            whole > 0 && whole <= RunPlan.largestScale.partsPerMillion, "a device of scale \(scale) times \(ratio)")
        device.scale = Ratio(partsPerMillion: whole)
        device.appLimit = appLimit?.scaled(by: ratio)
        device.marks = marks.scaled(by: ratio)
        device.reclaimRate = max(reclaimRate.scaled(by: ratio), .slowest)
        if let compressor {
            device.compressor?.compressRate = max(compressor.compressRate.scaled(by: ratio), .slowest)
            device.compressor?.decompressRate = max(compressor.decompressRate.scaled(by: ratio), .slowest)
            device.compressor?.pageOutRate = compressor.pageOutRate.map { max($0.scaled(by: ratio), .slowest) }
            device.compressor?.pageInRate = compressor.pageInRate.map { max($0.scaled(by: ratio), .slowest) }
        }
        return device
    }
}

extension PolicySettings {
    /// Defaults are scaled, too: on a quarter of a phone, the size at which a purge is worthwhile is smaller.
    fileprivate func scaled(by ratio: Ratio) -> PolicySettings {
        var settings = self
        settings.rules = rules.map { $0.scaled(by: ratio) }
        settings.parameters.removeAll()
        // Rules replace the parameters.
        guard rules.isEmpty else { return settings }
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
}

extension LadderRule {
    fileprivate func scaled(by ratio: Ratio) -> LadderRule {
        func scaled(_ value: RuleValue) -> RuleValue {
            guard case .bytes(let size) = value else { return value }
            return .bytes(size.scaled(by: ratio))
        }
        func scaled(_ condition: RuleCondition<ProcessClaim>) -> RuleCondition<ProcessClaim> {
            condition.map { ProcessClaim($0.feature, $0.comparison, scaled($0.value)) }
        }
        func scaled(_ condition: RuleCondition<SystemClaim>) -> RuleCondition<SystemClaim> {
            condition.map { SystemClaim($0.measure, $0.comparison, scaled($0.value), for: $0.duration) }
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
}

extension AppProfile {
    fileprivate func scaled(by ratio: Ratio) -> AppProfile {
        var app = self
        app.limits.active = limits.active?.scaled(by: ratio)
        app.limits.inactive = limits.inactive?.scaled(by: ratio)
        return app
    }
}

extension ByteCount {
    fileprivate func scaled(by ratio: Ratio) -> ByteCount { min(self * ratio, ByteCount.ordinary.upperBound) }
}

extension ByteRate {
    fileprivate func scaled(by ratio: Ratio) -> ByteRate {
        let scaled = ByteRate(bytesPerSecond: (ByteCount(bytesPerSecond) * ratio).bytes)
        return min(scaled, ByteRate.ordinary.upperBound)
    }
}
