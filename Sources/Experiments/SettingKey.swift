import Quantities

/// The dotted key of a setting, as in `--set`, and which others it takes in.
public struct SettingKey: Hashable, Sendable {
    private let steps: [Substring]

    /// A policy and its name are one setting: a policy that is named comes with its own defaults.
    static let policy = SettingKey("policy")

    /// Ends a message about two keys of which one `mayCover` the other.
    public static let numberAndName =
        "may set the same: an element of a list goes by its number in one and by its name in the other; "
        + "call it the same in both"

    public init(_ key: String) {
        steps = key == "policy.name" ? ["policy"] : key.split(separator: ".", omittingEmptySubsequences: false)
    }

    /// Whether it is the other one, or the other one lies within it.
    public func covers(_ other: SettingKey) -> Bool { other.steps.starts(with: steps) }

    /// Whether it covers the other one if a number here and a name there mean the same element of a list. Only a
    /// scenario knows which name has which number.
    ///
    /// - Complexity: O(*n*³) in the steps; keys of more than 64 are beyond any scenario, and mean nothing.
    public func mayCover(_ other: SettingKey) -> Bool {
        let (own, theirs) = (steps, other.steps)
        guard max(own.count, theirs.count) <= 64 else { return false }
        // Which beginnings of the two mean the same, by their lengths.
        let row = [Bool](repeating: false, count: theirs.count + 1)
        var same = [[Bool]](repeating: row, count: own.count + 1)
        same[0][0] = true
        for (i, first) in own.enumerated() {
            for (j, second) in theirs.enumerated() where same[i][j] {
                if first == second {
                    same[i + 1][j + 1] = true
                } else if first.isDigits != second.isDigits {
                    // A name may hold dots; something stands behind it, unless it is a single step.
                    let left = first.isDigits ? theirs.count - j : own.count - i
                    for length in 1..<max(2, left) {
                        same[i + (first.isDigits ? 1 : length)][j + (first.isDigits ? length : 1)] = true
                    }
                }
            }
        }
        return same[own.count].contains(true)
    }
}
