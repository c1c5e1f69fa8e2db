import Metrics
import Quantities

/// The table of an experiment's runs: the varied settings, then every column of `summary.csv`. Scripts rely on the
/// order and names of columns; new columns go last.
package struct RunList {
    let plan: ExperimentPlan
    package let schema: TableSchema
    private let kinds: [SettingKind]
    private let hasLosses: Bool

    /// - Parameter hasLosses: Whether the table says what the person lost, as its last column.
    package init(_ name: String, of plan: ExperimentPlan, hasLosses: Bool = false) {
        (self.plan, self.hasLosses) = (plan, hasLosses)
        kinds = plan.keys.indices.map(plan.kind(ofKey:))
        let identity = [
            Column("case", .integer, "The run's number in the order of the plan, from 1"),
            Column("scenario_file", .string, "The scenario's path as it was given"),
            Column(
                "policy_label", .string,
                "The policy's label: its name, or its file's; empty for the scenario's own",
                optional: true),
        ]
        let taken = (identity + RunTables.summary.columns).map(\.name)
        let settings = zip(plan.keys, kinds).map { key, kind in
            let type: ColumnType =
                switch kind {
                case .whole, .bytes, .rate: .integer
                case .decimal, .time, .ratio: .number
                case .text: .string
                }
            let name = key + kind.suffix
            let unit: ColumnUnit? =
                switch kind {
                case .whole, .decimal, .text: nil
                case .bytes: .bytes
                case .time: .seconds
                case .ratio: .share
                case .rate: .bytesPerSecond
                }
            return Column(
                taken.contains(name) ? "set." + name : name, type, unit: unit, "The setting \(key) of this run",
                signed: true)
        }
        schema = TableSchema(
            name, "One row per run, in the order of the plan", key: ["case"],
            identity + settings + RunTables.summary.columns + (hasLosses ? [Column(.secondsLost, signed: true)] : []))
    }

    /// Writes the row of a run; `summary` is the run's row of `summary.csv`.
    package func write(_ index: Int, summary: [String], lost: TimeSpan? = nil, to table: TableWriter) {
        let each = plan.experimentCase(at: index)
        table.integer(each.number)
        table.text(plan.scenarios[each.scenario].path)
        table.text(plan.policies[each.policy]?.label)
        for (kind, value) in zip(kinds, plan.combinations[each.combination]) {
            table.text(kind == .text ? value.text : value.cell)
        }
        for cell in summary { if cell.isEmpty { table.empty() } else { table.text(cell) } }
        if hasLosses { table.seconds(lost) }
        table.endRow()
    }

    /// Splits rows of `summary.csv`, or of a ledger, into cells.
    package static func cells(of rows: [String]) -> [[String]] {
        let names = RunTables.summary.columns.map(\.name)
        let text = ([names.joined(separator: ",")] + rows.map { RunRow($0).summary }).joined(separator: "\n") + "\n"
        return TableReader(Array(text.utf8), columns: names).rows
    }
}

extension Comparison {
    /// The columns of `comparison.csv`. As in the tables of a run, order and names stay; new columns go last.
    package static let schema = TableSchema(
        "comparison", "One row per policy and metric, for each scenario and over all of them",
        [
            Column("scope", .string, "One scenario, or all with equal weights", choices: ["scenario", "pooled"]),
            Column("scenario", .string, "The scenario's name; empty over all of them", optional: true),
            Column("policy", .string, "The policy's label: its name, or its file's"),
            Column(
                "role", .string, "baseline: the others are compared with it; candidate: one of these; yardstick: added",
                choices: ["baseline", "candidate", "yardstick"]),
            Column("metric", .string, "A column of summary.csv, or seconds_lost; its unit is that of all figures"),
            Column(
                "sense", .string, "Which direction of the metric is better", choices: ["lower", "higher", "neither"]),
            Column("runs", .integer, "Runs that have the metric"),
            Column("mean", .number, "The mean over these runs", optional: true, signed: true),
            Column("pairs", .integer, "Seeds for which both this policy and the baseline have the metric"),
            Column(
                "difference", .number, "The mean over the pairs of this policy minus the baseline", optional: true,
                signed: true),
            Column(
                "difference_low", .number, "The lower end of the difference's confidence interval", optional: true,
                signed: true),
            Column(
                "difference_high", .number, "The upper end of the difference's confidence interval", optional: true,
                signed: true),
            Column("pairs_better", .integer, "Pairs in which this policy was better", optional: true),
            Column("pairs_same", .integer, "Pairs in which both were the same", optional: true),
            Column("pairs_worse", .integer, "Pairs in which this policy was worse", optional: true),
            Column(
                "verdict", .string,
                "not_shown: the interval contains zero; identical: every pair is equal; too_few: no interval; "
                    + "same_under_every_seed: no seed changes user or difference, so there is no interval; "
                    + "not_comparable: the policy with the better latencies lost more launches",
                choices: PairedComparison.Verdict.allCases.map(\.rawValue)),
            Column(
                "regret_foresight", .number,
                "How much worse than foresight, the yardstick that knows the future; below zero when better",
                optional: true, signed: true),
            Column(
                "regret_best", .number,
                "How much worse than the best compared policy other than unbounded, chosen for each seed; for "
                    + "latencies, among the runs that lost the fewest launches",
                optional: true, signed: true),
        ])
}
