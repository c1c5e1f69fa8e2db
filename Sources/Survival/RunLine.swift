import Dispatch
import Explanation
import Synchronization

/// Makes runs, some at a time, and hands over each one as soon as it is finished, to the caller's own thread.
///
/// So every finished run is recorded at once and counted on the progress line, and no core waits for the slowest run of
/// a group.
package struct RunLine {
    /// How many runs at a time.
    private let jobs: Int

    package init(jobs: Int) { self.jobs = jobs }

    /// Performs the works, and calls `take` with the position and the value of each, in the order in which they finish.
    /// After an error of a work or of `take`, no further work begins and `take` is not called any more; the error is
    /// thrown when the works under way are over.
    package func each<Value: Sendable>(
        _ works: [@Sendable () throws -> Value], take: (Int, Value) throws -> Void
    ) throws {
        let finished = FinishedWorks<Value>()
        let next = Mutex(0)
        /// Performs the next work; false if there is none.
        @Sendable func performOne() -> Bool {
            let place = next.withLock { next in
                defer { next += 1 }
                return next
            }
            guard place < works.count else { return false }
            let work = works[place]
            finished.put(place, Result { try finished.isGivenUp ? { throw CancellationError() }() : work() })
            return true
        }
        let helpers = Threads.begin(min(jobs, works.count)) { while performOne() {} }
        var failure: (any Error)?
        for _ in works {
            // Without any thread, the caller's own makes the runs.
            if helpers == 0 { _ = performOne() }
            let (place, result) = finished.get()
            guard failure == nil else { continue }
            do {
                try take(place, result.get())
            } catch {
                failure = error
                finished.giveUp()
            }
        }
        if let failure { throw failure }
    }
}

/// What has finished and was not yet taken.
private final class FinishedWorks<Value: Sendable>: Sendable {
    private let works = Mutex<[(place: Int, result: Result<Value, any Error>)]>([])
    private let count = DispatchSemaphore(value: 0)
    private let isOver = Mutex(false)

    var isGivenUp: Bool { isOver.withLock { $0 } }

    func giveUp() { isOver.withLock { $0 = true } }

    func put(_ place: Int, _ result: Result<Value, any Error>) {
        works.withLock { $0.append((place, result)) }
        count.signal()
    }

    /// Waits for the next one.
    func get() -> (place: Int, result: Result<Value, any Error>) {
        count.wait()
        return works.withLock { $0.removeFirst() }
    }
}
