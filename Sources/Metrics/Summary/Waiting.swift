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
            "bytes_purged", .integer, unit: .bytes, "Dirty pages given back by purging, decay included",
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
            "Times that the policy was asked and ranked a process, or was asked for memory and ranked none. Not the "
                + "number of decisions in decisions.csv, which has an unanswered question once, and the monitor's own",
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
