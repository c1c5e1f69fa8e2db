import Quantities

/// Seeds as people write them: `1..20`, `1,2,5`, `1..5,9`.
public enum Seeds {
    /// The most seeds; a larger number is surely a mistake.
    public static let most = 100_000

    /// What seeds look like, in words that fit after "expected".
    public static let expectation = "seeds such as 1..20 or 1,2,5"

    /// The seeds in the order in which they are written.
    ///
    /// - Throws: A fault for an invalid number, a range whose ends are reversed, or a repeated seed.
    public static func parse(_ text: String) throws(ExperimentFault) -> [UInt64] {
        var seeds: [UInt64] = []
        var known: Set<UInt64> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let range = try range(String(part))
            guard range.upperBound - range.lowerBound < UInt64(most - seeds.count) else {
                throw ExperimentFault("'\(text)' are more than \(most) seeds")
            }
            for seed in range {
                guard known.insert(seed).inserted else {
                    throw ExperimentFault("seed \(seed) comes twice in '\(text)'")
                }
                seeds.append(seed)
            }
        }
        return seeds
    }

    /// The seeds of a comparison that ends within a minute: `1..20`; else the fewest for an interval; else one.
    ///
    /// The comparison is planned for half a minute. The rest is for a machine that is busy by then, and for policies
    /// whose runs take longer.
    ///
    /// - Parameters:
    ///   - runs: The runs per seed.
    ///   - seconds: How long a run takes.
    ///   - atOnce: How many runs are made at a time.
    public static func withinAMinute(runs: Int, seconds: Double, atOnce: Int) -> String {
        let choices = [20, Bootstrap.fewest]
        let count = choices.first { count in
            let rounds = (runs * count + atOnce - 1) / max(1, atOnce)
            return Double(rounds) * seconds <= 30
        }
        return count.map { "1..\($0)" } ?? "1"
    }

    private static func range(_ part: String) throws(ExperimentFault) -> ClosedRange<UInt64> {
        if let seed = number(part) { return seed...seed }
        guard let dots = part.firstRange(of: ".."), let low = number(String(part[..<dots.lowerBound])),
            let high = number(String(part[dots.upperBound...]))
        else { throw ExperimentFault("'\(part)' is not a seed; expected \(expectation)") }
        guard low <= high else {
            throw ExperimentFault("the seeds \(part) are upside down; did you mean \(high)..\(low)?")
        }
        return low...high
    }

    /// Reads digits only: a seed has no sign.
    private static func number(_ text: String) -> UInt64? { text.isDigits ? UInt64(text) : nil }
}
