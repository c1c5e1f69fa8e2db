import Metrics

extension MetricSense {
    /// The metric of launches whose first frame never came, which the latencies leave out.
    public static let lostLaunches = "launches_unfinished"

    /// The columns whose sum is the number of launches by the user.
    public static let launches = ["launches_hot", "launches_warm", "launches_cold", lostLaunches]

    /// Whether a metric covers only finished launches. Such a metric makes a policy look fast if it loses the slow
    /// launches.
    public static func isOfLaunchesThatCame(_ name: String) -> Bool { SummaryMetrics.named(name)?.leavesOut != nil }

    /// The metrics that an experiment shows by default. Latencies cover only launches that reached their first frame,
    /// so the number of lost launches is shown beside them.
    public static let usual = [
        "launch_latency_p50_ms", "launch_latency_p95_ms", lostLaunches, "hot_launch_ratio", "terminations",
        "terminations_felt", "terminations_perceived", "terminations_foreground", "stall_time_s", "time_critical_s",
    ]

    /// The metrics that a comparison of policies shows by default.
    package static let ofComparison = [SummaryMetric.secondsLost.name] + usual

    /// Of them, those in its short table: what a person notices of a policy.
    package static let short = [
        SummaryMetric.secondsLost.name, "hot_launch_ratio", "terminations", "terminations_felt",
    ]

    /// The sense of a column of `summary.csv`, or of `seconds_lost`; `neither` for an unknown name.
    public init(ofMetric name: String) {
        let lost = SummaryMetric.secondsLost
        self = name == lost.name ? lost.better : SummaryMetrics.named(name)?.better ?? .neither
    }
}
