import Metrics

/// What a search is asked at its end: whether the policy that it chose is better than the one it began with, on runs
/// that it did not see.
///
/// The seeds are a sample of many. So are scenarios that the search did not see, if there are at least two: a verdict
/// on them is about others like them, too, and its intervals are over scenarios and seeds. Scenarios that it saw are
/// those that there are. A scenario whose user and whose difference are the same under every seed is one case, however
/// many seeds it ran under. If the search saw that scenario, it saw that very case, and the case does not count. If it
/// did not, the case counts, without a spread.
public struct HeldOut: Decodable, Sendable {
    /// What the search made lower or higher; at least one.
    public let goals: [Goal]
    /// The scenarios that were run.
    public let scenarios: [Scenario]
    /// For which scenarios a verdict is asked.
    public let groups: [Group]
    /// The name of the bootstrap's random stream.
    public let stream: String

    /// A metric that the search made better.
    public struct Goal: Decodable, Sendable {
        /// A column of `summary.csv`.
        public let metric: String
        /// Whether higher values are better.
        public let isMaximized: Bool

        /// What a better value has as its sign, if the difference is multiplied by it.
        var sign: Double { isMaximized ? 1 : -1 }
    }

    /// The metrics of a run under the policy that the search began with and under the chosen one, both with one seed.
    public struct Pair: Decodable, Sendable {
        let standard, tuned: [String: Double]

        /// Chosen minus first; nil without a value of either.
        func difference(_ metric: String) -> Double? {
            standard[metric].flatMap { first in tuned[metric].map { $0 - first } }
        }
    }

    /// A scenario's runs.
    public struct Scenario: Decodable, Sendable {
        let name: String
        /// Whether the search ran the scenario, under other seeds.
        let isSeen: Bool
        /// The runs that the search did not see, by seed; at least one.
        let pairs: [Pair]
        /// The runs of the search itself, which may show that seeds change a difference.
        let training: [Pair]

        /// Whether the user does the same, and the metric differs by the same amount, under every seed.
        func isCase(_ metric: String) -> Bool {
            let launches = MetricSense.launches.map { name in [pairs.map { $0.standard[name] }] }
            let known = training.filter { $0.difference(metric) != nil }
            return Comparison.isOneUser(launches)[0] && Scenario.areSame(metric, pairs)
                && (known.count < 2 || Scenario.areSame(metric, known))
        }

        static func areSame(_ metric: String, _ pairs: [Pair]) -> Bool {
            PairedComparison.areSame([pairs.map { $0.difference(metric) }])
        }
    }

    /// Scenarios that are judged together, with equal weights.
    public struct Group: Decodable, Sendable {
        /// What the verdict is about, in words that fit after "On".
        let place: String
        /// Their names.
        let scenarios: [String]
        /// The constraints that the chosen policy breaks there, in words.
        let broken: [String]
    }

    /// The chance, over all goals together, that an interval misses; shared out among them (Bonferroni).
    private static let mistake = 0.05

    /// Whether the question can be answered: nothing is empty, and every run has every goal.
    public var isSound: Bool {
        let names = scenarios.map(\.name)
        return !goals.isEmpty && Set(names).count == names.count
            && groups.allSatisfy { !$0.scenarios.isEmpty && $0.scenarios.allSatisfy(names.contains) }
            && scenarios.allSatisfy { scenario in
                !scenario.pairs.isEmpty
                    && scenario.pairs.allSatisfy { pair in goals.allSatisfy { pair.difference($0.metric) != nil } }
            }
    }

    /// The verdicts, one per group.
    public var verdicts: [HeldOutVerdict] {
        groups.map { group in
            let own = scenarios.filter { group.scenarios.contains($0.name) }
            let confidence = 1 - HeldOut.mistake / Double(goals.count)
            // A gain that is paid for elsewhere must be seen.
            let others = SummaryMetrics.compared.map(\.name).filter { name in
                !goals.contains { $0.metric == name }
                    && own.allSatisfy { $0.pairs.allSatisfy { $0.difference(name) != nil } }
            }
            let rows =
                goals.map { HeldOutDifference($0.metric, own, confidence: confidence, stream: stream) }
                + others.map { HeldOutDifference($0, own, confidence: 1 - HeldOut.mistake, stream: stream) }
            return HeldOutVerdict(goals, group, rows)
        }
    }
}

/// A metric of the chosen policy minus that of the first one: the mean over scenarios of the mean over seeds.
public struct HeldOutDifference: Encodable, Sendable {
    let metric: String
    /// The means under the first and under the chosen policy.
    let standard, tuned: Double
    let difference: Double
    /// The ends of the interval; nil if so few cases give none.
    let low, high: Double?
    let confidence: Double
    let pairs: Int
    /// Whether every scenario is one case.
    let isOneCaseEach: Bool
    /// Whether the interval excludes zero.
    let isClear: Bool
    /// The figures as people read them: both means, the difference, the interval, and whether it is clear.
    let cells: [String]
    /// Whether every seed gives the same difference, to other users: the interval has no width, which is no certainty.
    let isConstant: Bool
    /// Whether the search saw one of the cases: of a case that it saw, nothing was held out.
    let isSeen: Bool
    /// The number of scenarios.
    let scenarios: Int
    /// The scenarios that do not count, because the search saw the very case.
    let leftOut: [String]
    /// Whether the scenarios are a sample of many, and the interval is over them as well as over seeds.
    let isOverScenarios: Bool

    init(_ metric: String, _ all: [HeldOut.Scenario], confidence: Double, stream: String) {
        let cases = Set(all.filter { $0.isCase(metric) }.map(\.name))
        let familiar = all.filter { $0.isSeen && cases.contains($0.name) }.map(\.name)
        let without = familiar.count < all.count ? familiar : []
        let counted = all.filter { !without.contains($0.name) }
        leftOut = without
        isOneCaseEach = counted.allSatisfy { cases.contains($0.name) }
        let differences = counted.map { $0.pairs.compactMap { $0.difference(metric) } }
        (self.metric, self.confidence, isSeen, scenarios) = (metric, confidence, !familiar.isEmpty, counted.count)
        standard = Bootstrap.mean(of: counted.map { $0.pairs.compactMap { $0.standard[metric] } })
        tuned = Bootstrap.mean(of: counted.map { $0.pairs.compactMap { $0.tuned[metric] } })
        difference = tuned - standard
        pairs = differences.reduce(0) { $0 + $1.count }
        isOverScenarios = counted.count > 1 && counted.allSatisfy { !$0.isSeen }
        isConstant =
            !isOneCaseEach && !isOverScenarios && counted.allSatisfy { HeldOut.Scenario.areSame(metric, $0.pairs) }
        // A case is one value, however many seeds it ran under.
        let strata = zip(counted, differences).map { cases.contains($0.name) ? [$1[0]] : $1 }
        var interval: Interval?
        if isOverScenarios {
            interval = .ofMean(ofSampled: strata, confidence: confidence)
        } else if !isOneCaseEach {
            interval = Bootstrap(resamples: Bootstrap.standard.resamples, confidence: confidence)
                .widenedInterval(ofMeanOf: strata, stream: "tune/\(stream)")
        }
        (low, high) = (interval?.low, interval?.high)
        isClear = interval.map { !$0.contains(0) } ?? false
        let width =
            isConstant
            ? "the same under every seed"
            : interval.map { HeldOutDifference.text($0.low, $0.high) } ?? "identical under every seed"
        cells = [standard, tuned, difference].map(Conclusion.figure) + [width, isClear ? "yes" : "no"]
    }

    static func text(_ low: Double, _ high: Double) -> String {
        "[\(Conclusion.figure(min(low, high))), \(Conclusion.figure(max(low, high)))]"
    }

    /// `terminations_felt 9.1 -> 5.2: better by 3.9 [3.4, 4.4]`; without an interval if no seed changes anything.
    func clause(_ goal: HeldOut.Goal) -> String {
        let gain = difference * goal.sign
        let without = leftOut.isEmpty ? "" : ", without \(leftOut.joined(separator: ", ")): identical under every seed"
        let head = "\(metric) \(cells[0]) -> \(cells[1]): "
        let size = Conclusion.figure(abs(gain))
        let word = gain == 0 ? "no difference" : gain > 0 ? "better by \(size)" : "WORSE by \(size)"
        guard let low, let high else {
            let why = isSeen ? HeldOutVerdict.nothing : "\(scenarios.counted("case")), and no interval"
            return "\(head)\(word), identical under every seed: \(why)"
        }
        if isConstant {
            return head + word + (gain == 0 ? " under any seed" : ", the same amount under every seed") + without
        }
        let claim = isClear ? gain > 0 ? "better by" : "WORSE, gain" : "no difference shown, gain"
        let ends = HeldOutDifference.text(low * goal.sign, high * goal.sign)
        return "\(head)\(claim) \(Conclusion.figure(gain)) \(ends)\(without)"
    }
}

/// What is shown about the chosen policy on some scenarios.
public struct HeldOutVerdict: Encodable, Sendable {
    /// What the verdict is about.
    let place: String
    /// `better`, `worse`, `a trade`, `not shown to be better`, `nothing was held out`, or `not admissible`.
    let word: String
    /// The verdict and each goal's difference.
    let sentence: String
    /// The goals, whose intervals hold together, then what else changed, each with an interval of its own.
    let rows: [HeldOutDifference]

    static let nothing = "nothing was held out"

    init(_ goals: [HeldOut.Goal], _ group: HeldOut.Group, _ rows: [HeldOutDifference]) {
        (place, self.rows) = (group.place, rows)
        let pairs = Array(zip(goals, rows))
        let cost = goals.contains { $0.metric == HeldOutVerdict.hot.metric } ? nil : HeldOutVerdict.lostHotShare(rows)
        let gained = HeldOutVerdict.word(pairs)
        word = !group.broken.isEmpty ? "not admissible" : gained == "better" && cost != nil ? "a trade" : gained
        let claim =
            switch word {
            case "a trade": "neither better nor worse than the default, but a trade"
            case HeldOutVerdict.nothing: "identical under every seed: \(word)"
            case "not admissible": "\(word), for it breaks \(group.broken.joined(separator: ", "))"
            default: "\(word) than the default"
            }
        let clauses = pairs.map { $1.clause($0) } + [cost].compactMap { $0?.clause(HeldOutVerdict.hot) }
        sentence = "On \(place): \(claim). \(clauses.joined(separator: "; ")).\(HeldOutVerdict.over(pairs.map { $1 }))"
    }

    /// What the intervals are over, as a sentence; nothing where there is no interval.
    private static func over(_ rows: [HeldOutDifference]) -> String {
        guard let row = rows.first(where: { $0.low != nil }) else { return "" }
        if row.isOverScenarios { return " Intervals over scenarios and seeds." }
        return row.scenarios > 1 ? " Intervals over seeds." : " Intervals over seeds alone: there is one scenario."
    }

    /// What a gain must not cost: the share of launches that find their app as it was.
    private static let hot = HeldOut.Goal(metric: "hot_launch_ratio", isMaximized: true)

    /// The row of that share, if it is shown to be worse.
    private static func lostHotShare(_ rows: [HeldOutDifference]) -> HeldOutDifference? {
        rows.first { $0.metric == hot.metric && $0.isClear && $0.difference < 0 }
    }

    /// The verdict of the goals alone.
    static func word(_ pairs: [(HeldOut.Goal, HeldOutDifference)]) -> String {
        if pairs.allSatisfy({ $1.isOneCaseEach && $1.isSeen }) { return nothing }
        func gains(_ goal: HeldOut.Goal, _ row: HeldOutDifference) -> Double { row.difference * goal.sign }
        let isBetter = pairs.contains { $1.isClear && gains($0, $1) > 0 }
        let isWorse = pairs.contains { $1.isClear && gains($0, $1) < 0 }
        // A gain in cases too few for an interval shows nothing; a loss there is a loss all the same.
        let isLost = pairs.contains { $1.low == nil && gains($0, $1) < 0 }
        if isBetter { return isWorse || isLost ? "a trade" : "better" }
        return isWorse ? "worse" : "not shown to be better"
    }
}
