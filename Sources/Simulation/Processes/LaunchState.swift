import Lifecycle
import Quantities

/// A launch under way: from the tap to the first active frame.
struct PendingLaunch {
    let kind: LaunchKind
    let tapped: Instant
    private(set) var declared: TimeSpan = .zero
    /// The cost of answering memory warnings during the launch.
    private(set) var answers: TimeSpan = .zero
    private(set) var fill: TimeSpan = .zero
    private(set) var memoryWait: TimeSpan = .zero

    init(_ kind: LaunchKind, tapped: Instant) {
        self.kind = kind
        self.tapped = tapped
    }

    /// The part of the latency with a known cause; the rest was waiting for a core, for earlier work or for the screen.
    var accounted: TimeSpan { declared + answers + fill + memoryWait }

    mutating func add(cost: TimeSpan, isDueToWarning: Bool) {
        if isDueToWarning { answers += cost } else { declared += cost }
    }

    mutating func add(fill span: TimeSpan) { fill += span }

    /// Adds a wait for memory to the launch, without the part before the tap.
    mutating func addWait(from since: Instant, until now: Instant) { memoryWait += now - max(since, tapped) }
}

/// How a process was launched, and how far its launch has come.
struct LaunchState {
    let at: Instant
    /// What the process was launched for.
    let reason: LaunchReason
    /// How long a cold launch takes by the app's profile: its declared costs, plus the time to fill its memory.
    let relaunchCost: TimeSpan
    private(set) var isFirst: Bool
    /// The user's launch under way.
    private(set) var pending: PendingLaunch?
    /// Whether the delegate has returned from `didFinishLaunching`.
    private(set) var hasFinished = false
    /// Whether the process was launched to the foreground and none of its scenes has come there yet.
    private(set) var awaitsScene = false
    /// Whether the app reads meanwhile that it is in the background.
    private(set) var readsBackground = false
    /// The number of the latest order for work off the main thread. Each new order makes the earlier ones void.
    private(set) var deferredSerial = 0

    init(at now: Instant, _ reason: LaunchReason, isFirst: Bool, relaunchCost: TimeSpan) {
        at = now
        self.reason = reason
        self.isFirst = isFirst
        self.relaunchCost = relaunchCost
    }

    mutating func begin(_ kind: LaunchKind, tapped: Instant) { pending = PendingLaunch(kind, tapped: tapped) }

    /// The first frame is active. The app's first launch is over.
    mutating func finish() -> PendingLaunch? {
        guard let launch = abandon() else { return nil }
        isFirst = false
        return launch
    }

    /// The first frame will never come.
    mutating func abandon() -> PendingLaunch? {
        defer { pending = nil }
        return pending
    }

    mutating func didFinishLaunching() { hasFinished = true }

    mutating func awaitScene(reading state: StateAtLaunch) {
        (awaitsScene, readsBackground) = (true, state == .background)
    }

    /// The first scene comes to the foreground, or the user has left before that.
    mutating func endAwaitingScene() { (awaitsScene, readsBackground) = (false, false) }

    mutating func expectDeferredWork() -> Int {
        deferredSerial += 1
        return deferredSerial
    }

    // MARK: What the launch under way consists of

    mutating func add(cost: TimeSpan, isDueToWarning: Bool) {
        pending?.add(cost: cost, isDueToWarning: isDueToWarning)
    }

    mutating func add(fill span: TimeSpan) { pending?.add(fill: span) }

    mutating func addWait(from since: Instant, until now: Instant) { pending?.addWait(from: since, until: now) }
}
