import Dispatch
import Synchronization

/// Performs independent pieces of work, on several cores if it has them.
public protocol Workforce: Sendable {
    /// How many works it performs at a time.
    var hands: Int { get }
    /// Performs the works, and returns their results in the same order.
    func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value]
}

/// Performs one piece of work after the other.
public struct OneByOne: Workforce {
    /// A workforce without state.
    public init() {}

    public var hands: Int { 1 }

    public func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value] { works.map { $0() } }
}

/// Performs a given number of works at a time. The results do not depend on that number.
public struct SomeCores: Workforce {
    public let hands: Int

    /// - Parameter hands: How many works at a time, at least 1.
    public init(_ hands: Int) {
        precondition(hands > 0, "\(hands) hands do no work")
        self.hands = hands
    }

    public func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value] {
        let results = Mutex([Value?](repeating: nil, count: works.count))
        let next = Mutex(0)
        @Sendable func work() {
            while true {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < works.count else { return }
                let value = works[index]()
                results.withLock { $0[index] = value }
            }
        }
        let over = DispatchSemaphore(value: 0)
        let helpers = Threads.begin(min(hands, works.count) - 1) {
            work()
            over.signal()
        }
        work()
        for _ in 0..<helpers { over.wait() }
        return results.withLock { $0.compactMap(\.self) }
    }
}
