/// Which end of a metric is the good one for the person who holds the phone.
public enum MetricSense: String, Hashable, Sendable {
    case lower
    case higher
    /// Means to an end: warnings, suspensions, bytes.
    case neither

    private static let lowerIsBetter: Set<String> = [
        "launches_warm", "launches_cold", "launch_latency_p50_ms", "launch_latency_p95_ms", "launch_latency_p99_ms",
        "launch_latency_max_ms", lostLaunches, "terminations", "terminations_foreground",
        "terminations_perceived", "terminations_felt", "time_warning_s", "time_critical_s", "stalls", "stall_time_s",
    ]
    private static let higherIsBetter: Set<String> = [
        "launches_hot", "hot_launch_ratio", "launches_within_1s_ratio", "time_normal_s",
    ]

    /// Launches whose first frame never came: what the latencies say nothing of.
    public static let lostLaunches = "launches_unfinished"

    /// Whether a metric is about the launches that came alone, so that whoever loses the slow ones looks fast.
    public static func isOfLaunchesThatCame(_ name: String) -> Bool { name.hasPrefix("launch_latency_") }

    /// Every name that has a good end.
    public static var known: [String] { (lowerIsBetter.union(higherIsBetter)).sorted() }

    /// What a comparison shows when nobody chooses. Latencies are of the launches that came to their first frame, so
    /// the number of the others stands beside them.
    public static let usual = [
        "launch_latency_p50_ms", "launch_latency_p95_ms", lostLaunches, "hot_launch_ratio", "terminations",
        "terminations_felt", "terminations_perceived", "terminations_foreground", "stall_time_s", "time_critical_s",
    ]

    public init(ofMetric name: String) {
        self =
            if MetricSense.lowerIsBetter.contains(name) {
                .lower
            } else if MetricSense.higherIsBetter.contains(name) {
                .higher
            } else {
                .neither
            }
    }

    /// How much worse `a` is than `b`; below zero when it is better. Nil without a good end.
    public func loss(of a: Double, against b: Double) -> Double? {
        switch self {
        case .lower: a - b
        case .higher: b - a
        case .neither: nil
        }
    }
}
