import Quantities

/// What a process was told about one of its limits since it was last well below it.
struct ToldOfLimit {
    var near = false
    /// A soft one: it holds more.
    var above = false
}

// Every process has an active and an inactive limit; one of them applies.
extension LiveProcess {
    var hasActiveLimit: Bool { phase.isForeground || (phase == .background && hasKeepAliveModes) }

    /// The explicit limit that applies now.
    var explicitLimit: ByteCount? {
        let limits = profile.limits
        return hasActiveLimit ? limits.active : limits.inactive ?? limits.active
    }

    /// What it was told about that limit.
    var toldOfLimit: ToldOfLimit {
        get { hasActiveLimit || profile.limits.inactive == nil ? toldOfActiveLimit : toldOfInactiveLimit }
        set {
            if hasActiveLimit || profile.limits.inactive == nil {
                toldOfActiveLimit = newValue
            } else {
                toldOfInactiveLimit = newValue
            }
        }
    }

    /// The limit that an allocation must not cross unnoticed; nil: none, or a soft one that it was told of.
    var limitToNotice: ByteCount? { toldOfLimit.above ? nil : explicitLimit }
}
