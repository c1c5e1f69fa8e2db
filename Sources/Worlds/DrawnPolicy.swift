import Quantities
import Reclaim
import Scenario
import Workload

/// A random policy: any policy of the catalogue, with parameters from its own table, or rules.
struct DrawnPolicy {
    let type: any ReclaimPolicy.Type
    private let seed: UInt64
    private let stream: String
    /// Whether it consists of rules.
    let hasRules: Bool
    /// What the first rules do; the others do anything.
    private var actions: [RuleAction] = []

    /// Rules of which the first two freeze and thaw, for a device with a freezer.
    init(freezing seed: UInt64) {
        var draw = Draw(seed, "freezing policy")
        type = Ladder.self
        hasRules = true
        (self.seed, stream) = (seed, "freezing policy")
        actions = draw.chance(50) ? [.freeze, .thaw] : [.thaw, .freeze]
    }

    /// jetsam, for a device with a kernel.
    init(ofKernel seed: UInt64) {
        type = Jetsam.self
        hasRules = false
        (self.seed, stream) = (seed, "policy of a kernel")
    }

    init(_ seed: UInt64, stream: String = "policy", mayKnowFuture: Bool = true) {
        var draw = Draw(seed, stream)
        let known = PolicyCatalogue.all.filter { mayKnowFuture || !$0.needs.contains(.oracle) }
        // The ladder has two forms: parameters and rules.
        type = draw.chance(20) ? Ladder.self : draw.pick(known)
        hasRules = type == Ladder.self && draw.chance(75)
        (self.seed, self.stream) = (seed, stream)
    }

    /// The policy as a bare name or a mapping.
    func tree(_ apps: [DrawnApp]) -> Tree {
        var draw = Draw(seed, stream + " form")
        return !hasRules && draw.chance(25) ? .plain(type.name) : mapping(apps).tree
    }

    func mapping(_ apps: [DrawnApp]) -> Record {
        var draw = Draw(seed, stream + " values")
        var policy = Record()
        policy.put("name", .plain(type.name))
        if draw.chance(25) { policy.put("label", .plain("drawn")) }
        guard !hasRules else {
            let count = max(actions.count, draw.number(1, 5))
            let rules = (0..<count).map {
                DrawnRule.draw(&draw, $0, apps, $0 < actions.count ? actions[$0] : nil)
            }
            var own = DrawnParameters(Draw(seed, stream + " parameters"))
            let changed = rules.map { own.rule($0) }
            if !own.declared.isEmpty { policy.put("parameters", own.declared.tree) }
            policy.put("rules", .list(changed))
            return policy
        }
        var parameters = Record()
        for parameter in type.parameterTable where draw.chance(DrawnPolicy.chance(of: parameter)) {
            parameters.put(parameter.name, DrawnPolicy.value(of: parameter, &draw, apps))
        }
        policy.put("parameters", parameters)
        return policy
    }

    /// In percent. Parameters with several forms come more often.
    private static func chance(of parameter: PolicyParameter) -> Int64 {
        if !parameter.choices.isEmpty { return 85 }
        return parameter.mayBeTable ? 60 : 45
    }

    /// A value within the parameter's range: often near the default, sometimes an end of the range.
    private static func value(of parameter: PolicyParameter, _ draw: inout Draw, _ apps: [DrawnApp]) -> Tree {
        if parameter.mayBeTable && draw.chance(40) { return table(for: parameter, &draw) }
        // A run that follows the highest number of futures would take too long.
        if draw.chance(15) && parameter.hasRange && parameter.name != "futures" {
            return .plain("\(draw.pick([parameter.lowest, parameter.highest]))")
        }
        switch parameter.lowest {
        case .flag: return draw.flag()
        case .choice: return .plain(draw.pick(parameter.choices))
        case .names: return .list(draw.some(of: apps, 25).map { .plain($0.name) })
        case .ratio, .bytes, .time, .count, .decimal, .table: break
        }
        guard let numbers = parameter.numbers else { preconditionFailure("\(parameter.name) has no range") }
        let usual = max(numbers.lowerBound, parameter.standard.number ?? 0, 1) * 4
        let most = draw.chance(70) ? min(numbers.upperBound, usual) : numbers.upperBound
        let number = Int64(draw.magnitude(Int(numbers.lowerBound), Int(min(most, 1 << 46))))
        return .plain("\(parameter.value(parameter.name == "futures" ? min(number, 500) : number))")
    }

    /// The policy's own table in place of a number. One in four is written as zero, the form of earlier versions, which
    /// is still read.
    private static func table(for parameter: PolicyParameter, _ draw: inout Draw) -> Tree {
        guard parameter.hasRange, draw.chance(25) else { return .plain("\(ParameterValue.table)") }
        return switch parameter.lowest {
        case .ratio: .plain("\(Ratio.zero)")
        case .bytes: .plain("\(ByteCount.zero)")
        case .time: .plain("\(TimeSpan.zero)")
        case .count, .decimal, .flag, .choice, .names, .table: .plain("0")
        }
    }
}

/// A random rule.
enum DrawnRule {
    /// - Parameter action: What it does; nil: that is drawn.
    static func draw(_ draw: inout Draw, _ index: Int, _ apps: [DrawnApp], _ action: RuleAction?) -> Tree {
        var rule = Record()
        rule.put("name", .plain("rule\(index)"))
        // What only a freezer does comes about only if nothing else is asked for.
        if let action {
            rule.put("when", .string("available < 100%"))
            rule.put("action", .plain(action.rawValue))
            if action == .freeze { rule.put("order", .list([.record([("by", .plain("largest"))])])) }
            if draw.chance(50) { rule.put("cool_down", draw.time(.zero, .seconds(10))) }
            return rule.tree
        }
        // A rule that waits for a rare condition would do nothing.
        if draw.chance(80) {
            let usual = Tree.string("available < \(draw.number(15, 95))%")
            rule.put("when", draw.chance(50) ? usual : system(&draw, depth: 0))
        }
        let action = draw.chance(90) ? draw.pick(RuleAction.allCases) : nil
        if let action { rule.put("action", .plain(action.rawValue)) }
        if action ?? .terminate == .terminate {
            var units = draw
            if units.chance(40) { rule.put("unit", .plain(units.pick(RuleUnit.allCases).rawValue)) }
        }
        var requesters = draw
        if requesters.chance(25) { rule.put("spare_requester", requesters.flag()) }
        if draw.chance(45) { rule.put("who", process(&draw, apps, depth: 0)) }
        if draw.chance(65) { rule.put("order", order(&draw, apps)) }
        if draw.chance(45) {
            let amounts = [
                "none", "\(draw.number(1, 4))", "\(draw.bytes(.kibibytes(64), .mebibytes(200)))",
                "\(draw.number(1, 50))%",
            ]
            rule.put("take", .plain(draw.pick(amounts)))
        }
        if draw.chance(30) { rule.put("until", draw.chance(15) ? .plain("none") : system(&draw, depth: 0)) }
        if draw.chance(35) { rule.put("cool_down", draw.time(.zero, .seconds(30))) }
        return rule.tree
    }

    private static func system(_ draw: inout Draw, depth: Int) -> Tree {
        condition(&draw, depth: depth) { draw in
            let measure = draw.pick(SystemMeasure.allCases)
            let claim = claim(&draw, measure.rawValue, measure.kind, [])
            return .string(draw.chance(30) ? "\(claim) for \(draw.span(.milliseconds(10), .seconds(10)))" : claim)
        }
    }

    private static func process(_ draw: inout Draw, _ apps: [DrawnApp], depth: Int) -> Tree {
        condition(&draw, depth: depth) { draw in
            let feature = draw.pick(ProcessFeature.allCases)
            let names = feature == .like ? Archetype.all.map(\.name) : apps.map(\.name)
            return .string(claim(&draw, feature.rawValue, feature.kind, names, isScore: feature == .oomScore))
        }
    }

    /// A claim or a combination of claims, up to three levels deep.
    private static func condition(_ draw: inout Draw, depth: Int, claim: (inout Draw) -> Tree) -> Tree {
        guard depth < 3, draw.chance(depth == 0 ? 45 : 25) else { return claim(&draw) }
        let parts = (0..<draw.number(1, 3)).map { _ in condition(&draw, depth: depth + 1, claim: claim) }
        return draw.pick([
            .list(parts), .record([("all", .list(parts))]), .record([("any", .list(parts))]),
            .record([("not", parts[0])]),
        ])
    }

    private static func claim(
        _ draw: inout Draw, _ name: String, _ kind: RuleKind, _ names: [String], isScore: Bool = false
    ) -> String {
        let value: String
        var comparisons = RuleComparison.allCases
        switch kind {
        case .memory:
            value = draw.chance(60) ? "\(draw.number(0, 100))%" : "\(draw.bytes(.zero, .gibibytes(1)))"
        case .share: value = "\(draw.magnitude(0, 100))%"
        case .time: value = "\(draw.span(.zero, .minutes(3)))"
        case .count: value = "\(isScore ? draw.number(-1_000, 1_000) : draw.magnitude(0, 100))"
        case .ladder(let words): value = draw.pick(words)
        case .choice(let words): (value, comparisons) = (draw.pick(words), [.equal, .notEqual])
        case .name: (value, comparisons) = (draw.pick(names), [.equal, .notEqual])
        }
        return "\(name) \(draw.pick(comparisons).rawValue) \(value)"
    }

    private static func order(_ draw: inout Draw, _ apps: [DrawnApp]) -> Tree {
        guard draw.chance(30) else { return single(&draw) }
        return .list(
            (0..<draw.number(1, 3)).map { _ in
                var tier = Record()
                if draw.chance(80) { tier.put("where", process(&draw, apps, depth: 1)) }
                if draw.chance(80) { tier.put("by", single(&draw)) }
                return tier.tree
            })
    }

    private static func single(_ draw: inout Draw) -> Tree {
        guard draw.chance(40) else { return .plain(draw.pick(RuleOrder.Name.allCases).rawValue) }
        var weights = Record()
        let features = ProcessFeature.allCases.filter(\.isNumber)
        let first = draw.pick(features)
        for feature in features where feature == first || draw.chance(30) {
            weights.put(
                feature.rawValue, .plain("\(draw.chance(25) ? "-" : "")\(draw.number(0, 9)).\(draw.number(0, 9))"))
        }
        return weights.tree
    }
}
