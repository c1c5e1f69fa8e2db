import Glibc

/// Student's t distribution with a whole number of degrees of freedom.
///
/// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 26.7.3 and 26.7.4: the sums are finite,
/// so the distribution is exact up to rounding.
public enum Student {
    /// The chance that a value lies between -t and t.
    ///
    /// - Parameter freedom: The degrees of freedom; at least 1.
    public static func within(_ t: Double, freedom: Int) -> Double {
        precondition(freedom >= 1, "\(freedom) degrees of freedom")
        let angle = atan(abs(t) / Double(freedom).squareRoot())
        let square = cos(angle) * cos(angle)
        let isOdd = !freedom.isMultiple(of: 2)
        // The terms rise by two powers of the cosine; each factor is (n - 1) / n for every second n.
        var (sum, term) = (0.0, isOdd ? cos(angle) : 1.0)
        for power in stride(from: isOdd ? 1 : 0, to: freedom - 1, by: 2) {
            sum += term
            term *= square * Double(power + 1) / Double(power + 2)
        }
        return isOdd ? 2 / Double.pi * (angle + sin(angle) * sum) : sin(angle) * sum
    }

    /// The t that a share of the values does not exceed, for shares from 0.5 to below 1.
    public static func quantile(_ share: Double, freedom: Int) -> Double {
        precondition(share >= 0.5 && share < 1, "a share of \(share)")
        var (low, high) = (0.0, 1.0)
        while within(high, freedom: freedom) < 2 * share - 1 { (low, high) = (high, high * 2) }
        // Each step halves the gap; after 60 of them nothing is left of it.
        for _ in 0..<60 {
            let middle = (low + high) / 2
            if within(middle, freedom: freedom) < 2 * share - 1 { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }
}

extension Interval {
    /// The interval of the mean of means where the strata are themselves a sample of many, for example scenarios.
    ///
    /// Each stratum's mean is one value, and the interval is Student's of these means. Their spread contains both that
    /// between the strata and that within them. If the means happen to be alike, the interval is that of the values
    /// within the strata, which is the least there can be.
    ///
    /// - Parameters:
    ///   - strata: At least two, each with at least one value.
    ///   - confidence: Above 0 and below 1.
    static func ofMean(ofSampled strata: [[Double]], confidence: Double) -> Interval {
        precondition(strata.count > 1, "one stratum says nothing about others")
        let count = Double(strata.count)
        let mean = Bootstrap.mean(of: strata)
        let share = (1 + confidence) / 2
        let between = Interval.variance(strata.map { Bootstrap.mean(of: $0) }) / count
        var half = Student.quantile(share, freedom: strata.count - 1) * between.squareRoot()
        let spread = strata.filter { $0.count > 1 }
        if !spread.isEmpty {
            let within = spread.reduce(0) { $0 + Interval.variance($1) / Double($1.count) } / (count * count)
            let freedom = spread.reduce(0) { $0 + $1.count - 1 }
            half = max(half, Student.quantile(share, freedom: freedom) * within.squareRoot())
        }
        return Interval(low: mean - half, high: mean + half)
    }

    /// The variance that a sample shows of what it is drawn from.
    private static func variance(_ values: [Double]) -> Double {
        let mean = Bootstrap.mean(of: values)
        return values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count - 1)
    }
}
