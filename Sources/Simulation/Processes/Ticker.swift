import Quantities

/// When a process's memory changes by itself: while it runs, and when its dirty pages decay.
struct Ticker {
    /// The instant up to which its memory has moved.
    private(set) var at: Instant
    /// Numbers the ticks; an earlier one is void.
    private(set) var serial = 0
    private var isTicking = false
    private(set) var decayIsScheduled = false

    init(at now: Instant) { at = now }

    /// The memory moves from now on, if it did not before.
    ///
    /// - Returns: The number of the next tick; every earlier one is void.
    mutating func arm(at now: Instant) -> Int {
        if !isTicking { at = now }
        isTicking = true
        return postpone()
    }

    /// The memory stops moving.
    mutating func disarm() {
        isTicking = false
        serial += 1
    }

    /// - Returns: The number of the tick that replaces the last one.
    mutating func postpone() -> Int {
        serial += 1
        return serial
    }

    /// - Returns: The time since the memory last moved.
    mutating func pass(to now: Instant) -> TimeSpan {
        defer { at = now }
        return now - at
    }

    /// Leaves out this much time.
    mutating func pause(_ span: TimeSpan) { at = at + span }

    mutating func scheduleDecay() { decayIsScheduled = true }

    mutating func decay() { decayIsScheduled = false }
}
