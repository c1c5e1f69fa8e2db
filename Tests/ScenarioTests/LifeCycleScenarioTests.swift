import Foundation
import Lifecycle
import Memory
import Metrics
import Quantities
import Scenario
import Simulation
import TestSupport
import Testing

/// The scenarios that demonstrate the life cycle.
@Suite("the life-cycle scenarios", .serialized)
struct LifeCycleScenarioTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Scenarios")

    /// The rows of `events.csv`: event and detail.
    private func rows(of scenario: String) throws -> [(event: String, detail: String)] {
        let path = Self.folder.appending(path: scenario).path()
        let plan = try ScenarioLoader.load(path: path).get()
        let memory = try makeDeviceMemory(.accounting, ceiling: plan.device.ceiling, reserved: plan.device.reserved)
        let events = MemorySink()
        let sinks = RunSinks { schema in schema.name == "events" ? events : MemorySink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: true)
        #expect(try simulation.run() == .completed)
        return TableRow.all(in: events.text).map { ($0["event"], $0["detail"]) }
    }

    @Test("the tour makes every callback, notification and exit reason happen")
    func tour() throws {
        let rows = try rows(of: "life-cycle-tour.yaml")
        func seen(_ event: String) -> Set<String> { Set(rows.filter { $0.event == event }.map(\.detail)) }
        // These need processes that are no apps: `daemons.yaml` and `extensions.yaml` have them.
        let others: [Callback] = [.main, .notificationServiceDidReceive, .webContentDidTerminate]
        let ofApps = Callback.allCases.filter { !others.contains($0) }
        #expect(Set(ofApps.map(\.rawValue)).subtracting(seen("callback")).isEmpty)
        #expect(Set(AppNotification.allCases.map(\.rawValue)).subtracting(seen("notification")).isEmpty)
        #expect(Set(ExitReason.allCases.map(\.rawValue)).subtracting(seen("exit")).isEmpty)
        let kinds: [EventKind] = [.launch, .launchScreen, .snapshot, .backgroundEvent, .backgroundTask, .deferredWork]
        #expect(Set(kinds.map(\.rawValue)).subtracting(rows.map(\.event)).isEmpty)
    }

    @Test("the scenario of each section runs, and nothing in it is refused", arguments: 2...9)
    func sections(section: Int) throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path())
        let name = try #require(files.first { $0.hasPrefix("life-cycle-\(section)-") })
        let rows = try rows(of: name)
        #expect(rows.count > 20)
        #expect(!rows.contains { $0.event == "refused" })
    }
}
