import Plan
import Quantities
import Reclaim
import Simulation
import Testing

@testable import Scenario

/// Parameters whose value comes from the system's own table unless the scenario sets one.
@Suite("parameters that are the system's table's")
struct TableParameterTests {
    private static func plan(_ policy: String, _ sets: [String] = []) throws -> RunPlan {
        let text = Samples.minimal + "policy: \(policy)\n"
        return try ScenarioLoader.load(text: text, file: "t.yaml", overrides: Overrides(sets: sets)).get()
    }

    /// Every such parameter that is a number, in the form `policy.parameter`.
    private static let all = PolicyCatalogue.all.flatMap { type in
        type.parameterTable.filter { $0.mayBeTable && $0.hasRange }.map { "\(type.name).\($0.name)" }
    }

    @Test("they are jetsam's thresholds and RAM, lmkd's figures by release, and lmkd-minfree's rows")
    func known() {
        #expect(Self.all.contains("jetsam.critical") && Self.all.contains("jetsam-classic.ram"))
        #expect(Self.all.contains("lmkd-minfree.minfree_950") && Self.all.contains("lmkd-minfree.small_below"))
        #expect(Self.all.contains("lmkd.partial_stall") && Self.all.contains("lmkd.lowmem_min_oom_score"))
        #expect(Self.all.count == 5 + 4 + 6 + 7)
    }

    @Test("a word, nothing at all, and the zero of earlier files say the same; the zero is warned of", arguments: all)
    func zero(name: String) throws {
        let parts = name.split(separator: ".").map(String.init)
        let type = try #require(PolicyCatalogue.type(named: parts[0]))
        let parameter = try #require(type.parameterTable.first { $0.name == parts[1] })
        let zero =
            switch parameter.lowest {
            case .bytes: "0B"
            case .time: "0s"
            case .count: "0"
            case .ratio, .decimal, .flag, .choice, .names, .table: "0%"
            }
        let standard = try Self.plan(parts[0])
        #expect(standard.remarks.isEmpty)
        #expect(try Self.plan("{ name: \(parts[0]), parameters: { \(parts[1]): table } }") == standard)
        var old = try Self.plan("{ name: \(parts[0]), parameters: { \(parts[1]): \(zero) } }")
        let lines = Samples.minimal.split(separator: "\n", omittingEmptySubsequences: false).count
        let column = "policy: { name: \(parts[0]), parameters: { \(parts[1]): ".count + 1
        let sentence =
            "policy.parameters.\(parts[1]): \(zero) stands for what the system's table says; write table, "
            + "or leave it out"
        #expect(old.remarks == ["t.yaml:\(lines):\(column): warning: \(sentence)"])
        old.remarks = []
        #expect(old == standard)
        let option = "policy.parameters.\(parts[1])=\(zero)"
        #expect(try Self.plan(parts[0], [option]).remarks == ["--set \(option): warning: \(sentence)"])
        #expect(EffectiveScenario.yaml(of: old).contains("\(parts[1]): table"))
    }

    @Test("another word is refused")
    func refused() throws {
        let text = Samples.minimal + "policy: { name: jetsam, parameters: { critical: tabel } }\n"
        guard case .failure(let fault) = ScenarioLoader.load(text: text, file: "t.yaml") else {
            Issue.record("it is taken")
            return
        }
        #expect("\(fault)".contains("policy.parameters.critical: expected "), "\(fault)")
        #expect("\(fault)".contains(", or table, not 'tabel'"), "\(fault)")
    }

    @Test(
        "a value in a foreign unit is refused with both forms that would be right",
        arguments: [
            ("critical: 5MiB", "expected a share such as 5% or 0.05, or table, not '5MiB'"),
            ("critical: 0B", "expected a share such as 5% or 0.05, or table, not '0B'"),
            ("ram: 0%", "expected a size with its unit, such as 512KiB, 38MiB or 1.5GiB, or table, not '0%'"),
            ("critical: 120%", "120% is too large; at most 100%"),
        ])
    func units(parameter: String, expected: String) {
        let text = Samples.minimal + "policy: { name: jetsam, parameters: { \(parameter) } }\n"
        guard case .failure(let fault) = ScenarioLoader.load(text: text, file: "t.yaml") else {
            Issue.record("it is taken")
            return
        }
        #expect("\(fault)".hasSuffix(expected), "\(fault)")
    }
}
