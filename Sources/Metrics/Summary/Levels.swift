extension SummaryMetric {
    /// Virtual time at each level.
    static let levels: [SummaryMetric] = [
        SummaryMetric("time_normal_s", .number, "Time at the normal level", better: .higher) {
            .seconds($0.timeNormal)
        },
        SummaryMetric("time_warning_s", .number, "Time at the warning level", better: .lower) {
            .seconds($0.timeWarning)
        },
        SummaryMetric("time_critical_s", .number, "Time at the critical level", better: .lower) {
            .seconds($0.timeCritical)
        },
    ]
}
