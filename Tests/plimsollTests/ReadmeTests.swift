import Foundation
import Testing

@Suite("the README, held against the program")
struct ReadmeTests {
    /// The indented lines of the README from the one that begins with `first` to the one that begins with `last`, or to
    /// the last indented line.
    private func shown(from first: String, to last: String? = nil) throws -> [String] {
        let text = try Program.text(Program.root.appending(path: "README.md"))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("    " + first) }, "no \(first)")
        var shown = lines[start...].prefix { $0.isEmpty || $0.hasPrefix("    ") }
        if let last { shown = shown[...(try #require(shown.firstIndex { $0.contains(last) }, "no \(last)"))] }
        while shown.last?.isEmpty == true { shown.removeLast() }
        return shown.map { String($0.dropFirst(4)) }
    }

    @Test("the run that it shows prints these lines")
    func quickstart() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        // The program is found as a person's shell finds it, and called by `Scripts/run`.
        let result = try Program.run(
            ["run", Program.scenario("quickstart"), "--out", "runs/quickstart", "--report-follows"], in: folder,
            shell: "PATH=\"${1%/*}:$PATH\"; shift; plimsoll \"$@\"")
        // The first line shows the duration, which varies.
        let lines = try shown(from: "quickstart: policy", to: "to compare").dropFirst()
        #expect(result.out.split(separator: "\n").dropFirst().map(String.init) == Array(lines))
    }

    @Test("what it quotes of an explanation is what explain says")
    func explanation() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let run = ["run", Program.scenario("editor-behind-a-game"), "--backend", "accounting", "--quiet", "--out"]
        #expect(try Program.run(run + ["runs/editor-behind-a-game"], in: folder).status == 0)
        let result = try Program.run(["explain", "runs/editor-behind-a-game", "--app", "editor"], in: folder)
        let lines = try shown(from: "editor was ended")
        let said = result.out.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(said.map(String.init) == lines)
    }
}
