import Metrics
import Quantities

/// Some metrics of the runs of an experiment: eight bytes each, so that a sweep of many runs stays small.
public struct RunValues: Sendable {
    /// The metrics' names, each once.
    public let metrics: [String]
    private let plan: ExperimentPlan
    /// The positions of the metrics among the cells of `summary.csv`; nil for what the person lost.
    private let columns: [Int?]
    /// Indexed by metric, then by run; NaN if the run has no value.
    private var values: [[Double]]

    /// - Parameter metrics: Columns of `summary.csv`, or `seconds_lost`. Columns that count launches are added, lost
    ///   ones too: they tell whether runs are comparable and whether all seeds have the same user.
    public init(_ metrics: [String], of plan: ExperimentPlan) {
        let names = RunTables.summary.columns.map(\.name)
        var all: [String] = []
        for metric in metrics + MetricSense.launches where !all.contains(metric) { all.append(metric) }
        self.metrics = all
        self.plan = plan
        columns = all.map { metric in
            if metric == SummaryMetric.secondsLost.name { return nil }
            guard let column = names.firstIndex(of: metric) else { preconditionFailure("no metric \(metric)") }
            return column
        }
        values = all.map { _ in [Double](repeating: .nan, count: plan.count) }
    }

    /// Adds a run.
    ///
    /// - Parameters:
    ///   - summary: The cells of its row of `summary.csv`.
    ///   - lost: What the person lost; nil if that is not known.
    public mutating func add(_ index: Int, summary: [String], lost: TimeSpan? = nil) {
        for (place, column) in columns.enumerated() {
            let value = column.map { Double(summary[$0]) } ?? lost.map { Double($0.microseconds) / 1_000_000 }
            values[place][index] = value ?? .nan
        }
    }

    /// The values of a metric with one policy and one combination of settings, indexed by scenario, then by seed.
    func values(of metric: String, policy: Int, combination: Int) -> [[Double?]] {
        guard let place = metrics.firstIndex(of: metric) else { preconditionFailure("\(metric) was not kept") }
        return plan.scenarios.indices.map { scenario in
            let above = (scenario * plan.policies.count + policy) * plan.combinations.count + combination
            return plan.seeds.indices.map { seed in
                let value = values[place][above * plan.seeds.count + seed]
                return value.isNaN ? nil : value
            }
        }
    }
}
