import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing

@testable import Scenario

@Suite("A run at another scale")
struct ScaledRunTests {
    /// The warnings, actions, exits and changes of level, in order, with the apps they concern.
    private static func acts(scale: Ratio?) throws -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Scenarios")
        let plan = try ScenarioLoader.load(
            path: folder.appending(path: "evening-commute.yaml").path(),
            overrides: Overrides(backend: .accounting, scale: scale)
        ).get()
        let memory = try makeDeviceMemory(
            plan.backend, ceiling: plan.device.ceiling, reserved: plan.device.reserved, scale: plan.device.scale)
        let sinks = RunSinks { _ in MemorySink() }
        var isOver = false
        _ = try Simulation(plan, memory: memory, sinks: sinks, verify: true).run(
            shouldStop: { isOver }, progress: { isOver = $0 >= Instant.zero + .seconds(280) })
        return TableRow.all(in: (sinks[RunTables.events] as? MemorySink)?.text ?? "").compactMap { row in
            guard ["warning", "action", "exit", "pressure_level"].contains(row["event"]) else { return nil }
            return "\(row["event"]) \(row["app"]) \(row["detail"])"
        }
    }

    @Test("sizes of what the device holds are scaled, those that say which device is meant are not")
    func parameters() throws {
        let text = """
            plimsoll: 1
            name: small
            duration: 10s
            device: { ceiling: 4GiB, reserved: 1GiB }
            policy: { name: lmkd-minfree, parameters: { minfree_950: 100MiB, small_below: 1GiB } }
            apps: [{ name: a }]
            """
        func plan(_ policy: String, _ ratio: Ratio) throws -> RunPlan {
            let overrides = Overrides(sets: policy.isEmpty ? [] : ["policy=\(policy)"], scale: ratio)
            return try ScenarioLoader.load(text: text, file: "t.yaml", overrides: overrides).get()
        }
        let android = try plan("", .percent(25)).policy.parameters
        #expect(android.first { $0.name == "minfree_950" }?.value == .bytes(.mebibytes(25)))
        #expect(android.first { $0.name == "small_below" }?.value == .bytes(.gibibytes(1)))
        #expect(android.allSatisfy { $0.name != "minfree_0" || $0.value == .table }, "it stays the table's")
        let apple = try plan("{ name: jetsam, parameters: { ram: 8GiB } }", .percent(25)).policy.parameters
        #expect(apple.first { $0.name == "ram" }?.value == .bytes(.gibibytes(8)))
        for ratio in [1, 7, 25, 33, 100, 150] {
            #expect(try plan("", .percent(Int64(ratio))).device.meantCeiling == .gibibytes(4), "\(ratio) %")
        }
        #expect(try plan("", Ratio(partsPerMillion: 333_333)).device.meantCeiling == .gibibytes(4))
    }

    @Test("a scaled value stays in the range of its key, so the scaled plan can be read again")
    func ranges() throws {
        let text = """
            plimsoll: 1
            name: small
            duration: 10s
            device: { ceiling: 4GiB, app_limit: 1GiB, reclaim_rate: 1GiB/s, compressor: { page_in_rate: 1GiB/s } }
            apps: [{ name: a }]
            """
        let scale = Ratio(partsPerMillion: 300)
        let plan = try ScenarioLoader.load(text: text, file: "t.yaml", overrides: Overrides(scale: scale)).get()
        #expect(plan.device.appLimit == .mebibytes(1))
        #expect(plan.device.reclaimRate == .slowest && plan.device.compressor?.pageInRate == .slowest)
        #expect(try ScenarioLoader.load(text: EffectiveScenario.yaml(of: plan), file: "s.yaml").get() == plan)
    }

    @Test("levels, warnings, actions and exits come in the order in which they come at scale 1")
    func order() throws {
        let whole = try Self.acts(scale: nil)
        #expect(whole.count { $0.hasPrefix("warning") } >= 4)
        #expect(whole.count { $0.hasPrefix("action") } >= 5)
        #expect(try Self.acts(scale: .percent(25)) == whole)
        #expect(try Self.acts(scale: .percent(400)) == whole)
    }
}
