import Dispatch
import Synchronization

/// Performs independent pieces of work, on several cores if it has them.
public protocol Workforce: Sendable {
    /// Performs the works, and returns their results in the same order.
    func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value]
}

/// Performs one piece of work after the other.
public struct OneByOne: Workforce {
    /// A workforce without state.
    public init() {}

    public func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value] { works.map { $0() } }
}

/// Performs the work on all cores of the host. The results do not depend on the number of cores.
public struct AllCores: Workforce {
    /// A workforce without state.
    public init() {}

    public func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value] {
        let results = Mutex([Value?](repeating: nil, count: works.count))
        DispatchQueue.concurrentPerform(iterations: works.count) { index in
            let value = works[index]()
            results.withLock { $0[index] = value }
        }
        return results.withLock { $0.compactMap(\.self) }
    }
}
