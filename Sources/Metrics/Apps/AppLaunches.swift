import Lifecycle
import Quantities

extension AppMetric {
    /// The app's launches by kind and their latency, as in `summary.csv`.
    static let launches: [AppMetric] = [
        count("launches_hot", "Launches whose scene was in memory") { $0.launches.count(of: .hot) },
        count("launches_warm", "Launches whose process was in memory, but not their scene") {
            $0.launches.count(of: .warm)
        },
        count("launches_cold", "Launches without a process") { $0.launches.count(of: .cold) },
        count("launches_unfinished", "Launches whose first frame never came") {
            $0.launches.count { $0.latency == nil }
        },
        count("launches_by_system", "Processes that the system launched off screen, for a push or a refresh") {
            $0.tally.launchesBySystem
        },
        percentile("p50", 500), percentile("p95", 950), percentile("p99", 990), percentile("max", 1000),
    ]

    private static func percentile(_ name: String, _ permille: Int) -> AppMetric {
        AppMetric(
            "launch_latency_\(name)_ms", .number, unit: .milliseconds, "Launch latency, \(name)", optional: true
        ) {
            nearestRank($0.launches.compactMap(\.latency), permille: permille).map(MetricValue.milliseconds) ?? .absent
        }
    }
}

extension [RunTally.LaunchFact] {
    fileprivate func count(of kind: LaunchKind) -> Int { count { $0.kind == kind } }
}
