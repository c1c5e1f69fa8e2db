import Metrics
import Quantities

/// The settings of a sweep, compared over all scenarios and seeds, with equal weight for each scenario.
///
/// A setting is one policy with one combination of the varied values. The policies and combinations of a plan give its
/// settings, in the plan's order; the first is the one that the others are compared with. Where what the person lost is
/// asked for, `unbounded` is its yardstick and gives no setting.
public struct SettingsComparison: Sendable {
    private let plan: ExperimentPlan
    private let values: RunValues
    private let bootstrap: Bootstrap
    /// The metric that decides which setting is best, and the metrics that show what that setting costs.
    private let chosen: String
    private let others: [String]
    private let isOneUser: [Bool]
    /// The places of the policies in the plan.
    private let policies: [Int]

    /// - Parameter metrics: The first one chooses the best setting. Lower or higher values of it must be better.
    public init(_ plan: ExperimentPlan, metrics: [String], _ values: RunValues, bootstrap: Bootstrap = .standard) {
        precondition(!metrics.isEmpty, "no metric chooses the best setting")
        (self.plan, self.values, self.bootstrap) = (plan, values, bootstrap)
        (chosen, others) = (metrics[0], Array(metrics.dropFirst()))
        let isMeasured = metrics.contains(SummaryMetric.secondsLost.name)
        policies = plan.policies.indices.filter { !isMeasured || $0 != plan.yardstick }
        let first = policies.first ?? 0
        isOneUser = Comparison.isOneUser(
            MetricSense.launches.map { values.values(of: $0, policy: first, combination: 0) })
    }

    /// The metric by which the best setting is chosen.
    public var decider: String { chosen }

    /// The runs of each setting, in words that fit after "over".
    public var scope: String {
        let seeds = plan.seeds.count.counted("seed")
        return plan.scenarios.count == 1
            ? "\(seeds) of \(plan.scenarios[0].name)"
            : "\(seeds) of each of \(plan.scenarios.count) scenarios, with equal weights"
    }

    /// The number of settings.
    public var count: Int { policies.count * plan.combinations.count }

    /// The label of a setting: the policy, if there are several, and the varied values.
    public func label(_ setting: Int) -> String {
        let (policy, combination) = setting.quotientAndRemainder(dividingBy: plan.combinations.count)
        let name = policies.count > 1 ? [plan.policies[policies[policy]]?.label ?? "the scenario's policy"] : []
        let parts = name + zip(plan.keys, plan.combinations[combination]).map { "\($0)=\($1.text)" }
        return parts.joined(separator: ", ")
    }

    private func values(of metric: String, _ setting: Int) -> [[Double?]] {
        let (policy, combination) = setting.quotientAndRemainder(dividingBy: plan.combinations.count)
        return values.values(of: metric, policy: policies[policy], combination: combination)
    }

    /// Compares a setting with another; if that is nil, gives only the figures of the setting.
    public func compared(_ metric: String, _ setting: Int, with other: Int?) -> PairedComparison {
        let isOfLaunches = MetricSense.isOfLaunchesThatCame(metric)
        let losses = isOfLaunches ? other.map { compared(MetricSense.lostLaunches, setting, with: $0) } : nil
        return PairedComparison(
            values(of: metric, setting), against: other.map { values(of: metric, $0) },
            sense: MetricSense(ofMetric: metric), isOneUser: isOneUser, bootstrap: bootstrap,
            stream: "\(plan.scenarios.count) of \(plan.seeds.count)", losses: losses)
    }

    // MARK: The best setting

    /// The settings that have the chosen metric in every scenario, from the best mean to the worst, and in the plan's
    /// order if equal. If the metric is a latency, only the settings that lost the fewest launches: a setting that
    /// loses its slow launches looks fast.
    private var ranked: [(setting: Int, mean: Double)] {
        var all: [(setting: Int, mean: Double)] = []
        for setting in 0..<count {
            let present = values(of: chosen, setting).map { $0.compactMap(\.self) }
            if present.allSatisfy({ !$0.isEmpty }) { all.append((setting, Bootstrap.mean(of: present))) }
        }
        if MetricSense.isOfLaunchesThatCame(chosen) {
            let lost = all.map { ranked in
                Bootstrap.mean(of: values(of: MetricSense.lostLaunches, ranked.setting).map { $0.compactMap(\.self) })
            }
            let fewest = lost.min() ?? 0
            all = zip(all, lost).filter { $0.1 <= fewest }.map(\.0)
        }
        let sign = MetricSense(ofMetric: chosen) == .higher ? -1.0 : 1
        return all.sorted { (sign * $0.mean, $0.setting) < (sign * $1.mean, $1.setting) }
    }

    /// The best setting of the chosen metric, by how much, and what it costs, in one sentence without its full stop.
    public var sentence: String {
        guard count > 1 else { return "one setting was run, so there is none to compare it with" }
        let ranked = ranked
        guard let best = ranked.first else { return "no setting has \(chosen) in every scenario" }
        let own = values(of: chosen, best.setting)
        let alike = ranked.filter { values(of: chosen, $0.setting) == own }
        if alike.count == count {
            return "no setting changes \(chosen): in every run with the same seed it is the same, "
                + "\(Conclusion.figure(best.mean, chosen)) on average"
        }
        let rivals = ranked.filter { rival in !alike.contains { $0.setting == rival.setting } }
        guard let next = rivals.first else {
            return "\(praise(best, alike)); the other settings lost more launches, or lack it"
        }
        // The reference is the first setting or, if that is among the best, the next best one.
        let first = rivals.first { $0.setting == 0 }
        let result = compared(chosen, best.setting, with: (first ?? next).setting)
        let name = first == nil ? "the next best" : "the first setting"
        var parts = [praise(best, alike) + verdict(result, against: (first ?? next).setting, name)]
        if let first, first.setting != next.setting { parts.append(lead(of: best.setting, over: next.setting)) }
        parts += costs(of: best.setting, against: (first ?? next).setting)
        if result.verdict == .better && count > 2 {
            parts.append("the best of \(count) settings was picked by these runs: confirm it under other seeds")
        }
        return parts.joined(separator: "; ")
    }

    private func praise(_ best: (setting: Int, mean: Double), _ alike: [(setting: Int, mean: Double)]) -> String {
        let same = alike.dropFirst().map { label($0.setting) }
        let shared = same.isEmpty ? "" : ", the same in every run as with " + SettingsComparison.few(same)
        return "\(chosen) has its best mean, \(Conclusion.figure(best.mean, chosen)), "
            + "with \(label(best.setting))\(shared)"
    }

    private static func few(_ labels: [String]) -> String {
        labels.count <= 3 ? Conclusion.list(labels) : "\(labels.count) other settings"
    }

    /// What the comparison with the reference shows; follows the best setting's name.
    private func verdict(_ result: PairedComparison, against other: Int, _ name: String) -> String {
        let reference = "\(label(other)), \(name)"
        let mean = Bootstrap.mean(of: values(of: chosen, other).map { $0.compactMap(\.self) })
        let theirs = "the \(Conclusion.figure(mean, chosen)) with \(reference)"
        return switch result.verdict {
        case .better: ": better \(size(of: result)) than with \(reference)"
        case .notShown:
            ", but that is not shown to be better than \(theirs): the interval of the difference contains zero"
        case .tooFew:
            ", against \(theirs); these runs allow no general conclusion, because an interval needs "
                + "\(Bootstrap.fewest) pairs in each scenario"
        case .sameUnderEverySeed:
            ", against \(theirs); these runs allow no general conclusion, because the user acts alike under every "
                + "seed, so this is one case"
        case .notComparable: ", but it lost more launches than \(reference)"
        case .worse, .identical, .absent, .baseline, .higher, .lower:
            ", but over the seeds that have both it is not better than \(reference)"
        }
    }

    /// The size of the difference with its interval, such as `by 3.1 [2.4, 3.7]`.
    private func size(of result: PairedComparison) -> Substring {
        let amount = Conclusion.amount(Finding(chosen, MetricSense(ofMetric: chosen), result))
        return amount.dropFirst(chosen.count + 1)
    }

    private func lead(of best: Int, over next: Int) -> String {
        let result = compared(chosen, best, with: next)
        guard result.verdict == .better else {
            return "it is not shown to be better than the next best, \(label(next))"
        }
        return "it is better than the next best, \(label(next)), \(size(of: result))"
    }

    private func costs(of best: Int, against other: Int) -> [String] {
        let findings = others.map { Finding($0, MetricSense(ofMetric: $0), compared($0, best, with: other)) }
        return Conclusion(label(best), against: label(other), findings).alsoAndInReturn
    }
}
