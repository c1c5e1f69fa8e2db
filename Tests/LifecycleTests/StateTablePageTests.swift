import Foundation
import Lifecycle
import Testing

/// Compares the state tables in the documentation with the machines. `PLIMSOLL_RECORD=1` rewrites the tables.
@Suite("the state tables in the documentation")
struct StateTablePageTests {
    static let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let page = project.appending(path: "Sources/Lifecycle/Lifecycle.docc/StateTables.md")

    /// A row per event, a column per state.
    private func table<State: RawRepresentable<String>, Event: RawRepresentable<String>>(
        _ states: [State], _ events: [Event], _ next: (State, Event) -> State?
    ) -> String {
        var lines = ["| event |" + states.map { " \($0.rawValue) |" }.joined()]
        lines.append("|---|" + states.map { _ in "---|" }.joined())
        for event in events {
            lines.append("| \(event.rawValue) |" + states.map { " \(next($0, event)?.rawValue ?? "-") |" }.joined())
        }
        return lines.joined(separator: "\n")
    }

    private var processTable: String {
        table(ProcessPhase.allCases, ProcessEvent.allCases) { try? ProcessMachine.next($0, $1) }
    }

    private var sceneTable: String {
        table(ScenePhase.allCases, SceneEvent.allCases) { try? SceneMachine.next($0, $1) }
    }

    @Test("the printed tables equal those of the page")
    func page() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let parts = text.components(separatedBy: "\n\n")
        let tables = [processTable, sceneTable]
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            var rest = tables
            let isTable = { (part: String) in part.hasPrefix("| event") || part == "PROCESS" || part == "SCENE" }
            let fresh = parts.map { isTable($0) ? rest.removeFirst() : $0 }
            return try fresh.joined(separator: "\n\n").write(to: Self.page, atomically: true, encoding: .utf8)
        }
        #expect(parts.filter { $0.hasPrefix("| event") } == tables)
    }

    @Test("an illegal pair is refused with both names, every one of them")
    func refusals() {
        for phase in ProcessPhase.allCases {
            for event in ProcessEvent.allCases where (try? ProcessMachine.next(phase, event)) == nil {
                #expect(throws: IllegalTransition(machine: "process", state: phase.rawValue, event: event.rawValue)) {
                    try ProcessMachine.next(phase, event)
                }
            }
        }
        for phase in ScenePhase.allCases {
            for event in SceneEvent.allCases where (try? SceneMachine.next(phase, event)) == nil {
                #expect(throws: IllegalTransition(machine: "scene", state: phase.rawValue, event: event.rawValue)) {
                    try SceneMachine.next(phase, event)
                }
            }
        }
    }

    @Test("the machines have no default case")
    func noDefault() throws {
        let folder = Self.page.deletingLastPathComponent().deletingLastPathComponent()
        for name in ["ProcessMachine", "SceneMachine", "Signals", "States"] {
            let text = try String(contentsOf: folder.appending(path: "\(name).swift"), encoding: .utf8)
            #expect(!text.contains("default:"), "\(name) has a default case")
        }
    }
}
