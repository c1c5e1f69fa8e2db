import Metrics
import Quantities

/// The results of a comparison: each policy's metrics, paired with the baseline's by scenario and seed.
package struct Comparison {
    package let plan: ExperimentPlan
    package let bootstrap: Bootstrap
    /// The number of policies on the command line. The first is the baseline; the plan's further policies are
    /// yardsticks.
    package let asked: Int
    package let sections: [Section]
    /// What the person lost in each run, by its place in the plan; nil without a run under `unbounded`.
    package let losses: [TimeSpan?]

    package enum Role: String {
        case baseline
        case candidate
        case yardstick
    }

    /// One scenario, or all of them.
    package struct Section {
        /// Nil for all of them.
        package let scenario: String?
        package let blocks: [Block]
    }

    package struct Block {
        package let metric: String
        package let sense: MetricSense
        package let rows: [Row]
    }

    package struct Row {
        package let policy: String
        package let role: Role
        package let result: PairedComparison
        package let regretForesight: Double?
        let regretBest: Double?
    }

    package static let yardsticks = ["none", "foresight", ExperimentPlan.yardstick]

    /// - Parameters:
    ///   - rows: The rows of the ledger, one per case of the plan.
    ///   - prices: What an end in front and a lost launch count as.
    package init(
        plan: ExperimentPlan, asked: Int, bootstrap: Bootstrap, rows: [String],
        prices: PersonWaits.Prices = .init(), metrics: [String]
    ) {
        (self.plan, self.asked, self.bootstrap) = (plan, asked, bootstrap)
        losses = Comparison.losses(rows, of: plan, prices)
        var runs = RunValues(metrics, of: plan)
        for (index, cells) in RunList.cells(of: rows).enumerated() {
            runs.add(index, summary: cells, lost: losses[index])
        }
        let scopes = plan.scenarios.indices.map { [$0] }
        let all = scopes.count > 1 ? [Array(plan.scenarios.indices)] : []
        sections = (scopes + all).map { [runs] scope in
            /// Per policy, per scenario, per seed.
            func values(of metric: String) -> [[[Double?]]] {
                plan.policies.indices.map { policy in
                    let all = runs.values(of: metric, policy: policy, combination: 0)
                    return scope.map { all[$0] }
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

    /// What the person lost in each run against that under `unbounded` of the same scenario and seed.
    private static func losses(
        _ rows: [String], of plan: ExperimentPlan, _ prices: PersonWaits.Prices
    ) -> [TimeSpan?] {
        let waits = rows.map { RunRow($0).waits }
        return waits.indices.map { index in
            let other = plan.yardstick(of: index).flatMap { waits[$0] }
            return waits[index].flatMap { own in other.map { own.lost(against: $0, prices) } }
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
    static func isOneUser(_ launches: [[[Double?]]]) -> [Bool] {
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
        let fair = plan.policies.indices.filter { $0 != plan.yardstick }
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

    package func write(to table: TableWriter) {
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
