import Lifecycle
import Quantities

/// What the cores did between the last two samples, on average, for display.
public struct CoreGlance: Hashable, Sendable {
    /// How many cores the device has.
    public var count: Int
    /// How many of them worked; a slow core counts like a fast one.
    public var working: Ratio
    /// How many pieces of work were kept from a core.
    public var waiting: Ratio
    /// How many of these the user waited for, or were on screen. Without priorities nothing is known about that: zero.
    public var waitingOnScreen: Ratio

    /// A glance from its parts.
    public init(count: Int, working: Ratio = .zero, waiting: Ratio = .zero, waitingOnScreen: Ratio = .zero) {
        self.count = count
        self.working = working
        self.waiting = waiting
        self.waitingOnScreen = waitingOnScreen
    }

    /// The averages over this span.
    init(count: Int, _ times: CoreAccounts, in span: TimeSpan) {
        let onScreen = [ServiceClass.userInteractive, .userInitiated].map { times.waited[$0.rawValue] }
        self.init(
            count: count, working: times.givenInAll.share(of: span),
            waiting: times.waitedInAll.share(of: span),
            waitingOnScreen: onScreen.reduce(.zero, +).share(of: span))
    }
}
