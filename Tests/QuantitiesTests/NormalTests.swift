import Quantities
import Testing

@Suite("normal numbers")
struct NormalTests {
    @Test("they have mean 0, deviation 1 and the quantiles of the normal distribution")
    func quantiles() {
        var generator = SeededGenerator(seed: 1, stream: "normal")
        let draws = (0..<100_000).map { _ in generator.normal() }.sorted()
        let mean = draws.reduce(0, +) / 100_000
        let variance = draws.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 100_000
        #expect(abs(mean) < 0.01 && abs(variance - 1) < 0.02, "\(mean), \(variance)")
        for (permille, expected) in [(100, -1.2816), (500, 0), (900, 1.2816), (990, 2.3263)] {
            let found = draws[100 * permille]
            #expect(abs(found - expected) < 0.03, "\(permille): \(found)")
        }
    }

    @Test("one seed and one stream give the same numbers")
    func repeatable() {
        var (first, second) = (SeededGenerator(seed: 7, stream: "a"), SeededGenerator(seed: 7, stream: "a"))
        #expect((0..<100).allSatisfy { _ in first.normal() == second.normal() })
    }
}
