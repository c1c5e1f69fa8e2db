import Metrics

extension MetricSense {
    /// Launches whose first frame never came: what the latencies say nothing of.
    public static let lostLaunches = "launches_unfinished"

    /// The columns whose sum is how often the user launched anything.
    public static let launches = ["launches_hot", "launches_warm", "launches_cold", lostLaunches]

    /// Whether a metric is about the launches that came alone, so that whoever loses the slow ones looks fast.
    public static func isOfLaunchesThatCame(_ name: String) -> Bool { name.hasPrefix("launch_latency_") }

    /// What a comparison shows when nobody chooses. Latencies are of the launches that came to their first frame, so
    /// the number of the others stands beside them.
    public static let usual = [
        "launch_latency_p50_ms", "launch_latency_p95_ms", lostLaunches, "hot_launch_ratio", "terminations",
        "terminations_felt", "terminations_perceived", "terminations_foreground", "stall_time_s", "time_critical_s",
    ]

    /// That of a column of `summary.csv`.
    public init(ofMetric name: String) { self = SummaryMetrics.named(name)?.better ?? .neither }
}
