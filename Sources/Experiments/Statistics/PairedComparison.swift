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
    /// Of the difference; nil for too few pairs, and where no seed changes the difference of the same user.
    public let interval: Interval?
    /// In each scenario user and difference are the same under every seed (of the baseline, its values): each scenario
    /// is one case, however many seeds it ran under. False for a single seed.
    public let isSameUnderEverySeed: Bool
    /// Pairs in which the policy was better, the same and worse; nil for a metric without a good end.
    public let balance: Balance?
    public let verdict: Verdict
    /// On which side of the baseline the mean is, better or worse; nil where it is on neither.
    private let side: Verdict?

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
        /// No seed changes the difference, nor the user: there is no sample that an interval could speak of.
        case sameUnderEverySeed = "same_under_every_seed"
        /// Fewer pairs than an interval needs.
        case tooFew = "too_few"
        /// No run has the metric.
        case absent
    }

    /// - Parameters:
    ///   - values: The policy's values: per scenario, per seed; nil where a run has none.
    ///   - baseline: The baseline's, of the same shape; nil when the policy is the baseline.
    ///   - isOneUser: Per scenario, whether the user does the same under every seed.
    ///   - stream: Names the stream of chance of the bootstrap.
    ///   - losses: Of a metric of the launches that came: how many were lost, compared. A policy that is shown to have
    ///     lost more, or lost more under every seed alike, is not called better.
    public init(
        _ values: [[Double?]], against baseline: [[Double?]]?, sense: MetricSense, isOneUser: [Bool],
        bootstrap: Bootstrap, stream: String, losses: PairedComparison? = nil
    ) {
        let present = values.map { $0.compactMap(\.self) }
        runs = present.reduce(0) { $0 + $1.count }
        mean = runs > 0 ? Bootstrap.mean(of: present) : nil
        isSameUnderEverySeed =
            isOneUser.allSatisfy(\.self)
            && PairedComparison.areSame(baseline.map { PairedComparison.gaps(values, $0) } ?? values)
        guard let baseline else {
            (pairs, difference, interval, balance, side) = (runs, nil, nil, nil, nil)
            verdict = runs > 0 ? .baseline : .absent
            return
        }
        let differences = PairedComparison.differences(values, baseline)
        let all = differences.flatMap(\.self)
        pairs = all.count
        difference = all.isEmpty ? nil : Bootstrap.mean(of: differences)
        interval = isSameUnderEverySeed ? nil : bootstrap.interval(ofMeanOf: differences, stream: stream)
        balance = sense == .neither || all.isEmpty ? nil : Balance(all, sense)
        let loss = difference.flatMap { sense.loss(of: $0, against: 0) } ?? 0
        side = loss < 0 ? .better : loss > 0 ? .worse : nil
        let verdict = PairedComparison.verdict(
            all, difference: difference, interval, sense, isSameUnderEverySeed: isSameUnderEverySeed)
        self.verdict = PairedComparison.isUndeserved(verdict, side, losses: losses) ? .notComparable : verdict
    }

    /// What is shown, or seen under every seed alike.
    private static func claim(_ verdict: Verdict, _ side: Verdict?) -> Verdict? {
        verdict == .sameUnderEverySeed ? side : verdict
    }

    private static func isUndeserved(_ verdict: Verdict, _ side: Verdict?, losses: PairedComparison?) -> Bool {
        guard let losses else { return false }
        let (own, lost) = (claim(verdict, side), claim(losses.verdict, losses.side))
        return own == .better && lost == .worse || own == .worse && lost == .better
    }

    /// Whether the seeds of each scenario, two at least, have one value, but for its last bits.
    private static func areSame(_ values: [[Double?]]) -> Bool {
        values.allSatisfy { values in
            guard values.count > 1, let first = values[0] else { return false }
            return values.allSatisfy { value in value.map { abs($0 - first) <= 1e-9 * max(1, abs(first)) } ?? false }
        }
    }

    /// The values of the runs for which both figures are the same; nil in place of the others.
    public static func kept(_ values: [[Double?]], where a: [[Double?]], equals b: [[Double?]]) -> [[Double?]] {
        zip(values, zip(a, b)).map { values, figures in
            zip(values, zip(figures.0, figures.1)).map { $1.0 == $1.1 ? $0 : nil }
        }
    }

    /// Per scenario and seed; nil where either has no value.
    private static func gaps(_ a: [[Double?]], _ b: [[Double?]]) -> [[Double?]] {
        zip(a, b).map { a, b in zip(a, b).map { a, b in a.flatMap { a in b.map { a - $0 } } } }
    }

    /// Per scenario, of the pairs that are whole.
    private static func differences(_ a: [[Double?]], _ b: [[Double?]]) -> [[Double]] {
        gaps(a, b).map { $0.compactMap(\.self) }
    }

    private static func verdict(
        _ all: [Double], difference: Double?, _ interval: Interval?, _ sense: MetricSense,
        isSameUnderEverySeed: Bool
    ) -> Verdict {
        guard let difference else { return .absent }
        if all.allSatisfy({ $0 == 0 }) { return .identical }
        if isSameUnderEverySeed { return .sameUnderEverySeed }
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
