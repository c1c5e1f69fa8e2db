import Lifecycle
import Metrics
import Quantities

/// One row of `launches.csv`: a launch that is over.
struct LaunchRow {
    let launch: PendingLaunch
    let app: String
    let pid: ProcessID?
    /// When the first frame was active; nil if it never was.
    let ready: Instant?
    let outcome: LaunchOutcome

    var latency: TimeSpan? { ready.map { $0 - launch.tapped } }

    static let table = RowTable<LaunchRow>(
        "launches", "One row per launch by the user, when it is over",
        [
            .text("app", "The app's name") { $0.app },
            .choice(
                "kind",
                "cold: no process; warm: scene not connected, or an app without scenes was still being launched; "
                    + "hot: it was in memory"
            ) { $0.launch.kind },
            .seconds("tapped_s", "When the user tapped") { $0.launch.tapped },
            .optionalSeconds("ready_s", "When the first frame was active; empty if it never was") { $0.ready },
            .optionalMilliseconds("latency_ms", "From the tap to the first active frame") { $0.latency },
            .optionalInteger("pid", "The process number") { $0.pid?.number },
            .milliseconds("declared_ms", "Part of the latency: the app's declared costs") { $0.launch.declared },
            .milliseconds("fill_ms", "Part of the latency: filling pages at the device's rate") { $0.launch.fill },
            .milliseconds("memory_wait_ms", "Part of the latency: waiting for memory and reclaim") {
                $0.launch.memoryWait
            },
            .optionalMilliseconds(
                "cpu_wait_ms",
                "Part of the latency: waiting for a core, for earlier work of the app, or for the screen"
            ) { row in row.latency.map { $0 - row.launch.accounted } },
            .choice(
                "outcome",
                "ready; abandoned: the user wanted something else first, or the run was over; terminated: the process "
                    + "ended"
            ) { $0.outcome },
            .milliseconds("warning_ms", "Part of the latency: answering memory warnings that came meanwhile") {
                $0.launch.answers
            },
            .optionalChoice(
                "resumed_from",
                "Where the process was, if it lived (in Apple's words, a resume): memory; compressed and frozen are "
                    + "kept for devices with a compressor and a freezer. Empty for a cold launch"
            ) { $0.launch.kind.resumedFrom },
        ])
}
