import Metrics
import Testing

@testable import Experiments

@Suite("the verdict on a search's policy")
struct HeldOutTests {
    private let lower = HeldOut.Goal(metric: "stalls", isMaximized: false)

    private func pair(_ standard: Double, _ tuned: Double, launches: Double = 9) -> HeldOut.Pair {
        HeldOut.Pair(standard: ["stalls": standard, "launches_cold": launches], tuned: ["stalls": tuned])
    }

    /// Twenty users who act differently.
    private func day(_ shift: Double, spread: Double) -> [HeldOut.Pair] {
        (0..<20).map { seed in
            let base = 10 + Double(seed * 7 % 5)
            return pair(base, base + shift + spread * Double(seed * 3 % 7 - 3) / 3, launches: Double(seed))
        }
    }

    /// Five seeds under which all is the same, except for the number of launches where it is given.
    private func written(_ tuned: Double, launches: [Double] = [9, 9, 9, 9, 9]) -> [HeldOut.Pair] {
        launches.map { pair(20, tuned, launches: $0) }
    }

    private func scenario(
        _ name: String, _ pairs: [HeldOut.Pair], isSeen: Bool = true, training: [HeldOut.Pair] = []
    ) -> HeldOut.Scenario {
        HeldOut.Scenario(name: name, isSeen: isSeen, pairs: pairs, training: training)
    }

    private func difference(_ scenarios: [HeldOut.Scenario]) -> HeldOutDifference {
        HeldOutDifference("stalls", scenarios, confidence: 0.95, stream: "1")
    }

    private func word(_ scenarios: [HeldOut.Scenario]) -> String {
        HeldOutVerdict.word([(lower, difference(scenarios))])
    }

    @Test("identical policies differ by exactly nothing")
    func identical() {
        let one = difference([scenario("day", day(0, spread: 0))])
        #expect(one.difference == 0 && one.low == 0 && one.high == 0 && !one.isClear)
        #expect(one.clause(lower).hasSuffix(": no difference under any seed"))
    }

    @Test("pairs show what the spread between users would hide")
    func paired() throws {
        let one = difference([scenario("day", day(-1, spread: 0.5))])
        let (low, high) = (try #require(one.low), try #require(one.high))
        #expect(one.isClear && !one.isConstant && low < -1 && -1 < high)
        #expect(word([scenario("day", day(-1, spread: 0.5))]) == "better")
        #expect(word([scenario("day", day(1, spread: 0.5))]) == "worse")
        #expect(word([scenario("day", day(0, spread: 3))]) == "not shown to be better")
    }

    @Test(
        "of a user who acts alike under every seed, nothing is held out",
        arguments: [
            (5.0, "20 -> 5: better by 15, identical under every seed: nothing was held out"),
            (23, "20 -> 23: WORSE by 3, identical under every seed: nothing was held out"),
            (20, "20 -> 20: no difference, identical under every seed: nothing was held out"),
        ])
    func seenCase(tuned: Double, words: String) {
        let one = difference([scenario("day", written(tuned))])
        #expect(one.clause(lower) == "stalls \(words)")
        #expect(one.cells[3...] == ["identical under every seed", "no"] && one.low == nil && one.isOneCaseEach)
        #expect(word([scenario("day", written(tuned))]) == HeldOutVerdict.nothing)
        // One seed says nothing about others.
        #expect(!difference([scenario("day", [pair(20, tuned)])]).isOneCaseEach)
    }

    @Test("if the search saw that a seed matters, it does, whatever the other seeds show")
    func training() {
        let varied = [pair(20, 5), pair(20, 6)]
        #expect(!difference([scenario("day", written(5), training: varied)]).isOneCaseEach)
        // The twin: training runs that agree, and such as lack the metric.
        #expect(difference([scenario("day", written(5), training: [pair(20, 5), pair(21, 6)])]).isOneCaseEach)
        let others = [HeldOut.Pair(standard: [:], tuned: [:]), HeldOut.Pair(standard: [:], tuned: [:])]
        #expect(difference([scenario("day", written(5), training: others)]).isOneCaseEach)
    }

    @Test("luck that touches both policies alike makes no other case")
    func luck() {
        let values = [1550.976, 1750.976, 1750.976, 1550.976, 1650.3]
        let one = difference([scenario("day", values.map { pair($0, $0 - 15) })])
        #expect(one.isOneCaseEach && !one.isClear && abs(one.difference + 15) < 1e-9)
    }

    @Test("other users with the same outcome are no case")
    func others() {
        let one = difference([scenario("day", written(5, launches: [9, 12, 7, 9, 8]))])
        #expect(!one.isOneCaseEach && one.isConstant && one.isClear)
        #expect(one.clause(lower) == "stalls 20 -> 5: better by 15, the same amount under every seed")
        #expect(one.cells[3] == "the same under every seed")
    }

    @Test("a case that the search saw does not count beside scenarios that seeds change")
    func leftOut() {
        let alone = difference([scenario("day", day(0, spread: 1))])
        let both = difference([scenario("day", day(0, spread: 1)), scenario("diary", written(1))])
        #expect(both.difference == alone.difference && both.low == alone.low && both.high == alone.high)
        #expect(both.pairs == 20 && both.leftOut == ["diary"])
        #expect(both.clause(lower).contains("no difference shown"))
        #expect(both.clause(lower).hasSuffix(", without diary: identical under every seed"))
    }

    @Test("a case that the search never saw counts as one value, and five are a sample")
    func unseenCases() throws {
        let few = [scenario("diary", written(5), isSeen: false)]
        let words = "stalls 20 -> 5: better by 15, identical under every seed: 1 case, and no interval"
        #expect(difference(few).clause(lower) == words)
        #expect(word(few) == "not shown to be better")
        let many = difference((0..<5).map { scenario("diary-\($0)", written(18 - Double($0)), isSeen: false) })
        #expect(many.isOneCaseEach && many.isOverScenarios && many.isClear)
        // Student's t of the differences -2, -3 … -6: 2.776 standard errors, of the root of 2.5 / 5.
        let (low, high) = (try #require(many.low), try #require(many.high))
        let half = 2.776445 * 0.5.squareRoot()
        #expect(abs(low + 4 + half) < 1e-6 && abs(high - low - 2 * half) < 1e-6)
        // Beside a scenario that seeds change it counts half, and two scenarios that differ show little.
        let alone = difference([scenario("day", day(-1, spread: 0.5), isSeen: false)])
        let mixed = difference([scenario("day", day(-1, spread: 0.5), isSeen: false)] + few)
        #expect(abs(mixed.difference - (alone.difference - 15) / 2) < 1e-9)
        #expect(mixed.isOverScenarios && !mixed.isClear)
    }

    @Test("scenarios that the search never saw are a sample; those that it saw are not")
    func overScenarios() throws {
        func some(_ isSeen: Bool) -> HeldOutDifference {
            difference(
                [-3, -1, 0, 1].map { shift in scenario("day\(shift)", day(shift, spread: 0.5), isSeen: isSeen) })
        }
        let (seen, unseen) = (some(true), some(false))
        #expect(seen.difference == unseen.difference && !seen.isOverScenarios && unseen.isOverScenarios)
        // Three of four scenarios say less than eighty runs.
        #expect(seen.isClear && !unseen.isClear)
        // Scenarios that agree by chance are no more certain than their seeds allow.
        let alike = difference(["day", "night"].map { scenario($0, day(-1, spread: 3), isSeen: false) })
        #expect(try #require(alike.high) - (alike.low ?? 0) > 1)
        for (rows, words) in [
            ([scenario("a", day(-1, spread: 1), isSeen: false)], " Intervals over seeds alone: there is one scenario."),
            (["a", "b"].map { scenario($0, day(-1, spread: 1)) }, " Intervals over seeds."),
            (
                ["a", "b"].map { scenario($0, day(-1, spread: 1), isSeen: false) },
                " Intervals over scenarios and seeds."
            ),
            ([scenario("a", written(3), isSeen: false)], "and no interval."),
        ] {
            let group = HeldOut.Group(place: "x", scenarios: rows.map(\.name), broken: [])
            let asked = HeldOut(goals: [lower], scenarios: rows, groups: [group], stream: "1")
            #expect(asked.verdicts[0].sentence.hasSuffix(words))
        }
    }

    @Test("better on one goal and worse on another is a trade; a gain in one case shows nothing, a loss there counts")
    func trades() {
        let higher = HeldOut.Goal(metric: "stalls", isMaximized: true)
        func row(_ shift: Double, spread: Double = 0.5) -> HeldOutDifference {
            difference([scenario("day", day(shift, spread: spread))])
        }
        func one(_ tuned: Double) -> HeldOutDifference { difference([scenario("day", written(tuned))]) }
        #expect(HeldOutVerdict.word([(lower, row(-1)), (higher, row(0, spread: 3))]) == "better")
        #expect(HeldOutVerdict.word([(lower, row(0, spread: 3)), (higher, row(1))]) == "better")
        #expect(HeldOutVerdict.word([(lower, row(-1)), (higher, row(-1))]) == "a trade")
        #expect(HeldOutVerdict.word([(lower, row(0, spread: 3)), (higher, row(-1))]) == "worse")
        #expect(HeldOutVerdict.word([(lower, row(0, spread: 3)), (lower, one(5))]) == "not shown to be better")
        #expect(HeldOutVerdict.word([(lower, row(-1)), (lower, one(5))]) == "better")
        #expect(HeldOutVerdict.word([(lower, row(-1)), (lower, one(23))]) == "a trade")
    }

    @Test("a verdict names its place and what is broken, and shows what else changed")
    func sentence() throws {
        let pairs = day(-1, spread: 0.5).map { pair in
            HeldOut.Pair(
                standard: pair.standard.merging(["warnings": 4]) { $1 },
                tuned: pair.tuned.merging(["warnings": 6]) { $1 })
        }
        let question = HeldOut(
            goals: [lower], scenarios: [scenario("day", pairs)],
            groups: [
                .init(place: "20 seeds it never saw", scenarios: ["day"], broken: []),
                .init(place: "day", scenarios: ["day"], broken: ["stalls <= 3: 9"]),
            ], stream: "1")
        #expect(question.isSound)
        let (good, bad) = (question.verdicts[0], question.verdicts[1])
        #expect(good.sentence.hasPrefix("On 20 seeds it never saw: better than the default. stalls 12 -> "))
        #expect(good.rows.map(\.metric) == ["stalls", "warnings"] && good.rows[1].difference == 2)
        #expect(bad.word == "not admissible")
        #expect(bad.sentence.hasPrefix("On day: not admissible, for it breaks stalls <= 3: 9. stalls "))
    }

    @Test("a gain that costs hot launches is a trade", arguments: [-0.2, 0, 0.2])
    func hotShare(change: Double) {
        let pairs = day(-1, spread: 0.5).map { pair in
            HeldOut.Pair(
                standard: pair.standard.merging(["hot_launch_ratio": 0.4]) { $1 },
                tuned: pair.tuned.merging(["hot_launch_ratio": 0.4 + change]) { $1 })
        }
        let group = HeldOut.Group(place: "day", scenarios: ["day"], broken: [])
        let asked = HeldOut(goals: [lower], scenarios: [scenario("day", pairs)], groups: [group], stream: "1")
        let verdict = asked.verdicts[0]
        #expect(verdict.word == (change < 0 ? "a trade" : "better"))
        #expect(verdict.sentence.contains("hot_launch_ratio 0.4 -> 0.2: WORSE") == (change < 0))
    }

    @Test("a question that lacks something is not sound")
    func unsound() {
        func isSound(goals: [HeldOut.Goal], _ scenarios: [HeldOut.Scenario], in names: [String]) -> Bool {
            let group = HeldOut.Group(place: "x", scenarios: names, broken: [])
            return HeldOut(goals: goals, scenarios: scenarios, groups: [group], stream: "").isSound
        }
        let day = scenario("day", written(5))
        #expect(isSound(goals: [lower], [day], in: ["day"]))
        #expect(!isSound(goals: [], [day], in: ["day"]))
        #expect(!isSound(goals: [lower], [day], in: ["night"]) && !isSound(goals: [lower], [day], in: []))
        #expect(!isSound(goals: [lower], [day, day], in: ["day"]))
        #expect(!isSound(goals: [lower], [scenario("day", [])], in: ["day"]))
        #expect(!isSound(goals: [.init(metric: "other", isMaximized: true)], [day], in: ["day"]))
    }
}
