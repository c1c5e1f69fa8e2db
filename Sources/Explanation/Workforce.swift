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

/// Performs a given number of works at a time. The results do not depend on that number.
public struct SomeCores: Workforce {
    private let jobs: Int

    /// - Parameter jobs: How many works at a time, at least 1.
    public init(_ jobs: Int) {
        precondition(jobs > 0, "\(jobs) jobs do no work")
        self.jobs = jobs
    }

    public func all<Value: Sendable>(_ works: [@Sendable () -> Value]) -> [Value] {
        let results = Mutex([Value?](repeating: nil, count: works.count))
        let next = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: min(jobs, works.count)) { _ in
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
        return results.withLock { $0.compactMap(\.self) }
    }
}
