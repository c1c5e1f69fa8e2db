import Quantities

/// The value of a metric; `absent` is an empty cell, never a zero.
public enum MetricValue: Hashable, Sendable {
    case text(String)
    /// A whole number that is not a count: a seed.
    case number(UInt64)
    case count(Int)
    case bytes(ByteCount)
    case milliseconds(TimeSpan)
    case seconds(TimeSpan)
    case ratio(Ratio)
    case absent

    /// The value in the unit of the metric's name, for comparisons in expectations; nil for texts and absent values.
    public var number: Double? {
        switch self {
        case .text, .absent: nil
        case .number(let value): Double(value)
        case .count(let value): Double(value)
        case .bytes(let value): Double(value.bytes)
        case .milliseconds(let value): Double(value.microseconds) / 1_000
        case .seconds(let value): Double(value.microseconds) / 1_000_000
        case .ratio(let value): Double(value.partsPerMillion) / 1_000_000
        }
    }

    /// The value as the CSV shows it.
    public var text: String {
        switch self {
        case .text(let value): value
        case .absent: ""
        case .number(let value): "\(value)"
        case .count(let value): "\(value)"
        case .bytes(let value): "\(value.bytes)"
        case .milliseconds(let value): decimalText(value.microseconds, digits: 3)
        case .seconds(let value): decimalText(value.microseconds, digits: 6)
        case .ratio(let value): decimalText(value.partsPerMillion, digits: 6)
        }
    }
}

/// Whether lower or higher values of a metric are better for the user.
public enum MetricSense: String, Hashable, Sendable {
    case lower
    case higher
    /// Neither is better: warnings, suspensions, bytes.
    case neither

    /// How much worse `a` is than `b`, negative when it is better; nil for `neither`.
    public func loss(of a: Double, against b: Double) -> Double? {
        switch self {
        case .lower: a - b
        case .higher: b - a
        case .neither: nil
        }
    }
}

/// One column of `summary.csv`: its name, unit and meaning, and how it is computed from a run's facts.
public struct SummaryMetric: Sendable {
    /// The column's name; its unit is the last word.
    public let name: String
    /// The type of the column's values.
    public let type: ColumnType
    /// The unit; nil for counts and names.
    public let unit: ColumnUnit?
    /// What the metric says, for `datapackage.json`.
    public let meaning: String
    /// What people call it; nil for the name, or for that in `SummaryMetrics.compared`.
    public let title: String?
    /// Whether lower or higher values are better.
    public let better: MetricSense
    /// Whether the value may be absent.
    public let isOptional: Bool
    /// The metric that counts the launches that this one leaves out: those whose first frame never came. Such a metric
    /// makes a policy look fast if it loses the slow launches. Nil if nothing is left out.
    public var leavesOut: String? { name.hasPrefix("launch_latency_") ? "launches_unfinished" : nil }
    /// Computes the value from a run's facts.
    public let value: @Sendable (RunTally) -> MetricValue

    /// A metric. Only if it is optional may its value be absent.
    public init(
        _ name: String, _ type: ColumnType, unit: ColumnUnit? = nil, _ meaning: String, title: String? = nil,
        better: MetricSense, optional: Bool = false,
        value: @escaping @Sendable (RunTally) -> MetricValue
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.meaning = meaning
        self.title = title
        self.better = better
        self.isOptional = optional
        self.value = value
    }
}

/// Every metric, in the order of the columns; new ones go last.
public enum SummaryMetrics {
    /// All metrics, in the order of the columns of `summary.csv`.
    public static let all: [SummaryMetric] =
        SummaryMetric.identity + SummaryMetric.launches + SummaryMetric.terminations + SummaryMetric.reclaim
        + SummaryMetric.levels + SummaryMetric.waiting + SummaryMetric.launchShares + SummaryMetric.use
        + SummaryMetric.felt + SummaryMetric.lives + SummaryMetric.lost + SummaryMetric.cpu

    /// The metrics that a page shows of several runs, in its order: what people call them, and whether pictures show
    /// them, too.
    public static let compared: [(name: String, title: String, isDrawn: Bool)] = [
        ("launch_latency_p50_ms", "launch p50", false),
        ("launch_latency_p95_ms", "launch p95", true),
        ("launch_latency_max_ms", "launch max", false),
        ("launches_unfinished", "launches lost", true),
        ("hot_launch_ratio", "hot launches", true),
        ("terminations", "terminations", true),
        ("terminations_felt", "felt", true),
        ("terminations_perceived", "perceived", false),
        ("terminations_foreground", "in the foreground", false),
        ("warnings", "warnings", false),
        ("scenes_disconnected", "scenes disconnected", false),
        ("bytes_reclaimed", "reclaimed", false),
        ("time_critical_s", "time critical", true),
        ("stall_time_s", "time stalled", false),
        ("peak_resident_bytes", "peak", false),
    ]

    /// The metric of that name; nil if there is none.
    public static func named(_ name: String) -> SummaryMetric? { all.first { $0.name == name } }
}

extension TableWriter {
    /// The one row of `summary.csv`.
    public func summaryRow(of tally: RunTally) {
        for metric in SummaryMetrics.all { cell(metric.value(tally)) }
        endRow()
    }

    /// A metric's cell.
    func cell(_ value: MetricValue) {
        switch value {
        case .text(let value): text(value)
        case .number(let value): text(String(value))
        case .count(let value): integer(value)
        case .bytes(let value): bytes(value)
        case .milliseconds(let value): milliseconds(value)
        case .seconds(let value): seconds(value)
        case .ratio(let value): ratio(value)
        case .absent: empty()
        }
    }
}
