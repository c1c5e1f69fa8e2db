import Lifecycle
import Quantities
import Workload

/// One entry of what the user and the system do, as a scenario writes it. It stands for one event or for many; the run
/// makes events of it (`RunPlan.expandedUser`), and nobody before.
public enum UserEntry: Hashable, Sendable {
    case once(UserAction, at: Instant)
    case repeated(UserAction, Repetition)
    /// A seeded person uses the phone.
    case model(UserModel, from: Instant, until: Instant)
}

/// Instants at an even distance, at least one.
public struct Repetition: Hashable, Sendable {
    /// More than nothing.
    public let every: TimeSpan
    /// The first instant.
    public let from: Instant
    /// No instant is later; the last one is at it or less than `every` before. Not before `from`.
    public let to: Instant

    public init(every: TimeSpan, from: Instant, to: Instant) {
        precondition(every > .zero && from <= to, "every \(every) from \(from) to \(to) is no repetition")
        self.every = every
        self.from = from
        self.to = to
    }

    /// How many instants there are.
    public var count: Int { Int((to - from).microseconds / every.microseconds) + 1 }

    /// In their order.
    public var instants: [Instant] { (0..<Int64(count)).map { from + every * $0 } }
}

/// One thing that the user or the system does.
public enum UserAction: Hashable, Sendable {
    /// Tap on the app's icon: brings it to the front, launching what is missing.
    case launch(AppID)
    /// The app switcher, or the home screen for an app that it does not show: the same road as a tap.
    case switchTo(AppID)
    /// To the home screen.
    case home
    /// A further scene of an app that supports several comes to the front.
    case openScene(AppID)
    /// The user closes the app's most recent scene; its session is discarded.
    case closeScene(AppID)
    /// Swiped away in the switcher.
    case quit(AppID)
    /// The foreground app becomes inactive for a while.
    case interrupt(Interruption, lasting: TimeSpan)
    /// The device locks, and unlocks after the time.
    case lock(lasting: TimeSpan)
    /// The user opens a URL, hands an activity off, or taps a shortcut: the app comes to the front.
    case open(AppID, LaunchReason)
    /// The system has an event for the app: it is launched or woken off screen, for the app's own time if none
    /// is given.
    case wake(AppID, LaunchReason, lasting: TimeSpan?)
    /// Everybody hears that the time has jumped.
    case timeChange(TimeChange)
    case beginBackgroundTask(AppID)
    case endBackgroundTask(AppID)
    /// A further scene of the app appears on a second display.
    case showOnDisplay(AppID)
    /// The second display is gone, and its scene with it.
    case unplugDisplay
    /// The app crashes.
    case crash(AppID)
    /// The system ends the app in good order: an update, a restart.
    case terminate(AppID)
}

public enum Interruption: String, CaseIterable, Sendable {
    case call
    case alert
    case switcher
}
