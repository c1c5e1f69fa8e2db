import DequeModule
import Lifecycle
import Quantities

/// A process's main thread: the steps queued on it, and whether it is busy.
struct MainThread {
    private var steps: Deque<MainThreadStep> = []
    /// Whether the thread is paying a cost, filling pages or waiting for memory.
    private(set) var isRunning = false
    /// Since when it does not answer, if it hangs.
    private(set) var hangsSince: Instant?
    /// The planner found nothing to do, its inputs have not changed since, and no steps are left. A change of the
    /// device (its display, lock or interruptions) does not reset it: the engine then advances the processes that it
    /// concerns.
    private(set) var hasArrived = false
    /// The number of the expected continuation; one with an earlier number is ignored.
    private(set) var serial = 0
    /// The callback that is under way.
    private var callback: OpenCallback?
    /// The deadline that is running.
    private(set) var deadline: (kind: Deadline, serial: Int)?
    private var lastDeadline = 0

    /// Whether nothing is running and nothing is queued.
    var isQuiet: Bool { !isRunning && (hasArrived || steps.isEmpty) }

    // MARK: Steps

    mutating func append(_ step: MainThreadStep) {
        hasArrived = false
        steps.append(step)
    }

    mutating func append(_ more: [MainThreadStep]) {
        hasArrived = false
        steps.append(contentsOf: more)
    }

    /// Puts these steps before all queued ones.
    mutating func prepend(_ more: [MainThreadStep]) {
        hasArrived = false
        steps.prepend(contentsOf: more)
    }

    mutating func next() -> MainThreadStep? {
        hasArrived = false
        return steps.popFirst()
    }

    /// The planner has to be asked again.
    mutating func lookAgain() { hasArrived = false }

    /// The process has reached its goal.
    mutating func settle() { hasArrived = true }

    // MARK: Running

    mutating func begin() { isRunning = true }

    mutating func finish() { (isRunning, hangsSince) = (false, nil) }

    mutating func hang(at now: Instant) { hangsSince = now }

    mutating func begin(_ callback: OpenCallback) { self.callback = callback }

    /// Takes the callback under way, if there is one.
    mutating func takeCallback() -> OpenCallback? {
        defer { callback = nil }
        return callback
    }

    /// - Returns: The number of the continuation expected now; every earlier one is void.
    mutating func expectContinuation() -> Int {
        serial += 1
        return serial
    }

    /// The process has ended: nothing of it goes on.
    mutating func stop() {
        steps.removeAll()
        serial += 1
    }

    // MARK: Deadlines

    /// - Returns: The number of the deadline that begins; nil if one is running already.
    mutating func begin(_ kind: Deadline) -> Int? {
        guard deadline == nil else { return nil }
        lastDeadline += 1
        deadline = (kind, lastDeadline)
        return lastDeadline
    }

    mutating func meet(_ kind: Deadline) {
        if deadline?.kind == kind { deadline = nil }
    }
}
