import Quantities

/// When a process's memory changes by itself: while it runs, and when its dirty pages decay.
struct Ticker {
    /// The instant up to which its memory is up to date.
    private(set) var at: Instant
    /// The number of the next tick; one with an earlier number is ignored.
    private(set) var serial = 0
    private var isTicking = false
    private(set) var decayIsScheduled = false

    init(at now: Instant) { at = now }

    /// The memory changes from now on, if it did not before.
    ///
    /// - Returns: The number of the next tick; every earlier one is ignored.
    mutating func arm(at now: Instant) -> Int {
        if !isTicking { at = now }
        isTicking = true
        return postpone()
    }

    /// The memory no longer changes.
    mutating func disarm() {
        isTicking = false
        serial += 1
    }

    /// - Returns: The number of the tick that replaces the last one.
    mutating func postpone() -> Int {
        serial += 1
        return serial
    }

    /// - Returns: The time since the memory was last brought up to date.
    mutating func pass(to now: Instant) -> TimeSpan {
        defer { at = now }
        return now - at
    }

    /// Excludes this much time: the memory does not change during it.
    mutating func pause(_ span: TimeSpan) { at = at + span }

    mutating func scheduleDecay() { decayIsScheduled = true }

    mutating func decay() { decayIsScheduled = false }
}
