import Foundation
import Testing

/// Compares the page of promises with the tests that it names.
@Suite("the page of promises")
struct PromisesTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: TidyTests.root.appending(path: path), encoding: .utf8)
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
        for line in try Self.text("Sources/plimsoll/plimsoll.docc/Promises.md").split(separator: "\n")
        where line.hasPrefix("| ") && !line.hasPrefix("| promise ") {
            #expect(line.contains("\""), "\(line)")
        }
    }
}
