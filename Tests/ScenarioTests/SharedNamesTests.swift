import Foundation
import Lifecycle
import Metrics
import Pressure
import Reclaim
import Testing

/// Names that are written in two places because one cannot import the other.
@Suite("names that stand in two places")
struct SharedNamesTests {
    private static func script(_ path: String) throws -> String {
        try String(
            contentsOf: ProjectScenarioTests.folder.deletingLastPathComponent().appending(path: "Scripts/\(path)"),
            encoding: .utf8)
    }

    /// The texts within the brackets after `NAME = (`.
    private static func tuple(_ name: String, in text: String) throws -> Set<String> {
        let start = try #require(text.firstRange(of: "\n\(name) = ("), "there is no \(name)")
        let words = text[start.upperBound...].prefix { $0 != ")" }
        return Set(words.matches(of: /"([^"]+)"/).map { String($0.1) })
    }

    private static func choices(_ column: String, of table: TableSchema) throws -> Set<String> {
        Set(try #require(table.columns.first { $0.name == column }).choices)
    }

    @Test("the tables' choices are those of the types that they are about")
    func tables() throws {
        #expect(
            try Self.choices("action", of: RunTables.decisions) == Set(ReclaimAction.Kind.allCases.map(\.rawValue)))
        #expect(
            try Self.choices("pressure_level", of: RunTables.samples) == Set(PressureLevel.allCases.map(\.rawValue)))
        #expect(try Self.choices("state", of: RunTables.apps) == Set(ProcessPhase.allCases.map(\.rawValue)))
        #expect(try Self.choices("kind", of: RunTables.launches) == Set(LaunchKind.allCases.map(\.rawValue)))
    }

    @Test("the metrics that a page compares are metrics of the summary, each once, with a name of its own")
    func metrics() throws {
        let compared = SummaryMetrics.compared
        for each in compared { #expect(SummaryMetrics.named(each.name) != nil, "\(each.name)") }
        #expect(Set(compared.map(\.name)).count == compared.count && Set(compared.map(\.title)).count == compared.count)
    }

    @Test("the scripts know every action, and which exits are not the system's")
    func scripts() throws {
        #expect(
            try Self.tuple("ACTIONS", in: Self.script("plimsoll_tools/reporting/payload.py"))
                == Set(ReclaimAction.Kind.allCases.map(\.rawValue)))
        #expect(
            try Self.tuple("NOT_BY_THE_SYSTEM", in: Self.script("plimsoll_tools/plotting/run_directory.py"))
                == Set(ExitReason.allCases.filter { !$0.isBySystem }.map(\.rawValue)))
    }
}
