import Quantities

extension SummaryMetric {
    /// How many launches felt quick, and how many never finished.
    static let launchShares: [SummaryMetric] = [
        SummaryMetric(
            "launches_within_1s_ratio", .number, unit: .share, "Share of launches that are ready within a second",
            better: .higher,
            optional: true
        ) {
            tally in
            guard !tally.launches.isEmpty else { return .absent }
            return .ratio(tally.share(of: tally.launches.count { ($0.latency ?? .hours(1)) <= .seconds(1) }))
        },
        SummaryMetric("launches_unfinished", .integer, "Launches whose first frame never came", better: .lower) {
            .count($0.launches.count { $0.latency == nil })
        },
    ]
}
