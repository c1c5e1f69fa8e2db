import Quantities
import Reclaim
import Testing

@testable import Scenario

/// Products and quotients of features in orders and weights.
@Suite("products of features")
struct RuleTermTests {
    private typealias Samples = RuleSamples

    private static func scores(_ order: String, _ processes: [ProcessSnapshot]) throws -> [(Int, Int64, String)] {
        try Samples.policy("[{ name: a, order: \(order) }]").decide(Samples.device(100, processes)).ranking.map {
            (Int($0.action.target.number), $0.score, $0.reason)
        }
    }

    @Test("seconds, MiB, shares of the whole and plain numbers are multiplied and divided from left to right")
    func units() throws {
        let process = Samples.process(1, idle: 90, size: 50) {
            $0.relaunchCost = .milliseconds(1_500)
            $0.growth = .percent(150)
            $0.band = .ageing
        }
        func millionths(_ order: String) throws -> Int64? { try Self.scores(order, [process]).first?.1 }
        #expect(try millionths("idle * footprint") == 4_500_000_000)
        #expect(try millionths("idle * footprint / relaunch_cost") == 3_000_000_000)
        #expect(try millionths("idle / relaunch_cost * footprint") == 3_000_000_000)
        #expect(try millionths("idle / relaunch_cost / footprint") == 1_200_000)
        #expect(try millionths("footprint * growth") == 75_000_000)
        #expect(try millionths("footprint * band") == 1_000_000_000)
        #expect(try millionths("1 / relaunch_cost") == 666_666)
        #expect(try Self.scores("footprint * growth", [process])[0].2 == "rule 'a': footprint * growth is 75.000")
    }

    @Test("a divisor of zero counts as the smallest step of its unit, and zero divided by zero is zero")
    func zero() throws {
        let process = Samples.process(1, size: 2) { $0.relaunchCost = .zero }
        func millionths(_ order: String) throws -> Int64? { try Self.scores(order, [process]).first?.1 }
        // 2 MiB by 1 µs, by 1 byte, and by 1.
        #expect(try millionths("footprint / relaunch_cost") == 2_000_000_000_000)
        #expect(try millionths("footprint / cache") == 2 * 1_048_576 * 1_000_000)
        #expect(try millionths("footprint / band") == 2_000_000)
        #expect(try millionths("cache / swapped") == 0)
        // Less of a divisor never makes the quotient smaller: zero goes before a microsecond's double.
        let others = [0, 1, 2, 3].map { cost in
            Samples.process(Int(cost) + 1) { $0.relaunchCost = TimeSpan(microseconds: cost) }
        }
        #expect(try Self.scores("footprint / relaunch_cost", others).map(\.0) == [1, 2, 3, 4])
        // A number below zero counts as zero.
        let negative = [Samples.process(1) { $0.declaredOomScoreAdj = -5 }, Samples.process(2)]
        #expect(try Self.scores("oom_score * footprint", negative).map(\.0) == [2, 1])
    }

    @Test("products far beyond a whole number's range still have an order")
    func large() throws {
        let processes = (1...3).map { number in
            Samples.process(number, idle: Int64(300 + number), size: 1_000) { $0.relaunchCost = .zero }
        }
        let order = "footprint * idle * idle / relaunch_cost / relaunch_cost / relaunch_cost"
        let scores = try Self.scores(order, processes)
        #expect(scores.map(\.0) == [3, 2, 1])
        #expect(scores.allSatisfy { $0.1 == 9_000_000_000_000_000_000 })
    }

    @Test("a weight of a product weighs its share of the greatest product")
    func weights() throws {
        let processes = [
            Samples.process(1, idle: 100, size: 10), Samples.process(2, idle: 10, size: 200),
            Samples.process(3, idle: 50, size: 30),
        ]
        // 1000, 2000 and 1500 MiB s.
        #expect(try Self.scores("{ idle * footprint: 1 }", processes).map(\.1) == [1_000_000, 750_000, 500_000])
        #expect(try Self.scores("{ idle * footprint: 1, idle: 1 }", processes).map(\.0) == [1, 3, 2])
        #expect(try Self.scores("{ idle * footprint: -1 }", processes).map(\.0) == [1, 3, 2])
        #expect(try Self.scores("{ cache * footprint: 1 }", processes).map(\.1) == [0, 0, 0])
    }

    @Test("one feature alone weighs as it always did, to the last digit")
    func alone() throws {
        let processes = (1...5).map { Samples.process($0, idle: Int64($0 * $0 * 7 + 1), size: 13 * $0) }
        let all = try Self.scores("{ idle: 0.7, footprint: -0.3 }", processes)
        let most = (idle: Int64(176_000_000), size: Int64(65 << 20))
        for (number, score, _) in all {
            let idle = Int64(number * number * 7 + 1) * 1_000_000
            let size = Int64(13 * number) << 20
            #expect(score == scaled(700_000, by: idle, over: most.idle) + scaled(-300_000, by: size, over: most.size))
        }
    }

    @Test("the schema's pattern and the reader agree about a product, and what is written is read again")
    func patterns() throws {
        let texts = [
            "idle * footprint", "idle*footprint/relaunch_cost", " 1 / idle ", "1 * idle", "1", "idle", "idle *",
            "* idle", "idle / / footprint", "idle * state", "idle * $x", "idle * 2", "2 * idle", "idle + footprint",
            Array(repeating: "idle", count: 8).joined(separator: " * "),
            Array(repeating: "idle", count: 9).joined(separator: " * "),
            "1 / " + Array(repeating: "idle", count: 8).joined(separator: " / "),
            "1 / " + Array(repeating: "idle", count: 9).joined(separator: " / "),
        ]
        for text in texts {
            let isMatched = try Regex(RuleTerm.pattern).wholeMatch(in: text) != nil
            let term = RuleTerm.isProduct(text) ? try? RuleTerm(parsing: text) : nil
            #expect(isMatched == (term != nil), "\(text)")
            if let term { #expect(try RuleTerm(parsing: "\(term)") == term) }
        }
    }

    @Test("what is no product is told where it stands")
    func faults() {
        func faults(_ order: String) -> [String] {
            let policy = "policy: { name: ladder, rules: [{ name: a, order: \(order) }] }\n"
            return Samples.faults(ScenarioTests.Samples.minimal + policy)
        }
        let example = "policy.rules.a.order: expected features such as 'idle * footprint / relaunch_cost', not"
        #expect(faults("idle * / footprint") == ["\(example) nothing"])
        #expect(faults("idle * 2") == ["\(example) '2'"])
        #expect(faults("idle * idel") == ["policy.rules.a.order: unknown feature 'idel'; did you mean 'idle'?"])
        #expect(
            faults("{ idle * state: 1 }") == [
                "policy.rules.a.order: 'state' is no number, so it cannot be a part of a product"
            ])
        #expect(
            faults("{ idle * age: 1, idle*age: 2 }") == ["policy.rules.a.order: 'idle * age' has two weights"])
    }
}
