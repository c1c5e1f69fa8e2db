import Experiments
import Quantities
import Testing

@Suite("shares of runs and survival curves")
struct ProportionTests {
    @Test("Wilson's interval has the values of the literature, and stays within 0 and 1")
    func wilson() throws {
        // Newcombe, Statistics in Medicine 17 (1998), p. 857 ff., table I: score method without correction.
        let cases: [(Int, Int, Double, Double)] = [
            (81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718),
        ]
        for (count, total, low, high) in cases {
            let interval = try #require(Proportion(count, of: total).wilson())
            #expect(abs(interval.low - low) < 0.00006 && abs(interval.high - high) < 0.00006, "\(count) of \(total)")
        }
        #expect(Proportion(20, of: 20).wilson()?.high == 1)
        #expect(Proportion(0, of: 0).wilson() == nil && Proportion(0, of: 0).share == nil)
    }

    @Test("a share is compared with the one asked for without rounding")
    func exactShare() {
        #expect(Proportion(36, of: 40).isAtLeast(partsPerMillion: 900_000))
        #expect(!Proportion(35, of: 40).isAtLeast(partsPerMillion: 900_000))
        #expect(!Proportion(0, of: 0).isAtLeast(partsPerMillion: 1))
    }

    @Test("the chances of a draw without replacement are those of counting every draw")
    func draws() {
        for all in 1...9 {
            for marked in 0...all {
                for drawn in 0...all {
                    let hits = (0..<(1 << all)).filter { $0.nonzeroBitCount == drawn }.map { set in
                        (set & ((1 << marked) - 1)).nonzeroBitCount
                    }
                    let draw = FiniteDraw(drawn, of: all, marked: marked)
                    for most in -1...all {
                        let share = Double(hits.count { $0 <= most }) / Double(hits.count)
                        #expect(abs(draw.chance(ofAtMost: most) - share) < 1e-12, "\(draw), \(most)")
                        #expect(abs(draw.chance(ofAtLeast: most + 1) - (1 - share)) < 1e-12, "\(draw), \(most)")
                    }
                }
            }
        }
        // Nearly a normal distribution with mean 500: no term is lost for being small.
        let large = FiniteDraw(5_000, of: 10_000, marked: 1_000)
        #expect(abs(large.chance(ofAtMost: 500) - 0.5133) < 0.0005)
        #expect(large.chance(ofAtMost: 400) < 1e-9 && large.chance(ofAtLeast: 400) > 1 - 1e-9)
    }

    @Test("the interval of a paired gain has the values of the literature")
    func pairs() throws {
        // Newcombe, Statistics in Medicine 17 (1998), p. 2635 ff., table III, method 10.
        let pairs = PairedProportions(both: 36, gained: 12, lost: 2, neither: 0)
        let interval = try #require(pairs.interval())
        #expect(pairs.gain == 0.2)
        #expect(abs(interval.low - 0.0569) < 0.0002 && abs(interval.high - 0.3404) < 0.0002, "\(interval)")
        let same = PairedProportions(without: [true, false, nil, true], with: [true, false, true, nil])
        #expect(same == PairedProportions(both: 1, gained: 0, lost: 0, neither: 1))
        #expect(same.gain == 0 && same.interval()?.contains(0) == true)
    }

    @Test("seeds that only one of two settings saves are counted on their side")
    func pairSides() {
        let pairs = PairedProportions(
            without: [true, true, false, false, false], with: [true, false, true, true, false])
        #expect(pairs == PairedProportions(both: 1, gained: 2, lost: 1, neither: 1))
        #expect(pairs.gain == 0.2)
    }

    // MARK: Survival curves

    /// Freireich et al., Blood 21 (1963): weeks of remission under 6-mercaptopurine; censored ones are negative.
    private static let remissions: [Int64] = [
        6, 6, 6, -6, 7, -9, 10, -10, -11, 13, 16, -17, -19, -20, 22, 23, -25, -32, -32, -34, -35,
    ]

    @Test("the curve and Greenwood's error are those of the textbook's example")
    func kaplanMeier() throws {
        let stays = Self.remissions.enumerated().map {
            KaplanMeier.Stay(run: $0, length: abs($1), isEnd: $1 > 0)
        }
        let curve = KaplanMeier(stays)
        let expected: [(Int64, Int, Double)] = [
            (6, 21, 0.857), (7, 17, 0.807), (10, 15, 0.753), (13, 12, 0.690), (16, 11, 0.627), (22, 7, 0.538),
            (23, 6, 0.448),
        ]
        for (length, atRisk, survival) in expected {
            let step = try #require(curve.step(at: length))
            #expect(step.length == length && step.atRisk == atRisk && abs(step.survival - survival) < 0.0006)
        }
        #expect(curve.median == 23 && curve.step(at: 36) == nil && curve.steps.last?.length == 35)
        #expect(curve.steps.reduce(0) { $0 + $1.censored } == 12 && curve.steps.reduce(0) { $0 + $1.ended } == 9)
        // The band is log-log with Greenwood's error, because every run has one stay: at 22 weeks 0.268 to 0.747
        // (survival package of R, conf.type = "log-log").
        let band = try #require(curve.step(at: 22)).band
        #expect(abs(band.low - 0.268) < 0.001 && abs(band.high - 0.747) < 0.001, "\(band)")
    }

    @Test("stays of one run count as one for the band, not for the curve")
    func clusters() throws {
        let lengths: [Int64] = [5, 9, 12, 20, 31]
        let single = KaplanMeier(lengths.enumerated().map { .init(run: $0, length: $1, isEnd: true) })
        let triple = KaplanMeier(
            lengths.enumerated().flatMap { run, length in
                (0..<3).map { _ in KaplanMeier.Stay(run: run, length: length, isEnd: true) }
            })
        for length in lengths.dropLast() {
            let (a, b) = (try #require(single.step(at: length)), try #require(triple.step(at: length)))
            #expect(abs(a.survival - b.survival) < 1e-12)
            #expect(abs(a.band.low - b.band.low) < 1e-9 && abs(a.band.high - b.band.high) < 1e-9)
        }
    }

    @Test("without an end the curve stays at 1, with a band that says how many runs there were")
    func noEnd() throws {
        let curve = KaplanMeier((0..<20).map { .init(run: $0, length: 100, isEnd: false) })
        #expect(curve.steps.count == 2 && curve.median == nil)
        let last = try #require(curve.steps.last)
        #expect(last.survival == 1 && last.censored == 20)
        #expect(last.band == Proportion(20, of: 20).wilson())
        #expect(KaplanMeier([]).steps.isEmpty)
    }

    @Test("the band covers the true curve in 93 to 97 % of samples, also if the stays of a run depend on one another")
    func coverage() {
        var generator = SeededGenerator(seed: 7, stream: "coverage")
        func uniform() -> Double { (Double(generator.below(1 << 40)) + 0.5) / Double(1 << 40) }
        var (covered, naive, samples) = (0, 0, 0)
        // Half of the runs are on a mild device, half on a harsh one: the stays of a run share its hazard. The truth is
        // the mean of two exponential curves at the length 1: stays per run do not depend on the hazard.
        let truth = (exponential(-0.2) + exponential(-1.2)) / 2
        for _ in 0..<600 {
            var (stays, apart) = ([KaplanMeier.Stay](), [KaplanMeier.Stay]())
            for run in 0..<40 {
                let hazard = generator.below(2) == 0 ? 0.2 : 1.2
                for _ in 0..<4 {
                    let (life, seen) = (-naturalLogarithm(uniform()) / hazard, 0.5 + 1.5 * uniform())
                    let stay = KaplanMeier.Stay(
                        run: run, length: Int64(min(life, seen) * 1_000_000), isEnd: life <= seen)
                    stays.append(stay)
                    apart.append(.init(run: apart.count, length: stay.length, isEnd: stay.isEnd))
                }
            }
            guard let step = KaplanMeier(stays).step(at: 1_000_000),
                let other = KaplanMeier(apart).step(at: 1_000_000)
            else { continue }
            samples += 1
            covered += step.band.contains(truth) ? 1 : 0
            naive += other.band.contains(truth) ? 1 : 0
        }
        let (share, without) = (Double(covered) / Double(samples), Double(naive) / Double(samples))
        #expect(samples == 600 && share >= 0.93 && share <= 0.97, "\(share), and \(without) for stays taken apart")
        #expect(without < share, "\(without) for stays taken apart")
    }
}
