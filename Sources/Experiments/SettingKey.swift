import Quantities

/// The dotted key of a setting, as in `--set`, and the keys that it covers.
public struct SettingKey: Hashable, Sendable {
    private let steps: [Substring]

    /// A policy and its name are one setting: naming a policy also sets its defaults.
    static let policy = SettingKey("policy")

    /// The end of a message about two keys, of which one `mayCover` the other.
    public static let numberAndName =
        "may set the same value: one names a list's element by its number, the other by its name; "
        + "use the same form in both"

    /// Splits the key at its dots; `policy.name` becomes `policy`.
    public init(_ key: String) {
        steps = key == "policy.name" ? ["policy"] : key.split(separator: ".", omittingEmptySubsequences: false)
    }

    /// Whether this key equals the other or contains it.
    public func covers(_ other: SettingKey) -> Bool { other.steps.starts(with: steps) }

    /// Whether this key may cover the other. One key may name an element of a list by number and the other by name.
    /// Only a scenario knows which name has which number, so the two are taken for the same element.
    ///
    /// - Complexity: O(*n*³) in the steps. A key of more than 64 steps fits no scenario and covers nothing.
    public func mayCover(_ other: SettingKey) -> Bool {
        let (own, theirs) = (steps, other.steps)
        guard max(own.count, theirs.count) <= 64 else { return false }
        // same[i][j]: whether the first i steps of this key and the first j steps of the other may mean the same.
        let row = [Bool](repeating: false, count: theirs.count + 1)
        var same = [[Bool]](repeating: row, count: own.count + 1)
        same[0][0] = true
        for (i, first) in own.enumerated() {
            for (j, second) in theirs.enumerated() where same[i][j] {
                if first == second {
                    same[i + 1][j + 1] = true
                } else if first.isDigits != second.isDigits {
                    // A name may contain dots, so it may span several steps; at least one step follows such a name.
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
