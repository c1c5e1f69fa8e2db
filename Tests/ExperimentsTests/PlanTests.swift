import Experiments
import Testing

@Suite("what runs there are")
struct PlanTests {
    private func values(_ text: String) throws -> [String] {
        try Variation(parsing: text).gridValues().map(\.text)
    }

    @Test(
        "values are lists, ranges by step or count, and log ranges",
        arguments: [
            ("k=a,b,c", ["a", "b", "c"]),
            ("k=[x, y],[z]", ["[x, y]", "[z]"]),
            ("k=1..4", ["1", "2", "3", "4"]),
            ("k=1..10:4", ["1", "5", "9"]),
            ("k=1..10/4", ["1", "4", "7", "10"]),
            ("k=0.5..2/4", ["0.5", "1", "1.5", "2"]),
            ("k=256MiB..1GiB/4", ["256MiB", "512MiB", "768MiB", "1GiB"]),
            ("k=256MiB..1GiB:512MiB", ["256MiB", "768MiB"]),
            ("k=2%..10%/3", ["2%", "6%", "10%"]),
            ("k=100ms..1s/4", ["100ms", "400ms", "700ms", "1s"]),
            ("k=1MiB/s..3MiB/s/3", ["1MiB/s", "2MiB/s", "3MiB/s"]),
            ("k=log:1MiB..1GiB/3", ["1MiB", "32MiB", "1GiB"]),
            ("k=log:1..1000/4", ["1", "10", "100", "1000"]),
            ("k=../traces/a.txt", ["../traces/a.txt"]),
        ])
    func grids(text: String, expected: [String]) throws { #expect(try values(text) == expected) }

    @Test(
        "a variation that cannot be meant is refused, and the line says why",
        arguments: [
            ("1..3", "expected key=VALUES"), ("k=", "expected values"), ("k=a,,b", "a value is empty"),
            ("k=a,b,a", "comes twice"), ("k=1KiB,1024B", "comes twice"), ("k=3..1", "upside down"),
            ("k=1MiB..2s/3", "not of one kind"), ("k=log:0..5/3", "above zero"), ("k=1..3/10", "too many"),
            ("k=1..9/1", "2 to"), ("k=1MiB..2MiB:1s", "does not fit"), ("k=log:1..9:2", "not a step"),
            ("k=log:5", "needs a range"), ("k=1..1000000000", "larger step"),
        ])
    func refusals(text: String, why: String) {
        let fault = #expect(throws: ExperimentFault.self) { try values(text) }
        #expect(fault?.message.contains(why) == true, "\(text): \(fault?.message ?? "")")
        #expect(fault?.message.contains("\n") == false)
    }

    @Test("a range of sizes alone makes no grid, but can be sampled")
    func continuous() throws {
        let variation = try Variation(parsing: "k=256MiB..1GiB")
        #expect(throws: ExperimentFault.self) { try variation.gridValues() }
        #expect(variation.value(at: 0).text == "256MiB" && variation.value(at: 1).text == "1GiB")
        #expect(variation.value(at: 0.5).text == "640MiB")
    }

    @Test("a Latin hypercube hits every part of every range exactly once, whatever the seed")
    func latinHypercube() throws {
        let variations = try [
            "a=0..999", "b=log:1MiB..1GiB", "c=x,y,z,w",
        ].map { try Variation(parsing: $0) }
        for seed in UInt64(0)..<50 {
            let rows = try Sampling.latinHypercube(count: 20).combinations(of: variations, seed: seed)
            #expect(rows.count == 20)
            #expect(Set(rows.map { $0[0].amount / 50 }) == Set(0..<20), "seed \(seed)")
            // From 1 MiB to 1 GiB the value doubles ten times; each doubling has two samples.
            let doublings = rows.map { 63 - ($0[1].amount >> 20).leadingZeroBitCount }
            #expect((0..<10).allSatisfy { each in doublings.count { min(9, $0) == each } == 2 }, "seed \(seed)")
            for word in ["x", "y", "z", "w"] { #expect(rows.count { $0[2].text == word } == 5) }
        }
    }

    @Test("random samples stay in their ranges; another seed draws others; another key changes nothing")
    func random() throws {
        let a = try Variation(parsing: "a=10..19")
        let b = try Variation(parsing: "b=1s..2s")
        let both = try Sampling.independent(count: 2000).draws(of: [a, b], seed: 3)
        let alone = try Sampling.independent(count: 2000).draws(of: [a], seed: 3)
        #expect(both.map { $0[0] } == alone.map { $0[0] })
        #expect(both != (try Sampling.independent(count: 2000).draws(of: [a, b], seed: 4)))
        for whole in Int64(10)...19 { #expect((150...250).contains(alone.count { $0[0].amount == whole }), "\(whole)") }
        #expect(both.allSatisfy { (1_000_000...2_000_000).contains($0[1].amount) })
    }

    @Test(
        "a combination that is drawn again is left out; the others keep their order",
        arguments: [Sampling.independent(count: 60), .latinHypercube(count: 60)])
    func repeated(sampling: Sampling) throws {
        let variations = try ["a=1,2", "b=x,y,z"].map { try Variation(parsing: $0) }
        let draws = try sampling.draws(of: variations, seed: 1)
        let rows = try sampling.combinations(of: variations, seed: 1)
        #expect(draws.count == sampling.count && rows.count == 6)
        var firsts: [[SettingValue]] = []
        for draw in draws where !firsts.contains(draw) { firsts.append(draw) }
        #expect(rows == firsts)
    }

    @Test("a range that is too long names its --vary")
    func longRange() throws {
        let variation = try Variation(parsing: "k=0..100000")
        let fault = #expect(throws: ExperimentFault.self) { try variation.gridValues() }
        #expect(fault?.message == "--vary k=0..100000: the range has more than 100000 values; give a larger step")
    }

    @Test(
        "seeds are lists and ranges", arguments: [("1..4", [1, 2, 3, 4]), ("7", [7]), ("1,9..10,2", [1, 9, 10, 2])])
    func seeds(text: String, expected: [UInt64]) throws { #expect(try Seeds.parse(text) == expected) }

    @Test("seeds that are none are refused", arguments: ["", "1,", "a", "-1", "3..1", "1..3,2", "1..999999999", "+4"])
    func badSeeds(text: String) { #expect(throws: ExperimentFault.self) { try Seeds.parse(text) } }

    private var plan: ExperimentPlan {
        ExperimentPlan(
            program: "test",
            scenarios: [
                .init(path: "a.yaml", name: "a", fingerprint: "0"), .init(path: "b.yaml", name: "b", fingerprint: "1"),
            ],
            sets: ["x=1"], policies: [.init(given: "lru", label: "lru"), nil], keys: ["k"],
            combinations: [[SettingValue("1s")], [SettingValue("2s")], [SettingValue("3s")]], seeds: [5, 6])
    }

    @Test("cases are in a fixed order, and each combination comes exactly once")
    func cases() {
        let cases = (0..<plan.count).map { plan.experimentCase(at: $0) }
        #expect(cases.count == 24 && Set(cases).count == 24)
        #expect(cases[0].seed == 5 && cases[1].seed == 6 && cases[2].combination == 1 && cases[6].policy == 1)
        #expect(plan.title(of: cases[3]) == "a, policy lru, k=2s, seed 6")
        #expect(plan.assignments(ofCombination: 2, policy: 0) == ["x=1", "k=3s"])
    }

    @Test("what a comparison sets of the policy is for the policies that are compared")
    func yardsticks() {
        func given(_ policies: [String], keys: [String] = []) -> [Int] {
            let plan = ExperimentPlan(
                program: "test", scenarios: [.init(path: "a.yaml", name: "a", fingerprint: "0")],
                sets: ["policy.parameters.x=1", "policy=2", "policyholder=3"],
                policies: policies.map { .init(given: $0, label: $0) }, keys: keys,
                combinations: [keys.map { _ in SettingValue("1s") }])
            return policies.indices.map { plan.assignments(ofCombination: 0, policy: $0).count - keys.count }
        }
        #expect(given(["ladder", "none", "foresight", "unbounded"]) == [3, 1, 1, 1])
        #expect(given(["none", "ladder"]) == [1, 3])
        #expect(given(["foresight", "none", "unbounded"]) == [3, 1, 1])
        // Who varies settings of none in a sweep is told that it has none.
        #expect(given(["ladder", "none", "unbounded"], keys: ["k"]) == [3, 3, 1])
    }

    @Test("parts are disjoint, about as long, and together everything", arguments: [1, 2, 3, 7, 24, 30])
    func shards(count: Int) throws {
        let shards = try (1...count).map { try Shard(parsing: "\($0)/\(count)") }
        for index in 0..<plan.count { #expect(shards.count { $0.contains(index) } == 1) }
        for shard in shards { #expect(shard.count(of: plan.count) == (0..<plan.count).count(where: shard.contains)) }
    }

    @Test(
        "a part that is none is refused",
        arguments: ["", "1", "0/3", "4/3", "1/0", "a/3", "1/3/5", "-1/3", "+1/3", "1/+3"])
    func badShards(text: String) { #expect(throws: ExperimentFault.self) { try Shard(parsing: text) } }

    @Test("the kind of a column is that of its values when they are alike")
    func kinds() {
        #expect(plan.kind(ofKey: 0) == .time)
        var mixed = plan
        mixed.combinations = [[SettingValue("1s")], [SettingValue("none")]]
        #expect(mixed.kind(ofKey: 0) == .text)
        #expect(SettingValue("1.5s").cell == "1.5" && SettingValue("5%").cell == "0.05")
        #expect(SettingValue("1KiB").cell == "1024" && SettingValue("0.25").cell == "0.25")
    }
}
