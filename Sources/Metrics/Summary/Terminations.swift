extension SummaryMetric {
    /// Processes that the system ended; the user's own quitting does not count.
    static let terminations: [SummaryMetric] = [
        SummaryMetric("terminations", .integer, "Processes ended by the system") { .count($0.terminations.count) },
        SummaryMetric("terminations_foreground", .integer, "Of these, in the foreground") {
            .count($0.terminations.count(where: \.wasForeground))
        },
        SummaryMetric("terminations_perceived", .integer, "Of these, the app was wanted again soon after") {
            .count($0.terminations.count(where: \.wasPerceived))
        },
    ]
}
