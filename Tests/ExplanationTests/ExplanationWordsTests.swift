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

    @Test("in short it takes fifteen rows of eighty columns with the last line, however long the path is")
    func rows() throws {
        let tight = ["lru", "jetsam", "largest-first"].map {
            TightPhone.scenario($0, ceiling: "140MiB", seconds: 120, taps: TightPhone.rounds("abcd", pause: 10))
        }
        let long = String(repeating: "a long path/", count: 12) + "scenario.yaml"
        for scenario in ["r/scenario.yaml", long] {
            for explanation in try (tight + [Self.editor]).flatMap({ try explanations($0, scenario: scenario) }) {
                let lines = explanation.lines(.short, width: 80)
                #expect(rows(lines + [Explanation.more], width: 80) <= 15, "\(lines.joined(separator: "\n"))")
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

    /// An app in front with a leak, and growth beside it, under a limit of its own.
    private static let hopeless = """
        plimsoll: 1
        name: hopeless
        duration: 4min
        backend: accounting
        device: { ceiling: 2GiB, reserved: 64MiB }
        policy: none
        apps:
          - name: a
            like: plain
            memory: { base: 30MiB, leak: 1MiB/s, growth: { rate: 1MiB/s, up_to: 400MiB } }
            limits: { active: 80MiB }
        user:
          - { at: 0s, launch: a }
        """

    private func flat(_ lines: [String]) -> String {
        lines.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("where no change alone saves it for good, that is said first, and two together are tried")
    func pairs() throws {
        let explanation = try #require(try explanations(Self.hopeless).first)
        let text = flat(explanation.lines(.short, width: 80))
        #expect(
            text.contains("To save it: no change alone saves it for good, but two together do: "), "\(text)")
        let pair = try #require(explanation.remedies.first { !$0.change.parts.isEmpty })
        #expect(pair.isLasting && explanation.pairs > 0 && explanation.pairs <= 6)
        let changed = try loadedPlan(Self.hopeless, pair.change.assignments)
        #expect(try exits(of: "a", in: changed).isEmpty)
        // Every other change is called what it is.
        for remedy in explanation.remedies where remedy.change.parts.isEmpty {
            #expect(remedy.worth == .delay && remedy.life.hasPrefix("its end is only delayed: "), "\(remedy.life)")
        }
        #expect(text.contains(" only delays its end by "), "\(text)")
        #expect(!text.contains("; it lives "), "\(text)")
    }

    @Test("where pairs save nothing either, the first line of the advice says how much the best delays")
    func delayed() throws {
        // Growth and leak are faster than any limit that is tried.
        let fast = Self.hopeless.replacing("leak: 1MiB/s", with: "leak: 9MiB/s")
            .replacing("rate: 1MiB/s", with: "rate: 9MiB/s").replacing("400MiB", with: "4GiB")
            .replacing("ceiling: 2GiB", with: "ceiling: 8GiB")
        let explanation = try #require(try explanations(fast).first)
        let text = flat(explanation.lines(.short, width: 80))
        try #require(!explanation.remedies.isEmpty, "\(text)")
        #expect(explanation.remedies.allSatisfy { !$0.isLasting })
        #expect(text.contains("To save it: nothing tried saves it for good"), "\(text)")
        #expect(text.contains("; the best only delays its end by "), "\(text)")
    }

    @Test("a printed command leaves out the claims that the advice breaks, and keeps those that hold")
    func claims() throws {
        for (claim, isBroken) in [("editor.terminations >= 1", true), ("editor survives", false)] {
            let text = Self.editor + "\nexpect: [\(claim)]\n"
            let command = try #require(try explanations(text).first?.remedies.first?.command)
            #expect(command.hasSuffix(" --set 'expect=[]'") == isBroken, "\(command)")
        }
    }

    @Test("sizes are those of the phone, also in a scale model; a key of the model says so")
    func scale() throws {
        let whole = try #require(try explanations(Self.editor).first)
        let model = try #require(try explanations(Self.editor + "\nscale: 50%\n").first)
        func held(_ text: String) -> Double? {
            text.firstMatch(of: #/it held ([0-9.]+) MiB/#).flatMap { Double($0.1) }
        }
        let a = try #require(held(whole.wholeText))
        let b = try #require(held(model.wholeText))
        #expect(abs(a - b) < a / 10, "\(a) and \(b)")
        let text = flat(model.lines(.all, width: 200))
        #expect(text.contains(" GiB instead of 1 GiB (in the model device.ceiling = "), "\(text)")
        #expect(!flat(whole.lines(.all, width: 200)).contains("in the model"))
    }

    @Test("in short, too, it says what the app was, and for whom it was ended")
    func forWhom() throws {
        let explanation = try #require(try explanations(Self.editor).first)
        let text = flat(explanation.lines(.short, width: 80))
        #expect(text.contains(" It was: ") && text.contains(" For whom: game, "), "\(text)")
    }

    @Test("where the device compresses, contents that compress better or worse are tried")
    func contents() throws {
        let plan = try loadedPlan(Self.editor, ["device.compressor={}"])
        let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
        guard let termination = try explainer.terminations().first else { return }
        let found = try explainer.explain(termination)
        let all = found.inVain + found.remedies.map(\.change.words)
        #expect(all.contains { $0.contains("memory.compressibility.incompressible") }, "\(all)")
    }
}
