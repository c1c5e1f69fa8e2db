import Quantities
import Testing

@Suite("Bytes, ratios and rates")
struct ByteCountTests {
    @Test("a product that needs more than 64 bits is scaled as exactly as a short one")
    func scaling() {
        var random = SeededGenerator(seed: 1, stream: "scaling")
        for bits in 1...62 {
            let value = Int64(random.number(in: 0...1 << bits)) * (bits % 2 == 0 ? 1 : -1)
            for multiplier in [0, 1, 999_999, 1_000_000, 1_000_001, 4_000_000] as [Int64] {
                guard value.magnitude < 1 << 60 else { continue }
                // The product of the whole divisors and of the remainder; neither overflows.
                let (whole, rest) = value.quotientAndRemainder(dividingBy: 1_000_000)
                let expected = whole * multiplier + rest * multiplier / 1_000_000
                #expect(scaled(value, by: multiplier, over: 1_000_000) == expected)
            }
        }
        #expect(scaled(.max, by: 1_000_000, over: 1_000_000) == .max)
        #expect(scaled(.min + 1, by: 999_999, over: 999_999) == .min + 1)
    }

    @Test("a ratio rounds towards zero, a time for bytes up")
    func rounding() {
        #expect(ByteCount(3) * Ratio.percent(50) == ByteCount(1))
        #expect(ByteCount.gibibytes(1 << 20) * Ratio.one == .gibibytes(1 << 20))
    }
}
