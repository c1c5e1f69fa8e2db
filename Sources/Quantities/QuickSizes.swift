/// Sizes whose logarithm is normal, in single precision and four at a time: nearly all to the byte, the others not at
/// all.
///
/// A size comes out only if its whole number is certain, so the margin of doubt is proved, not measured. With e =
/// 2^-24, the largest relative error of one rounding to single precision, and D = log2(size / median):
///
/// - log2(1 + r) is right to 2.9 e, which a run over every r showed; that r is rounded itself adds 1.2 e at most, and
///   the sum with the exponent, which is exact and never cancels, one e. The root halves this, and the roundings of the
///   square and of the quotient. Three more are not halved: the root, the scaled u and the product. Together D is off
///   by less than 6.6 e |D|, and the size by less than 4.6 e |D|.
/// - 2^r is right to 3.7 e, again over every r. Rounding the median and the product adds 2 e; doubling is exact.
///
/// So a size is off by less than (4.6 |D| + 5.7) e of itself. What `doubt` and `leastDoubt` have above it pays for the
/// products of errors, for the margin's own roundings and for those of the draw's definition in double precision.
///
/// The loops are written for the compiler to turn into vectors: no branches, tables, traps or calls.
struct QuickSizes: Sendable {
    /// How many sizes are computed at once. Because it is a constant, the loops have no remainders.
    static let count = 64

    /// D is this times u, times the root of -log2(square) / square.
    private let spread: Double
    private let median: Float
    /// Larger sizes are cut to this: a little above the highest, so that cutting leaves no doubt, and never above 2^22,
    /// a whole number, about which there is always doubt.
    private let ceiling: Float
    let leastDoubt: Float

    static let doubt: Float = 4.75 * 0x1p-24

    /// - Parameter sigma: No size is certain above 5, for the powers of two could leave the range of single precision.
    init(median: Double, sigma: Double, highest: Int) {
        spread = sigma * 1.698643600576038  // The root of 2 / ln 2.
        self.median = Float(median)
        ceiling = min(Float(highest) + 0.25, 0x1p22)
        let possible = median > 0 && highest > 0 && abs(sigma) <= 5
        leastDoubt = possible ? 6 * 0x1p-24 : .infinity
    }

    /// The sizes that belong to points in the unit circle, or 0 where the whole number is in doubt or is 0.
    @inline(__always)
    func approximate(
        _ us: UnsafePointer<Double>, _ squares: UnsafePointer<Double>, into sizes: UnsafeMutablePointer<UInt32>
    ) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * QuickSizes.count) { numbers in
            guard let significands = numbers.baseAddress else { return }
            let divisors = significands + QuickSizes.count
            let deviations = divisors + QuickSizes.count
            // The exponents lie where the sizes will.
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
                // Never below 0; but where the compiler knows it, a root is no call.
                let ratio = -logarithm / divisors[index]
                deviations[index] *= (ratio > 0 ? ratio : 0).squareRoot()
            }
            for index in 0..<QuickSizes.count { sizes[index] = size(deviations[index]) }
        }
    }

    /// A number's exponent, in the upper 12 bits, and its significand, from the root of 1/2 to that of 2, less 1. The
    /// difference is exact before it is rounded, so it is precise also for numbers close to 1.
    @inline(__always)
    private static func parts(_ x: Double) -> (exponent: UInt32, rest: Float) {
        let exponent = (x.bitPattern &- 0x3fe6_a09e_0000_0000) & 0xfff0_0000_0000_0000
        let rest = Double(bitPattern: x.bitPattern &- exponent) - 1
        return (UInt32(truncatingIfNeeded: exponent >> 32), Float(rest))
    }

    /// The logarithm to base 2 of 1 + r, for 1 + r from the root of 1/2 to that of 2: a minimax polynomial.
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
        // Adding these numbers rounds to a whole one, which then stands in the lowest bits; the second is for what is
        // not below 0.
        let (rounder, unsignedRounder): (Float, Float) = (0x1.8p23, 0x1p23)
        let shifted = deviation + rounder
        let scale = Float(bitPattern: shifted.bitPattern << 23 &+ Float(1).bitPattern)
        let product = median * QuickSizes.power(deviation - (shifted - rounder)) * scale
        let size = product < ceiling ? product : ceiling
        let margin = size * (abs(deviation) * QuickSizes.doubt + leastDoubt)
        let rounded = size + unsignedRounder
        let rest = size - (rounded - unsignedRounder)
        // Where it was rounded up, one less.
        let down = Int32(bitPattern: rest.bitPattern) >> 31
        let whole = Int32(bitPattern: rounded.bitPattern &- unsignedRounder.bitPattern) &+ down
        return abs(rest) > margin ? UInt32(bitPattern: whole) : 0
    }
}
