import DequeModule
import HeapModule
import Quantities

/// What the queue holds: every kind of event of a run. First those of the device, the user and the apps' records, which
/// outlive a process.
enum SimulationEvent {
    case sample
    case userEvent(index: Int)
    case interruptionEnds(serial: Int)
    case unlock
    /// A restarted device is on again.
    case booted(serial: Int)
    /// The device has been locked for a while: protected data becomes unavailable.
    case protectedDataGoes(lock: Int)
    case warnNext
    /// A warning of the monitor arrives late.
    case warningArrives
    case reclaimDone(serial: Int)
    /// A piece of an ended process's memory has come back.
    case memoryReturns(serial: Int)
    /// An ended process that refused to die dies.
    case dies(serial: Int)
    /// The compressor has compressed a batch of pages.
    case compressDone(serial: Int)
    /// The disk of Linux's swap has taken what the compressor had no room for.
    case swapWritten
    /// The freezer has compressed a process's pages.
    case freezeDone(serial: Int)
    case retryWaiters
    /// Another size of the system's memory is wired from now on.
    case wiredChanges
    /// launchd starts a process that must live.
    case startAgain(AppID)
    /// The app may have something due off screen: a task that it has submitted, or transfers that are done.
    case backgroundDue(AppID)
    /// A transfer is done, unless the user has swiped the app away since.
    case transferDone(AppID, serial: Int)
    /// The app's Live Activity is over.
    case liveActivityEnds(AppID, serial: Int)
    /// An extension leaves the screen.
    case presentationEnds(serial: Int)
    /// The device reports that work is done. This event does not come from the queue.
    case workDone
    /// Something is due in the life of a process. It is ignored if the process has ended by then.
    case due(ProcessReference, Due)

    /// What is due in the life of a process. Events with a number are ignored if the number is outdated.
    enum Due {
        /// The main thread goes on, because a cost was paid or a slice of memory was filled.
        case mainThread(serial: Int)
        /// The app's memory changes as time passes.
        case tick(serial: Int)
        case decay
        /// A scene has been off screen for a while.
        case sceneIdles(SceneID, serial: Int)
        /// A scene has been off screen since then, for as long as the system keeps such scenes.
        case sceneExpires(SceneID, since: Instant)
        /// One of these ends by itself: the grace time after leaving the screen, a background task, or the work for an
        /// event.
        case assertionEnds(id: Int)
        /// The expiry handlers of background tasks are called; a few seconds later the tasks' time is over.
        case tasksExpire(serial: Int)
        case taskTimeOver(serial: Int)
        /// The background modes have no more work.
        case modesOver(serial: Int)
        /// The app uses a core again: for its next frame, or for its own work off screen.
        case use(serial: Int)
        case useDone(serial: Int)
        case deadline(serial: Int)
        /// The time of a process that was told to end is over. The event matters only if the process waits for memory.
        case overdue
        case deferredWorkDone(serial: Int)
        /// The time of a process that was asked to end is over.
        case politenessEnds
        /// The app's picture in picture is over.
        case pictureEnds(serial: Int)
        /// A process was idle for as long as it stays without work.
        case idleExit(serial: Int)
        /// The band of a process that is no app changes by itself.
        case hasAged
        /// It crashes, if it runs code.
        case crashes
        /// Its main thread stops answering for a while.
        case hangs
        /// The assertion of such a process was not released in its time.
        case assertionIsStuck(since: Instant)
    }
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

        static func < (a: Key, b: Key) -> Bool {
            a.at != b.at ? a.at < b.at : a.sequence < b.sequence  // promise: order
        }
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
            case .due(_, .tick): ticks.append(waiting)
            case .due(_, .decay): decays.append(waiting)
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
