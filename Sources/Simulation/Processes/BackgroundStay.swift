import Quantities

/// One stay of a process off screen: when it began, and what its timers refer to.
struct BackgroundStay {
    /// Since when the time for background tasks runs; nil on screen and while suspended.
    private(set) var since: Instant?
    /// The number of this stay; timers of an earlier stay are ignored.
    private(set) var serial = 0
    /// Since when the process rests in memory; nil: it does not.
    private(set) var suspendedSince: Instant?
    /// When the process last entered the background or was launched there; nil: not in this run. A process that is
    /// woken was there already.
    private(set) var entered: Instant?
    /// Whether the app has left the screen, and its delegate has not been told of it yet.
    private var isUntold = false
    /// The stay in which the expiry handlers were called, for all tasks held then.
    private var expiryCalled: Int?
    /// The handlers are called as soon as the main thread is free; they end every task held by then.
    private(set) var isExpiring = false

    mutating func begin(at now: Instant) {
        since = now
        serial += 1
    }

    /// The process has left the screen, or was launched off screen.
    mutating func enter(at now: Instant) { entered = now }

    /// The process is back on screen.
    mutating func end() {
        since = nil
        serial += 1
        isUntold = false
    }

    /// The app leaves the screen: its delegate is told next.
    mutating func expectTelling() { isUntold = true }

    /// The delegate is told.
    ///
    /// - Returns: Whether the app has left the screen for this stay. An app that was launched off screen has not.
    mutating func tell() -> Bool {
        defer { isUntold = false }
        return isUntold
    }

    mutating func suspend(at now: Instant) {
        suspendedSince = now
        end()
    }

    /// Ends a suspension under way.
    ///
    /// - Returns: When the suspension began.
    mutating func resume() -> Instant? {
        defer { suspendedSince = nil }
        return suspendedSince
    }

    /// Restarts the time for background tasks.
    mutating func restart(at now: Instant) { since = now }

    // MARK: Expiry

    /// False if the handlers of this stay were called before.
    mutating func beginExpiring() -> Bool {
        guard expiryCalled != serial else { return false }
        expiryCalled = serial
        isExpiring = true
        return true
    }

    mutating func endExpiring() { isExpiring = false }

    /// A new task's expiry handler will have to be called. If calls are already pending, they include it.
    mutating func expectExpiry() {
        if !isExpiring { expiryCalled = nil }
    }
}
