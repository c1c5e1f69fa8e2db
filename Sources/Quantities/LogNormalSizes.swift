/// Sizes whose logarithm is normal, by Marsaglia's polar method (1964).
///
/// Exact series define each draw. A size is a whole number of bytes, so an approximation decides nearly all sizes;
/// the series are computed only where the whole number is in doubt. There are two approximations. Sizes that are
/// drawn ahead try `QuickSizes` first. All others, and those that it leaves in doubt, use tables that are off by less
/// than `tolerance`. Neither ever changes a size.
struct LogNormalSizes: Sendable {
    private let median: Double
    private let sigma: Double
    private let sigmaPartsPerMillion: Double
    private let highest: Int
    private let tolerance: Double
    /// Outside this range the tables decide no size.
    private let smallestQuick: Double
    private let largestQuick: Double
    private let tables = LogNormalTables.shared
    private let quick: QuickSizes

    /// The tables are not precise enough for squares nearer to 1 and for larger deviations.
    private static let largestSquare = 1 - 0x1p-20
    private static let largestDeviation = 40.0

    init(median: ByteCount, sigma: Ratio, highest: ByteCount) {
        self.median = Double(median.bytes)
        sigmaPartsPerMillion = Double(sigma.partsPerMillion)
        self.sigma = sigmaPartsPerMillion / 1_000_000
        self.highest = highest.bytes
        // The logarithm is off by at most 3e-13, so the deviation by sigma x 2e-10, and the size by the same share.
        // The tolerance leaves a margin of a factor of five.
        tolerance = 1e-9 * (self.sigma + 1)
        let limit = LogNormalSizes.largestDeviation - 1
        smallestQuick = self.median * Quantities.exponential(-limit)
        largestQuick = min(0x1p50, self.median * Quantities.exponential(limit))
        quick = QuickSizes(median: self.median, sigma: self.sigma, highest: self.highest)
    }

    /// The next size in bytes, at least 1.
    func next(using generator: inout SeededGenerator) -> Int {
        while true {
            let (u, square) = LogNormalSizes.point(using: &generator)
            guard square < 1 else { continue }
            return size(u, square)
        }
    }

    /// Draws the next `QuickSizes.count` sizes, in the order in which `next` would draw them.
    func draw(into sizes: UnsafeMutableBufferPointer<UInt32>, using generator: inout SeededGenerator) {
        precondition(sizes.count == QuickSizes.count, "sizes are drawn \(QuickSizes.count) at a time")
        withUnsafeTemporaryAllocation(of: Double.self, capacity: 2 * QuickSizes.count) { numbers in
            guard let us = numbers.baseAddress, let drawn = sizes.baseAddress else { return }
            let squares = us + QuickSizes.count
            LogNormalSizes.points(us, squares, using: &generator)
            quick.approximate(us, squares, into: drawn)
            for index in 0..<QuickSizes.count where drawn[index] == 0 {
                drawn[index] = UInt32(truncatingIfNeeded: size(us[index], squares[index]))
            }
        }
    }

    /// Draws `QuickSizes.count` points within the circle.
    @inline(__always)
    private static func points(
        _ us: UnsafeMutablePointer<Double>, _ squares: UnsafeMutablePointer<Double>,
        using generator: inout SeededGenerator
    ) {
        // The compiler keeps a copy in registers.
        var random = generator
        var kept = 0
        while kept < QuickSizes.count {
            (us[kept], squares[kept]) = point(using: &random)
            // The sign of the difference replaces a branch, which would be mispredicted for every fifth point.
            kept &+= Int(truncatingIfNeeded: (squares[kept] - 1).bitPattern >> 63)
        }
        generator = random
    }

    /// A point in the square around the unit circle: its first coordinate, and the square of its distance from the
    /// centre. With a probability of 2^-106 it is the centre itself, which has no size.
    ///
    /// Both coordinates are exactly 2 x `unit` - 1: powers of two scale exactly, and the same sum is rounded. They
    /// are written in two ways on purpose. The compiler would put two equal expressions into one vector, together
    /// with the generator's arithmetic, which takes half as long again.
    @inline(__always)
    private static func point(using generator: inout SeededGenerator) -> (u: Double, square: Double) {
        let u = (Double(Int64(bitPattern: generator.next() >> 11)) + 0.5) * 0x1p-52 - 1
        let v = (Double(Int64(bitPattern: generator.next() >> 11)) * 0x1p-52 + 0x1p-53) - 1
        return (u, u * u + v * v)
    }

    /// A point's size: from the tables, or from the definition where the tables are in doubt.
    private func size(_ u: Double, _ square: Double) -> Int {
        let size = decided(approximate(deviation(u, square)), square)
        return size > 0 ? size : exact(u, square)
    }

    /// The exponent d of a point's size, which is the median times e^d; precise to 1e-10 except for squares close to 1.
    @inline(__always)
    private func deviation(_ u: Double, _ square: Double) -> Double {
        sigma * u * (-2 * tables.logarithm(square) / square).squareRoot()
    }

    @inline(__always)
    private func approximate(_ deviation: Double) -> Double {
        // Larger deviations are cut; `decided` rejects their sizes.
        let limit = LogNormalSizes.largestDeviation
        return median * tables.exponential(max(-limit, min(limit, deviation)))
    }

    /// The size, or 0 if it is too close to a whole number for the tables.
    @inline(__always)
    private func decided(_ size: Double, _ square: Double) -> Int {
        guard square < LogNormalSizes.largestSquare, size < largestQuick, size > smallestQuick else { return 0 }
        let whole = Int(size)
        let rest = size - Double(whole)
        let margin = size * tolerance
        guard rest > margin, rest < 1 - margin else { return 0 }
        return whole >= highest ? highest : max(1, whole)
    }

    /// The size by the definition of the draw.
    @inline(never)
    private func exact(_ u: Double, _ square: Double) -> Int {
        let normal = u * (-2 * naturalLogarithm(square) / square).squareRoot()
        let size = median * Quantities.exponential(normal * sigmaPartsPerMillion / 1_000_000)
        return size >= Double(highest) ? highest : max(1, Int(size))
    }
}

/// Logarithms at 128 points and powers of e at 64, with the first terms of the series between them.
private final class LogNormalTables: Sendable {
    static let shared = LogNormalTables()

    private let inverses: InlineArray<128, Double>
    private let logarithms: InlineArray<128, Double>
    private let powers: InlineArray<64, Double>
    private static let ln2 = 0.6931471805599453

    private init() {
        func centre(_ place: Int) -> Double { 1 + (Double(place) + 0.5) / 128 }
        inverses = InlineArray { 1 / centre($0) }
        logarithms = InlineArray { naturalLogarithm(centre($0)) }
        powers = InlineArray { Quantities.exponential(Double($0) * LogNormalTables.ln2 / 64) }
    }

    /// The natural logarithm of a number in (0, 1), to 3e-13.
    @inline(__always)
    func logarithm(_ x: Double) -> Double {
        let bits = x.bitPattern
        let place = Int(truncatingIfNeeded: bits >> 45) & 127
        let significand = Double(bitPattern: bits & 0x000f_ffff_ffff_ffff | 0x3ff0_0000_0000_0000)
        let exponent = Double(Int32(truncatingIfNeeded: bits >> 52) - 1023)
        let r = significand * inverses[place] - 1
        let series = r * (1 - r * (0.5 - r * (1 / 3.0 - r * 0.25)))
        return exponent * LogNormalTables.ln2 + logarithms[place] + series
    }

    /// e to the power of x, to 1e-13 relative, for |x| up to 40.
    @inline(__always)
    func exponential(_ x: Double) -> Double {
        // Adding this number rounds to a whole number in the lowest bits.
        let rounder = 0x1.8p52
        let shifted = x * (64 / LogNormalTables.ln2) + rounder
        let r = x - (shifted - rounder) * (LogNormalTables.ln2 / 64)
        let count = Int(truncatingIfNeeded: shifted.bitPattern &- rounder.bitPattern)
        let scale = Double(bitPattern: UInt64(bitPattern: Int64(count >> 6 &+ 1023)) << 52)
        let square = r * r
        let series = 1 + r + square * (0.5 + r * (1 / 6.0)) + square * square * (1 / 24.0)
        return powers[count & 63] * scale * series
    }
}
