import Foundation
import Testing

/// Compares the page of statements with the tests that it names.
@Suite("the page of statements")
struct StatementsPageTests {
    /// The cells of the rows: number, statement, what shows it.
    private static func rows() throws -> [[String]] {
        let path = "Sources/Lifecycle/Lifecycle.docc/Statements.md"
        return try String(contentsOf: TidyTests.root.appending(path: path), encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| S") }
            .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test("it has the ninety-four statements, in order, each with a test or a reason")
    func complete() throws {
        let rows = try Self.rows()
        #expect(rows.map { $0[0] } == (1...94).map { "S\($0)" })
        #expect(rows.allSatisfy { $0.count == 3 && ($0[2].hasPrefix("\"") || $0[2].hasPrefix("not shown: ")) })
        // Five cannot be shown by any simulator, and at most two others are not.
        let without = rows.filter { !$0[2].hasPrefix("\"") }.map { $0[0] }
        #expect(Set(without).isSuperset(of: ["S33", "S39", "S40", "S63", "S68"]))
        #expect(without.count <= 7, "\(without)")
    }

    @Test("every test that it names exists")
    func namesExist() throws {
        let tests = TidyTests.sources.filter { $0.module == "Tests" }.map { $0.lines.joined(separator: "\n") }
        for row in try Self.rows() where row[2].hasPrefix("\"") {
            let name = row[2].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
            #expect(
                tests.contains { $0.contains("(\"\(name)\"") || $0.contains("    \"\(name)\"") }, "\(row[0]): \(name)")
        }
    }
}
