/// Sizes whose logarithm is normal, computed in single precision and four at a time. Nearly all results are exact to
/// the byte; in the other cases there is no result.
///
/// A size is returned only if its whole number is certain, so the margin of doubt is proved, not measured. With e =
/// 2^-24, the largest relative error of one rounding to single precision, and D = log2(size / median):
///
/// - log2(1 + r) is right to 2.9 e, as a run over every r showed. The rounding of r itself adds at most 1.2 e, and the
///   sum with the exponent, which is exact and never cancels, one e. The root halves these and the roundings of the
///   square and of the quotient. Three more are not halved: the root, the scaled u and the product. Together D is off
///   by less than 6.6 e |D|, and the size by less than 4.6 e |D|.
/// - 2^r is right to 3.7 e, again over every r. Rounding the median and the product adds 2 e; doubling is exact.
///
/// So the relative error of a size is less than (4.6 |D| + 5.7) e. The excess of `doubt` and `leastDoubt` over this
/// covers products of errors, the margin's own roundings and those of the draw's definition in double precision.
///
/// The loops are written so that the compiler can turn them into vectors: no branches, tables, traps or calls.
struct QuickSizes: Sendable {
    /// How many sizes are computed at once. It is a constant, so that the loops have no remainders.
    static let count = 64

    /// D is `spread` times u, times the root of -log2(square) / square.
    private let spread: Double
    private let median: Float
    /// Sizes above this are cut to it. It is a little above the highest size, so that a cut size is certain. It is at
    /// most 2^22, a whole number, which always counts as in doubt.
    private let ceiling: Float
    let leastDoubt: Float

    static let doubt: Float = 4.75 * 0x1p-24

    /// - Parameter sigma: Above 5 no size is certain, because powers of two could leave the range of single precision.
    init(median: Double, sigma: Double, highest: Int) {
        spread = sigma * 1.698643600576038  // The root of 2 / ln 2.
        self.median = Float(median)
        ceiling = min(Float(highest) + 0.25, 0x1p22)
        let possible = median > 0 && highest > 0 && abs(sigma) <= 5
        leastDoubt = possible ? 6 * 0x1p-24 : .infinity
    }

    /// The sizes of points in the unit circle; 0 where the whole number is in doubt or is 0.
    @inline(__always)
    func approximate(
        _ us: UnsafePointer<Double>, _ squares: UnsafePointer<Double>, into sizes: UnsafeMutablePointer<UInt32>
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * QuickSizes.count) { numbers in
            guard let significands = numbers.baseAddress else { return }
            let divisors = significands + QuickSizes.count
            let deviations = divisors + QuickSizes.count
            // The exponents are stored in the places of the sizes.
            for index in 0..<QuickSizes.count {
                let square = squares[index]
                let (exponent, rest) = QuickSizes.parts(square)
                sizes[index] = exponent
                significands[index] = rest
                divisors[index] = Float(square)
                deviations[index] = Float(us[index] * spread)
            }
            for index in 0..<QuickSizes.count {
                let exponent = Float(Int32(bitPattern: sizes[index]) >> 20)
                let logarithm = exponent + QuickSizes.logarithm(significands[index])
                // The ratio is never below 0. The comparison shows the compiler that, so it inlines the root.
                let ratio = -logarithm / divisors[index]
                deviations[index] *= (ratio > 0 ? ratio : 0).squareRoot()
            }
            for index in 0..<QuickSizes.count { sizes[index] = size(deviations[index]) }
        }
    }

    /// A number's exponent, in the upper 12 bits, and its significand (from the root of 1/2 to the root of 2) minus 1.
    /// The difference is exact before it is rounded, so it is precise for numbers close to 1, too.
    @inline(__always)
    private static func parts(_ x: Double) -> (exponent: UInt32, rest: Float) {
        let exponent = (x.bitPattern &- 0x3fe6_a09e_0000_0000) & 0xfff0_0000_0000_0000
        let rest = Double(bitPattern: x.bitPattern &- exponent) - 1
        return (UInt32(truncatingIfNeeded: exponent >> 32), Float(rest))
    }

    /// The logarithm to base 2 of 1 + r, for 1 + r from the root of 1/2 to the root of 2: a minimax polynomial.
    @inline(__always)
    static func logarithm(_ r: Float) -> Float {
        let square = r * r
        let a: Float = -0.7213473468125869 + r * 0.48091064272431827
        let b: Float = -0.36070368108878875 + r * 0.28791625350209116
        let c: Float = -0.23894486815093005 + r * 0.21571560867275089
        let d: Float = -0.20726942813217802 + r * 0.12583661500845603
        return r * 1.442695003653016 + square * ((a + square * b) + (square * square) * (c + square * d))
    }

    /// 2 to the power of r, for |r| up to 1/2: a minimax polynomial.
    @inline(__always)
    static func power(_ r: Float) -> Float {
        let square = r * r
        let a: Float = 1 + r * 0.693146977599163
        let b: Float = 0.24022242085375103 + r * 0.05550733743251822
        let c: Float = 0.009671512639647545 + r * 0.001326472719723729
        return a + square * (b + square * c)
    }

    /// The median times 2 to the power of `deviation`, in whole bytes, or 0.
    @inline(__always)
    private func size(_ deviation: Float) -> UInt32 {
        // Adding one of these numbers rounds to a whole number in the lowest bits; the second is for numbers that are
        // not negative.
        let (rounder, unsignedRounder): (Float, Float) = (0x1.8p23, 0x1p23)
        let shifted = deviation + rounder
        let scale = Float(bitPattern: shifted.bitPattern << 23 &+ Float(1).bitPattern)
        let product = median * QuickSizes.power(deviation - (shifted - rounder)) * scale
        let size = product < ceiling ? product : ceiling
        let margin = size * (abs(deviation) * QuickSizes.doubt + leastDoubt)
        let rounded = size + unsignedRounder
        let rest = size - (rounded - unsignedRounder)
        // Subtract one where it was rounded up.
        let down = Int32(bitPattern: rest.bitPattern) >> 31
        let whole = Int32(bitPattern: rounded.bitPattern &- unsignedRounder.bitPattern) &+ down
        return abs(rest) > margin ? UInt32(bitPattern: whole) : 0
    }
}
