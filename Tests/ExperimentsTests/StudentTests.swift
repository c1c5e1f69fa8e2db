import Quantities
import Testing

@testable import Experiments

@Suite("Student's t")
struct StudentTests {
    @Test(
        "quantiles are those of the tables",
        arguments: [
            (1, 0.975, 12.706205), (2, 0.975, 4.302653), (3, 0.95, 2.353363), (7, 0.975, 2.364624),
            (7, 0.991666666667, 3.127558), (19, 0.975, 2.093024), (30, 0.995, 2.749996), (1000, 0.975, 1.962339),
            (5, 0.5, 0),
        ])
    func quantiles(freedom: Int, share: Double, t: Double) {
        #expect(abs(Student.quantile(share, freedom: freedom) - t) < 2e-6 * max(1, t))
        #expect(abs(Student.within(t, freedom: freedom) - (2 * share - 1)) < 1e-6)
    }

    @Test(
        "of strata that are a sample, 95 % of the intervals hold the mean that they are drawn from",
        arguments: [2, 8, 20])
    func coverage(count: Int) {
        var generator = SeededGenerator(seed: 7, stream: "coverage/\(count)")
        let rounds = 2_000
        var hits = 0
        for _ in 0..<rounds {
            let strata = (0..<count).map { _ in
                let own = generator.normal() * 2
                return (0..<5).map { _ in own + generator.normal() * 3 }
            }
            hits += Interval.ofMean(ofSampled: strata, confidence: 0.95).contains(0) ? 1 : 0
        }
        // Five standard deviations of a share of 2,000.
        let share = Double(hits) / Double(rounds)
        #expect(share > 0.925 && share < 0.985, "covers \(share)")
    }

    @Test("the seeds of one scenario more say little about scenarios")
    func seeds() {
        let few = Interval.ofMean(ofSampled: [[1, 2, 3], [5, 6, 7]], confidence: 0.95)
        let many = Interval.ofMean(ofSampled: [[1, 2, 3, 1, 2, 3, 1, 2, 3], [5, 6, 7]], confidence: 0.95)
        #expect(few == many && few.contains(4))
    }
}
