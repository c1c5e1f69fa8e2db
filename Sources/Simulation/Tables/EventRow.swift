import Lifecycle
import Metrics
import Quantities

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
    /// A process crossed a soft limit of its own while it was answering a warning, so it is not warned again.
    case softLimit = "soft_limit"
    case action
    case refused
    case stall
    case firstFrame = "first_frame"
    case exit
    /// A process ends before it has saved its data.
    case dataLost = "data_lost"
    /// A process is created, to run in the foreground or in the background.
    case launch
    /// The launch screen is shown until the first frame.
    case launchScreen = "launch_screen"
    /// The system keeps a picture of a scene that has left the screen.
    case snapshot
    /// The event that the system woke the app for arrives.
    case backgroundEvent = "background_event"
    /// A background task begins, expires or ends.
    case backgroundTask = "background_task"
    /// What the app does inside a callback; only with `metrics.duties`.
    case duty
    /// A window is visible or hidden, or its view appears; only with `metrics.duties`.
    case window
    /// Work that was moved off the main thread is done.
    case deferredWork = "deferred_work"
    /// The state of all processes before the first kill of a session.
    case report
    /// An app's allocation trace is over.
    case trace
    /// The freezer has moved a process's pages to flash, or leaves it alone for the reason given.
    case freeze
    /// A frozen process runs again, or a policy brings it back into memory.
    case thaw
    /// A frozen process has lost its place in band 75.
    case demote
    /// Something fails because the scenario says so: a sample or a warning of the monitor, or a process by itself.
    case fault
}

/// One row of `events.csv`.
struct EventRow {
    let at: Instant
    let kind: EventKind
    let app: String?
    let pid: ProcessID?
    let scene: SceneID?
    let detail: String
    let reason: String?
    let fact: EventFact
    /// Of a callback: how long it took; nil if its process ended first.
    var duration: TimeSpan?

    static let table = RowTable<EventRow>(
        "events",
        "One row per life-cycle event, callback, notification, warning and action, in the order of time; the row of a "
            + "callback is its beginning",
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .choice("event", "The kind of event") { $0.kind },
            .optionalText("app", "The app's name") { $0.app },
            .optionalInteger("pid", "The process number") { $0.pid?.number },
            .optionalInteger("scene", "The scene's number within its app") { $0.scene?.number },
            .text("detail", "For people: the state, callback, notification, action or reason") {
                $0.detail
            },
            .optionalText("reason", "For people: why it happened; empty if there is no reason") { $0.reason },
            .optionalText("state", "The state that the process or the scene enters", choices: EventFact.states) {
                $0.fact.state
            },
            .optionalChoice(
                "level",
                "The monitor's level: the new one for a change, the one in force for a warning; empty for a warning "
                    + "about the process's own limit"
            ) { $0.fact.level },
            .optionalChoice("action", "What the policy has done to the process") { $0.fact.action },
            .optionalChoice("exit_reason", "Why the process ended, in the words of exit reasons") { $0.fact.exit },
            .optionalText(
                "cause",
                "For an action or exit chosen by a policy or a limit: the kill's cause in the kernel's words. For a "
                    + "stall, or an exit for lack of room: no_room, fragmented, kept_back. For a warning: level, "
                    + "near_limit, limit, policy",
                choices: EventCause.names
            ) { $0.fact.cause?.name },
            .optionalText("measure", "What observed and threshold measure, its unit last") {
                $0.fact.comparison?.measure
            },
            .amount("observed", "The observed value of the measure, in its unit") { $0.fact.comparison?.observed },
            .amount("threshold", "What it was compared with, in the same unit") { $0.fact.comparison?.threshold },
            .optionalMilliseconds(
                "duration_ms",
                "Of a callback: how long the main thread was busy with it, waiting included; empty if the process "
                    + "ended first"
            ) { $0.duration },
        ])
}
