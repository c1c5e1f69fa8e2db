extension SummaryMetric {
    /// The terminations that the user feels: an app vanishes while in use, or must be launched again when the user
    /// wants it. A policy may improve other figures by letting an app run out of memory; that termination counts
    /// here.
    static let felt: [SummaryMetric] = [
        SummaryMetric(
            "terminations_felt", .integer,
            "Processes ended by the system in the foreground, or wanted again soon after", better: .lower
        ) { .count($0.terminations.count(where: \.isFelt)) }
    ]
}
