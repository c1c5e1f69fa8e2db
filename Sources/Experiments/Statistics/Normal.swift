import Glibc

/// The standard normal distribution.
public enum Normal {
    /// The share of the distribution below `x`.
    public static func cumulative(_ x: Double) -> Double { 0.5 * erfc(-x / 2.0.squareRoot()) }

    /// The value with this share of the distribution below it.
    ///
    /// Source: Wichura, "Algorithm AS 241: The percentage points of the normal distribution", Applied Statistics 37
    /// (1988), PPND7, precise to about seven digits; one step of Halley's method then gives full precision.
    ///
    /// - Parameter share: Between 0 and 1, both excluded.
    public static func quantile(_ share: Double) -> Double {
        precondition(share > 0 && share < 1, "a share of \(share) has no quantile")
        let x = approximateQuantile(share)
        // Halley: the error of the share, divided by the density.
        let error = (cumulative(x) - share) * (2 * Double.pi).squareRoot() * exp(x * x / 2)
        return x - error / (1 + x * error / 2)
    }

    private static func approximateQuantile(_ share: Double) -> Double {
        let q = share - 0.5
        if abs(q) <= 0.425 {
            let r = 0.180625 - q * q
            return q * polynomial(r, [3.3871327179, 50.434271938, 159.29113202, 59.109374720])
                / polynomial(r, [1, 17.895169469, 78.757757664, 67.187563600])
        }
        let tail = (-log(min(share, 1 - share))).squareRoot()
        let value =
            tail <= 5
            ? polynomial(tail - 1.6, [1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103])
                / polynomial(tail - 1.6, [1, 0.73700164250, 0.12021132975])
            : polynomial(tail - 5, [6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997])
                / polynomial(tail - 5, [1, 0.24197894225, 0.012258202635])
        return q < 0 ? -value : value
    }

    /// Coefficients by rising power.
    private static func polynomial(_ x: Double, _ coefficients: [Double]) -> Double {
        coefficients.reversed().reduce(0) { $0 * x + $1 }
    }
}
