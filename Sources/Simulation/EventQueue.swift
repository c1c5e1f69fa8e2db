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
    /// What is moved about in the heap: when, in which order, and where the event is kept.
    private struct Key: Comparable {
        let at: Instant
        /// The order of insertion above the bits of the place.
        private let order: UInt64

        private static let placeBits: UInt64 = 28

        init(at: Instant, sequence: UInt64, place: Int) {
            precondition(place < 1 << Key.placeBits, "more than \(1 << Key.placeBits) events wait")
            self.at = at
            order = sequence << Key.placeBits | UInt64(place)
        }

        var place: Int { Int(order & (1 << Key.placeBits - 1)) }

        static func < (a: Key, b: Key) -> Bool { a.at != b.at ? a.at < b.at : a.order < b.order }
        static func == (a: Key, b: Key) -> Bool { a.order == b.order }
    }

    private var heap = Heap<Key>()
    private var sequence: UInt64 = 0
    private var events: [SimulationEvent] = []
    /// Places of events that have happened.
    private var unused: [Int] = []

    mutating func schedule(_ event: SimulationEvent, at instant: Instant) {
        let place: Int
        if let used = unused.popLast() {
            events[used] = event
            place = used
        } else {
            place = events.count
            events.append(event)
        }
        heap.insert(Key(at: instant, sequence: sequence, place: place))
        sequence += 1
    }

    /// The earliest event, if it is not later than `limit`.
    mutating func next(upTo limit: Instant) -> (at: Instant, event: SimulationEvent)? {
        guard let first = heap.min, first.at <= limit else { return nil }
        heap.removeMin()
        unused.append(first.place)
        return (first.at, events[first.place])
    }
}
