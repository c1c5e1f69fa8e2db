import DequeModule
import HeapModule
import Quantities

/// What the queue holds: every kind of event of a run.
enum SimulationEvent {
    case sample
    case userEvent(index: Int)
    case interruptionEnds(serial: Int)
    case unlock
    /// The device has been locked for a while: protected data becomes unavailable.
    case protectedDataGoes(lock: Int)
    /// A scene has been off screen for a while.
    case sceneIdles(ProcessReference, SceneID, serial: Int)
    /// The main thread goes on, because a cost was paid or a slice of memory was filled.
    case mainThread(ProcessReference, serial: Int)
    /// The app's memory changes as time passes.
    case tick(ProcessReference, serial: Int)
    case warnNext
    case decay(ProcessReference)
    /// One of these ends by itself: the grace time after leaving the screen, a background task, or the work for an
    /// event.
    case assertionEnds(ProcessReference, id: Int)
    /// The expiry handlers of background tasks are called; a few seconds later the tasks' time is over.
    case tasksExpire(ProcessReference, serial: Int)
    case taskTimeOver(ProcessReference, serial: Int)
    /// The background modes have no more work.
    case modesOver(ProcessReference, serial: Int)
    /// The app uses a core again: for its next frame, or for its own work off screen.
    case use(ProcessReference, serial: Int)
    case useDone(ProcessReference, serial: Int)
    case deadline(ProcessReference, serial: Int)
    /// The time of a process that was told to end is over. The event matters only if the process waits for memory.
    case overdue(ProcessReference)
    case deferredWorkDone(ProcessReference, serial: Int)
    case reclaimDone(serial: Int)
    /// The compressor has compressed a batch of pages.
    case compressDone(serial: Int)
    case retryWaiters
    /// The time of a process that was asked to end is over.
    case politenessEnds(ProcessReference)
    /// launchd starts a process that must live.
    case startAgain(AppID)
    /// The app may have something due off screen: a task that it has submitted, or transfers that are done.
    case backgroundDue(AppID)
    /// A transfer is done, unless the user has swiped the app away since.
    case transferDone(AppID, serial: Int)
    /// The app's Live Activity or its picture in picture is over.
    case liveActivityEnds(AppID, serial: Int)
    case pictureEnds(ProcessReference, serial: Int)
    /// An extension leaves the screen.
    case presentationEnds(serial: Int)
    /// A process was idle for as long as it stays without work.
    case idleExit(ProcessReference, serial: Int)
    /// The band of a daemon changes by itself.
    case hasAged(ProcessReference)
    /// A daemon's assertion was not released in its time.
    case assertionIsStuck(ProcessReference, since: Instant)
    /// The device reports that work is done. This event does not come from the queue.
    case workDone
}

/// The queue of one run, ordered by instant, ties by the order of insertion.
///
/// Most kinds of events are inserted in the order in which they happen: a tick comes one interval later, decay comes a
/// fixed time later, and the user's events are sorted. Each of these kinds has a lane: a simple queue. Events out of
/// order, and all other kinds, are kept in a heap.
struct EventQueue {
    private struct Key: Comparable {
        let at: Instant
        /// The number of events inserted before.
        let sequence: UInt64

        /// Later than every event.
        static var none: Key { Key(at: .never, sequence: .max) }

        static func < (a: Key, b: Key) -> Bool { a.at != b.at ? a.at < b.at : a.sequence < b.sequence }
    }

    private struct Waiting: Comparable {
        let key: Key
        let event: SimulationEvent

        static func < (a: Waiting, b: Waiting) -> Bool { a.key < b.key }
        static func == (a: Waiting, b: Waiting) -> Bool { a.key == b.key }
    }

    /// Events in the order in which they happen.
    private struct Lane {
        private var events: Deque<Waiting> = []
        /// When the first event is due.
        private(set) var front = Key.none
        private var last = Instant.zero

        /// Appends an event to the lane; false if the event comes before the last one in it.
        mutating func append(_ waiting: Waiting) -> Bool {
            guard events.isEmpty || waiting.key.at >= last else { return false }
            last = waiting.key.at
            if events.isEmpty { front = waiting.key }
            events.append(waiting)
            return true
        }

        /// Takes the first event. The lane must not be empty.
        mutating func removeFirst() -> SimulationEvent {
            let event = events.removeFirst().event
            front = events.first?.key ?? .none
            return event
        }
    }

    private var ticks = Lane()
    private var decays = Lane()
    private var user = Lane()
    private var others = Heap<Waiting>()
    /// When the first of the others is due.
    private var front = Key.none
    private var sequence: UInt64 = 0

    mutating func schedule(_ event: SimulationEvent, at instant: Instant) {
        let waiting = Waiting(key: Key(at: instant, sequence: sequence), event: event)
        sequence += 1
        let isInLane =
            switch event {
            case .tick: ticks.append(waiting)
            case .decay: decays.append(waiting)
            case .userEvent: user.append(waiting)
            default: false
            }
        if !isInLane {
            others.insert(waiting)
            front = min(front, waiting.key)
        }
    }

    /// The earliest event, if it is not later than `limit`.
    mutating func next(upTo limit: Instant) -> (at: Instant, event: SimulationEvent)? {
        // Written out for speed: this runs for every event.
        let (tick, decay) = (ticks.front, decays.front)
        let (lane, laneIsTicks) = decay < tick ? (decay, false) : (tick, true)
        let (other, otherIsUsers) = user.front < front ? (user.front, true) : (front, false)
        if lane < other {
            guard lane.at <= limit else { return nil }
            return (lane.at, laneIsTicks ? ticks.removeFirst() : decays.removeFirst())
        }
        guard other.at <= limit, other != .none else { return nil }
        return (other.at, otherIsUsers ? user.removeFirst() : removeFirstOfOthers())
    }

    private mutating func removeFirstOfOthers() -> SimulationEvent {
        let event = others.removeMin().event
        front = others.min?.key ?? .none
        return event
    }
}
