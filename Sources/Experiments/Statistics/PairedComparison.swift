import Metrics

/// A policy's metric compared with the baseline's, from runs under the same seeds.
///
/// It uses common random numbers: with the same seed every policy sees the same user. So only the policy causes the
/// difference within a pair, and the spread between users cancels out.
public struct PairedComparison: Hashable, Sendable {
    /// Runs that have the metric.
    public let runs: Int
    /// The mean of these runs, with equal weight for each scenario; nil without runs.
    public let mean: Double?
    /// Seeds for which both the policy and the baseline have the metric.
    public let pairs: Int
    /// The mean of the policy minus the baseline; nil without pairs.
    public let difference: Double?
    /// The interval of the difference. Nil if there are too few pairs, or if neither the user nor the difference
    /// changes with the seed.
    public let interval: Interval?
    /// Whether in each scenario the user and the difference (for the baseline, its values) are the same under every
    /// seed. Each scenario is then one case, however many seeds it ran under. False for a single seed.
    public let isSameUnderEverySeed: Bool
    /// The pairs in which the policy was better, the same and worse; nil for a metric without a better direction.
    public let balance: Balance?
    /// What the comparison shows.
    public let verdict: Verdict
    /// Whether the mean is better or worse than the baseline's; nil if neither.
    private let side: Verdict?

    /// Numbers of pairs by outcome.
    public struct Balance: Hashable, Sendable {
        /// Pairs in which the policy was better, equal and worse.
        public let better, same, worse: Int

        /// A balance with these numbers.
        public init(better: Int, same: Int, worse: Int) {
            (self.better, self.same, self.worse) = (better, same, worse)
        }
    }

    /// What a comparison shows.
    public enum Verdict: String, CaseIterable, Hashable, Sendable {
        /// The policy that the others are compared with.
        case baseline
        /// Every pair is equal.
        case identical
        /// The interval contains zero.
        case notShown = "not_shown"
        case better
        case worse
        /// The interval is above zero; for a metric without a better direction. `lower` is the opposite.
        case higher
        case lower
        /// The seemingly better policy lost more launches, which a latency leaves out.
        case notComparable = "not_comparable"
        /// Neither the user nor the difference changes with the seed, so there is no sample for an interval.
        case sameUnderEverySeed = "same_under_every_seed"
        /// Fewer pairs than an interval needs.
        case tooFew = "too_few"
        /// No run has the metric.
        case absent
    }

    /// - Parameters:
    ///   - values: The policy's values: per scenario, per seed; nil where a run has none.
    ///   - baseline: The baseline's values, of the same shape; nil when the policy is the baseline.
    ///   - isOneUser: Per scenario, whether the user does the same under every seed.
    ///   - stream: The name of the bootstrap's random stream.
    ///   - losses: The comparison of lost launches, for a metric that covers only finished launches. A policy is not
    ///     called better if it is shown to lose more launches, or loses the same number more under every seed.
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

    /// The verdict. If that is "the same under every seed", the side on which the mean lies.
    private static func claim(_ verdict: Verdict, _ side: Verdict?) -> Verdict? {
        verdict == .sameUnderEverySeed ? side : verdict
    }

    private static func isUndeserved(_ verdict: Verdict, _ side: Verdict?, losses: PairedComparison?) -> Bool {
        guard let losses else { return false }
        let (own, lost) = (claim(verdict, side), claim(losses.verdict, losses.side))
        return own == .better && lost == .worse || own == .worse && lost == .better
    }

    /// Whether in each scenario all seeds, at least two, have the same value except for its last bits.
    static func areSame(_ values: [[Double?]]) -> Bool {
        values.allSatisfy { values in
            guard values.count > 1, let first = values[0] else { return false }
            return values.allSatisfy { value in value.map { abs($0 - first) <= 1e-9 * max(1, abs(first)) } ?? false }
        }
    }

    /// The values of the runs for which both figures are equal; nil in place of the others.
    public static func kept(_ values: [[Double?]], where a: [[Double?]], equals b: [[Double?]]) -> [[Double?]] {
        zip(values, zip(a, b)).map { values, figures in
            zip(values, zip(figures.0, figures.1)).map { $1.0 == $1.1 ? $0 : nil }
        }
    }

    /// The differences per scenario and seed; nil where either value is absent.
    private static func gaps(_ a: [[Double?]], _ b: [[Double?]]) -> [[Double?]] {
        zip(a, b).map { a, b in zip(a, b).map { a, b in a.flatMap { a in b.map { a - $0 } } } }
    }

    /// The differences per scenario, of the complete pairs only.
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

    /// How much worse than a reference, as a mean over the pairs; nil without a better direction or without pairs.
    public static func regret(_ values: [[Double?]], against reference: [[Double?]], sense: MetricSense) -> Double? {
        let losses = zip(values, reference).map { values, reference in
            zip(values, reference).compactMap { a, b in a.flatMap { a in b.flatMap { sense.loss(of: a, against: $0) } }
            }
        }
        return losses.allSatisfy(\.isEmpty) ? nil : Bootstrap.mean(of: losses)
    }

    /// Per scenario and seed, the best value that any policy reached.
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
