import Lifecycle
import Quantities
import Workload

/// One entry of what the user and the system do, as a scenario writes it. It stands for one event or for many; only the
/// run expands it into events (`RunPlan.expandedUser`).
public enum UserEntry: Hashable, Sendable {
    /// One event.
    case once(UserAction, at: Instant)
    /// The same event at several instants.
    case repeated(UserAction, Repetition)
    /// A modelled user with a seed uses the phone.
    case model(UserModel, from: Instant, until: Instant)
}

/// Instants at equal distances, at least one.
public struct Repetition: Hashable, Sendable {
    /// The distance; above zero.
    public let every: TimeSpan
    /// The first instant.
    public let from: Instant
    /// The end, not before `from`. The last instant is at it or less than `every` before it.
    public let to: Instant

    /// Instants from `from` to `to`. A distance of zero, or an end before the start, is a programming error.
    public init(every: TimeSpan, from: Instant, to: Instant) {
        precondition(every > .zero && from <= to, "every \(every) from \(from) to \(to) is no repetition")
        self.every = every
        self.from = from
        self.to = to
    }

    /// How many instants there are.
    public var count: Int { Int((to - from).microseconds / every.microseconds) + 1 }

    /// The instants, rising.
    public var instants: [Instant] { (0..<Int64(count)).map { from + every * $0 } }
}

/// One thing that the user or the system does.
public enum UserAction: Hashable, Sendable {
    /// The user taps the app's icon: the app comes to the front, launched if necessary.
    case launch(AppID)
    /// The user picks the app in the switcher, or on the home screen if the switcher does not show it; otherwise like a
    /// tap.
    case switchTo(AppID)
    /// The user goes to the home screen.
    case home
    /// The user places the app beside the one in front, as on an iPad: both are active.
    case beside(AppID)
    /// The user opens a further scene of an app that supports several; it comes to the front.
    case openScene(AppID)
    /// The user closes the app's most recent scene; its session is discarded.
    case closeScene(AppID)
    /// The user brings one of the app's scenes to the front.
    case showScene(AppID, SceneID)
    /// The user puts away the app's scene in front.
    case hideScene(AppID, SceneID)
    /// The user swipes the app away in the switcher.
    case quit(AppID)
    /// The foreground app becomes inactive for a while.
    case interrupt(Interruption, lasting: TimeSpan)
    /// The device locks, and unlocks after this time.
    case lock(lasting: TimeSpan)
    /// The user opens a URL, hands an activity off, or taps a shortcut: the app comes to the front.
    case open(AppID, LaunchReason)
    /// The system has an event for the app, and launches or wakes it off screen. The work on it lasts for the given
    /// time or, without one, for the time that the app declares.
    case wake(AppID, LaunchReason, lasting: TimeSpan?)
    /// The time jumps, and every running app is notified.
    case timeChange(TimeChange)
    /// The app begins a background task.
    case beginBackgroundTask(AppID)
    /// The app ends a background task.
    case endBackgroundTask(AppID)
    /// Another scene of the app appears on a second display.
    case showOnDisplay(AppID)
    /// The second display is unplugged, and its scene goes with it.
    case unplugDisplay
    /// The device restarts, and can be used after this time.
    case restart(lasting: TimeSpan)
    /// A daemon of the system resets the device's freezer.
    case resetFreezer
    /// The app crashes.
    case crash(AppID)
    /// The system ends the app in an orderly way, as for an update.
    case terminate(AppID)
    /// An extension is shown over the app in front, for at most this time.
    case present(AppID, lasting: TimeSpan)
    /// A daemon gets an assertion that lifts it to this band.
    case holdAssertion(AppID, band: Int)
    /// The daemon's assertion is released.
    case releaseAssertion(AppID)
    /// The system begins the app's launch ahead of time.
    case prewarm(AppID)
    /// The app asks the system for a refresh or a processing task, not before this time from now (BackgroundTasks).
    case submit(AppID, LaunchReason, after: TimeSpan?)
    /// The app begins a transfer of this duration in a background `URLSession`.
    case download(AppID, lasting: TimeSpan)
    /// The app starts a Live Activity, which lasts for this time.
    case liveActivity(AppID, lasting: TimeSpan)
    /// The app's video goes on in a small window for this time, or until the user returns to the app.
    case pictureInPicture(AppID, lasting: TimeSpan)
}

extension UserAction {
    /// The app that this action opens, shows, wakes or prewarms, if it is possible. Each such action draws the app's
    /// costs anew.
    public var openedOrWokenApp: AppID? {
        switch self {
        case .launch(let app), .switchTo(let app), .openScene(let app), .showScene(let app, _), .open(let app, _),
            .wake(let app, _, _), .showOnDisplay(let app), .present(let app, _),
            .beside(let app), .prewarm(let app):
            app
        case .home, .closeScene, .hideScene, .quit, .interrupt, .lock, .timeChange, .beginBackgroundTask,
            .endBackgroundTask, .unplugDisplay, .restart, .resetFreezer, .crash, .terminate,
            .holdAssertion, .releaseAssertion, .submit, .download, .liveActivity, .pictureInPicture:
            nil
        }
    }
}

/// What makes the foreground app inactive for a while.
public enum Interruption: String, CaseIterable, Sendable {
    case call
    case alert
    case switcher
}

extension LaunchReason {
    /// The name of the action by which an app submits such a task to BGTaskScheduler.
    public var submissionName: String { self == .backgroundFetch ? "submit_refresh" : "submit_processing" }

    /// The action's name in scenarios and in `events.csv`.
    public var actionName: String {
        switch self {
        case .userTap: "launch"
        case .location: "location"
        case .remoteNotification: "push"
        case .url: "open_url"
        case .userActivity: "hand_off"
        case .shortcutItem: "shortcut"
        case .bluetoothCentrals: "bluetooth"
        case .backgroundFetch: "background_refresh"
        case .processing: "processing"
        case .call: "voip_call"
        case .notification: "open_notification"
        case .demand: "demand"
        case .urlSession: "download"
        }
    }
}
