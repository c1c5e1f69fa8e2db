import Quantities

/// When a process's memory moves by itself: while it runs, and when its dirty pages decay.
struct Ticker {
    /// Up to when its memory has moved.
    private(set) var at: Instant
    /// Numbers the ticks; an old one is void.
    private(set) var serial = 0
    private var isTicking = false
    private(set) var decayIsScheduled = false

    init(at now: Instant) { at = now }

    /// Its memory moves from now on, if it did not before.
    ///
    /// - Returns: The number of the next tick; every earlier one is void.
    mutating func arm(at now: Instant) -> Int {
        if !isTicking { at = now }
        isTicking = true
        return postpone()
    }

    /// Its memory does not move.
    mutating func disarm() {
        isTicking = false
        serial += 1
    }

    /// - Returns: The number of the tick that is expected in place of the last one.
    mutating func postpone() -> Int {
        serial += 1
        return serial
    }

    /// - Returns: The time that has passed since its memory last moved.
    mutating func pass(to now: Instant) -> TimeSpan {
        defer { at = now }
        return now - at
    }

    /// So much time does not count.
    mutating func pause(_ span: TimeSpan) { at = at + span }

    mutating func scheduleDecay() { decayIsScheduled = true }

    mutating func decay() { decayIsScheduled = false }
}
