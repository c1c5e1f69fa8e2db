import Metrics

/// What runs under the same seeds say about a policy's metric, beside the baseline's.
///
/// Common random numbers: each policy sees the same person with the same seed, so the difference of a pair is the
/// policy's doing, and the spread between persons drops out.
public struct PairedComparison: Hashable, Sendable {
    /// Runs that have the metric.
    public let runs: Int
    /// Of these runs, scenarios weighed alike; nil without any.
    public let mean: Double?
    /// Seeds for which both the policy and the baseline have the metric.
    public let pairs: Int
    /// The policy minus the baseline, in the mean; nil without pairs.
    public let difference: Double?
    /// Of the difference; nil for too few pairs.
    public let interval: Interval?
    /// Pairs in which the policy was better, the same and worse; nil for a metric without a good end.
    public let balance: Balance?
    public let verdict: Verdict

    public struct Balance: Hashable, Sendable {
        public let better, same, worse: Int

        public init(better: Int, same: Int, worse: Int) {
            (self.better, self.same, self.worse) = (better, same, worse)
        }
    }

    public enum Verdict: String, CaseIterable, Hashable, Sendable {
        /// The policy that the others are compared with.
        case baseline
        /// Every pair is equal.
        case identical
        /// The interval contains zero.
        case notShown = "not_shown"
        case better
        case worse
        /// For a metric without a good end.
        case higher
        case lower
        /// The one that seems better lost more launches, and a latency is of those that came.
        case notComparable = "not_comparable"
        /// Fewer pairs than an interval needs.
        case tooFew = "too_few"
        /// No run has the metric.
        case absent
    }

    /// - Parameters:
    ///   - values: The policy's values: per scenario, per seed; nil where a run has none.
    ///   - baseline: The baseline's, of the same shape; nil when the policy is the baseline.
    ///   - stream: Names the stream of chance of the bootstrap.
    ///   - losses: Of a metric of the launches that came: what is shown of how many of them were lost. Whoever is shown
    ///     to have lost more is not called better.
    public init(
        _ values: [[Double?]], against baseline: [[Double?]]?, sense: MetricSense, bootstrap: Bootstrap,
        stream: String, losses: Verdict? = nil
    ) {
        let present = values.map { $0.compactMap(\.self) }
        runs = present.reduce(0) { $0 + $1.count }
        mean = runs > 0 ? Bootstrap.mean(of: present) : nil
        guard let baseline else {
            (pairs, difference, interval, balance) = (runs, nil, nil, nil)
            verdict = runs > 0 ? .baseline : .absent
            return
        }
        let differences = PairedComparison.differences(values, baseline)
        let all = differences.flatMap(\.self)
        pairs = all.count
        difference = all.isEmpty ? nil : Bootstrap.mean(of: differences)
        interval = bootstrap.interval(ofMeanOf: differences, stream: stream)
        balance = sense == .neither || all.isEmpty ? nil : Balance(all, sense)
        let verdict = PairedComparison.verdict(all, difference: difference, interval, sense)
        let isUndeserved = verdict == .better && losses == .worse || verdict == .worse && losses == .better
        self.verdict = isUndeserved ? .notComparable : verdict
    }

    /// The values of the runs for which both figures are the same; nil in place of the others.
    public static func kept(_ values: [[Double?]], where a: [[Double?]], equals b: [[Double?]]) -> [[Double?]] {
        zip(values, zip(a, b)).map { values, figures in
            zip(values, zip(figures.0, figures.1)).map { $1.0 == $1.1 ? $0 : nil }
        }
    }

    /// Per scenario, of the pairs that are whole.
    private static func differences(_ a: [[Double?]], _ b: [[Double?]]) -> [[Double]] {
        zip(a, b).map { a, b in zip(a, b).compactMap { a, b in a.flatMap { a in b.map { a - $0 } } } }
    }

    private static func verdict(
        _ all: [Double], difference: Double?, _ interval: Interval?, _ sense: MetricSense
    ) -> Verdict {
        guard let difference else { return .absent }
        if all.allSatisfy({ $0 == 0 }) { return .identical }
        guard let interval else { return .tooFew }
        if interval.contains(0) { return .notShown }
        guard let loss = sense.loss(of: difference, against: 0) else { return difference > 0 ? .higher : .lower }
        return loss < 0 ? .better : .worse
    }

    /// How much worse than a reference, in the mean over the pairs; nil without a good end or without pairs.
    public static func regret(_ values: [[Double?]], against reference: [[Double?]], sense: MetricSense) -> Double? {
        let losses = zip(values, reference).map { values, reference in
            zip(values, reference).compactMap { a, b in a.flatMap { a in b.flatMap { sense.loss(of: a, against: $0) } }
            }
        }
        return losses.allSatisfy(\.isEmpty) ? nil : Bootstrap.mean(of: losses)
    }

    /// Per scenario and seed, the best value that any of the policies reached.
    ///
    /// - Parameter policies: Per policy, per scenario, per seed; all of one shape.
    public static func best(of policies: [[[Double?]]], sense: MetricSense) -> [[Double?]] {
        guard let first = policies.first else { return [] }
        return first.indices.map { scenario in
            first[scenario].indices.map { seed in
                let values = policies.compactMap { $0[scenario][seed] }
                return sense == .higher ? values.max() : values.min()
            }
        }
    }
}

extension PairedComparison.Balance {
    init(_ differences: [Double], _ sense: MetricSense) {
        let losses = differences.compactMap { sense.loss(of: $0, against: 0) }
        self.init(
            better: losses.count { $0 < 0 }, same: losses.count { $0 == 0 }, worse: losses.count { $0 > 0 })
    }
}
