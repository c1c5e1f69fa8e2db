import Quantities
import Reclaim
import Workload

/// What a process was told about one of its limits since it was last well below it.
struct ToldOfLimit {
    var near = false
    /// A soft one: it holds more.
    var above = false
}

// Every process has an active and an inactive limit; one of them applies.
extension LiveProcess {
    /// Also who is being launched for an event works for it already.
    var hasActiveLimit: Bool { phase.isForeground || worksOffScreen || awaitsEvent }

    /// Whether the inactive limit applies now, and not the active one.
    private var hasInactiveLimit: Bool { !hasActiveLimit && profile.limits.inactive != nil }

    /// The explicit limit that applies now.
    var explicitLimit: MemoryLimit? { hasInactiveLimit ? profile.limits.whileInactive : profile.limits.whileActive }

    /// Its key in the scenario.
    var limitName: String { hasInactiveLimit ? "inactive" : "active" }

    /// What it was told about that limit.
    var toldOfLimit: ToldOfLimit {
        get { hasInactiveLimit ? toldOfInactiveLimit : toldOfActiveLimit }
        set {
            if hasInactiveLimit { toldOfInactiveLimit = newValue } else { toldOfActiveLimit = newValue }
        }
    }

    /// Well below a limit what it was told about that is over, whether the limit applies now or not.
    func forgetLimits(above footprint: ByteCount) {
        func isFar(_ limit: MemoryLimit?) -> Bool { limit.map { footprint < $0.near } ?? false }
        if isFar(profile.limits.whileActive) { toldOfActiveLimit = ToldOfLimit() }
        if isFar(profile.limits.whileInactive) { toldOfInactiveLimit = ToldOfLimit() }
    }

    /// The limit that an allocation must not cross unnoticed; nil: none, or a soft one that it was told of.
    var limitToNotice: ByteCount? { toldOfLimit.above ? nil : explicitLimit?.bytes }
}

extension ProcessLimits {
    fileprivate var whileActive: MemoryLimit? { active.map { MemoryLimit(bytes: $0, isFatal: isActiveFatal) } }
    fileprivate var whileInactive: MemoryLimit? { inactive.map { MemoryLimit(bytes: $0, isFatal: isInactiveFatal) } }
}
