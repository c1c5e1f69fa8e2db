/// The CSV files of a run directory. Order and names of columns are a contract; new columns go last.
public enum RunTables {
    public static let samples = TableSchema(
        "samples", "One row per monitor sample of the device", key: ["time_s"],
        [
            Column("time_s", .number, "Virtual time since the start of the run"),
            Column("ceiling_bytes", .integer, "The device's RAM: not one page beyond it is handed out"),
            Column("resident_bytes", .integer, "Pages handed out to processes plus what the system keeps for itself"),
            Column("active_bytes", .integer, "Pages in use by processes (jemalloc's pactive)"),
            Column("dirty_bytes", .integer, "Unused pages not yet given back by processes (jemalloc's pdirty)"),
            Column(
                "metadata_bytes", .integer,
                "jemalloc's bookkeeping for the processes' arenas, outside the ceiling; as of the last audit"),
            Column("available_bytes", .integer, "The ceiling minus resident_bytes"),
            Column("pressure_level", .string, "The monitor's level", choices: ["normal", "warning", "critical"]),
            Column("processes", .integer, "Live processes"),
            Column("scenes_connected", .integer, "Scenes that are not unattached"),
            Column("apps_foreground", .integer, "Processes that are active or inactive"),
            Column("apps_background", .integer, "Processes that run off screen"),
            Column("apps_suspended", .integer, "Processes in memory that run no code"),
            Column("reserved_bytes", .integer, "What the system keeps for itself; part of resident_bytes"),
            Column(
                "peak_resident_bytes", .integer, "The largest resident_bytes so far, tracked at every hand-out of pages"
            ),
        ] + stallColumns)

    /// Pressure stall information, over three spans of time.
    private static var stallColumns: [Column] {
        let kinds = [("some", "a process waited"), ("full", "whoever could run waited")]
        return kinds.flatMap { kind, what in
            [10, 60, 300].map { seconds in
                Column(
                    "psi_\(kind)_avg\(seconds)", .number,
                    "Share of time in which \(what) for memory, averaged over \(seconds) s")
            }
        }
    }

    public static let apps = TableSchema(
        "apps", "One row per process and sample, in the order of process numbers", key: ["time_s", "pid"],
        references: [ForeignKey(["time_s"], in: "samples")],
        [
            Column("time_s", .number, "Virtual time since the start of the run"),
            Column("app", .string, "The app's name"),
            Column("pid", .integer, "The process number; never used twice in a run"),
            Column(
                "state", .string, "The process's state in UIKit's words",
                choices: ["notRunning", "inactive", "active", "background", "suspended"]),
            Column("band", .integer, "jetsam's priority band, scale of iOS 16 and later"),
            Column("footprint_bytes", .integer, "Pages that the process's arena holds: active plus dirty"),
            Column("active_bytes", .integer, "Pages in use"),
            Column("dirty_bytes", .integer, "Unused pages not yet given back"),
            Column("requested_bytes", .integer, "What the app asked for"),
            Column("usable_bytes", .integer, "The size classes that it got (jemalloc's allocated)"),
            Column("cache_bytes", .integer, "Requested bytes in the cache pool"),
            Column("objects", .integer, "Live objects"),
            Column(
                "metadata_bytes", .integer,
                "jemalloc's bookkeeping for the process's arena, outside the ceiling; as of the last audit"),
        ])

    public static let events = TableSchema(
        "events", "One row per life-cycle event, callback, notification, warning and action, in the order of time",
        [
            Column("time_s", .number, "Virtual time since the start of the run"),
            Column("event", .string, "The kind of event", choices: EventKind.allCases.map(\.rawValue)),
            Column("app", .string, "The app's name", optional: true),
            Column("pid", .integer, "The process number", optional: true),
            Column("scene", .integer, "The scene's number within its app", optional: true),
            Column("detail", .string, "What it was: a state, a callback, a notification, an action, a reason"),
            Column("reason", .string, "Why, where there is a why", optional: true),
        ])

    public static let launches = TableSchema(
        "launches", "One row per launch by the user, when it is over",
        [
            Column("app", .string, "The app's name"),
            Column(
                "kind", .string,
                "cold: no process; warm: the scene was unattached, or an app without scenes was still being launched; "
                    + "hot: it was in memory",
                choices: ["cold", "warm", "hot"]),
            Column("tapped_s", .number, "When the user tapped"),
            Column("ready_s", .number, "When the first frame was active; empty if it never was", optional: true),
            Column("latency_ms", .number, "From the tap to the first active frame", optional: true),
            Column("pid", .integer, "The process number", optional: true),
            Column("declared_ms", .number, "Of the latency: the app's declared costs"),
            Column("fill_ms", .number, "Of the latency: filling pages at the device's rate"),
            Column("memory_wait_ms", .number, "Of the latency: waiting for memory and reclaim"),
            Column(
                "cpu_wait_ms", .number,
                "Of the latency: waiting for a core, for earlier work of the app, or for the screen",
                optional: true),
            Column(
                "outcome", .string,
                "ready; abandoned: the user wanted something else first, or the run was over; terminated: the process "
                    + "ended",
                choices: ["ready", "abandoned", "terminated"]),
            Column("warning_ms", .number, "Of the latency: answering memory warnings that came meanwhile"),
        ])

    public static let decisions = TableSchema(
        "decisions", "One row per candidate of a decision, those spared included",
        [
            Column("time_s", .number, "Virtual time since the start of the run"),
            Column(
                "decision", .integer,
                "The decision's number, from 1. The monitor's own, such as warnings, are numbered, too; a question "
                    + "that is repeated without an answer has no rows"),
            Column(
                "action", .string, "What would be done; empty for a process that the policy spared",
                optional: true,
                choices: ["warn", "purge", "suspend", "disconnect_scene", "terminate", "terminate_politely"]
            ),
            Column("app", .string, "The app's name", optional: true),
            Column("pid", .integer, "The process number", optional: true),
            Column("rank", .integer, "From 1, the policy's first choice; empty for a spared one", optional: true),
            Column(
                "chosen", .boolean,
                "Whether it was carried out; in a dry run (dry_run in manifest.json), whether it would have been"),
            Column("reason", .string, "Why it is a candidate, was spared, or was refused by a limit"),
            Column(
                "observed", .integer,
                "The observed value of the decision's measure, in its unit",
                optional: true, signed: true),
            Column(
                "threshold", .integer, "The threshold that it is compared with, in the same unit", optional: true,
                signed: true),
            Column("demand", .string, "What the policy was asked for"),
            Column("scene", .integer, "The scene's number, where the action is about one", optional: true),
            Column(
                "score", .integer,
                "What the ranking compared; larger goes first within a rung, tier or step of the policy",
                optional: true, signed: true),
            Column("measure", .string, "What observed and threshold measure, its unit last"),
            Column("band", .integer, "jetsam's priority band of the process", optional: true),
            Column("cause", .string, "The kill's cause in the kernel's words, where there is one", optional: true),
        ])

    /// One row, every metric.
    public static let summary = TableSchema(
        "summary", "One row: every metric of the run", key: ["scenario", "policy", "seed"],
        SummaryMetrics.all.map { Column($0.name, $0.type, $0.meaning, optional: $0.isOptional) })

    public static let all: [TableSchema] = [samples, apps, events, launches, decisions, summary]
}

/// The values of `events.csv`'s column `event`.
public enum EventKind: String, CaseIterable, Sendable {
    case user
    case processState = "process_state"
    case sceneState = "scene_state"
    case callback
    case notification
    case pressureLevel = "pressure_level"
    case warning
    case warningAnswered = "warning_answered"
    /// A process has crossed a soft limit of its own while it was answering a warning: it is not told once more.
    case softLimit = "soft_limit"
    case action
    case refused
    case stall
    case firstFrame = "first_frame"
    case exit
    /// A process is created: to the foreground or to the background.
    case launch
    /// Shown until the first frame.
    case launchScreen = "launch_screen"
    /// The system keeps a picture of a scene that has left the screen.
    case snapshot
    /// What the system woke the app for.
    case backgroundEvent = "background_event"
    /// A background task begins, expires or ends.
    case backgroundTask = "background_task"
    /// Work that was moved off the main thread is done.
    case deferredWork = "deferred_work"
    /// The state of all processes before the first kill of a session.
    case report
    /// An app's allocation trace is over.
    case trace
}
