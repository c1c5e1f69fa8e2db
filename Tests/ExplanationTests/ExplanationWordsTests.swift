import Quantities
import Testing

@testable import Explanation
@testable import Scenario

@Suite("an explanation in words")
struct ExplanationWordsTests {
    private static let editor = """
        plimsoll: 1
        name: editor
        duration: 2min
        backend: accounting
        device: { ceiling: 1GiB, reserved: 300MiB }
        policy: jetsam
        apps:
          - { name: editor, like: plain, memory: { base: 300MiB } }
          - { name: game, like: plain, memory: { base: 200MiB, growth: { rate: 4MiB/s, up_to: 420MiB } } }
        user:
          - { at: 0s, launch: editor }
          - { at: 30s, launch: game }
        """

    private func explanations(_ text: String, scenario: String = "r/scenario.yaml") throws -> [Explanation] {
        let explainer = Explainer(plan: try loadedPlan(text), scenario: scenario)
        var found: [Explanation] = []
        try explainer.explain(try explainer.terminations()) { found.append($0) }
        return found
    }

    /// The rows of a terminal that the lines take.
    private func rows(_ lines: [String], width: Int) -> Int {
        lines.reduce(0) { $0 + max(1, ($1.count + width - 1) / width) }
    }

    @Test("in short it takes twelve rows of eighty columns with the last line of the command, however long the path is")
    func rows() throws {
        let tight = ["lru", "jetsam", "largest-first"].map {
            TightPhone.scenario($0, ceiling: "140MiB", seconds: 120, taps: TightPhone.rounds("abcd", pause: 10))
        }
        let long = String(repeating: "a long path/", count: 12) + "scenario.yaml"
        for scenario in ["r/scenario.yaml", long] {
            for explanation in try (tight + [Self.editor]).flatMap({ try explanations($0, scenario: scenario) }) {
                let lines = explanation.lines(.short, width: 80)
                #expect(rows(lines + [Explanation.more], width: 80) <= 12, "\(lines.joined(separator: "\n"))")
                #expect(Explanation.more.count <= 80)
            }
        }
    }

    @Test(
        "in short it says the cause, what the app and what the user could change, and the price, the foreground first")
    func short() throws {
        let explanation = try #require(try explanations(Self.editor).first)
        let text = explanation.lines(.short, width: 80).joined(separator: "\n")
        #expect(
            text.hasPrefix("editor was ended by the policy jetsam, ") && !text.contains("in decisions.csv"), "\(text)")
        let order = ["\n  Why:", "\n  It was:", "\n  The app:      apps.editor.memory.base = ", "\n  User, device: "]
        let places = order.map { text.range(of: $0)?.lowerBound }
        #expect(!places.contains(nil) && places.compactMap(\.self) == places.compactMap(\.self).sorted(), "\(text)")
        #expect(
            text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                "protection by name. The run as a whole is worse: game ends in the FOREGROUND (at "), "\(text)")
        #expect(
            !text.contains("Spared:") && !text.contains("In vain:") && !text.contains("policy.parameters"), "\(text)")
        let commands = text.split(separator: "\n").filter { $0.contains("plimsoll run ") }
        let first = try #require(explanation.remedies.first { $0.change.kind != .policy })
        #expect(commands.map { $0.drop { $0 == " " } } == [first.command[...]], "\(text)")
    }

    @Test("all of it is wrapped at the width, except commands, and says the same words at every width")
    func wrapping() throws {
        let explanation = try #require(try explanations(Self.editor).first)
        func words(_ width: Int) -> [Substring] {
            explanation.lines(.all, width: width).joined(separator: " ").split(separator: " ")
        }
        for width in [60, 80, 200] {
            for line in explanation.lines(.all, width: width) where !line.contains(" plimsoll run ") {
                #expect(line.count <= width, "\(line)")
            }
            #expect(words(width) == words(1_000))
        }
        // A number stays with its unit.
        for line in explanation.lines(.all, width: 60) {
            #expect(line.wholeMatch(of: #/.*\d (h|min)/#) == nil, "\(line)")
        }
    }
}
