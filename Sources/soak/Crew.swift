import Foundation
import Memory
import Synchronization
import Worlds

/// Workers that run worlds (random scenarios with their options) until no world is left or the time is up.
final class Crew: Sendable {
    struct Orders: Sendable {
        let program: String
        /// The folder for the folders of worlds.
        let work: String
        let backend: MemoryBackend?
        /// Whether every world gets every check.
        let all: Bool
        /// Whether every world is compared with the worlds that are related to it.
        let relations: Bool
        /// Whether jemalloc's statistics are compared after every event.
        let events: Bool
        /// Whether the worlds are edited towards the edges of the format, and sent through further commands.
        let far: Bool
        /// The world whose checks are shown a fault that is not there; with `relations`, one that breaks them.
        let canary: UInt64?
        let seconds: Double
        let jobs: Int

        func world(_ seed: UInt64) -> World {
            var world = World(seed: seed, backend: backend)
            if far { world = world.atTheEdges() }
            world.options.auditsEvents = events
            if relations {
                world.options.breaksRelations = seed == canary
            } else {
                world.options.hasCanary = seed == canary
            }
            return world
        }
    }

    struct State {
        var next: UInt64
        var words = Occurrences()
        var outcomes = Occurrences()
        var byBackend: [MemoryBackend: Int] = [:]
        var faults: [(seed: UInt64, fault: Fault)] = []
        var slowest: (seed: UInt64, seconds: Double) = (0, 0)
    }

    let orders: Orders
    private let last: UInt64
    private let deadline: ContinuousClock.Instant?
    private let state: Mutex<State>
    private let progress: @Sendable (Int, Int) -> Void

    /// - Parameter progress: Receives the number of worlds so far, and the number that failed.
    init(
        _ orders: Orders, seeds: ClosedRange<UInt64>, until deadline: ContinuousClock.Instant?,
        progress: @escaping @Sendable (Int, Int) -> Void
    ) {
        self.orders = orders
        last = seeds.upperBound
        self.deadline = deadline
        state = Mutex(State(next: seeds.lowerBound))
        self.progress = progress
    }

    func work() -> State {
        DispatchQueue.concurrentPerform(iterations: orders.jobs) { worker in
            while let seed = take() { run(seed, worker) }
        }
        return state.withLock { $0 }
    }

    private func take() -> UInt64? {
        if let deadline, ContinuousClock.now >= deadline { return nil }
        return state.withLock { state in
            guard state.next <= last else { return nil }
            state.next += 1
            return state.next - 1
        }
    }

    private func run(_ seed: UInt64, _ worker: Int) {
        let clock = ContinuousClock.now
        let world = orders.world(seed)
        let trial = Trial(
            world: world, program: orders.program, folder: "\(orders.work)/\(worker)",
            checks: Trial.checks(of: world, all: orders.all, relations: orders.relations), seconds: orders.seconds)
        let words = Vocabulary.words(of: world)
        let result: Result<[String], Fault>
        do {
            result = .success(try trial.run())
        } catch {
            result = .failure(error)
        }
        let seconds = (ContinuousClock.now - clock) / .seconds(1)
        let (worlds, failed) = state.withLock { state in
            state.words.add(words)
            state.byBackend[world.options.backend, default: 0] += 1
            if seconds > state.slowest.seconds { state.slowest = (seed, seconds) }
            switch result {
            case .success(let things): state.outcomes.add(things)
            case .failure(let fault): state.faults.append((seed, fault))
            }
            return (state.words.worlds, state.faults.count)
        }
        progress(worlds, failed)
    }
}
