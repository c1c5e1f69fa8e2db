import Metrics
import Quantities

/// A metric of two sides of an experiment, compared.
public struct Finding: Sendable {
    /// The metric's name, a column of `summary.csv`.
    public let metric: String
    /// Whether lower or higher values of the metric are better.
    public let sense: MetricSense
    /// The first side minus the second.
    public let result: PairedComparison

    /// A finding about a metric.
    public init(_ metric: String, _ sense: MetricSense, _ result: PairedComparison) {
        self.metric = metric
        self.sense = sense
        self.result = result
    }
}

/// What a comparison of two sides shows, in one sentence: which is better on what, by how much with its interval, what
/// that costs, and on what nothing is shown.
///
/// A side is a policy or a setting. The sentence says "better" only if the difference is shown: its interval excludes
/// zero. It reports a difference without an interval as one of these runs only.
public struct Conclusion: Sendable {
    private let first: String
    private let second: String
    private let findings: [Finding]

    /// - Parameters:
    ///   - first: The name of the first side.
    ///   - second: The name of the second side. Differences are the first side minus the second.
    public init(_ first: String, against second: String, _ findings: [Finding]) {
        (self.first, self.second, self.findings) = (first, second, findings)
    }

    /// The sentence, without its full stop.
    public var sentence: String {
        ([main] + seen(first) + directed(first) + remarks(besides: isIdentical)).joined(separator: "; ")
    }

    /// What a side that is best on another metric gains and loses on these metrics, as clauses about "it".
    var alsoAndInReturn: [String] {
        let (better, worse) = (findings(.better), findings(.worse))
        let gained = better.isEmpty ? [] : ["it is better on \(Conclusion.list(better.map(Conclusion.amount))), too"]
        let paid =
            worse.isEmpty
            ? findings.isEmpty ? [] : ["no cost is shown on the other metrics"]
            : ["in return it is worse on \(Conclusion.list(worse.map(Conclusion.amount)))"]
        return gained + paid + seen("it") + directed("it") + remarks(besides: false)
    }

    private func findings(_ verdict: PairedComparison.Verdict) -> [Finding] {
        findings.filter { $0.result.verdict == verdict }
    }

    private var isIdentical: Bool { findings.allSatisfy { $0.result.verdict == .identical } }

    // MARK: What is shown

    /// Which side is better on what, and what that costs.
    private var main: String {
        let (better, worse) = (findings(.better), findings(.worse))
        if better.isEmpty && worse.isEmpty { return nothingIsShown }
        // The side that is better on more metrics is the subject; if neither is, the first one.
        let isFirst = better.count >= worse.count
        let (gains, costs) = isFirst ? (better, worse) : (worse, better)
        let (subject, other) = isFirst ? (first, second) : (second, first)
        let gained = "\(subject) is better than \(other) on " + Conclusion.list(gains.map(Conclusion.amount))
        guard costs.isEmpty else {
            return gained + "; in return it is worse on " + Conclusion.list(costs.map(Conclusion.amount))
        }
        let others = findings.count - gains.count
        return others > 0 ? gained + ", and is shown to be worse on nothing" : gained
    }

    private var nothingIsShown: String {
        if isIdentical {
            return "\(first) and \(second) are identical on \(metrics(findings)): every pair of runs is equal"
        }
        let isDirected = !directed(first).isEmpty
        return seen(first).isEmpty
            ? "no difference between \(first) and \(second) is shown" + (isDirected ? " to be better or worse" : "")
            : "these runs allow no general conclusion about \(first) and \(second)"
    }

    /// The differences of metrics that have no better direction.
    private func directed(_ subject: String) -> [String] {
        let found = findings(.higher) + findings(.lower)
        guard !found.isEmpty else { return [] }
        return [
            "neither better nor worse, \(subject) has "
                + Conclusion.list(
                    found.map { "\($0.result.verdict == .higher ? "more" : "less") \(Conclusion.amount($0))" })
        ]
    }

    // MARK: What is not

    /// The observed differences that have no interval.
    private func seen(_ subject: String) -> [String] {
        var parts: [String] = []
        let (few, same) = (findings(.tooFew), findings(.sameUnderEverySeed))
        if !few.isEmpty {
            parts.append(
                "an interval needs \(Bootstrap.fewest) pairs in each scenario, and in these runs alone "
                    + "\(subject) has, on average, \(Conclusion.list(few.map(change)))")
        }
        if !same.isEmpty {
            parts.append(
                "the user acts alike under every seed, so this is one case, in which \(subject) has "
                    + Conclusion.list(same.map(change)))
        }
        return parts
    }

    /// How the first side differs in these runs.
    private func change(_ finding: Finding) -> String {
        let difference = finding.result.difference ?? 0
        if difference == 0 { return "the same mean of \(finding.metric)" }
        let size = Conclusion.figure(abs(difference), finding.metric)
        return "\(finding.metric) \(difference < 0 ? "lower" : "higher") by \(size)"
    }

    /// The other metrics, grouped by the reason why nothing is shown about them.
    ///
    /// - Parameter isSaid: Whether the sentence already says that every pair is equal.
    private func remarks(besides isSaid: Bool) -> [String] {
        let groups: [(PairedComparison.Verdict, String)] = [
            (.notShown, "no difference is shown on"), (.identical, "every pair is equal on"),
            (.notComparable, "not comparable, because the side that seems better lost more launches:"),
            (.absent, "no run has"),
        ]
        return groups.compactMap { verdict, words in
            let found = findings(verdict)
            if found.isEmpty || verdict == .identical && isSaid { return nil }
            return "\(words) \(metrics(found))"
        }
    }

    /// Names of metrics; if there are more than three, only their number.
    private func metrics(_ found: [Finding]) -> String {
        if found.count <= 3 { return Conclusion.list(found.map(\.metric)) }
        if found.count == findings.count { return "all \(found.count) metrics" }
        return "\(found.count) other metrics"
    }

    // MARK: Words

    /// `terminations_felt by 3.1 [2.4, 3.7]`: the size of a shown difference, whatever its sign.
    static func amount(_ finding: Finding) -> String {
        let difference = finding.result.difference ?? 0
        let size = figure(abs(difference), finding.metric)
        guard let interval = finding.result.interval else { return "\(finding.metric) by \(size)" }
        let ends = difference < 0 ? [-interval.high, -interval.low] : [interval.low, interval.high]
        return "\(finding.metric) by \(size) [\(ends.map(figure).joined(separator: ", "))]"
    }

    /// A figure with the unit in which the metric's name ends.
    public static func figure(_ value: Double, _ metric: String) -> String {
        let units = [("_ms", " ms"), ("_s", " s"), ("seconds_lost", " s"), ("_bytes", " bytes")]
        return figure(value) + (units.first { metric.hasSuffix($0.0) }?.1 ?? "")
    }

    /// A number with about four significant digits, without trailing zeros.
    public static func figure(_ value: Double) -> String {
        let magnitude = abs(value)
        guard magnitude < 1e12 else { return "\(value)" }
        let digits = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 1 ? 2 : 4
        let powers = [1.0, 10, 100, 1_000, 10_000]
        return decimalText(Int64((value * powers[digits]).rounded()), digits: digits)
    }

    /// `a`, `a and b`, `a, b and c`.
    public static func list(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " and " + last
    }
}
