/// Whether systemd-oomd may end a process: `ManagedOOMPreference=` of its unit.
///
/// Source: systemd v261, `oomd_sort_cgroup_contexts`. There the setting belongs to a control group.
public enum ManagedOOMPreference: String, CaseIterable, Comparable, Sendable, CustomStringConvertible {
    /// By its use of memory, like every other.
    case none
    /// Only if no process without this setting is a candidate.
    case avoid
    /// Never.
    case omit

    /// By the order in which systemd-oomd takes them.
    public static func < (a: ManagedOOMPreference, b: ManagedOOMPreference) -> Bool { a.rank < b.rank }

    /// The name in scenarios.
    public var description: String { rawValue }

    private var rank: Int {
        switch self {
        case .none: 0
        case .avoid: 1
        case .omit: 2
        }
    }
}
