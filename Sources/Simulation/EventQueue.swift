import HeapModule
import Quantities

/// Names one process for as long as the run lasts; an event for a process that has died finds nobody.
struct ProcessReference: Hashable {
    let slot: Int
    let pid: ProcessID
}

/// What the queue holds: everything that happens at an instant.
enum SimulationEvent {
    case sample
    case userEvent(index: Int)
    case interruptionEnds(serial: Int)
    case unlock
    /// The main thread goes on: a cost has been paid or a slice of memory filled.
    case mainThread(ProcessReference, serial: Int)
    /// The app's memory moves.
    case tick(ProcessReference, serial: Int)
    case warnNext
    case decay(ProcessReference)
    /// The seconds after leaving the screen, a background task or an event's work end by themselves.
    case assertionEnds(ProcessReference, id: Int)
    /// Background tasks are told that their time is short; a few seconds later it is over.
    case tasksExpire(ProcessReference, serial: Int)
    case taskTimeOver(ProcessReference, serial: Int)
    /// The background modes have nothing to do any more.
    case modesOver(ProcessReference, serial: Int)
    case cpuLimit(ProcessReference, serial: Int)
    case deadline(ProcessReference, serial: Int)
    case deferredWorkDone(ProcessReference)
    case reclaimDone(serial: Int)
    case retryWaiters
    /// Who was asked to end has had its time.
    case politenessEnds(ProcessReference)
}

/// The queue of one run, ordered by instant, ties by the order of insertion.
struct EventQueue {
    private struct Entry: Comparable {
        let at: Instant
        let sequence: UInt64
        let event: SimulationEvent

        static func < (a: Entry, b: Entry) -> Bool { (a.at, a.sequence) < (b.at, b.sequence) }
        static func == (a: Entry, b: Entry) -> Bool { a.sequence == b.sequence }
    }

    private var heap = Heap<Entry>()
    private var sequence: UInt64 = 0

    mutating func schedule(_ event: SimulationEvent, at instant: Instant) {
        heap.insert(Entry(at: instant, sequence: sequence, event: event))
        sequence += 1
    }

    /// The earliest event, if it is not later than `limit`.
    mutating func next(upTo limit: Instant) -> (at: Instant, event: SimulationEvent)? {
        guard let first = heap.min, first.at <= limit else { return nil }
        let entry = heap.removeMin()
        return (entry.at, entry.event)
    }
}
