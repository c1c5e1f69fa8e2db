import Experiments
import Foundation
import Metrics
import Quantities

/// The results of a comparison: each policy's metrics, paired with the baseline's by scenario and seed.
struct Comparison {
    let plan: ExperimentPlan
    let metrics: [String]
    let bootstrap: Bootstrap
    /// The number of policies on the command line. The first is the baseline; the plan's further policies are
    /// yardsticks.
    let asked: Int
    let sections: [Section]

    enum Role: String {
        case baseline
        case candidate
        case yardstick
    }

    /// One scenario, or all of them.
    struct Section {
        /// Nil for all of them.
        let scenario: String?
        let blocks: [Block]
    }

    struct Block {
        let metric: String
        let sense: MetricSense
        let rows: [Row]
    }

    struct Row {
        let policy: String
        let role: Role
        let result: PairedComparison
        let regretForesight: Double?
        let regretBest: Double?
    }

    static let yardsticks = ["none", "foresight", "unbounded"]

    /// - Parameter summaries: The cells of `summary.csv`, one row per case of the plan.
    init(plan: ExperimentPlan, asked: Int, metrics: [String], bootstrap: Bootstrap, summaries: [[String]]) {
        (self.plan, self.asked, self.metrics, self.bootstrap) = (plan, asked, metrics, bootstrap)
        let names = RunTables.summary.columns.map(\.name)
        let scopes = plan.scenarios.indices.map { [$0] }
        let all = scopes.count > 1 ? [Array(plan.scenarios.indices)] : []
        sections = (scopes + all).map { scope in
            /// Per policy, per scenario, per seed.
            func values(of metric: String) -> [[[Double?]]] {
                guard let column = names.firstIndex(of: metric) else { preconditionFailure("no metric \(metric)") }
                return plan.policies.indices.map { policy in
                    scope.map { scenario in
                        plan.seeds.indices.map { seed in
                            let index = (scenario * plan.policies.count + policy) * plan.seeds.count + seed
                            return Double(summaries[index][column])
                        }
                    }
                }
            }
            let isOneUser = Comparison.isOneUser(MetricSense.launches.map { values(of: $0)[0] })
            let lost = LostLaunches(values(of: MetricSense.lostLaunches), of: plan, isOneUser, bootstrap)
            return Section(
                scenario: scope.count == 1 ? plan.scenarios[scope[0]].name : nil,
                blocks: metrics.map { metric in
                    Comparison.block(
                        metric, values(of: metric), lost: MetricSense.isOfLaunchesThatCame(metric) ? lost : nil,
                        of: plan, asked: asked, isOneUser, bootstrap)
                })
        }
    }

    /// Launches without a first frame. Latencies cover only the others, so a policy that loses launches looks faster.
    private struct LostLaunches {
        /// Per policy, per scenario, per seed.
        let runs: [[[Double?]]]
        /// Each policy against the baseline.
        let comparisons: [PairedComparison]

        init(_ runs: [[[Double?]]], of plan: ExperimentPlan, _ isOneUser: [Bool], _ bootstrap: Bootstrap) {
            self.runs = runs
            comparisons = plan.policies.indices.map { compared(runs, $0, .lower, of: plan, isOneUser, bootstrap) }
        }
    }

    /// Whether the user seems to act alike under every seed, by scenario. Equal numbers of launches under all seeds
    /// are taken as the sign; different users seldom have that.
    ///
    /// - Parameter launches: The baseline's launches of each kind; per kind, per scenario, per seed.
    private static func isOneUser(_ launches: [[[Double?]]]) -> [Bool] {
        launches[0].indices.map { scenario in
            let counts = launches[0][scenario].indices.map { seed in
                launches.reduce(0) { $0 + ($1[scenario][seed] ?? 0) }
            }
            return counts.allSatisfy { $0 == counts[0] }
        }
    }

    /// Compares one policy's values with the baseline's.
    private static func compared(
        _ values: [[[Double?]]], _ policy: Int, _ sense: MetricSense, of plan: ExperimentPlan, _ isOneUser: [Bool],
        _ bootstrap: Bootstrap, losses: PairedComparison? = nil
    ) -> PairedComparison {
        PairedComparison(
            values[policy], against: policy == 0 ? nil : values[0], sense: sense, isOneUser: isOneUser,
            bootstrap: bootstrap,
            // The name depends only on the shape of the data, so adding a policy or a metric changes no interval.
            stream: "\(values[policy].count) of \(plan.seeds.count)", losses: losses)
    }

    private static func block(
        _ metric: String, _ values: [[[Double?]]], lost: LostLaunches?, of plan: ExperimentPlan, asked: Int,
        _ isOneUser: [Bool], _ bootstrap: Bootstrap
    ) -> Block {
        let sense = MetricSense(ofMetric: metric)
        let labels = plan.policies.map { $0?.label ?? "" }
        let foresight = plan.policies.firstIndex { $0?.given == "foresight" }
        let fair = plan.policies.indices.filter { plan.policies[$0]?.given != "unbounded" }
        let fewest = lost.map { lost in PairedComparison.best(of: fair.map { lost.runs[$0] }, sense: .lower) }
        /// The policy's values. For a latency, excludes the runs whose number of lost launches differs from the
        /// reference.
        func like(_ reference: [[Double?]]?, _ policy: Int) -> [[Double?]] {
            guard let lost, let reference else { return values[policy] }
            return PairedComparison.kept(values[policy], where: lost.runs[policy], equals: reference)
        }
        let best = PairedComparison.best(of: fair.map { like(fewest, $0) }, sense: sense)
        let rows = plan.policies.indices.map { policy in
            Row(
                policy: labels[policy], role: policy == 0 ? .baseline : policy < asked ? .candidate : .yardstick,
                result: compared(
                    values, policy, sense, of: plan, isOneUser, bootstrap, losses: lost?.comparisons[policy]),
                regretForesight: foresight.flatMap {
                    PairedComparison.regret(like(lost?.runs[$0], policy), against: values[$0], sense: sense)
                },
                regretBest: PairedComparison.regret(like(fewest, policy), against: best, sense: sense))
        }
        return Block(metric: metric, sense: sense, rows: rows)
    }

    func write(to table: TableWriter) {
        for section in sections {
            for block in section.blocks {
                for row in block.rows { write(row, block, section, to: table) }
            }
        }
        table.flush()
    }

    private func write(_ row: Row, _ block: Block, _ section: Section, to table: TableWriter) {
        let result = row.result
        table.text(section.scenario == nil ? "pooled" : "scenario")
        table.text(section.scenario)
        table.text(row.policy)
        table.text(row.role.rawValue)
        table.text(block.metric)
        table.text(block.sense.rawValue)
        table.integer(result.runs)
        table.number(result.mean)
        table.integer(result.pairs)
        table.number(result.difference)
        table.number(result.interval?.low)
        table.number(result.interval?.high)
        table.integer(result.balance?.better)
        table.integer(result.balance?.same)
        table.integer(result.balance?.worse)
        table.text(result.verdict.rawValue)
        table.number(row.regretForesight)
        table.number(row.regretBest)
        table.endRow()
    }
}

// MARK: For people

extension Comparison {
    /// The text for stdout.
    var text: String {
        let percent = figure(bootstrap.confidence * 100)
        var lines: [String] = []
        for section in sections {
            let seeds = plan.seeds.count
            let scenarios = section.scenario ?? "all \(plan.scenarios.count) scenarios, with equal weights"
            if !lines.isEmpty { lines.append("") }
            lines.append(
                Terminal.bold(scenarios) + ": \(seeds.counted("seed")) under each policy; "
                    + "differences from \(plan.policies[0]?.label ?? "")")
            if isSameUnderEverySeed(section) {
                lines.append("  Identical under every seed: more seeds show nothing new, so they count as one case.")
            }
            for block in section.blocks { lines += table(block) }
        }
        lines += [
            "",
            "Intervals: \(percent) %, BCa bootstrap of the paired differences, \(bootstrap.resamples) resamples.",
            "Regret: how much worse than foresight, which knows the future. The other yardsticks: none never acts, "
                + "unbounded has unlimited memory.",
        ]
        return lines.joined(separator: "\n")
    }

    /// Whether no seed changes any difference between the policies that were asked for.
    private func isSameUnderEverySeed(_ section: Section) -> Bool {
        let candidates = section.blocks.flatMap(\.rows).filter { $0.role == .candidate }
        return !candidates.isEmpty && candidates.allSatisfy(\.result.isSameUnderEverySeed)
    }

    private func table(_ block: Block) -> [String] {
        let hint = block.sense == .neither ? "" : " (\(block.sense.rawValue) is better)"
        let width = max(10, block.rows.map(\.policy.count).max() ?? 0)
        let head = "  \(pad("policy", width))  \(left("mean", 11))  \(left("difference", 11))  \(pad("interval", 25))"
        let rows = block.rows.map { row in
            let result = row.result
            let interval = result.interval.map { "[\(signed($0.low)), \(signed($0.high))]" } ?? ""
            let line =
                "  \(pad(row.policy, width))  \(left(result.mean.map(figure) ?? "none", 11))  "
                + "\(left(result.difference.map(signed) ?? "", 11))  \(pad(interval, 25))  "
                + "\(left(row.regretForesight.map(signed) ?? "", 10))  \(words(row))"
            return line
        }
        return ["", Terminal.bold(block.metric) + hint, head + "  \(left("regret", 10))"] + rows
    }

    /// - Parameter isPlain: Without a terminal's colours.
    func words(_ row: Row, isPlain: Bool = false) -> String {
        let result = row.result
        let balance = result.balance.map { " (\($0.better) better, \($0.same) same, \($0.worse) worse)" } ?? ""
        return switch result.verdict {
        case .baseline: "baseline"
        case .identical: "identical: every pair is equal"
        case .notShown: "no difference shown: the interval contains 0\(balance)"
        case .better: (isPlain ? "better" : Terminal.green("better")) + constancy(result) + balance
        case .worse: (isPlain ? "worse" : Terminal.red("worse")) + constancy(result) + balance
        case .notComparable: "not comparable: lost launches have no latency, and the policies lost unequal numbers"
        case .sameUnderEverySeed: "identical under every seed: no interval"
        case .higher: "higher"
        case .lower: "lower"
        case .tooFew: "no interval: it needs \(Bootstrap.fewest) pairs in each scenario\(balance)"
        case .absent: "no run has it"
        }
    }

    /// Explains an interval of zero width. The difference was the same under each of these seeds; another seed may
    /// still differ.
    private func constancy(_ result: PairedComparison) -> String {
        guard let interval = result.interval, interval.low == interval.high else { return "" }
        return " by the same amount under every seed"
    }

    /// A number with about four significant digits.
    func figure(_ value: Double) -> String {
        let magnitude = abs(value)
        let digits = magnitude >= 1000 || value == value.rounded() ? 0 : magnitude >= 100 ? 1 : magnitude >= 1 ? 2 : 4
        return String(format: "%.\(digits)f", value)
    }

    func signed(_ value: Double) -> String {
        let text = figure(value)
        return value > 0 ? "+" + text : text == "-0" ? "0" : text
    }

    private func left(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
