@testable import Metrics

extension SummaryMetric {
    static let reopenings: [SummaryMetric] = [
        SummaryMetric("reopenings", .integer, "Launches of apps that were launched before", better: .neither) { tally in
            .count(tally.launches.count - Set(tally.launches.map(\.app)).count)
        }
    ]
}
