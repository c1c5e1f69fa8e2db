import Lifecycle
import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation
import TestSupport
import Testing

/// What rules may know of use, of the memory that an end gives back, and of the way back.
@Suite("facts for rules")
struct RuleFactTests {
    @Test("the mean gap is that between the first and the last use, and without two uses the run so far")
    func gaps() {
        let now = Instant.zero + .seconds(100)
        func gap(_ seconds: [Int64]) -> TimeSpan {
            AppUse(launches: 1, at: seconds.map { .zero + .seconds($0) }).gap(at: now)
        }
        #expect(gap([]) == .seconds(100))
        #expect(gap([40]) == .seconds(100))
        #expect(gap([40, 50]) == .seconds(10))
        #expect(gap([0, 10, 61]) == TimeSpan(microseconds: 30_500_000))
        // The same tap counts once.
        #expect(AppUse(launches: 1, at: [40, 40].map { .zero + .seconds($0) }).uses == 1)
    }

    @Test("an end frees what is resident and the pool's share of what is compressed, and nothing of a disk or flash")
    func frees() {
        let process = RuleSamples.process(1, size: 100) {
            $0.memory.compressed = .mebibytes(40)
            $0.memory.swapped = .mebibytes(50)
            $0.memory.onFlash = .mebibytes(20)
        }
        var device = RuleSamples.device(100, [process])
        (device.measures.compressed, device.measures.pool) = (.mebibytes(80), .mebibytes(20))
        // 100 - 40 - 10 on the disk - 20 on flash, and 40 of 80 in a pool of 20.
        #expect(device.freed(byEndOf: process) == .mebibytes(40))
        // A pool never takes more than what it holds.
        device.measures.pool = .mebibytes(200)
        #expect(device.freed(byEndOf: process) == .mebibytes(70))
    }

    private static func ends(_ who: String, _ more: [String] = []) throws -> [String] {
        let text = """
            plimsoll: 1
            name: facts
            backend: accounting
            duration: 60s
            device: { ceiling: 1GiB, compressor: {} }
            apps:
              - { name: often, like: messaging }
              - { name: seldom, like: messaging }
              - { name: other, like: messaging }
            user:
              - { at: 1s, launch: often }
              - { at: 5s, launch: seldom }
              - { at: 9s, launch: often }
              - { at: 11s, launch: other }
              - { at: 13s, launch: often }
              - { at: 17s, launch: other }
            policy:
              name: ladder
              rules: [{ name: a, when: available < 100% for 30s, who: [state == suspended, \(who)] }]
            """
        let plan = try ScenarioLoader.load(text: text, file: "f.yaml", overrides: Overrides(sets: more)).get()
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: sinks, verify: true)
        _ = try simulation.run()
        let ended = simulation.tally.terminations
        return ended.map(\.app).sorted()
    }

    @Test("a run counts launches and uses: what is used often is told from what was seen once")
    func use() throws {
        #expect(try Self.ends("app != other") == ["often", "seldom"])
        #expect(try Self.ends("uses == 3") == ["often"])
        #expect(try Self.ends("uses == 1") == ["seldom"])
        #expect(try Self.ends("[launches == 1, app != other]") == ["often", "seldom"])
        #expect(try Self.ends("launches >= 2").isEmpty)
        // From 1 s to 13 s in two steps.
        #expect(try Self.ends("[use_gap > 5s, use_gap < 7s]") == ["often"])
        #expect(try Self.ends("use_gap > 20s") == ["seldom"])
    }

    @Test("the way back costs the callbacks, and more once pages are compressed; what an end frees is less then")
    func back() throws {
        let costs = ["apps.often.costs.enter_foreground=30ms", "apps.often.costs.activate=20ms"]
        #expect(try Self.ends("[app == often, return_cost == 50ms]", costs) == ["often"])
        let rules = """
            policy.rules=[{ name: c, when: available < 100% for 25s, who: app == often, action: compress, take: 1 }, \
            { name: a, when: available < 100% for 30s, who: [app == often, WHAT] }]
            """
        func ends(_ what: String) throws -> [String] {
            try Self.ends("busy == no", costs + [rules.replacing("WHAT", with: what)])
        }
        #expect(try ends("compressed > 1MiB") == ["often"])
        #expect(try ends("return_cost > 50ms") == ["often"])
        #expect(try ends("return_cost <= 50ms").isEmpty)
        #expect(try ends("frees < 3%") == ["often"])
        #expect(try ends("footprint < 3%").isEmpty)
    }
}
