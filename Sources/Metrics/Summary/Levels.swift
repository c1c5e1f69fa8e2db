extension SummaryMetric {
    /// Virtual time at each level.
    static let levels: [SummaryMetric] = [
        SummaryMetric("time_normal_s", .number, unit: .seconds, "Time at the normal level", better: .higher) {
            .seconds($0.levels.normal)
        },
        SummaryMetric("time_warning_s", .number, unit: .seconds, "Time at the warning level", better: .lower) {
            .seconds($0.levels.warning)
        },
        SummaryMetric("time_critical_s", .number, unit: .seconds, "Time at the critical level", better: .lower) {
            .seconds($0.levels.critical)
        },
    ]
}
