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
    public func mayCover(_ other: SettingKey) -> Bool { SettingKey.mayCover(steps[...], other.steps[...]) }

    private static func mayCover(_ own: ArraySlice<Substring>, _ other: ArraySlice<Substring>) -> Bool {
        guard let first = own.first else { return true }
        guard let second = other.first else { return false }
        if first == second { return mayCover(own.dropFirst(), other.dropFirst()) }
        guard first.isDigits != second.isDigits else { return false }
        // A name may hold dots; something stands behind it, unless it is a single step.
        let lengths = 1..<max(2, first.isDigits ? other.count : own.count)
        return lengths.contains { length in
            mayCover(own.dropFirst(first.isDigits ? 1 : length), other.dropFirst(first.isDigits ? length : 1))
        }
    }
}
