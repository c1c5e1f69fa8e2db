import Quantities
import Reclaim
import Workload

// Every process has an active and an inactive limit, of which one applies.
extension LiveProcess {
    /// A process launched for an event counts as working from its launch.
    ///
    /// A daemon has its active limit in every band above 0, as the kernel has it.
    var hasActiveLimit: Bool {
        bands.kind == .daemon
            ? bands.mayBeAboveIdle : phase.isForeground || worksOffScreen || reasons.awaitsEvent
    }

    /// Whether the inactive limit applies now, and not the active one.
    private var hasInactiveLimit: Bool { !hasActiveLimit && profile.limits.inactive != nil }

    /// The explicit limit that applies now.
    var explicitLimit: MemoryLimit? { hasInactiveLimit ? profile.limits.whileInactive : profile.limits.whileActive }

    /// Its key in the scenario.
    var limitName: String { hasInactiveLimit ? "inactive" : "active" }

    /// What the process was told about that limit.
    var toldOfLimit: ToldOfLimit { warnings.told(ofInactive: hasInactiveLimit) }

    func tellOfLimit(_ told: ToldOfLimit) { warnings.tell(told, ofInactive: hasInactiveLimit) }

    /// The limit that an allocation must not cross unnoticed; nil: none, or a soft one that the process was told of.
    var limitToNotice: ByteCount? { toldOfLimit.above ? nil : explicitLimit?.bytes }
}
