import Foundation
import Testing

@Suite("what the page about reading a run quotes, held against the program")
struct ReadingPageTests {
    /// The indented lines of the page from the one that begins with `first` on.
    private func shown(from first: String) throws -> [String] {
        let page = "Sources/plimsoll/plimsoll.docc/HowToReadARun.md"
        let text = try Program.text(Program.root.appending(path: page))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("    " + first) }, "no \(first)")
        var shown = lines[start...].prefix { $0.isEmpty || $0.hasPrefix("    ") }
        while shown.last?.isEmpty == true { shown.removeLast() }
        return shown.map { String($0.dropFirst(4)) }
    }

    @Test("what it quotes of an explanation is what explain says")
    func explanation() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = ["run", Program.scenario("editor-behind-a-game"), "--backend", "accounting", "--quiet", "--out"]
        #expect(try Program.run(run + ["runs/editor-behind-a-game"], in: folder).status == 0)
        let result = try Program.run(["explain", "runs/editor-behind-a-game", "--app", "editor", "--all"], in: folder)
        let lines = try shown(from: "editor was ended")
        let said = result.out.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(said.map(String.init) == lines)
    }
}
