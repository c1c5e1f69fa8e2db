import Foundation
import Quantities
import Simulation
import Testing

@testable import Scenario

@Suite("conditions within conditions")
struct RuleDepthTests {
    private static func scenario(rule: String) -> String {
        Samples.minimal + "policy: { name: ladder, rules: [{ \(rule) }] }\n"
    }

    /// A claim within this many random levels of lists, `all`, `any` and `not`; each key is a level of its own.
    private func nested(_ levels: Int, _ random: inout SeededGenerator) -> String {
        let forms = ["[%]", "{ not: % }", "{ all: [%] }", "{ any: [%] }"]
        var text = "state == suspended"
        var left = levels
        while left > 0 {
            let form = left > 1 ? random.number(in: 0...3) : random.number(in: 0...1)
            text = forms[form].replacing("%", with: text)
            left -= form < 2 ? 1 : 2
        }
        return text
    }

    /// The levels above a condition: the scenario, `policy`, `rules`, the rule.
    private static let levelsAbove = 4

    @Test("beyond what the parser itself follows it is said the same way", arguments: ["[", "{ a: ", "- "])
    func beyondTheParser(opening: String) {
        let text = "plimsoll: 1\nname:\n  " + String(repeating: opening, count: 3_000)
        let faults = Samples.faults(text)
        #expect(faults.count == 1 && faults[0].hasSuffix("error: nested more than 32 levels deep"), "\(faults)")
    }

    @Test(
        "a condition may be nested as deep as a text may, and comes back from the effective scenario", arguments: 0..<20
    )
    func depth(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed, stream: "conditions")
        let most = TextLimits.depth - Self.levelsAbove - 1
        for levels in [most, random.number(in: 1...most)] {
            let text = Self.scenario(rule: "name: a, who: \(nested(levels, &random))")
            let plan = try Samples.load(text).get()
            #expect(try Samples.load(EffectiveScenario.yaml(of: plan)).get() == plan)
        }
        let text = Self.scenario(rule: "name: a, who: \(nested(most + 1, &random))")
        #expect(Samples.faults(text).first?.hasSuffix("error: nested more than 32 levels deep") == true)
    }

    @Test("what an option or a policy file puts too deep is refused with its own place")
    func depthOfOthers() throws {
        var random = SeededGenerator(seed: 1, stream: "conditions")
        let most = TextLimits.depth - Self.levelsAbove - 1
        let text = Self.scenario(rule: "name: a")
        for levels in [most, most + 1] {
            let set = "policy.rules.0.who=\(nested(levels, &random))"
            let file = FileManager.default.temporaryDirectory.appending(path: "deep-\(levels).yaml")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data("name: ladder\nrules: [{ name: a, who: \(nested(levels, &random)) }]\n".utf8).write(to: file)
            for (overrides, place) in [
                (Overrides(sets: [set]), "--set policy.rules"),
                (Overrides(policy: file.path()), "deep-\(levels).yaml:2:"),
            ] {
                guard levels > most else {
                    let plan = try Samples.load(text, overrides).get()
                    #expect(try Samples.load(EffectiveScenario.yaml(of: plan)).get() == plan)
                    continue
                }
                let faults = Samples.faults(text, overrides)
                #expect(faults.count == 1 && faults[0].contains(place), "\(faults)")
                #expect(faults[0].hasSuffix("error: nested more than 32 levels deep"))
            }
        }
    }
}
