extension SummaryMetric {
    /// Processes that the system ended. An app that the user quits does not count, nor does an orderly end.
    static let terminations: [SummaryMetric] = [
        SummaryMetric(
            "terminations", .integer,
            "Processes ended by the system; not those that it ends in good order, as for an update (terminate)",
            better: .lower
        ) { .count($0.terminations.count) },
        SummaryMetric("terminations_foreground", .integer, "Of these, in the foreground", better: .lower) {
            .count($0.terminations.count(where: \.wasForeground))
        },
        SummaryMetric(
            "terminations_perceived", .integer, "Of these, the app was wanted again soon after", better: .lower
        ) {
            .count($0.terminations.count(where: \.wasPerceived))
        },
    ]
}
