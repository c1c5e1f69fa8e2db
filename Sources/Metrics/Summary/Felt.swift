extension SummaryMetric {
    /// What a person feels of the terminations: an app that vanishes in front of her, or has to be launched again when
    /// she wants it. Whoever lets an app fail for want of memory pays here what she saves elsewhere.
    static let felt: [SummaryMetric] = [
        SummaryMetric(
            "terminations_felt", .integer,
            "Processes ended by the system in the foreground, or wanted again soon after", better: .lower
        ) { .count($0.terminations.count { $0.wasForeground || $0.wasPerceived }) }
    ]
}
