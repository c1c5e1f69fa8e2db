import Quantities

/// Seeds as people write them: `1..20`, `1,2,5`, `1..5,9`.
public enum Seeds {
    /// More are surely a slip.
    public static let most = 100_000

    public static let expectation = "seeds such as 1..20 or 1,2,5"

    /// The seeds in the order in which they are written.
    ///
    /// - Throws: What is wrong: a number that is none, an upside-down range, a seed that comes twice.
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

    private static func range(_ part: String) throws(ExperimentFault) -> ClosedRange<UInt64> {
        if let seed = number(part) { return seed...seed }
        guard let dots = part.firstRange(of: ".."), let low = number(String(part[..<dots.lowerBound])),
            let high = number(String(part[dots.upperBound...]))
        else { throw ExperimentFault("'\(part)' is no seed; expected \(expectation)") }
        guard low <= high else {
            throw ExperimentFault("the seeds \(part) are upside down; did you mean \(high)..\(low)?")
        }
        return low...high
    }

    /// Digits alone: a sign is no part of a seed.
    private static func number(_ text: String) -> UInt64? { text.isDigits ? UInt64(text) : nil }
}
