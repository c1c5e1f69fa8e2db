extension SummaryMetric {
    /// What the monitor and the policy did.
    static let reclaim: [SummaryMetric] = [
        SummaryMetric("warnings", .integer, "Memory warnings sent", better: .neither) { .count($0.warnings) },
        SummaryMetric("suspensions", .integer, "Times that a process was suspended", better: .neither) {
            .count($0.suspensions)
        },
        SummaryMetric("scenes_disconnected", .integer, "Scenes that the system disconnected", better: .neither) {
            .count($0.scenesDisconnected)
        },
        SummaryMetric(
            "bytes_reclaimed", .integer, unit: .bytes, "What reclaim actions gave back to the device", better: .neither
        ) {
            .bytes($0.bytesReclaimed)
        },
    ]
}
