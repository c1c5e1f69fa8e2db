import Foundation
import Memory
import Metrics
import Scenario
import Simulation
import Testing

/// Compares quickstart on the accounting backend row by row. A difference is a change of results and belongs in the
/// changelog under that heading. `PLIMSOLL_RECORD=1` rewrites the files; a missing file is written, and the test fails.
@Suite("the golden run")
struct GoldenRunTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    @Test(
        "quickstart writes what it always wrote",
        arguments: ["events", "launches", "decisions", "summary", "app_summary", "exits", "terminations"])
    func golden(table: String) throws {
        let tables = try Self.tables.get()
        let written = try #require(tables[table])
        let file = Self.folder.appending(path: "quickstart-\(table).csv")
        let golden = try? String(contentsOf: file, encoding: .utf8)
        if golden == nil || ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
            try Data(written.utf8).write(to: file)
            return #expect(golden != nil, "\(table).csv was not there; now it is recorded")
        }
        let (old, new) = (golden?.split(separator: "\n") ?? [], Self.rows(written, asIn: golden ?? ""))
        let first = zip(old, new).first { $0 != $1 }
        #expect(old == new, "\(table).csv: first difference \(String(describing: first))")
    }

    /// The rows, without the table's last columns if the golden run lacks them and they contain no quotes.
    private static func rows(_ text: String, asIn golden: String) -> [Substring] {
        func head(_ text: String) -> [Substring] { (text.split(separator: "\n").first ?? "").split(separator: ",") }
        let (known, columns) = (head(golden), head(text))
        let rows = text.split(separator: "\n")
        guard columns.count > known.count, columns.starts(with: known), !text.contains("\"") else { return rows }
        return rows.map { row in
            let cells = row.split(separator: ",", omittingEmptySubsequences: false)
            return Substring(cells.prefix(known.count).joined(separator: ","))
        }
    }

    /// The tables by name, computed once.
    private static let tables = Result {
        let overrides = Overrides(backend: .accounting)
        let plan = try ScenarioLoader.load(path: Program.scenario("quickstart"), overrides: overrides).get()
        let memory = try makeDeviceMemory(
            plan.backend, ceiling: plan.device.ceiling, reserved: plan.device.reserved)
        var sinks: [String: MemorySink] = [:]
        let run = RunSinks { schema in
            let sink = MemorySink()
            sinks[schema.name] = sink
            return sink
        }
        _ = try Simulation(plan, memory: memory, sinks: run, verify: true).run()
        return sinks.mapValues(\.text)
    }
}
