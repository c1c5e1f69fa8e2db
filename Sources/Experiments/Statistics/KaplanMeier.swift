import Quantities

/// The survival curve of stays that end, or of which the end is not seen (censored).
///
/// Source of the curve: Kaplan and Meier, "Nonparametric estimation from incomplete observations", Journal of the
/// American Statistical Association 53 (1958). Stays of one run depend on one another, so the variance is computed from
/// runs, not from stays: the derivative of the curve by each stay, summed within a run, then squared (Williams,
/// "Product-limit survival functions with correlated survival times", Lifetime Data Analysis 1 (1995)). If every run
/// has one stay, this is Greenwood's formula. The band is pointwise and on the scale log(-log S), which keeps it
/// between 0 and 1 (Kalbfleisch and Prentice, The Statistical Analysis of Failure Time Data, 1980).
///
/// Where no stay has ended yet or all have, that scale has no value. There the band is Wilson's interval for the runs
/// that are still at risk.
public struct KaplanMeier: Hashable, Sendable {
    /// One stay.
    public struct Stay: Hashable, Sendable {
        /// The number of the run, from 0.
        public let run: Int
        /// How long it lasted, as far as it was seen; in microseconds.
        public let length: Int64
        /// Whether it ended; false if it is censored.
        public let isEnd: Bool

        /// A stay of a run.
        public init(run: Int, length: Int64, isEnd: Bool) {
            (self.run, self.length, self.isEnd) = (run, length, isEnd)
        }
    }

    /// The curve from a length on.
    public struct Step: Hashable, Sendable {
        /// In microseconds.
        public let length: Int64
        /// The stays that had not ended before.
        public let atRisk: Int
        /// The stays that ended at this length.
        public let ended: Int
        /// The stays that are censored at this length or since the step before.
        public let censored: Int
        /// The probability that a stay is longer.
        public let survival: Double
        /// The interval of that probability.
        public let band: Interval
    }

    /// The steps: one at 0, one at each length at which a stay ended, and one at the longest length.
    public let steps: [Step]

    /// - Parameters:
    ///   - stays: In any order.
    ///   - confidence: Of the band at each length.
    public init(_ stays: [Stay], confidence: Double = 0.95) {
        guard !stays.isEmpty else {
            steps = []
            return
        }
        var curve = Curve(stays, confidence: confidence)
        var steps = [curve.step(at: 0, ended: 0)]
        var (waiting, last) = (0, Int64(0))
        let sorted = stays.sorted { ($0.length, $0.run, $0.isEnd ? 0 : 1) < ($1.length, $1.run, $1.isEnd ? 0 : 1) }
        var index = 0
        while index < sorted.count {
            let length = sorted[index].length
            let same = sorted[index...].prefix { $0.length == length }
            let ends = same.filter(\.isEnd)
            // A stay that is censored at this length was still at risk.
            if !ends.isEmpty { curve.end(ends.map(\.run)) }
            let censored = same.count - ends.count
            if !ends.isEmpty || same.endIndex == sorted.count {
                steps.append(curve.step(at: length, ended: ends.count, censored: waiting + censored))
                waiting = 0
            } else {
                waiting += censored
            }
            curve.leave(same.map(\.run))
            (index, last) = (same.endIndex, length)
        }
        precondition(steps.last?.length == last, "the curve lacks its last length")
        self.steps = steps
    }

    /// The last step at or before a length; nil beyond the longest stay.
    public func step(at length: Int64) -> Step? {
        guard let last = steps.last, length <= last.length else { return nil }
        return steps.last { $0.length <= length }
    }

    /// The length that half of the stays exceed; nil if the curve does not come down to one half.
    public var median: Int64? { steps.first { $0.survival <= 0.5 }?.length }
}

/// The state of the curve on its way.
private struct Curve {
    private let z: Double
    private let confidence: Double
    /// By run: the stays at risk, and the derivative of log S, summed over the run's stays.
    private var atRisk: [Int]
    private var influence: [Double]
    private var left: Int
    private var survival = 1.0

    init(_ stays: [KaplanMeier.Stay], confidence: Double) {
        z = Normal.quantile((1 + confidence) / 2)
        self.confidence = confidence
        let runs = (stays.map(\.run).max() ?? 0) + 1
        (atRisk, influence) = ([Int](repeating: 0, count: runs), [Double](repeating: 0, count: runs))
        for stay in stays { atRisk[stay.run] += 1 }
        left = stays.count
    }

    mutating func end(_ runs: [Int]) {
        let (ended, all) = (Double(runs.count), Double(left))
        if runs.count < left {
            let hazard = ended / all
            for run in atRisk.indices { influence[run] += Double(atRisk[run]) * hazard / (all - ended) }
            for run in runs { influence[run] -= 1 / (all - ended) }
        }
        survival *= 1 - ended / all
    }

    mutating func leave(_ runs: [Int]) {
        for run in runs { atRisk[run] -= 1 }
        left -= runs.count
    }

    func step(at length: Int64, ended: Int, censored: Int = 0) -> KaplanMeier.Step {
        KaplanMeier.Step(
            length: length, atRisk: left, ended: ended, censored: censored, survival: survival, band: band)
    }

    private var band: Interval {
        let runs = max(1, atRisk.count { $0 > 0 })
        if survival >= 1 || survival <= 0 {
            let all = Proportion(survival >= 1 ? runs : 0, of: runs)
            return all.wilson(confidence: confidence) ?? Interval(low: 0, high: 1)
        }
        let logarithm = naturalLogarithm(survival)
        let variance = influence.reduce(0) { $0 + $1 * $1 }
        let reach = min(700, z * variance.squareRoot() / -logarithm)
        // S to the power exp(reach), and to the power exp(-reach).
        let (low, high) = (exponential(reach), exponential(-reach))
        return Interval(low: exponential(max(-700, logarithm * low)), high: exponential(logarithm * high))
    }
}
