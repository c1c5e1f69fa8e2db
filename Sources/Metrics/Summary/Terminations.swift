extension SummaryMetric {
    /// What the user loses.
    static let lost = [
        SummaryMetric(
            "data_lost", .integer, "Processes that ended before they had saved their data", better: .lower
        ) { .count($0.dataLost) }
    ]

    /// Processes that the system ended. Excludes apps that the user quits and orderly ends, such as for an update.
    static let terminations: [SummaryMetric] = [
        SummaryMetric(
            "terminations", .integer,
            "Processes ended by the system, except by an orderly end such as for an update (terminate)",
            better: .lower
        ) { .count($0.terminations.count) },
        SummaryMetric("terminations_foreground", .integer, "Of these, those in the foreground", better: .lower) {
            .count($0.terminations.count(where: \.wasForeground))
        },
        SummaryMetric(
            "terminations_perceived", .integer, "Of these, those whose app was wanted again soon after", better: .lower
        ) {
            .count($0.terminations.count(where: \.wasPerceived))
        },
    ]
}
