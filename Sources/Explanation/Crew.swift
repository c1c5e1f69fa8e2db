import Dispatch
import Synchronization

/// Performs works that become known one after another, several at a time.
///
/// Its owner begins a work when a hand is free, and otherwise waits for a result. With one hand, or if the host gives
/// no thread, a work is done at once, on the owner's thread.
final class Crew<Value: Sendable> {
    private let hands: Int
    private let desk = Desk<Value>()
    /// How many works have begun whose results were not taken.
    private(set) var underWay = 0

    /// - Parameter hands: How many works at a time, at least 1.
    init(hands: Int) {
        precondition(hands > 0, "\(hands) hands do no work")
        self.hands = hands
    }

    var hasFreeHand: Bool { underWay < hands }

    func begin(_ work: @escaping @Sendable () -> Value) {
        underWay += 1
        let desk = desk
        guard hands > 1, Threads.begin({ desk.put(work()) }) else { return desk.put(work()) }
    }

    /// Waits for the next result; one work at least is under way.
    func next() -> Value {
        precondition(underWay > 0, "nothing was begun")
        underWay -= 1
        return desk.take()
    }
}

/// The results that nobody has taken.
private final class Desk<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let count = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        values.withLock { $0.append(value) }
        count.signal()
    }

    func take() -> Value {
        count.wait()
        return values.withLock { $0.removeFirst() }
    }
}
