import Lifecycle
import Quantities

extension SummaryMetric {
    /// Launches by kind and their latency: from the tap to the first active frame. Percentiles are nearest-rank over
    /// all launches that became ready.
    static let launches: [SummaryMetric] = [
        SummaryMetric("launches_hot", .integer, "Launches whose scene was in memory", better: .higher) {
            .count($0.count(of: .hot))
        },
        SummaryMetric(
            "launches_warm", .integer, "Launches whose process was in memory, but not their scene", better: .lower
        ) {
            .count($0.count(of: .warm))
        },
        SummaryMetric("launches_cold", .integer, "Launches without a process", better: .lower) {
            .count($0.count(of: .cold))
        },
        SummaryMetric(
            "hot_launch_ratio", .number, unit: .share, "Share of launches that are hot", better: .higher, optional: true
        ) {
            $0.launches.isEmpty ? .absent : .ratio($0.share(of: $0.count(of: .hot)))
        },
        percentile("p50", 500), percentile("p95", 950), percentile("p99", 990), percentile("max", 1000),
    ]

    private static func percentile(_ name: String, _ permille: Int) -> SummaryMetric {
        SummaryMetric(
            "launch_latency_\(name)_ms", .number, unit: .milliseconds, "Launch latency, \(name)", better: .lower,
            optional: true
        ) {
            $0.latency(permille: permille).map(MetricValue.milliseconds) ?? .absent
        }
    }
}

extension RunTally {
    func count(of kind: LaunchKind) -> Int { launches.count { $0.kind == kind } }

    func share(of count: Int) -> Ratio {
        Ratio(partsPerMillion: Int64(count) * 1_000_000 / Int64(max(1, launches.count)))
    }

    /// The latency's nearest-rank percentile, given in thousandths; nil when no launch became ready.
    func latency(permille: Int) -> TimeSpan? { nearestRank(launches.compactMap(\.latency), permille: permille) }
}

/// The nearest-rank percentile, given in thousandths; nil for an empty list.
func nearestRank(_ spans: [TimeSpan], permille: Int) -> TimeSpan? {
    let sorted = spans.sorted()
    guard !sorted.isEmpty else { return nil }
    return sorted[max(0, (sorted.count * permille + 999) / 1000 - 1)]
}
