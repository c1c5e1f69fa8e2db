import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing

/// Behaviour of policies and the monitor that shows only in whole runs.
@Suite("policies in whole runs")
struct WholeRunPolicyTests {
    /// Runs a navigating app that leaves the screen at 10 s.
    private static func run(_ policy: String, _ sets: [String] = []) throws -> (events: [String], decisions: [String]) {
        let text = """
            plimsoll: 1
            name: whole
            duration: 30s
            backend: accounting
            device: { ceiling: 400MiB, reserved: 40MiB }
            policy: \(policy)
            apps:
              - { name: maps, background_modes: [location], memory: { base: 40MiB, scene: 4MiB } }
              - { name: feed, memory: { base: 30MiB, scene: 4MiB } }
              - { name: mail, memory: { base: 20MiB, scene: 4MiB } }
            user:
              - { at: 0s, launch: maps }
              - { at: 10s, launch: feed }
            """
        let plan = try ScenarioLoader.load(text: text, file: "w.yaml", overrides: Overrides(sets: sets)).get()
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: memory, sinks: sinks, verify: true).run()
        func lines(_ sink: any ByteSink) -> [String] {
            ((sink as? MemorySink)?.text ?? "").split(separator: "\n").map(String.init)
        }
        return (lines(sinks[RunTables.events]), lines(sinks[RunTables.decisions]))
    }

    private static func seconds(_ row: String?) -> Double? {
        row.flatMap { Double($0.prefix { $0 != "," }) }
    }

    private static let polite = """
        { rules: [{ name: please, when: processes >= 2, action: terminate_politely, who: mode == location }] }
        """

    @Test("asked politely, an app is called back and ends by itself, or is ended after 5 s")
    func polite() throws {
        for (cost, isEnded) in [("100ms", false), ("9s", true)] {
            let events = try Self.run(Self.polite, ["apps.maps.costs.terminate=\(cost)"]).events
            let asked = try #require(events.firstIndex { $0.contains(",action,maps,") })
            #expect(events[asked].contains("terminate_politely"))
            let rest = events[asked...]
            #expect(rest.contains { $0.contains(",callback,maps,") && $0.contains("applicationWillTerminate") })
            let exit = try #require(rest.first { $0.contains(",exit,maps,") })
            #expect(exit.contains("memoryPressure") && exit.contains("did not end within 5s") == isEnded)
            let took = try #require(Self.seconds(exit)) - (try #require(Self.seconds(events[asked])))
            #expect(isEnded ? abs(took - 5) < 0.001 : took < 1, "\(took)")
        }
    }

    @Test("a process that comes within 80 % of its own limit is told")
    func nearLimit() throws {
        let limits = "apps.feed.limits={ active: 40MiB, fatal: false }"
        #expect(try Self.run("none", [limits]).events.contains { $0.contains(",feed,") && $0.contains("near_limit") })
        let wide = "apps.feed.limits={ active: 90MiB, fatal: false }"
        #expect(!(try Self.run("none", [wide]).events.contains { $0.contains("near_limit") }))
    }

    /// The level is warning from the start, with far more available memory than jetsam's own thresholds.
    private static let uneasy = [
        "monitor.warning={ enter: 95%, leave: 96% }", "monitor.critical={ enter: 1%, leave: 2% }", "duration=12min",
        "apps.maps.background_modes=[]",
    ]

    @Test("after ten minutes that were never normal jetsam ends band 0, and not a moment earlier")
    func sustained() throws {
        let decisions = try Self.run("jetsam", Self.uneasy).decisions
        let first = decisions.first { $0.contains(",terminate,") && $0.contains("sustained-memory-pressure") }
        let at = try #require(Self.seconds(first), "nobody was ended")
        #expect(at >= 600 && at < 605, "\(at)")
        #expect(
            !(try Self.run("jetsam", Self.uneasy + ["duration=9min"]).decisions.contains { $0.contains("sustained") }))
    }
}
