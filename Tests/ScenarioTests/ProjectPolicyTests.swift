import Foundation
import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation
import TestSupport
import Testing

/// The files of `Scenarios/policies`.
@Suite("the project's own policy files")
struct ProjectPolicyTests {
    static let folder = ProjectScenarioTests.folder.appending(path: "policies")

    static let files: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return all.filter { $0.hasSuffix(".yaml") }.sorted()
    }()

    private static func quickstart(_ policy: String, _ sets: [String] = []) throws -> RunPlan {
        try ScenarioLoader.load(
            path: ProjectScenarioTests.folder.appending(path: "quickstart.yaml").path(),
            overrides: Overrides(sets: sets, policy: policy, backend: .accounting)
        ).get()
    }

    /// Runs the plan and returns the tables and the simulation.
    private static func run(_ plan: RunPlan) throws -> (RunSinks, Simulation) {
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: true)
        _ = try simulation.run()
        return (sinks, simulation)
    }

    private static func text(_ sink: any ByteSink) -> String { (sink as? MemorySink)?.text ?? "" }

    @Test("each loads, comes back from the effective scenario, scales, and runs in order", arguments: files)
    func runs(file: String) throws {
        let plan = try Self.quickstart(Self.folder.appending(path: file).path(), ["device.ceiling=400MiB"])
        #expect(!plan.policy.rules.isEmpty)
        #expect(try ScenarioLoader.load(text: EffectiveScenario.yaml(of: plan), file: file).get() == plan)
        let half = plan.scaled(by: .percent(50))
        #expect(try ScenarioLoader.load(text: EffectiveScenario.yaml(of: half), file: file).get() == half)
        let (sinks, simulation) = try Self.run(plan)
        #expect(simulation.tally.run.policy == plan.policy.label)
        #expect(Self.text(sinks[RunTables.summary]).contains(",\(plan.policy.title),"))
    }

    @Test("the ladder as rules does what the ladder does", arguments: ["512MiB", "400MiB", "330MiB", "300MiB"])
    func ladder(ceiling: String) throws {
        let sets = ["device.ceiling=\(ceiling)", "limits.background_memory=100MiB", "limits.background_processes=4"]
        let (rules, _) = try Self.run(Self.quickstart(Self.folder.appending(path: "ladder.yaml").path(), sets))
        let (own, simulation) = try Self.run(Self.quickstart("ladder", sets))
        #expect(Self.text(rules[RunTables.samples]) == Self.text(own[RunTables.samples]))
        #expect(Self.text(rules[RunTables.apps]) == Self.text(own[RunTables.apps]))
        #expect(Self.text(rules[RunTables.launches]) == Self.text(own[RunTables.launches]))
        #expect(Self.withoutReasons(rules[RunTables.events]) == Self.withoutReasons(own[RunTables.events]))
        #expect(simulation.tally.suspensions + simulation.tally.terminations.count > 0)
    }

    @Test("the ladder and its rules purge whom it serves: nobody in front for a limit on who is off screen")
    func purges() throws {
        let file = Self.folder.appending(path: "ladder.yaml").path()
        let policies = try [Self.quickstart("ladder"), Self.quickstart(file)].map {
            try #require(PolicyCatalogue.make($0.policy))
        }
        let bytes = ByteCount.mebibytes(1)
        let demands: [(ReclaimDemand, [PressureLevel])] = [
            (.pressure(deficit: bytes), [.warning, .critical]),
            (.allocation(by: ProcessID(9), wanted: bytes), [.warning, .critical]),
            (.backgroundMemory(excess: bytes), PressureLevel.allCases),
            (.backgroundProcesses(excess: 1), PressureLevel.allCases),
        ]
        for (demand, level) in demands.flatMap({ demand, levels in levels.map { (demand, $0) } }) {
            for phase in ProcessPhase.allCases where phase != .notRunning {
                for dirty in [1, 9] {
                    let process = RuleSamples.process(1, phase) { $0.dirty = .mebibytes(dirty) }
                    let snapshot = RuleSamples.device(100, [process], demand: demand, level: level)
                    let isPurged = policies.map { $0.decide(snapshot).ranking.contains { $0.action.kind == .purge } }
                    var isUrgent = level == .critical
                    if case .allocation = demand { isUrgent = true }
                    var expected = dirty >= 8 || isUrgent || phase.restsInMemory
                    if case .backgroundMemory = demand { expected = expected && !phase.isForeground }
                    if case .backgroundProcesses = demand { expected = false }
                    #expect(isPurged == [expected, expected], "\(demand), \(level), \(phase), \(dirty)")
                }
            }
        }
    }

    /// The columns of `events.csv` without the reason, which each policy words differently.
    private static func withoutReasons(_ sink: any ByteSink) -> [[String]] {
        TableRow.all(in: text(sink)).map { $0.texts("time_s", "event", "app", "pid", "scene", "detail") }
    }
}
