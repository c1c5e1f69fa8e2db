import Quantities

/// How the values of several settings are combined.
public enum Sampling: Hashable, Sendable {
    /// Every combination of values; the first setting changes slowest.
    case grid
    /// Each setting is drawn independently.
    case independent(count: Int)
    /// A Latin hypercube: each setting's range is cut into `count` parts, and every part is hit exactly once.
    ///
    /// Source: McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables",
    /// Technometrics 21 (1979).
    case latinHypercube(count: Int)

    /// The most combinations; a larger number is surely a mistake.
    public static let most = 1_000_000

    /// - Parameter text: `lhs:40` or `random:40`.
    public init(parsing text: String) throws(ExperimentFault) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[1]), (1...Sampling.most).contains(count) else {
            throw ExperimentFault("--sample \(text): expected lhs:N or random:N, N from 1 to \(Sampling.most)")
        }
        switch parts[0] {
        case "lhs": self = .latinHypercube(count: count)
        case "random": self = .independent(count: count)
        default: throw ExperimentFault("--sample \(text): expected lhs:N or random:N")
        }
    }

    /// The combinations, in order: a row has one value per variation. A repeated combination is left out, because its
    /// runs would be the same runs.
    ///
    /// - Parameter seed: Determines the draws; each setting has a stream of its own, named by its key.
    public func combinations(of variations: [Variation], seed: UInt64) throws(ExperimentFault) -> [[SettingValue]] {
        var known: Set<[SettingValue]> = []
        return try draws(of: variations, seed: seed).filter { known.insert($0).inserted }
    }

    /// How many combinations are drawn, repeated ones included; nil for a grid.
    public var count: Int? {
        switch self {
        case .grid: nil
        case .independent(let count), .latinHypercube(let count): count
        }
    }

    /// The combinations like `combinations(of:seed:)`, repeated ones included.
    public func draws(of variations: [Variation], seed: UInt64) throws(ExperimentFault) -> [[SettingValue]] {
        switch self {
        case .grid: return try Sampling.product(of: variations)
        case .independent(let count):
            return Sampling.rows(
                variations.map { variation in
                    var generator = SeededGenerator(seed: seed, stream: "sample/\(variation.key)")
                    return (0..<count).map { _ in variation.value(at: generator.unit()) }
                })
        case .latinHypercube(let count):
            return Sampling.rows(
                variations.map { variation in
                    var generator = SeededGenerator(seed: seed, stream: "sample/\(variation.key)")
                    let parts = generator.order(of: count)
                    return parts.map { variation.value(at: (Double($0) + generator.unit()) / Double(count)) }
                })
        }
    }

    private static func product(of variations: [Variation]) throws(ExperimentFault) -> [[SettingValue]] {
        var rows: [[SettingValue]] = [[]]
        for variation in variations {
            let values = try variation.gridValues()
            guard rows.count * values.count <= most else {
                throw ExperimentFault("--vary makes more than \(most) combinations; draw some with --sample lhs:N")
            }
            rows = rows.flatMap { row in values.map { row + [$0] } }
        }
        return rows
    }

    /// Turns columns of equal length into rows.
    private static func rows(_ columns: [[SettingValue]]) -> [[SettingValue]] {
        guard let count = columns.first?.count else { return [[]] }
        return (0..<count).map { row in columns.map { $0[row] } }
    }
}
