import Pressure
import Quantities

/// A release of XNU whose jetsam `Jetsam` reproduces, named by the first number of its version.
///
/// Sources: bsd/kern/kern_memorystatus.c and kern_memorystatus_policy.c of the tags named at the cases. A device tree
/// may override every threshold (`kern.memstat_critical_mb` and the like), so a device may differ from its release.
public enum JetsamKernel: String, CaseIterable, Sendable {
    /// iOS 16 (xnu-8792): thresholds by two classes of RAM.
    case xnu8792 = "8792"
    /// iOS 17 (xnu-10063): classes of 3 and 6 GiB, which came with xnu-10002.
    case xnu10063 = "10063"
    /// iOS 18.0 to 18.3 (xnu-11215): a separate step ends idle processes. It is there from iOS 18.2 on
    /// (xnu-11215.61.5); xnu-11215.41.3 raises the critical threshold as xnu-10063 does. Plimsoll has the step.
    case xnu11215 = "11215"
    /// iOS 18.4 (xnu-11417.101.15): the reaper ends processes that have been idle for long.
    case xnu11417 = "11417"

    /// The release that a scenario gets if it names none.
    public static let standard = xnu11417

    /// The version as sources cite it.
    var version: String {
        switch self {
        case .xnu8792, .xnu10063, .xnu11215: "xnu-\(rawValue)"
        case .xnu11417: "xnu-11417.101.15"
        }
    }

    /// Whether the critical threshold rises to the idle one while a process is in band 0. A release that does not raise
    /// it has a separate step for idle processes.
    ///
    /// Source: `memorystatus_update_levels_locked` of xnu-8792 and xnu-10063. The function also keeps the critical
    /// threshold at or below the soft one. It adds the offset that user space asks for (`kPolicyMoreFree`) only to the
    /// critical threshold.
    var raisesCritical: Bool {
        switch self {
        case .xnu8792, .xnu10063: true
        case .xnu11215, .xnu11417: false
        }
    }

    /// The highest band that each round of the aggressive mode reaches; further rounds reach the last one. In the older
    /// releases the fourth round reaches less than those before it.
    ///
    /// Source: `jld_max_priority_arr` of xnu-11417.101.15 and xnu-11215.1.10. Before that,
    /// `memorystatus_jld_eval_aggressive_priority_band_max` stayed 15 when the bands got today's numbers.
    var roundBands: [JetsamBand] {
        switch self {
        case .xnu8792, .xnu10063: [80, 80, 80, 15].map(JetsamBand.init)
        case .xnu11215, .xnu11417: [40, 40, 80, 80, 150].map(JetsamBand.init)
        }
    }
}
