import Foundation
import Lifecycle
import Quantities
import Reclaim
import Simulation
import Testing

@testable import Scenario

/// Parameters that a policy file declares beside its rules.
@Suite("parameters of rules")
struct RuleParameterTests {
    private typealias Samples = RuleSamples

    private static let parameters = """
        calm: { default: 30s, range: 5s..5min }
        room: { default: 12%, range: 4%..25% }
        heavy: { default: 1, range: -2..2 }
        many: { default: 2, range: 1..5 }
        rest: { default: 5s, range: 0s..30s }
        hold: { default: 2s, range: 0s..10s }
        """
    private static let rules = """
        - name: a
          when: available < $room for $hold
          who: idle > $calm
          order: { footprint: $heavy, idle: 0.5 }
          take: $many
          cool_down: $rest
        """

    private static func text(_ parameters: String = parameters, _ rules: String = rules) -> String {
        func indented(_ text: String) -> String { text.replacing("\n", with: "\n    ") }
        return ScenarioTests.Samples.minimal + "policy:\n  name: ladder\n  parameters:\n    \(indented(parameters))\n"
            + "  rules:\n    \(indented(rules))\n"
    }

    private static func settings(_ text: String = text(), _ sets: [String] = []) throws -> PolicySettings {
        try ScenarioTests.Samples.load(text, Overrides(sets: sets)).get().policy
    }

    private static func faults(_ parameters: String, _ rules: String = rules, _ sets: [String] = []) -> [String] {
        RuleSamples.faults(text(parameters, rules), sets)
    }

    /// The same rules with their numbers written out.
    private static func written(
        calm: String = "30s", room: String = "12%", heavy: String = "1", many: String = "2", rest: String = "5s",
        hold: String = "2s"
    ) throws -> [LadderRule] {
        let values = ["calm": calm, "room": room, "heavy": heavy, "many": many, "rest": rest, "hold": hold]
        let rules = values.reduce(rules) { $0.replacing("$" + $1.key, with: $1.value) }
        let text =
            ScenarioTests.Samples.minimal + "policy:\n  name: ladder\n  rules:\n    "
            + rules.replacing("\n", with: "\n    ") + "\n"
        return try settings(text).rules
    }

    private static func bare(_ rules: [LadderRule]) -> [LadderRule] {
        rules.map { rule in
            var rule = rule
            (rule.takeFrom, rule.coolDownFrom) = (nil, nil)
            rule.when = rule.when.map { SystemClaim($0.measure, $0.comparison, $0.value, for: $0.duration) }
            rule.who = rule.who.map { ProcessClaim($0.feature, $0.comparison, $0.value) }
            rule.order = rule.order.map { tier in
                RuleTier(.weighted(tier.order.weights.map { RuleWeight($0.term, $0.weight) }), where: tier.members)
            }
            return rule
        }
    }

    @Test("a rule with parameters is the rule with their defaults written out")
    func defaults() throws {
        let settings = try Self.settings()
        #expect(try Self.bare(settings.rules) == Self.written())
        #expect(settings.declared.map(\.name) == ["calm", "room", "heavy", "many", "rest", "hold"])
        #expect(settings.table == settings.declared)
        #expect(
            settings.declared.map(\.source) == [
                "in a.who", "in a.when", "in a.order", "in a.take", "in a.cool_down", "in a.when",
            ])
    }

    @Test(
        "--set of a parameter changes the rules as if the number were written there",
        arguments: [
            ("calm", "45s"), ("room", "20%"), ("heavy", "-1.5"), ("many", "3"), ("rest", "0s"), ("hold", "1500ms"),
        ])
    func sets(name: String, value: String) throws {
        let settings = try Self.settings(Self.text(), ["policy.parameters.\(name)=\(value)"])
        let expected =
            switch name {
            case "calm": try Self.written(calm: value)
            case "room": try Self.written(room: value)
            case "heavy": try Self.written(heavy: value)
            case "many": try Self.written(many: value)
            case "rest": try Self.written(rest: value)
            default: try Self.written(hold: value)
            }
        #expect(Self.bare(settings.rules) == expected)
        #expect(try settings.rules != Self.settings().rules)
        // The same through the settings, and back again.
        let parameter = try #require(settings.declared.first { $0.name == name })
        var changed = try Self.settings().setting(name, to: settings.value(of: parameter))
        changed.parameters = settings.parameters
        #expect(changed == settings)
        let key = "policy.parameters.\(name)"
        let back = try Self.settings(Self.text(), ["\(key)=\(value)", "\(key)=default"])
        #expect(try back == Self.settings())
    }

    @Test("a decision follows the value of a parameter")
    func decisions() throws {
        let device = Samples.device(50, [Samples.process(1, idle: 40), Samples.process(2, idle: 100)])
        func targets(_ sets: [String]) throws -> [Int] {
            let settings = try Self.settings(Self.text(), ["policy.parameters.hold=0s"] + sets)
            let policy = try #require(PolicyCatalogue.make(settings))
            return policy.decide(device).ranking.map { Int($0.action.target.number) }
        }
        #expect(try targets([]) == [2, 1])
        #expect(try targets(["policy.parameters.calm=50s"]) == [2])
        #expect(try targets(["policy.parameters.room=4%"]).isEmpty)
    }

    @Test("the effective scenario has the parameters with their values, and gives the same plan again")
    func effective() throws {
        let sets = ["policy.parameters.calm=45s", "policy.parameters.heavy=-0.5"]
        let plan = try ScenarioTests.Samples.load(Self.text(), Overrides(sets: sets)).get()
        let yaml = EffectiveScenario.yaml(of: plan)
        for part in ["range: 5s..5min", "value: 45s", "value: -0.5", "idle > $calm", "for $hold"] {
            #expect(yaml.contains(part), "\(part) in \(yaml)")
        }
        #expect(try ScenarioTests.Samples.load(yaml).get() == plan)
    }

    @Test("a change of a number is a change of the parameter that gives it, and of no rule")
    func changes() throws {
        let text = EffectiveScenario.yaml(of: try ScenarioTests.Samples.load(Self.text()).get())
        let plan = try ScenarioTests.Samples.load(text).get()
        let changes = PolicyChange.all(of: plan)
        #expect(Set(changes.map(\.name)) == ["calm", "room", "heavy", "many", "rest", "hold"])
        for change in changes where change.name == "calm" || change.name == "many" {
            let changed = try ScenarioTests.Samples.load(text, Overrides(sets: [change.assignment])).get().policy
            #expect(changed.rules == change.settings.rules, "\(change.assignment)")
        }
    }

    @Test("a scale model scales sizes, their ranges and the rules that have them")
    func scaled() throws {
        let parameters = """
            size: { default: 8MiB, range: 1MiB..64MiB, value: 16MiB }
            calm: { default: 3s, range: 1s..5s }
            """
        let rules = "- { name: a, who: [footprint > $size, idle > $calm], take: $size }"
        let plan = try ScenarioTests.Samples.load(Self.text(parameters, rules), Overrides(scale: .percent(50))).get()
        let size = plan.policy.declared[0]
        #expect([size.lowest, size.standard, size.highest] == [1, 8, 64].map { .bytes(.kibibytes($0 * 512)) })
        #expect(plan.policy.rules[0].take == .bytes(.mebibytes(8)))
        #expect(plan.policy.rules[0].who.claims.map(\.value) == [.bytes(.mebibytes(8)), .time(.seconds(3))])
        #expect(try ScenarioTests.Samples.load(EffectiveScenario.yaml(of: plan)).get().policy == plan.policy)
    }

    @Test(
        "what is wrong with a declaration is told where it stands",
        arguments: [
            ("{ default: 10min, range: 5s..5min }", "calm.default: 10min is outside of the range 5s..5min"),
            ("{ default: 6s, range: 10s..5s }", "calm.range: the range 10s..5s is empty or upside down"),
            ("{ default: 6s, range: 6s..6s }", "calm.range: the range 6s..6s is empty or upside down"),
            ("{ default: 6s, range: 1MiB..5s }", "calm.range: 1MiB and 5s are not of one kind"),
            ("{ default: 6%, range: 1s..5s }", "calm.default: 6% is of another kind than the range 1s..5s"),
            ("{ default: 3s, range: 1s..5s, value: 6s }", "calm.value: 6s is outside of the range 1s..5s"),
            ("{ default: 3s, range: 1s }", "calm.range: expected a range such as 5s..5min, not '1s'"),
            (
                "{ default: soon, range: 1s..5s }",
                "calm.default: expected a time such as 30s, a size such as 150MB, a share such as 5% or a number, "
                    + "not 'soon'"
            ),
            ("3s", "calm: expected a mapping with the keys default, range, value, meaning, not '3s'"),
        ])
    func declarations(text: String, message: String) {
        let rules = "- { name: a, who: idle > $calm }"
        #expect(Self.faults("calm: \(text)", rules) == ["policy.parameters.\(message)"])
    }

    @Test(
        "a reference that does not fit is told, with the value that does not",
        arguments: [
            (
                "who: footprint > $calm",
                "who: footprint: expected a share such as 5% or a size such as 150MB, not '30s'; the units are GiB, "
                    + "MiB, KiB, GB, MB, KB, B (the default of $calm)"
            ),
            ("who: idle > $clam", "who: unknown parameter '$clam'; did you mean 'calm'?"),
            ("who: band > $half", "who: band: expected a whole number, not '0.5' (the lowest value of $half)"),
            ("who: size_rank > $one", "who: $one is 0.5, which has no unit; a share is written 5%"),
            (
                "who: limit_share > $all",
                "who: limit_share: expected a share up to 1000%, such as 60%, not '2000%' (the highest value of $all)"
            ),
            (
                "take: $zero",
                "take: expected a count such as 2, a size such as 100MiB or a share such as 5%, or none, not '0' (the "
                    + "lowest value of $zero)"
            ),
            ("who: app == $calm", "who: app: expected a name, not '$calm'; a parameter is a number"),
        ])
    func references(rule: String, message: String) throws {
        let all = [
            "calm: { default: 30s, range: 5s..5min }", "half: { default: 1, range: 0.5..2 }",
            "one: { default: 0.5, range: 0..1 }", "all: { default: 50%, range: 1%..2000% }",
            "zero: { default: 1, range: 0..2 }",
        ]
        let used = all.filter { one in rule.contains("$" + one.prefix { $0 != ":" }) }
        let parameters = used.isEmpty ? all[0] : used.joined(separator: "\n")
        let more = used.isEmpty ? "\n- { name: b, who: idle > $calm }" : ""
        #expect(Self.faults(parameters, "- { name: a, \(rule) }\(more)") == ["policy.rules.a.\(message)"])
    }

    @Test("a parameter that no rule uses, a name that is none, and one that the rules do not have are told")
    func names() {
        let rules = "- { name: a, who: idle > $calm }"
        let calm = "calm: { default: 30s, range: 5s..5min }"
        #expect(
            Self.faults(calm + "\nclam: { default: 30s, range: 5s..5min }", rules) == [
                "no rule uses the parameter 'clam'; write $clam in a rule, or leave it out"
            ])
        #expect(Self.faults(calm + "\nA-b: { default: 30s, range: 5s..5min }", rules).count == 1)
        #expect(
            Self.faults(calm, rules, ["policy.parameters.clam=3s"]) == [
                "the rules have no parameter 'clam'; did you mean 'calm'?"
            ])
        #expect(
            Self.faults(calm, rules, ["policy.parameters.calm=6min"]) == [
                "policy.parameters.calm.value: 6min is outside of the range 5s..5min"
            ])
    }

    @Test("a number without a unit may have decimals as a weight alone, and not where it counts")
    func decimals() throws {
        let both = "{ default: 1, range: -3..3 }"
        let weight = try Self.settings(Self.text("x: \(both)", "- { name: a, order: { idle: $x } }"))
        #expect(weight.declared[0].lowest == .decimal(Ratio(partsPerMillion: -3_000_000)))
        let count = try Self.settings(
            Self.text("x: { default: 1, range: 0..3 }", "- { name: a, order: { idle: $x }, who: band >= $x }"))
        #expect(count.declared[0].lowest == .count(0) && count.declared[0].highest == .count(3))
        #expect(count.rules[0].order[0].order.weights[0].weight == .one)
        #expect(
            Self.faults("x: { default: 1.5, range: 1..3 }", "- { name: a, who: band >= $x }") == [
                "policy.rules.a.who: band: expected a whole number, not '1.5' (the default of $x)"
            ])
    }

    @Test("a file lists its parameters as the program's lists and tools do")
    func file() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "parameters-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: file) }
        let text =
            "parameters:\n  calm: { default: 30s, range: 5s..5min, value: 7s, meaning: rest }\n"
            + "rules: [{ name: a, who: idle > $calm }]\n"
        try Data(text.utf8).write(to: file)
        let settings = try PolicyFile.load(path: file.path()).get()
        #expect(settings.table.map(\.name) == ["calm"] && settings.table[0].meaning == "rest")
        #expect(settings.value(of: settings.table[0]) == .time(.seconds(7)))
        try Data("rules: [{ name: a, who: idle > $calm }]\n".utf8).write(to: file)
        let fault = #expect(throws: ScenarioFault.self) { try PolicyFile.load(path: file.path()).get() }
        #expect("\(String(describing: fault))".contains("the policy declares none beside its rules"))
    }
}
