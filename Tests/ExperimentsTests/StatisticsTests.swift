import Experiments
import Foundation
import Metrics
import Quantities
import Testing

@Suite("statistics")
struct StatisticsTests {
    /// Twenty values with two outliers on one side.
    static let skewed = [
        0.3, 1.1, -0.4, 2.2, 0.9, 3.8, -1.2, 0.1, 0.7, 1.5, 9.4, 0.2, -0.6, 1.9, 0.4, 2.7, 0.8, -0.3, 5.1, 0.6,
    ]

    @Test("the normal distribution agrees with SciPy's, far out in the tails too")
    func normal() {
        for (share, value) in [(0.975, 1.959963985), (1e-4, -3.719016485), (0.3, -0.524400513), (1e-12, -7.034483825)] {
            #expect(abs(Normal.quantile(share) - value) < 1e-8, "\(share)")
            #expect(abs(Normal.cumulative(value) - share) < 1e-9)
        }
        #expect(Normal.quantile(0.5) == 0)
    }

    @Test("quantiles between the values are numpy's")
    func quantiles() {
        let values = [1.0, 2, 4, 8]
        for (share, value) in [(0.0, 1.0), (0.1, 1.3), (0.5, 3), (0.9, 6.8), (1, 8)] {
            #expect(abs(Quantile.of(sorted: values, at: share) - value) < 1e-12, "\(share)")
        }
        #expect(Quantile.of(sorted: [7], at: 0.3) == 7)
    }

    /// The reference is SciPy 1.16, scipy.stats.bootstrap, method BCa, 400,000 resamples: 0.700 to 2.945 (percentile:
    /// 0.555 to 2.590).
    @Test("the interval of skewed values is SciPy's BCa interval, and not the percentile interval")
    func interval() throws {
        let bootstrap = Bootstrap(resamples: 40_000, confidence: 0.95)
        let interval = try #require(bootstrap.interval(ofMeanOf: [Self.skewed], stream: "test"))
        #expect(abs(interval.low - 0.700) < 0.02, "\(interval)")
        #expect(abs(interval.high - 2.945) < 0.04, "\(interval)")
    }

    @Test("the same values give the same interval; another stream gives another, but a near one")
    func deterministic() throws {
        let a = try #require(Bootstrap.standard.interval(ofMeanOf: [Self.skewed], stream: "a"))
        #expect(Bootstrap.standard.interval(ofMeanOf: [Self.skewed], stream: "a") == a)
        let b = try #require(Bootstrap.standard.interval(ofMeanOf: [Self.skewed], stream: "b"))
        #expect(a != b && abs(a.low - b.low) < 0.1 && abs(a.high - b.high) < 0.1)
    }

    @Test("values that are all alike have an interval without width; four values have none")
    func degenerate() {
        #expect(
            Bootstrap.standard.interval(ofMeanOf: [[2, 2, 2, 2, 2]], stream: "") == Interval(low: 2, high: 2))
        #expect(Bootstrap.standard.interval(ofMeanOf: [[1, 2, 3, 4]], stream: "") == nil)
        #expect(Bootstrap.standard.interval(ofMeanOf: [[], []], stream: "") == nil)
        #expect(Bootstrap.standard.interval(ofMeanOf: [[1], [2], [3], [4], [5], [6]], stream: "") == nil)
        #expect(Bootstrap.standard.interval(ofMeanOf: [[1, 2, 3, 4, 5], [1, 2]], stream: "") == nil)
        #expect(Bootstrap.standard.interval(ofMeanOf: [[1, 2, 3, 4, 5], []], stream: "") != nil)
    }

    @Test("strata are resampled within themselves: a difference between scenarios widens nothing")
    func strata() throws {
        let noise = [-0.2, 0.1, 0.3, -0.1, 0.2, -0.3, 0.15, -0.15]
        let apart = try #require(
            Bootstrap.standard.interval(ofMeanOf: [noise.map { 1000 + $0 }, noise], stream: ""))
        #expect(apart.high - apart.low < 0.5 && apart.contains(500))
        let mixed = try #require(
            Bootstrap.standard.interval(ofMeanOf: [noise.map { 1000 + $0 } + noise], stream: ""))
        #expect(mixed.high - mixed.low > 300)
    }

    /// The share of intervals that contain the true value, over 500 samples with a fixed seed; the target is 95 %.
    @Test("an interval of 20 values holds the truth nearly as often as it says, of 5 values less often")
    func coverage() {
        let bootstrap = Bootstrap(resamples: 400, confidence: 0.95)
        func share(_ count: Int, mean: Double, _ draw: (inout SeededGenerator) -> Double) -> Double {
            var generator = SeededGenerator(seed: 7, stream: "coverage/\(count)")
            let held = (0..<500).count { sample in
                let values = (0..<count).map { _ in draw(&generator) }
                return bootstrap.interval(ofMeanOf: [values], stream: "\(sample)")?.contains(mean) ?? false
            }
            return Double(held) / 500
        }
        let normal = share(20, mean: 0) { Normal.quantile($0.unit()) }
        let exponential = share(20, mean: 1) { -log($0.unit()) }
        let few = share(5, mean: 0) { Normal.quantile($0.unit()) }
        #expect((0.89...0.96).contains(normal), "\(normal)")
        #expect((0.87...0.96).contains(exponential), "\(exponential)")
        #expect((0.75...0.92).contains(few), "\(few)")
    }

    @Test("a widened interval holds the truth of six values about as often as it says")
    func widenedCoverage() {
        let bootstrap = Bootstrap(resamples: 400, confidence: 0.95)
        var generator = SeededGenerator(seed: 7, stream: "coverage/widened")
        let held = (0..<500).count { sample in
            let values = (0..<6).map { _ in 2 * Normal.quantile(generator.unit()) - 1 }
            return bootstrap.widenedInterval(ofMeanOf: [values], stream: "\(sample)").contains(-1)
        }
        #expect((450...490).contains(held), "\(held)")
    }

    @Test("a stratum of one value counts, and adds no spread to a widened interval")
    func widenedCases() {
        let noise = [-0.2, 0.1, 0.3, -0.1, 0.2, -0.3]
        let alone = Bootstrap.standard.widenedInterval(ofMeanOf: [noise], stream: "")
        let beside = Bootstrap.standard.widenedInterval(ofMeanOf: [noise, [5]], stream: "")
        #expect(abs((beside.high - beside.low) * 2 - (alone.high - alone.low)) < 0.02)
        #expect(abs(beside.low - (alone.low + 5) / 2) < 0.01)
        let bare = Bootstrap.standard.widenedInterval(ofMeanOf: [[1], [3]], stream: "")
        #expect(bare == Interval(low: 2, high: 2))
        let equal = Bootstrap.standard.widenedInterval(ofMeanOf: [[4, 4, 4, 4, 4]], stream: "")
        #expect(equal == Interval(low: 4, high: 4))
    }

    private func compared(
        _ a: [[Double?]], _ b: [[Double?]]?, _ sense: MetricSense = .lower, isOneUser: Bool = false
    ) -> PairedComparison {
        PairedComparison(
            a, against: b, sense: sense, isOneUser: a.map { _ in isOneUser }, bootstrap: .standard, stream: "test")
    }

    @Test("equal pairs are identical, and the difference is exactly zero")
    func identical() {
        let values: [[Double?]] = [[0.1, 0.2, 0.3, nil, 0.4, 1e9], [0.7, 0.7, 0.7, 0.7, 0.7]]
        let result = compared(values, values)
        #expect(result.verdict == .identical && result.difference == 0 && result.pairs == 10)
        #expect(result.interval == Interval(low: 0, high: 0))
        #expect(result.balance == .init(better: 0, same: 10, worse: 0))
    }

    @Test("a difference that no seed changes, of one user, is one case: it has no interval, and is not called better")
    func sameUnderEverySeed() {
        func compared(_ a: [[Double?]], _ b: [[Double?]]) -> PairedComparison {
            self.compared(a, b, isOneUser: true)
        }
        let three = [Double?](repeating: 3, count: 20)
        let one = [Double?](repeating: 1, count: 20)
        let single = compared([one], [three])
        #expect(single.verdict == .sameUnderEverySeed && single.interval == nil && single.difference == -2)
        #expect(single.isSameUnderEverySeed)
        let two = compared([one, three], [three, one])
        #expect(two.verdict == .sameUnderEverySeed && two.interval == nil && two.difference == 0)
        #expect(compared([three], [three]).verdict == .identical && compared([three], [three]).interval == nil)
        // Variation that affects both sides equally does not change the verdict, nor do differences in the last bits.
        let varied: [Double?] = (0..<20).map { 1550.976 + 0.1 * Double($0) }
        let less: [Double?] = varied.map { $0.map { $0 - 15 } }
        #expect(compared([less], [varied]).verdict == .sameUnderEverySeed)
        // Other users, a single seed or an absent value change the verdict.
        let others = self.compared([one], [three])
        #expect(others.verdict == .better && !others.isSameUnderEverySeed)
        #expect(!compared([[1]], [[3]]).isSameUnderEverySeed)
        #expect(!compared([one], [[nil] + three.dropFirst()]).isSameUnderEverySeed)
        // A scenario that depends on the seed decides the verdict; a scenario that does not adds no certainty.
        let lower: [Double?] = varied.enumerated().map { index, value in value.map { $0 - Double(index % 3 + 1) } }
        let both = compared([one, lower], [three, varied])
        #expect(both.interval != nil && !both.isSameUnderEverySeed && both.verdict == .better)
    }

    @Test("common random numbers: a small difference shows although the seeds differ by far more")
    func paired() {
        let base = (0..<12).map { Double($0 * $0 * 10) }
        let better = base.enumerated().map { $1 - 1 - Double($0 % 3) * 0.1 }
        #expect(compared([better], [base]).verdict == .better)
        #expect(compared([better], [base], .higher).verdict == .worse)
        #expect(compared([better], [base], .neither).verdict == .lower)
        let shuffled = Array(base[5...] + base[..<5])
        #expect(compared([shuffled], [base]).verdict == .notShown)
    }

    @Test("a run without the metric leaves its pair out; four pairs are too few; none is absent")
    func absent() {
        let base: [[Double?]] = [[1, 2, 3, 4, 5, nil]]
        let other: [[Double?]] = [[2, 4, 4, 6, nil, 9]]
        let result = compared(other, base)
        #expect(result.pairs == 4 && result.runs == 5 && result.verdict == .tooFew && result.interval == nil)
        #expect(result.difference == 1.5)
        #expect(compared([[nil]], [[1]]).verdict == .absent)
        #expect(compared([[1]], nil).verdict == .baseline)
    }

    @Test("pooled, scenarios weigh alike although one has more pairs")
    func pooled() {
        let base: [[Double?]] = [[0, 0, 0, 0], [0, 0, nil, nil]]
        let other: [[Double?]] = [[1, 1, 1, 1], [4, 4, 4, 4]]
        #expect(compared(other, base).difference == 2.5)
    }

    @Test("regret is the loss against a reference; the best of all is never beaten")
    func regret() throws {
        let (a, b): ([[Double?]], [[Double?]]) = ([[10, 20, nil]], [[12, 16, 5]])
        let best = PairedComparison.best(of: [a, b], sense: .lower)
        #expect(best == [[10, 16, 5]])
        #expect(PairedComparison.regret(a, against: best, sense: .lower) == 2)
        #expect(PairedComparison.regret(a, against: b, sense: .higher) == -1)
        #expect(PairedComparison.regret(a, against: b, sense: .neither) == nil)
    }

    @Test("latencies of those who lost more launches are not called better")
    func lostLaunches() {
        let slow: [[Double?]] = [(0..<10).map { 900 + Double($0) }]
        let fast: [[Double?]] = [(0..<10).map { 500 + Double($0 % 7) }]
        func verdict(_ a: [[Double?]], _ b: [[Double?]], losses: PairedComparison?) -> PairedComparison.Verdict {
            PairedComparison(
                a, against: b, sense: .lower, isOneUser: [true], bootstrap: .standard, stream: "test", losses: losses
            ).verdict
        }
        let few: [[Double?]] = [(0..<10).map { Double($0 % 3) }]
        let many: [[Double?]] = [(0..<10).map { Double($0 % 4 + 3) }]
        let equal = compared(few, few)
        let unclear = compared([[0, 1, 2, 0, 1]], [[1, 0, 0, 2, 1]])
        #expect(equal.verdict == .identical && unclear.verdict == .notShown)
        for losses in [nil, equal, unclear] as [PairedComparison?] {
            #expect(verdict(fast, slow, losses: losses) == .better && verdict(slow, fast, losses: losses) == .worse)
        }
        let (none, two): ([[Double?]], [[Double?]]) = ([.init(repeating: 0, count: 9)], [.init(repeating: 2, count: 9)])
        let always = (compared(two, none, isOneUser: true), compared(none, two, isOneUser: true))
        #expect(always.0.verdict == .sameUnderEverySeed)
        for (more, fewer) in [(compared(many, few), compared(few, many)), always] {
            #expect(verdict(fast, slow, losses: more) == .notComparable)
            #expect(verdict(slow, fast, losses: fewer) == .notComparable)
            // The slower one also lost more.
            #expect(verdict(slow, fast, losses: more) == .worse && verdict(fast, slow, losses: fewer) == .better)
        }
        #expect(verdict([[5, 5]], [[9, 9]], losses: always.0) == .notComparable)
        #expect(PairedComparison.kept([[1, 2, nil]], where: [[0, 1, 0]], equals: [[0, 0, 0]]) == [[1, nil, nil]])
        #expect(
            MetricSense.isOfLaunchesThatCame("launch_latency_p95_ms") && !MetricSense.isOfLaunchesThatCame("stalls"))
    }

    @Test("every metric that is usually compared exists and has a good end")
    func senses() {
        let metrics = RunTables.summary.columns.map(\.name)
        for name in MetricSense.usual { #expect(metrics.contains(name), "\(name)") }
        #expect(MetricSense.usual.allSatisfy { MetricSense(ofMetric: $0) != .neither })
    }
}
