import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import TestSupport

@testable import Interchange

/// Keeps the kill reports of a run.
final class ReportKeeper: KillReportSink {
    private(set) var reports: [KillReport] = []
    /// The number of the report that the sink refuses, as if the disk were full.
    private let refused: Int?

    init(refusing number: Int? = nil) { refused = number }

    func write(_ report: KillReport) throws(OutputFailure) {
        if report.number == refused { throw OutputFailure(path: "report.ips", code: ENOSPC) }
        reports.append(report)
    }
}

enum JetsamExportFixture {
    struct Output: Sendable {
        let reports: [KillReport]
        /// The reports in their written form.
        let texts: [[UInt8]]
        let names: [String]
        let kills: KillTable
        /// Every table of the run.
        let tables: [[UInt8]]
    }

    /// A run with reports that several tests read.
    static func play(_ plan: RunPlan) throws -> Output { try played.value(of: plan) { try playAnew(plan) } }

    private static let played = Memo<RunPlan, Output>()

    static func playAnew(_ plan: RunPlan, keepingReports: Bool = true, refusing: Int? = nil) throws -> Output {
        let memory = try plan.makeDevice()
        let keeper = ReportKeeper(refusing: refusing)
        var tables: [MemorySink] = []
        let sinks = RunSinks { _ in
            tables.append(MemorySink())
            return tables[tables.count - 1]
        }
        let simulation = Simulation(
            plan, memory: memory, sinks: sinks, traces: try TraceFiles(plan),
            reports: keepingReports ? keeper : nil)
        _ = try simulation.run()
        let export = JetsamEventExport(plan)
        return Output(
            reports: keeper.reports, texts: keeper.reports.map(export.text), names: keeper.reports.map(export.name),
            kills: simulation.kills, tables: tables.map(\.bytes))
    }

    static func plan(_ scenario: String, policy: String, seed: UInt64? = nil) throws -> RunPlan {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Scenarios")
        var overrides = Overrides()
        (overrides.policy, overrides.seed) = (policy, seed)
        var plan = try ScenarioLoader.load(
            path: folder.appending(path: "\(scenario).yaml").path(), overrides: overrides
        ).get()
        plan.backend = .accounting
        // The first half of the evening is enough.
        plan.duration = min(plan.duration, .minutes(17))
        return plan
    }

    /// The state of a report, after which the app in front takes more and more memory. Jetsam spares idle apps until
    /// the shortage is critical.
    static func shortage(of event: JetsamEventImport) throws -> RunPlan {
        var plan = try JetsamEventTests.load(event.scenario)
        plan.policy = PolicySettings(
            name: "jetsam",
            parameters: [
                .init(name: "kernel", value: .choice("11215")), .init(name: "idle", value: .ratio(.percent(1))),
            ])
        for index in plan.apps.indices where plan.apps[index].name == event.front?.name {
            plan.apps[index].memory.bursts.append(
                .init(
                    after: event.stateAt - (event.front?.tapped ?? .zero), size: plan.device.ceiling, over: .seconds(25)
                ))
        }
        return plan
    }
}
