extension SummaryMetric {
    /// What was run.
    static let identity: [SummaryMetric] = [
        SummaryMetric("scenario", .string, "The scenario's name", better: .neither) { .text($0.run.scenario) },
        SummaryMetric("policy", .string, "The reclaim policy's name", better: .neither) { .text($0.run.policy) },
        SummaryMetric("seed", .integer, "The seed of all random draws", better: .neither) { .number($0.run.seed) },
        SummaryMetric("ceiling_bytes", .integer, unit: .bytes, "The device's RAM", better: .neither) {
            .bytes($0.run.ceiling)
        },
        SummaryMetric(
            "peak_resident_bytes", .integer, unit: .bytes,
            "The largest resident figure, tracked at every hand-out of pages",
            better: .neither
        ) {
            .bytes($0.peakResident)
        },
    ]
}
