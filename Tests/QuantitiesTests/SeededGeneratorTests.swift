import BasicContainers
import Quantities
import Testing

@Suite("the one source of chance")
struct SeededGeneratorTests {
    @Test("one seed and one stream give the same numbers, another stream gives others")
    func streams() {
        var a = SeededGenerator(seed: 42, stream: "app/maps")
        var b = SeededGenerator(seed: 42, stream: "app/maps")
        var c = SeededGenerator(seed: 42, stream: "app/feed")
        let first = (0..<8).map { _ in a.next() }
        #expect(first == (0..<8).map { _ in b.next() })
        #expect(first != (0..<8).map { _ in c.next() })
    }

    @Test("the draws of a log-normal have the stated median and spread")
    func logNormal() {
        var generator = SeededGenerator(seed: 1, stream: "sizes")
        let sampler = SizeSampler(
            .logNormal(median: ByteCount(4096), sigma: Ratio(partsPerMillion: 1_000_000), highest: .mebibytes(1)))
        let draws = (0..<100_000).map { _ in sampler.next(using: &generator) }.sorted()
        #expect((4000...4200).contains(draws[50_000]))
        // One standard deviation above the logarithm's median: 4096 * e.
        #expect((10_900...11_400).contains(draws[84_134]))
    }

    @Test("a fill asks for exactly the bytes it was told")
    func fill() {
        var generator = SeededGenerator(seed: 1, stream: "sizes")
        var sizes: [Int] = []
        SizeSampler(.uniform(lowest: ByteCount(10), highest: ByteCount(5000)))
            .fill(&sizes, with: .mebibytes(3), using: &generator)
        #expect(sizes.reduce(0, +) == 3 << 20)
    }

    @Test(
        "a stream gives the sizes that its sampler draws one by one",
        arguments: [
            .logNormal(median: .kibibytes(2), sigma: Ratio(partsPerMillion: 1_400_000), highest: .mebibytes(1)),
            .uniform(lowest: ByteCount(10), highest: ByteCount(5000)), .constant(ByteCount(48)),
            .histogram([.init(size: ByteCount(16), weight: 3), .init(size: .mebibytes(1), weight: 1)]),
        ] as [SizeDistribution])
    func stream(_ distribution: SizeDistribution) {
        let sampler = SizeSampler(distribution)
        var one = SeededGenerator(seed: 5, stream: "sizes")
        var stream = SizeStream(sampler, one)
        var sizes = SizeBatch()
        var expected: [Int] = []
        for bytes in [1, 100, 64 << 10, 3 << 20, 5, 0, 777_777] {
            stream.fill(&sizes, with: ByteCount(bytes))
            sampler.fill(&expected, with: ByteCount(bytes), using: &one)
            #expect(sizes.suffix(from: 0) == expected)
        }
    }

    @Test("a histogram draws its sizes by weight")
    func histogram() {
        var generator = SeededGenerator(seed: 1, stream: "sizes")
        let sampler = SizeSampler(
            .histogram([.init(size: ByteCount(16), weight: 3), .init(size: ByteCount(64), weight: 1)]))
        let small = (0..<10_000).count { _ in sampler.next(using: &generator) == 16 }
        #expect((7_300...7_700).contains(small))
    }

    @Test("our exponential and logarithm undo each other")
    func mathematics() {
        for step in -40...40 {
            let x = Double(step) / 4
            #expect(abs(naturalLogarithm(exponential(x)) - x) < 1e-13)
        }
        #expect(abs(exponential(1) - 2.718281828459045) < 1e-15)
    }

    @Test(
        "what draws log-normal sizes quickly never changes one",
        arguments: [
            (1, 500_000), (24, 4_000_000), (100, 1), (2_000, 1_400_000), (2_000, 0), (65_536, 900_000),
            (50_000_000, 2_500_000),
        ])
    func logNormal(median: Int, sigma: Int64) {
        let highest = ByteCount(1 << 28)
        let sampler = SizeSampler(
            .logNormal(median: ByteCount(median), sigma: Ratio(partsPerMillion: sigma), highest: highest))
        var (quick, slow) = (SeededGenerator(seed: 7, stream: "a"), SeededGenerator(seed: 7, stream: "a"))
        let differing = (0..<50_000).count { _ in
            let size = Double(median) * exponential(normal(&slow) * Double(sigma) / 1_000_000)
            return sampler.next(using: &quick) != max(1, Int(min(size, Double(highest.bytes))))
        }
        #expect(differing == 0)
    }

    /// A standard normal value by the polar method, computed with the series only.
    private func normal(_ generator: inout SeededGenerator) -> Double {
        while true {
            let u = 2 * generator.unit() - 1
            let v = 2 * generator.unit() - 1
            let square = u * u + v * v
            if square > 0 && square < 1 { return u * (-2 * naturalLogarithm(square) / square).squareRoot() }
        }
    }
}
