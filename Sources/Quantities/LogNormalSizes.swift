/// Sizes whose logarithm is normal, by Marsaglia's polar method (1964).
///
/// A size is a whole number of bytes, so a quick approximation decides nearly all of them: it is off by less than
/// `tolerance`, and only where the whole number could differ are the series computed that define the draw. Whatever is
/// quick here never changes a size.
struct LogNormalSizes: Sendable {
    private let median: Double
    private let sigma: Double
    private let sigmaPartsPerMillion: Double
    private let highest: Int
    private let tolerance: Double
    private let tables = LogNormalTables.shared

    /// Nearer to 1 than this, or further from 0, the tables are not precise enough.
    private static let largestSquare = 1 - 0x1p-20
    private static let largestDeviation = 40.0

    init(median: ByteCount, sigma: Ratio, highest: ByteCount) {
        self.median = Double(median.bytes)
        sigmaPartsPerMillion = Double(sigma.partsPerMillion)
        self.sigma = sigmaPartsPerMillion / 1_000_000
        self.highest = highest.bytes
        // The logarithm is off by at most 3e-13, so the deviation by sigma x 2e-10, and the size by the same share;
        // what is left is a margin of five.
        tolerance = 1e-9 * (self.sigma + 1)
    }

    /// The next size in bytes, at least 1.
    @inline(__always)
    func next(using generator: inout SeededGenerator) -> Int {
        while true {
            let u = 2 * generator.unit() - 1
            let v = 2 * generator.unit() - 1
            let square = u * u + v * v
            guard square > 0 && square < 1 else { continue }
            if square < LogNormalSizes.largestSquare, let size = quick(u, square) { return size }
            return exact(u, square)
        }
    }

    /// The size, unless the approximation is too close to a whole number to tell.
    @inline(__always)
    private func quick(_ u: Double, _ square: Double) -> Int? {
        let deviation = sigma * u * (-2 * tables.logarithm(square) / square).squareRoot()
        guard abs(deviation) < LogNormalSizes.largestDeviation else { return nil }
        let size = median * tables.exponential(deviation)
        guard size < 0x1p50 else { return nil }
        let margin = size * tolerance
        let (low, high) = (Int(size - margin), Int(size + margin))
        guard low == high, size - margin > 0 else { return nil }
        return low >= highest ? highest : max(1, low)
    }

    /// The draw as it is defined.
    @inline(never)
    private func exact(_ u: Double, _ square: Double) -> Int {
        let normal = u * (-2 * naturalLogarithm(square) / square).squareRoot()
        let size = median * Quantities.exponential(normal * sigmaPartsPerMillion / 1_000_000)
        return size >= Double(highest) ? highest : max(1, Int(size))
    }
}

/// Logarithms at 128 and powers of e at 64 points, and the first terms of the series between them.
private final class LogNormalTables: Sendable {
    static let shared = LogNormalTables()

    private let inverses: [Double]
    private let logarithms: [Double]
    private let powers: [Double]
    private static let ln2 = 0.6931471805599453

    private init() {
        let centres = (0..<128).map { 1 + (Double($0) + 0.5) / 128 }
        inverses = centres.map { 1 / $0 }
        logarithms = centres.map { naturalLogarithm($0) }
        powers = (0..<64).map { Quantities.exponential(Double($0) * LogNormalTables.ln2 / 64) }
    }

    /// Of a number in (0, 1), to 3e-13.
    @inline(__always)
    func logarithm(_ x: Double) -> Double {
        let bits = x.bitPattern
        let place = Int(truncatingIfNeeded: bits >> 45) & 127
        let significand = Double(bitPattern: bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000)
        let exponent = Double(Int(truncatingIfNeeded: bits >> 52) - 1023)
        let r = significand * inverses[place] - 1
        let series = r * (1 - r * (0.5 - r * (1 / 3.0 - r * 0.25)))
        return exponent * LogNormalTables.ln2 + logarithms[place] + series
    }

    /// To 1e-13 relative, for |x| up to 40.
    @inline(__always)
    func exponential(_ x: Double) -> Double {
        // Adding and taking away this number rounds to a whole one.
        let rounder = 0x1.8p52
        let steps = x * (64 / LogNormalTables.ln2) + rounder - rounder
        let r = x - steps * (LogNormalTables.ln2 / 64)
        let count = Int(steps)
        let scale = Double(bitPattern: UInt64(bitPattern: Int64((count >> 6) + 1023)) << 52)
        let series = 1 + r * (1 + r * (0.5 + r * (1 / 6.0 + r / 24)))
        return powers[count & 63] * series * scale
    }
}
