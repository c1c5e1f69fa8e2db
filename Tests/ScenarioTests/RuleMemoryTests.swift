import Foundation
import Lifecycle
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing

/// Durations, amounts and cool-downs: the snapshot's history holds all that a rule must know about the past.
@Suite("rules in the course of time")
struct RuleMemoryTests {
    private typealias Samples = RuleSamples

    private static let crowd = (1...6).map { RuleSamples.process($0, idle: Int64(100 - $0), size: 40) }

    /// A device at intervals of one second, with these available amounts in MiB.
    private static func seconds(_ available: [Int]) -> [SystemSnapshot] {
        available.enumerated().map { second, mebibytes in
            RuleSamples.device(mebibytes, crowd, at: RuleSamples.now + .seconds(Int64(second)))
        }
    }

    /// The seconds at which the rule acts.
    private static func acts(_ rule: String, _ available: [Int]) throws -> [Int] {
        let actions = RuleSamples.play(try RuleSamples.policy("[{ \(rule) }]"), seconds(available))
        return actions.indices.filter { actions[$0] != nil }
    }

    @Test("a claim with a duration holds after it has held so long without a break")
    func durations() throws {
        let rule = "name: a, when: available < 10% for 3s"
        #expect(try Self.acts(rule, [50, 50, 50, 50, 50]) == [3, 4])
        #expect(try Self.acts(rule, [50, 50, 500, 50, 50, 50, 50]) == [6])
        #expect(try Self.acts("name: a, when: available < 10%", [50, 500, 50]) == [0, 2])
        #expect(try Self.acts("name: a, when: { not: available > 50% for 2s }", [600, 600, 600, 600]) == [0, 1])
    }

    @Test("until: once begun, it goes on to the other mark")
    func until() throws {
        #expect(try Self.acts("name: a, when: available < 10%", [50, 150, 250, 150]) == [0])
        #expect(
            try Self.acts("name: a, when: available < 10%, until: available > 20%", [50, 150, 250, 150]) == [0, 1])
    }

    @Test("take: so many, so many bytes, or such a share; then it rests until it is not due any more")
    func take() throws {
        let due = [50, 50, 50, 50]
        #expect(try Self.acts("name: a, when: available < 10%, take: 2", due) == [0, 1])
        #expect(try Self.acts("name: a, when: available < 10%, take: 70MiB", due) == [0, 1])
        #expect(try Self.acts("name: a, when: available < 10%, take: 10%", due) == [0, 1, 2])
        #expect(try Self.acts("name: a, when: available < 10%, take: 1", [50, 50, 500, 50, 50]) == [0, 3])
        #expect(try Self.acts("name: a, when: available < 10%, take: none", due) == [0, 1, 2, 3])
    }

    @Test("cool_down: a rest after the amount, or after each action")
    func coolDown() throws {
        let due = Array(repeating: 50, count: 9)
        #expect(try Self.acts("name: a, when: available < 10%, cool_down: 3s", due) == [0, 3, 6])
        #expect(try Self.acts("name: a, when: available < 10%, take: 2, cool_down: 3s", due) == [0, 1, 4, 5, 8])
    }

    @Test("following the same snapshot twice changes nothing, and no other state is kept")
    func pure() throws {
        let policy = try Samples.policy(
            "[{ name: a, when: available < 10% for 2s, until: available > 20%, take: 2, cool_down: 2s }]")
        var memory: [RuleMemory] = []
        for snapshot in Self.seconds([50, 50, 50, 50, 150, 250, 50, 50, 50]) {
            var snapshot = snapshot
            snapshot.history.rules = memory
            snapshot.history.rules = policy.follow(snapshot)
            #expect(policy.follow(snapshot) == snapshot.history.rules)
            #expect(policy.decide(snapshot) == policy.decide(snapshot))
            memory = snapshot.history.rules
        }
    }

    @Test("whoever waits for memory is let wait while a rule may come to be due, and no longer")
    func waiting() throws {
        let demand = ReclaimDemand.allocation(by: ProcessID(1), wanted: .mebibytes(4))
        let device = Samples.device(0, Self.crowd, demand: demand)
        func standstill(_ rule: String) throws -> Standstill? {
            try Samples.policy("[{ \(rule) }]").decide(device).standstill
        }
        #expect(try standstill("name: a, when: psi_full_avg10 > 60%") == .waiting("no rule is due yet"))
        #expect(try standstill("name: a, when: available < 5% for 10s") == .waiting("no rule is due yet"))
        #expect(try standstill("name: a, when: processes > 99") == .content("no rule is due"))
        #expect(try standstill("name: a, who: app == nobody") == nil)
    }

    /// The standstill for a process that waits for memory on a device without any. A process ended `seconds` ago, and
    /// the rule took its first process after that if it was due.
    private static func standstill(_ rule: String, after seconds: Int64) throws -> Standstill? {
        let policy = try Samples.policy("[{ \(rule) }]")
        var device = Samples.device(0, crowd, demand: .allocation(by: ProcessID(1), wanted: .mebibytes(4)))
        device.history.noteKill(
            .init(at: device.now, pid: ProcessID(9), band: .idle, cause: nil, footprint: .mebibytes(40)))
        device.history.rules = policy.follow(device)
        device.history.noteAction(ofRule: 0, at: device.now, freed: .mebibytes(40))
        device.history.rules = policy.follow(device)
        device.now = device.now + .seconds(seconds)
        return policy.decide(device).standstill
    }

    @Test("a rule that has taken its amount is waited for if it rests for a time, or its `when` may change by waiting")
    func waitingForTheSpent() throws {
        let waits = Standstill.waiting("no rule is due yet")
        let ends = Standstill.content("no rule is due")
        #expect(try Self.standstill("name: a, when: available < 99%, take: 1", after: 1) == ends)
        #expect(try Self.standstill("name: a, when: available < 99%, take: 1, cool_down: 9s", after: 1) == waits)
        let first = "{ all: [available < 99%, kills_last_minute < 1] }"
        #expect(try Self.standstill("name: a, when: \(first), take: 1", after: 1) == waits)
        #expect(try Self.standstill("name: a, when: psi_some_avg10 < 1%, take: 1", after: 1) == ends)
        let turns = "{ any: [kills_last_minute > 0, psi_some_avg10 > 50%] }"
        #expect(try Self.standstill("name: a, when: \(turns), take: 1", after: 1) == waits)
        #expect(try Self.standstill("name: a, when: kills_last_minute > 0, take: 1", after: 1) == ends)
    }

    @Test("a claim of a `when` that nothing but waiting changes is waited for, if the others hold")
    func waitingForAClaim() throws {
        let waits = Standstill.waiting("no rule is due yet")
        let ends = Standstill.content("no rule is due")
        #expect(try Self.standstill("name: a, when: kills_last_minute < 1", after: 1) == waits)
        #expect(try Self.standstill("name: a, when: { not: kills_last_minute >= 1 }", after: 1) == waits)
        #expect(try Self.standstill("name: a, when: [available > 1%, kills_last_minute < 1]", after: 1) == ends)
        #expect(
            try Self.standstill("name: a, when: { any: [available > 1%, kills_last_minute < 1] }", after: 1) == waits)
        #expect(try Self.standstill("name: a, when: kills_last_minute > 1", after: 1) == ends)
        #expect(try Self.standstill("name: a, when: { not: psi_some_avg10 < 50% }", after: 1) == waits)
        #expect(try Self.standstill("name: a, when: available > 1% for 10s", after: 1) == ends)
    }
}

/// oomd's rules, with one row per statement of oomd's documentation that the file cites.
@Suite("oomd's default rules as a ladder file")
struct OomdDefaultTests {
    private typealias Samples = RuleSamples

    private static func policy() throws -> any ReclaimPolicy {
        let file = ProjectScenarioTests.folder.appending(path: "policies/oomd-default.yaml").path()
        let settings = try ScenarioTests.Samples.load(
            ScenarioTests.Samples.minimal, Overrides(policy: file)
        ).get().policy
        return try #require(PolicyCatalogue.make(settings))
    }

    /// A device with this percentage of full stalls in every second from the start.
    private static func stalled(
        _ percent: [Int64], _ processes: [ProcessSnapshot] = [RuleSamples.process(1), RuleSamples.process(2, size: 20)]
    ) -> [SystemSnapshot] {
        percent.enumerated().map { second, percent in
            RuleSamples.device(10, processes, at: RuleSamples.now + .seconds(Int64(second))) {
                $0.measures.full.avg10 = .percent(percent)
                $0.measures.some.avg10 = .percent(percent)
            }
        }
    }

    private static func acts(_ snapshots: [SystemSnapshot]) throws -> [Int] {
        let actions = RuleSamples.play(try policy(), snapshots)
        return actions.indices.filter { actions[$0] != nil }
    }

    @Test("pressure_above: more than 60 % for 30 s, without a break")
    func pressure() throws {
        #expect(try Self.acts(Self.stalled(Array(repeating: 61, count: 31))) == [30])
        #expect(try Self.acts(Self.stalled(Array(repeating: 60, count: 40))).isEmpty)
        // 80 % for 60 s is the other group of detectors; 60 % for 30 s fires before it.
        #expect(
            try Self.acts(Self.stalled(Array(repeating: 90, count: 29) + [10] + Array(repeating: 90, count: 30)))
                .isEmpty)
    }

    @Test("memory_reclaim: nothing was reclaimed lately, nobody is ended")
    func reclaim() throws {
        var snapshots = Self.stalled(Array(repeating: 90, count: 35))
        for index in snapshots.indices { snapshots[index].measures.some.avg10 = .zero }
        #expect(try Self.acts(snapshots).isEmpty)
    }

    @Test("post_action_delay: 15 s after an action")
    func delay() throws {
        #expect(try Self.acts(Self.stalled(Array(repeating: 90, count: 70))) == [30, 45, 60])
    }

    private static func victim(_ processes: [ProcessSnapshot]) throws -> Int? {
        let actions = RuleSamples.play(try policy(), stalled(Array(repeating: 90, count: 31), processes))
        return actions.last.flatMap { $0?.target.number }.map { Int($0) }
    }

    @Test(
        "kill_by_memory_size_or_growth: half of the siblings' memory, else fast growth of the largest fifth, else size")
    func victims() throws {
        let even = (1...10).map { RuleSamples.process($0, size: 50 + $0) }
        #expect(try Self.victim(even) == 10)
        var growing = even
        growing[8].growth = .percent(126)
        #expect(try Self.victim(growing) == 9)
        growing[8].growth = .percent(124)
        #expect(try Self.victim(growing) == 10)
        // The sixth process is not among the largest fifth, however fast it grows.
        growing[5].growth = .percent(300)
        #expect(try Self.victim(growing) == 10)
        var large = even
        large[2].footprint = .mebibytes(600)
        large[8].growth = .percent(300)
        #expect(try Self.victim(large) == 3)
        large[2].footprint = .mebibytes(300)
        large[8].footprint = .mebibytes(290)
        #expect(try Self.victim(large) == 9)
    }

    @Test("the largest fifth is rounded up: of five processes one, of six two", arguments: [(5, 5), (6, 5)])
    func percentile(processes: Int, victim: Int) throws {
        var even = (1...processes).map { RuleSamples.process($0, size: 50 + $0) }
        // Process 4 of five is smaller than the largest fifth, process 5 of six is in it.
        even[processes - 2].growth = .percent(300)
        #expect(try Self.victim(even) == victim)
    }

    @Test("swap_free below 10 % ends whoever has most in swap, more than a byte")
    func swap() throws {
        func device(_ free: Int) -> SystemSnapshot {
            Samples.device(
                500,
                [
                    Samples.process(1, size: 90), Samples.process(2) { $0.swapped = .mebibytes(5) },
                    Samples.process(3) { $0.swapped = .mebibytes(9) },
                    Samples.process(4) { $0.swapped = ByteCount(1) },
                ]
            ) { ($0.measures.swapTotal, $0.measures.swapFree) = (.mebibytes(100), .mebibytes(free)) }
        }
        let policy = try Self.policy()
        #expect(
            policy.decide(device(9)).ranking.map(\.action) == [.terminate(ProcessID(3)), .terminate(ProcessID(2))])
        #expect(policy.decide(device(10)).ranking.isEmpty)
        #expect(policy.decide(Samples.device(0, [Samples.process(1)])).ranking.isEmpty)
    }
}
