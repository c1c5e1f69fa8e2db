import Quantities

/// One stay of a process off screen: when it began, and what its timers refer to.
struct BackgroundStay {
    /// Since when the time for background tasks runs; nil on screen and while suspended.
    private(set) var since: Instant?
    /// Numbers the stays; the timers of an old one are void.
    private(set) var serial = 0
    private var suspendedSince: Instant?
    /// The stay in which the handler of every task that the process holds was called.
    private var expiryCalled: Int?
    /// The handlers are called as soon as the main thread is free: they end every task that there is by then.
    private(set) var isExpiring = false

    mutating func begin(at now: Instant) {
        since = now
        serial += 1
    }

    /// It is back on screen.
    mutating func end() {
        since = nil
        serial += 1
    }

    mutating func suspend(at now: Instant) {
        suspendedSince = now
        end()
    }

    /// Ends a suspension under way.
    ///
    /// - Returns: Since when it lasted.
    mutating func resume() -> Instant? {
        defer { suspendedSince = nil }
        return suspendedSince
    }

    /// The time for background tasks runs anew.
    mutating func restart(at now: Instant) { since = now }

    // MARK: Expiry

    /// False when the handlers of this stay were called before.
    mutating func beginExpiring() -> Bool {
        guard expiryCalled != serial else { return false }
        expiryCalled = serial
        isExpiring = true
        return true
    }

    mutating func endExpiring() { isExpiring = false }

    /// A new task has a handler of its own, unless those that are due come after it.
    mutating func expectExpiry() {
        if !isExpiring { expiryCalled = nil }
    }
}
