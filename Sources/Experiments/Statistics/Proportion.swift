/// How many of some runs have a property, and what that says about its probability.
public struct Proportion: Hashable, Sendable {
    /// The runs that have the property, and all runs.
    public let count, total: Int

    /// - Parameter count: From 0 to `total`.
    public init(_ count: Int, of total: Int) {
        precondition(count >= 0 && count <= total, "\(count) of \(total) is no share")
        (self.count, self.total) = (count, total)
    }

    /// The share of the runs; nil without runs.
    public var share: Double? { total > 0 ? Double(count) / Double(total) : nil }

    /// Whether the share is at least `parts` millionths, exactly; false without runs.
    public func isAtLeast(partsPerMillion parts: Int64) -> Bool {
        total > 0 && Int64(count) * 1_000_000 >= parts * Int64(total)
    }

    /// Wilson's score interval of the probability, without a correction for continuity; nil without runs.
    ///
    /// Source: Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the American
    /// Statistical Association 22 (1927); recommended for such numbers of runs by Brown, Cai and DasGupta, "Interval
    /// estimation for a binomial proportion", Statistical Science 16 (2001). Its coverage for one probability and one
    /// number of runs differs from the nominal one, because counts are whole; the tests measure it.
    ///
    /// - Parameter confidence: Between 0 and 1.
    public func wilson(confidence: Double = 0.95) -> Interval? {
        guard total > 0 else { return nil }
        let z = Normal.quantile((1 + confidence) / 2)
        let (n, x) = (Double(total), Double(count))
        let centre = (x + z * z / 2) / (n + z * z)
        let half = z / (n + z * z) * (x * (n - x) / n + z * z / 4).squareRoot()
        // Rounding must not make an end that is 0 or 1 into something else.
        return Interval(
            low: count == 0 ? 0 : max(0, centre - half), high: count == total ? 1 : min(1, centre + half))
    }
}

/// A property in pairs of runs: each pair is one seed, once without and once with a change.
///
/// Source of the interval: Newcombe, "Improved confidence intervals for the difference between binomial proportions
/// based on paired data", Statistics in Medicine 17 (1998), method 10: Wilson's intervals of both shares, and the
/// correlation of the pairs with a correction for continuity.
public struct PairedProportions: Hashable, Sendable {
    /// The pairs by outcome: with the property in both runs, only with the change, only without it, in neither.
    public let both, gained, lost, neither: Int

    /// Counts pairs.
    public init(both: Int, gained: Int, lost: Int, neither: Int) {
        (self.both, self.gained, self.lost, self.neither) = (both, gained, lost, neither)
    }

    /// Counts the pairs in which both runs have an outcome.
    public init(without: [Bool?], with: [Bool?]) {
        var counts = [0, 0, 0, 0]
        for case (let before?, let after?) in zip(without, with) {
            counts[(after ? 0 : 2) + (before ? 0 : 1)] += 1
        }
        // In the order of the tests above: both, gained (only after), lost (only before), neither.
        self.init(both: counts[0], gained: counts[1], lost: counts[2], neither: counts[3])
    }

    /// All pairs.
    public var pairs: Int { both + gained + lost + neither }

    /// The share with the change minus the share without it; nil without pairs.
    public var gain: Double? { pairs > 0 ? Double(gained - lost) / Double(pairs) : nil }

    /// The interval of the gain; nil without pairs.
    public func interval(confidence: Double = 0.95) -> Interval? {
        let (with, without) = (Proportion(both + gained, of: pairs), Proportion(both + lost, of: pairs))
        guard let first = with.share, let second = without.share, let one = with.wilson(confidence: confidence),
            let two = without.wilson(confidence: confidence)
        else { return nil }
        let correlation = correlation
        func reach(_ a: Double, _ b: Double) -> Double {
            max(0, a * a - 2 * correlation * a * b + b * b).squareRoot()
        }
        let gain = first - second
        return Interval(
            low: gain - reach(first - one.low, two.high - second),
            high: gain + reach(second - two.low, one.high - first))
    }

    /// The correlation of the two outcomes within a pair, moved towards zero for continuity.
    private var correlation: Double {
        let (a, b, c, d) = (Double(both), Double(gained), Double(lost), Double(neither))
        let product = (a + b) * (c + d) * (a + c) * (b + d)
        guard product > 0 else { return 0 }
        let cross = a * d - b * c
        return (cross > 0 ? max(0, cross - Double(pairs) / 2) : cross) / product.squareRoot()
    }
}
