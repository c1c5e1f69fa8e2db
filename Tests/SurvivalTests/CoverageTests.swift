import Experiments
import Quantities
import Testing

@testable import Survival

/// Whether the intervals of `survive` contain the true probability as often as they promise.
///
/// Six questions were asked under 200 seeds each:
///
///     plimsoll survive --like photo-editor --footprint 300MiB --share-only --seeds 1..200 \
///       --set 'device={ ceiling: 1480MiB, reserved: 500MiB }' --set policy=jetsam --set monitor.preset=ios
///
/// and the same with other ceilings. The share of 200 seeds stands for the true probability: 0.1 to 0.89.
@Suite("coverage of the interval of a share")
struct CoverageTests {
    /// The ceiling in MiB, and which of the seeds 1 to 200 the app survives: a bit each, the first seed first.
    private static let cases: [(ceiling: Int, lives: String)] = [
        (1480, "00000000040c10000602000500008090410000200403800080"),
        (1800, "21304000046d50002606040d0060a892614002b38603a51b80"),
        (2000, "213bc008456d52003e96d48d40f0fcb2614912b7861bbd9f83"),
        (2150, "3f3bd59d45edd3013f96d4fdccf1fefae14bd2f7ae5fbf9fc3"),
        (2300, "3f3bd7fd77fff7a9bf97fefdfef5fefaf9fbdaffae7fbfdfc7"),
        (2480, "7f7fdffdf7fffffdbf97fffdfefdfefafffbdafffe7fffffff"),
    ]

    private static func lives(_ digits: String) -> [Bool] {
        digits.flatMap { digit -> [Bool] in
            let value = digit.hexDigitValue ?? 0
            return [8, 4, 2, 1].map { value & $0 != 0 }
        }
    }

    /// How many of 1,000 intervals of 40 seeds contain the share of all seeds.
    ///
    /// - Parameter isRepeated: Whether a seed may be drawn again. If not, 40 of 200 are no independent sample, and
    ///   their share varies less: the interval is that of 40 * 199 / 160 independent seeds (correction for a finite
    ///   population; Cochran, Sampling Techniques, 1977).
    private func covered(_ lives: [Bool], isRepeated: Bool) throws -> Int {
        var generator = SeededGenerator(seed: 1, stream: "coverage of shares")
        let truth = Double(lives.count(where: \.self)) / Double(lives.count)
        var covered = 0
        for _ in 0..<1_000 {
            var left = Array(lives.indices)
            let drawn = (0..<40).map { _ -> Bool in
                let place = Int(generator.below(UInt64(left.count)))
                return lives[isRepeated ? left[place] : left.remove(at: place)]
            }
            let sample = Proportion(drawn.count(where: \.self), of: drawn.count)
            var interval = try #require(sample.wilson())
            if !isRepeated {
                let scale = Double(lives.count - 1) / Double(lives.count - drawn.count)
                interval = CoverageTests.wilson(Double(sample.count) * scale, of: Double(sample.total) * scale)
            }
            covered += interval.contains(truth) ? 1 : 0
        }
        return covered
    }

    /// Wilson's interval for a number of runs that need not be whole.
    private static func wilson(_ count: Double, of total: Double) -> Interval {
        let z = Normal.quantile(0.975)
        let centre = (count + z * z / 2) / (total + z * z)
        let half = z / (total + z * z) * (count * (total - count) / total + z * z / 4).squareRoot()
        return Interval(low: centre - half, high: centre + half)
    }

    @Test("40 independent seeds: 93 to 97 % of the intervals contain the truth, in each of six cases")
    func independent() throws {
        for (ceiling, digits) in Self.cases {
            let lives = Self.lives(digits)
            #expect(lives.count == 200)
            let covered = try covered(lives, isRepeated: true)
            #expect((930...970).contains(covered), "\(covered) of 1000 at \(ceiling) MiB")
        }
    }

    @Test("40 different ones of 200 seeds, with the correction for a finite population: the same")
    func finite() throws {
        for (ceiling, digits) in Self.cases {
            let covered = try covered(Self.lives(digits), isRepeated: false)
            #expect((930...970).contains(covered), "\(covered) of 1000 at \(ceiling) MiB")
        }
    }

    /// In how many of 400 draws of 40 of the 200 seeds the answer of a trial that stops is not that of all 40.
    private func wrong(_ lives: [Bool], _ share: Ratio) -> (wrong: Int, runs: Int) {
        var generator = SeededGenerator(seed: 1, stream: "answers of trials that stop")
        var (wrong, runs) = (0, 0)
        for _ in 0..<400 {
            var left = Array(lives.indices)
            let drawn = (0..<40).map { _ in lives[left.remove(at: Int(generator.below(UInt64(left.count))))] }
            var trial = Trial(.decide(share), order: Array(drawn.indices))
            while !trial.wanted.isEmpty { trial.learn(trial.wanted.map { drawn[$0] }) }
            let whole = Proportion(drawn.count(where: \.self), of: 40)
            wrong += trial.verdict(of: share) == whole.isAtLeast(partsPerMillion: share.partsPerMillion) ? 0 : 1
            runs += trial.outcomes.count
        }
        return (wrong, runs)
    }

    @Test("a trial that stops answers as all 40 seeds would in 95 % of the cases, however near the share asked for")
    func stopping() {
        for (ceiling, digits) in Self.cases {
            let lives = Self.lives(digits)
            let truth = Double(lives.count(where: \.self)) / Double(lives.count)
            for percent in [10, 50, 75, 90] {
                let (wrong, runs) = wrong(lives, .percent(Int64(percent)))
                let isFar = abs(truth - Double(percent) / 100) > 0.2
                #expect(wrong <= (isFar ? 4 : 20), "\(wrong) of 400 for \(percent) % at \(ceiling) MiB")
                #expect(runs < (isFar ? 6_000 : 12_800), "\(runs) runs for \(percent) % at \(ceiling) MiB")
            }
        }
    }
}
