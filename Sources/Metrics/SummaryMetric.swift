import Quantities

/// The value of a metric; `absent` is an empty cell, never a zero.
public enum MetricValue: Hashable, Sendable {
    case text(String)
    /// A whole number that counts nothing: a seed.
    case number(UInt64)
    case count(Int)
    case bytes(ByteCount)
    case milliseconds(TimeSpan)
    case seconds(TimeSpan)
    case ratio(Ratio)
    case absent

    /// For comparisons in expectations, in the unit of the metric's name.
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

    /// As in the CSV.
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

/// Which end of a metric is the good one for the person who holds the phone.
public enum MetricSense: String, Hashable, Sendable {
    case lower
    case higher
    /// Means to an end: warnings, suspensions, bytes.
    case neither

    /// How much worse `a` is than `b`; below zero when it is better. Nil without a good end.
    public func loss(of a: Double, against b: Double) -> Double? {
        switch self {
        case .lower: a - b
        case .higher: b - a
        case .neither: nil
        }
    }
}

/// One column of `summary.csv`: its name and unit, its meaning, and how it follows from the facts.
public struct SummaryMetric: Sendable {
    public let name: String
    public let type: ColumnType
    public let unit: ColumnUnit?
    public let meaning: String
    public let better: MetricSense
    public let isOptional: Bool
    public let value: @Sendable (RunTally) -> MetricValue

    public init(
        _ name: String, _ type: ColumnType, unit: ColumnUnit? = nil, _ meaning: String, better: MetricSense,
        optional: Bool = false,
        value: @escaping @Sendable (RunTally) -> MetricValue
    ) {
        self.name = name
        self.type = type
        self.unit = unit
        self.meaning = meaning
        self.better = better
        self.isOptional = optional
        self.value = value
    }
}

/// Every metric, in the order of the columns; new ones go last.
public enum SummaryMetrics {
    public static let all: [SummaryMetric] =
        SummaryMetric.identity + SummaryMetric.launches + SummaryMetric.terminations + SummaryMetric.reclaim
        + SummaryMetric.levels + SummaryMetric.waiting + SummaryMetric.launchShares + SummaryMetric.use
        + SummaryMetric.felt + SummaryMetric.lives

    public static func named(_ name: String) -> SummaryMetric? { all.first { $0.name == name } }
}

extension TableWriter {
    /// The one row of `summary.csv`.
    public func summaryRow(of tally: RunTally) {
        for metric in SummaryMetrics.all {
            switch metric.value(tally) {
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
        endRow()
    }
}
