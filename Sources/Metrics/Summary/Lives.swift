import Quantities

extension SummaryMetric {
    /// How many apps the device kept alive, and how long reclaiming took.
    static let lives: [SummaryMetric] = [
        SummaryMetric("processes_mean", .number, "Live processes, mean over the run", better: .neither, optional: true)
        { tally in
            guard tally.duration > .zero else { return .absent }
            return .ratio(
                Ratio(
                    partsPerMillion: scaled(
                        tally.lives.time.microseconds, by: 1_000_000, over: tally.duration.microseconds)))
        },
        SummaryMetric(
            "processes_min", .integer, "Fewest live processes right after a termination by the system",
            better: .neither, optional: true
        ) { $0.lives.fewest.map(MetricValue.count) ?? .absent },
        SummaryMetric(
            "suspended_time_s", .number, unit: .seconds, "Time that processes were suspended, summed", better: .neither
        ) {
            .seconds($0.lives.suspended)
        },
        SummaryMetric(
            "warning_lead_p50_s", .number, unit: .seconds,
            "From its last memory warning to a process's termination by the system, median of those warned",
            better: .neither,
            optional: true
        ) { nearestRank($0.warningLeads, permille: 500).map(MetricValue.seconds) ?? .absent },
        SummaryMetric(
            "reclaim_actions", .integer, "Reclaim actions that were carried out to their end", better: .neither
        ) {
            .count($0.reclaimTimes.count)
        },
        reclaimLatency("p50", 500), reclaimLatency("p95", 950),
    ]

    private static func reclaimLatency(_ name: String, _ permille: Int) -> SummaryMetric {
        SummaryMetric(
            "reclaim_latency_\(name)_ms", .number, unit: .milliseconds,
            "From a reclaim action's choice to its end, \(name)",
            better: .neither, optional: true
        ) { nearestRank($0.reclaimTimes, permille: permille).map(MetricValue.milliseconds) ?? .absent }
    }
}
