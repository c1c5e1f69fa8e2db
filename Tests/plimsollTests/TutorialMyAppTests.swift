import Foundation
import Testing

@Suite("the tutorial on an app in the background")
struct TutorialMyAppTests {
    private static let page = Program.root.appending(path: "Sources/plimsoll/plimsoll.docc/TutorialMyApp.md")

    /// The commands of the page without their first word, each with the lines that it prints.
    private func commands(of page: String) -> [(words: [String], shown: [String])] {
        var found: [(words: [String], shown: [String])] = []
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) where line.hasPrefix("    ") {
            let text = String(line.dropFirst(4))
            if text.hasPrefix("$ plimsoll ") {
                found.append((text.split(separator: " ").dropFirst(2).map(String.init), []))
            } else if !found.isEmpty {
                found[found.count - 1].shown.append(text)
            }
        }
        return found
    }

    @Test("each command runs and prints what the page shows; the last expectation holds")
    func commandsRun() throws {
        let page = try Program.text(Self.page)
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let scenario = try #require(page.components(separatedBy: "```yaml\n").last).components(separatedBy: "```")[0]
        try Data(scenario.utf8).write(to: folder.appending(path: "my-app.yaml"))
        let commands = commands(of: page)
        #expect(commands.map { $0.words[0] } == ["list", "run", "explain", "run", "sweep"])
        for (index, command) in commands.enumerated() {
            let result = try Program.run(command.words, in: folder)
            #expect(result.status == (index == 1 ? 99 : 0), "\(command.words): \(result.error)")
            let said = (result.out + result.error).split(separator: "\n").map(String.init)
            // A list may be shortened at its beginning.
            let shown = command.shown.first == "…" ? Array(command.shown.dropFirst()) : command.shown
            #expect(Array(said.suffix(shown.count)) == shown, "\(command.words)")
            if command.shown.first != "…" { #expect(said.count == shown.count, "\(command.words): \(said)") }
        }
    }
}
