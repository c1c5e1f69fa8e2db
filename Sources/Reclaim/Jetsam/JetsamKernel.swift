import Quantities

/// A release of XNU whose jetsam `Jetsam` reproduces, by the first number of its version.
///
/// Sources: bsd/kern/kern_memorystatus.c and kern_memorystatus_policy.c of the tags named at the cases. A device tree
/// may override every threshold (`kern.memstat_critical_mb` and its kind), so a device may differ from its release.
public enum JetsamKernel: String, CaseIterable, Sendable {
    /// iOS 16 (xnu-8792): thresholds by two classes of RAM.
    case xnu8792 = "8792"
    /// iOS 17 (xnu-10063): the classes of 3 and 6 GiB, which came with xnu-10002.
    case xnu10063 = "10063"
    /// iOS 18.0 to 18.3 (xnu-11215): idle processes go in a step of their own.
    case xnu11215 = "11215"
    /// iOS 18.4 (xnu-11417.101.15): the reaper ends those that have been idle for long.
    case xnu11417 = "11417"

    /// The release that a scenario gets when it names none.
    public static let standard = xnu11417

    /// As sources are cited.
    var version: String {
        switch self {
        case .xnu8792, .xnu10063, .xnu11215: "xnu-\(rawValue)"
        case .xnu11417: "xnu-11417.101.15"
        }
    }

    /// Whether the critical threshold is the idle one while a process is in band 0, in place of a step of its own for
    /// idle processes.
    ///
    /// Source: `memorystatus_update_levels_locked` of xnu-8792 and xnu-10063. The function also keeps the critical
    /// threshold at or below the soft one. To it alone it adds the offset that user space asks for (`kPolicyMoreFree`).
    var raisesCritical: Bool {
        switch self {
        case .xnu8792, .xnu10063: true
        case .xnu11215, .xnu11417: false
        }
    }
}
