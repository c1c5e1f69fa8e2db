import Quantities

/// The clock of a run, and the events that are due.
final class Agenda {
    private(set) var now: Instant = .zero
    /// How many events have been taken so far.
    private(set) var given = 0
    private var queue = EventQueue()

    func schedule(_ event: SimulationEvent, at instant: Instant) { queue.schedule(event, at: instant) }

    func schedule(_ event: SimulationEvent, after span: TimeSpan) { queue.schedule(event, at: now + span) }

    func schedule(_ due: SimulationEvent.Due, of process: LiveProcess, at instant: Instant) {
        queue.schedule(.due(process.reference, due), at: instant)
    }

    func schedule(_ due: SimulationEvent.Due, of process: LiveProcess, after span: TimeSpan) {
        schedule(due, of: process, at: now + span)
    }

    /// Takes the earliest event, if it is not later than `limit`. Does not move the clock.
    func next(upTo limit: Instant) -> (at: Instant, event: SimulationEvent)? {
        guard let next = queue.next(upTo: limit) else { return nil }
        given += 1
        return next
    }

    /// Counts an event that does not come from the queue.
    func take(_ event: SimulationEvent, at instant: Instant) -> (at: Instant, event: SimulationEvent) {
        given += 1
        return (instant, event)
    }

    /// Moves the clock forward.
    func advance(to instant: Instant) { now = instant }
}
