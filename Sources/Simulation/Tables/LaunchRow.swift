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
                "cold: no process, or only a prewarmed one; warm: scene not connected, or an app without scenes was "
                    + "still being launched; hot: it was in memory"
            ) { $0.launch.kind },
            .seconds("tapped_s", "When the user tapped") { $0.launch.tapped },
            .optionalSeconds("ready_s", "When the first frame was active; empty if it never was") { $0.ready },
            .optionalMilliseconds("latency_ms", "From the tap to the first active frame") { $0.latency },
            .optionalInteger("pid", "The process number") { $0.pid?.number },
            .milliseconds("declared_ms", "Part of the latency: the app's own costs as drawn, on a core") {
                $0.launch.parts.declared
            },
            .milliseconds("fill_ms", "Part of the latency: filling pages, on a core") { $0.launch.parts.fill },
            .milliseconds("memory_wait_ms", "Part of the latency: waiting for memory and reclaim") {
                $0.launch.parts.memoryWait
            },
            .milliseconds("cpu_wait_ms", "Part of the latency: waiting for a core") { $0.launch.parts.coreWait },
            .choice(
                "outcome",
                "ready; abandoned: the user wanted something else first, or the run was over; terminated: the process "
                    + "ended"
            ) { $0.outcome },
            .milliseconds("warning_ms", "Part of the latency: answering memory warnings that came meanwhile") {
                $0.launch.parts.answers
            },
            .optionalChoice(
                "resumed_from",
                "Where the process was, if it lived (in Apple's words, a resume): memory; compressed if the "
                    + "compressor held most of it; frozen if most of it was compressed or on flash, and a part on "
                    + "flash. prewarmed: a cold launch that the system had begun. Empty for any other cold launch"
            ) { $0.launch.resumedFrom },
            .milliseconds(
                "earlier_work_ms",
                "Part of the latency: work that the app had begun before the tap, or an old process that had to end "
                    + "first"
            ) { $0.launch.parts.earlierWork },
            .milliseconds(
                "screen_wait_ms",
                "Part of the latency: waiting for the screen while another app left it, or while something covered it"
            ) { $0.launch.parts.screenWait },
        ])
}
