extension SummaryMetric {
    /// What pressure cost the apps, and how many decisions there were.
    static let waiting: [SummaryMetric] = [
        SummaryMetric("warnings_answered", .integer, "Warnings after which the app freed something", better: .neither) {
            .count($0.warningsAnswered)
        },
        SummaryMetric("scenes_reconnected", .integer, "Disconnected scenes that connected again", better: .neither) {
            .count($0.scenesReconnected)
        },
        SummaryMetric(
            "bytes_purged", .integer, unit: .bytes, "Dirty pages given back to the device, by a purge or by decay",
            better: .neither
        ) {
            .bytes($0.bytesPurged)
        },
        SummaryMetric("stalls", .integer, "Times that an allocation found no room", better: .lower) {
            .count($0.stalls)
        },
        SummaryMetric(
            "stall_time_s", .number, unit: .seconds, "Time that processes waited for memory, summed", better: .lower
        ) {
            .seconds($0.stallTime)
        },
        SummaryMetric(
            "decisions", .integer,
            "Questions to the policy that it answered with a ranking, and demands for memory that it answered with "
                + "none. decisions.csv counts a repeated question without an answer once, and adds the monitor's own",
            better: .neither
        ) { .count($0.decisions) },
        SummaryMetric("actions_refused", .integer, "Actions that a limit refused", better: .neither) {
            .count($0.actionsRefused)
        },
        SummaryMetric("duration_s", .number, unit: .seconds, "Virtual time that was run", better: .neither) {
            .seconds($0.duration)
        },
    ]
}
