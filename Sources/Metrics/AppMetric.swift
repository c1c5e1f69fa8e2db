import Quantities

/// One column of `app_summary.csv`, and how it is computed from an app's facts.
public struct AppMetric: Sendable {
    /// The column's entry in the table's schema.
    public let column: Column
    /// Computes the value of an app.
    public let value: @Sendable (AppFacts) -> MetricValue

    /// The column's name; its unit is the last word.
    public var name: String { column.name }

    /// A metric. Only if it is optional may its value be absent.
    public init(
        _ name: String, _ type: ColumnType, unit: ColumnUnit? = nil, _ meaning: String, optional: Bool = false,
        value: @escaping @Sendable (AppFacts) -> MetricValue
    ) {
        column = Column(name, type, unit: unit, meaning, optional: optional)
        self.value = value
    }

    static func count(_ name: String, _ meaning: String, _ value: @escaping @Sendable (AppFacts) -> Int) -> AppMetric {
        AppMetric(name, .integer, meaning) { .count(value($0)) }
    }

    static func seconds(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (AppFacts) -> TimeSpan
    ) -> AppMetric {
        AppMetric(name, .number, unit: .seconds, meaning) { .seconds(value($0)) }
    }

    static func bytes(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (AppFacts) -> ByteCount
    ) -> AppMetric {
        AppMetric(name, .integer, unit: .bytes, meaning) { .bytes(value($0)) }
    }
}

/// The metrics of each app, in the order of the columns; new ones go last.
public enum AppMetrics {
    /// All metrics, in the order of the columns of `app_summary.csv`.
    public static let all: [AppMetric] =
        [AppMetric("app", .string, "The app's name") { .text($0.tally.name) }]
        + AppMetric.launches + AppMetric.terminations + AppMetric.ends + AppMetric.processes + AppMetric.states
        + AppMetric.reclaim + AppMetric.paid + AppMetric.lost + AppMetric.paidOffScreen

    /// The metrics that a scenario's expectation can compare: those that are numbers.
    public static let comparable = all.filter { $0.column.type != .string }

    /// The metric of that name; nil if there is none.
    public static func named(_ name: String) -> AppMetric? { all.first { $0.name == name } }
}

extension TableWriter {
    /// The rows of `app_summary.csv`.
    public func appSummaryRows(of tally: RunTally) {
        guard isRead else {
            for _ in tally.apps { skipRow() }
            return
        }
        for facts in tally.appFacts {
            for metric in AppMetrics.all { cell(metric.value(facts)) }
            endRow()
        }
    }
}
