import Foundation
import Testing

/// Compares the page of promises with the tests that it names.
@Suite("the page of promises")
struct PromisesTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TidyTests.root.appending(path: path), encoding: .utf8)
    }

    /// The rows of the tables, a promise each.
    private static func rows() throws -> [Substring] {
        try text("Sources/plimsoll/plimsoll.docc/Promises.md").split(separator: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| promise ") }
    }

    /// The quoted names in the last column of each table.
    private static func names() throws -> [String] {
        try text("Sources/plimsoll/plimsoll.docc/Promises.md").split(separator: "\n").flatMap { line -> [String] in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 4 else { return [] }
            return cells[2].components(separatedBy: "\"").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }
    }

    /// The text of the files with tests of the program.
    private static func inPython() throws -> String {
        let folder = TidyTests.root.appending(path: "Scripts/tests")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "py" }
            .filter { file in ["release_", "shipped_"].contains { file.lastPathComponent.hasPrefix($0) } }
            .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }

    @Test("every test that it names exists")
    func namesExist() throws {
        let names = try Self.names()
        #expect(names.count > 30)
        let inPython = try Self.inPython()
        let tests = TidyTests.sources.filter { $0.module == "Tests" }.map { $0.lines.joined(separator: "\n") }
        for name in names {
            let isTest = tests.contains { $0.contains("(\"\(name)\"") || $0.contains("    \"\(name)\",") }
            let method = "    def test_" + name.replacing(" ", with: "_") + "("
            #expect(isTest || inPython.contains(method), "no test is called '\(name)'")
        }
    }

    @Test("every promise names a test")
    func noneIsBare() throws {
        for row in try Self.rows() { #expect(row.contains("\""), "\(row)") }
    }

    @Test("a line that keeps a promise has a mark of its own, and the page names every mark once")
    func marks() throws {
        let mark = #/promise: ([a-z-]+)/#
        let named = try Self.rows().flatMap { $0.matches(of: mark).map { String($0.1) } }
        var found: [String] = []
        for source in TidyTests.sources where source.module != "Tests" {
            for line in source.lines where line.contains("// promise: ") {
                let parts = line.components(separatedBy: "  // promise: ")
                // It stands behind code, and nothing follows it.
                let isMark = parts.count == 2 && !parts[0].isEmpty && "promise: \(parts[1])".wholeMatch(of: mark) != nil
                #expect(isMark, "\(source.path): \(line)")
                found.append(parts.last ?? "")
            }
        }
        #expect(found.count >= 8, "the marks were not found")
        #expect(found.sorted() == named.sorted())
        #expect(Set(found).count == found.count, "a mark stands twice")
    }
}
