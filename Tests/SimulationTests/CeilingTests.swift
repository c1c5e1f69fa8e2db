import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Simulation
import Testing
import Workload

/// In whole runs, ten apps request memory from a full device at the same instant.
@Suite("bursts against the ceiling", .serialized)
struct CeilingTests {
    private static let policies = ["ladder", "jetsam", "lru", "lmkd", "largest-first", "none"]
    /// The time at which all ten are woken, in seconds.
    private static let burst = 12.0

    /// An app that grows until the device is full and jumps at the instant of the burst, and ten apps that are woken
    /// then.
    private func plan(seed: UInt64, _ backend: MemoryBackend) -> RunPlan {
        var random = SeededGenerator(seed: seed, stream: "bursts")
        let ceiling = random.number(in: 24...40)
        var apps: [AppProfile] = []
        for index in 0..<10 {
            let (base, highest) = (random.number(in: 3...9), random.number(in: 16...64))
            apps.append(
                testApp("burst\(index)") {
                    $0.backgroundModes = [.remoteNotification]
                    $0.memory.base = .mebibytes(base)
                    $0.memory.objects = .uniform(lowest: ByteCount(256), highest: .kibibytes(highest))
                })
        }
        apps.append(
            testApp("front") {
                $0.memory.cache = CacheProfile()
                $0.memory.growth = GrowthProfile(
                    rate: ByteRate(bytesPerSecond: 4 << 20), upTo: .mebibytes(ceiling - 9))
                $0.memory.bursts = [
                    BurstProfile(after: .seconds(11), size: .mebibytes(6), over: .milliseconds(200), hold: .seconds(4))
                ]
            })
        let wakes = (0..<10).map { index in
            (Self.burst, UserAction.wake(AppID(index), .remoteNotification, lasting: .seconds(5)))
        }
        let user = [(0, UserAction.launch(AppID(10)))] + wakes + [(22, UserAction.launch(AppID(Int(seed) % 10)))]
        let policy = Self.policies[Int(seed) % Self.policies.count]
        return testPlan(
            apps, ceiling: .mebibytes(ceiling), seconds: 26, seed: seed, policy: policy, user: user
        ) {
            $0.backend = backend
            $0.device.cores = 12
            $0.monitor.interval = .milliseconds(200)
        }
    }

    @Test(
        "no page beyond it is handed out, someone is reclaimed or ended by the rules, and the run goes on",
        arguments: 0..<10)
    func bursts(block: Int) throws {
        for seed in UInt64(block * 10)..<UInt64(block * 10 + 10) {
            try check(seed, .jemalloc)
            if seed % 10 == 0 { try check(seed, .accounting) }
        }
    }

    private func check(_ seed: UInt64, _ backend: MemoryBackend) throws {
        let plan = plan(seed: seed, backend)
        let place = Comment(rawValue: "seed \(seed), \(plan.policy.name), \(backend)")
        let memory = try makeDeviceMemory(backend, ceiling: plan.device.ceiling, reserved: plan.device.reserved)
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: true)
        let ending: RunEnding
        do {
            ending = try simulation.run()
        } catch {
            Issue.record("\(place): \(error)")
            return
        }
        // The peak is tracked where pages are handed out, not at samples.
        let books = memory.books
        #expect(books.peakResident <= plan.device.ceiling, place)
        #expect(books.peakResident > plan.device.ceiling * .percent(95), "\(place): the ceiling was never met")
        #expect(memory.touchedBytes <= plan.device.ceiling, place)
        #expect(books.resident == books.reserved && books.active == .zero && books.dirty == .zero, place)
        #expect(ending == .completed && simulation.tally.duration == plan.duration, place)

        let bytes = (sinks[RunTables.events] as? MemorySink)?.bytes ?? []
        let rows = EventRow.rows(of: bytes)
        let after = rows.filter { (Double($0.time) ?? 0) >= Self.burst }
        let born = after.filter { $0.event == "process_state" && $0.app.hasPrefix("burst") && $0.time.hasPrefix("12") }
        #expect(Set(born.map(\.app)).count == 10, "\(place): not all ten came in the same instant")
        #expect(Set(after.filter { $0.event == "stall" }.map(\.app)).count >= 5, place)
        let exits = after.filter { $0.event == "exit" }
        #expect(!exits.isEmpty, "\(place): nobody had to go")
        for exit in exits {
            #expect(["memoryPressure", "memoryResourceLimit"].contains(exit.detail), "\(place): \(exit)")
        }
        let last = try #require(rows.last)
        #expect((Double(last.time) ?? 0) > 22, "\(place): nothing happened after \(last.time) s")
    }
}

/// Freed memory is reserved for the processes that wait for it.
@Suite("memory that somebody waits for")
struct FairnessTests {
    /// Small apps off screen, one app that grows there without end, and one that needs more than is free.
    private func run(withWaiter: Bool) throws -> RunOutput {
        var apps = (0..<6).map { index in
            testApp("small\(index)") {
                $0.memory = MemoryProfile(
                    base: .mebibytes(2), scene: .mebibytes(1),
                    objects: .uniform(
                        lowest: ByteCount(64), highest: .kibibytes(32)))
            }
        }
        apps.append(
            testApp("greedy") {
                $0.backgroundModes = [.audio]
                $0.memory = MemoryProfile(
                    base: .mebibytes(2), scene: .mebibytes(1), leak: ByteRate(bytesPerSecond: 3 << 20),
                    objects: .uniform(lowest: ByteCount(64), highest: .kibibytes(32)))
            })
        apps.append(
            testApp("waiting") {
                $0.memory = MemoryProfile(base: .mebibytes(12), scene: .mebibytes(2))
            })
        var user: [(Double, UserAction)] = (0..<7).map { (Double($0 * 2), .launch(AppID($0))) }
        if withWaiter { user.append((15, .launch(AppID(7)))) }
        return try runToEnd(
            testPlan(apps, ceiling: .mebibytes(46), seconds: 24, policy: "lru", user: user) {
                $0.device.terminationTime = .milliseconds(800)
                $0.monitor = .ios
                $0.monitor.warning = LevelThresholds(enter: .bytes(.zero), leave: .bytes(.kibibytes(4)))
                $0.monitor.critical = $0.monitor.warning
                $0.backend = .accounting
            })
    }

    @Test("who runs meanwhile does not get it: each termination brings the waiting app on")
    func reserved() throws {
        let run = try run(withWaiter: true)
        let ends = run.eventRows.filter { $0.event == "action" && $0.detail == "terminate" }
        let ready = try #require(run.launches.split(separator: "\n").first { $0.contains("waiting") })
        #expect(!ready.isEmpty)
        let kept = run.rows("stall", of: "greedy").filter {
            $0.reason.contains("are kept for a process that has waited longer")
        }
        #expect(!kept.isEmpty)
        // Each victim yields at least 3 MiB, and the app needs 14.
        #expect(ends.count <= 6)
        #expect(run.rows("exit", of: "waiting").isEmpty)
        #expect(run.tally.launches.last?.latency != nil)
    }

    @Test("nobody is kept from what is free while nobody waits")
    func free() throws {
        let run = try run(withWaiter: false)
        #expect(!run.eventRows.contains { $0.reason.contains("are kept for a process that has waited longer") })
    }
}
