extension SummaryMetric {
    /// What was run.
    static let identity: [SummaryMetric] = [
        SummaryMetric("scenario", .string, "The scenario's name", better: .neither) { .text($0.scenario) },
        SummaryMetric("policy", .string, "The reclaim policy's name", better: .neither) { .text($0.policy) },
        SummaryMetric("seed", .integer, "The seed that decided everything", better: .neither) { .number($0.seed) },
        SummaryMetric("ceiling_bytes", .integer, "The device's RAM", better: .neither) { .bytes($0.ceiling) },
        SummaryMetric(
            "peak_resident_bytes", .integer, "The largest resident figure, tracked at every hand-out of pages",
            better: .neither
        ) {
            .bytes($0.peakResident)
        },
    ]
}
