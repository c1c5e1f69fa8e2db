import Quantities
import Reclaim
import Workload

/// The limits of a process: its own and, where it has none, the default of the device.
struct AppLimits {
    let active: MemoryLimit?
    /// Nil: the active limit applies at all times.
    let inactive: MemoryLimit?

    /// - Parameter standard: The device's default, if it has one. A limit of exactly this size is the default, too.
    init(_ declared: ProcessLimits, standard: MemoryLimit?) {
        func limit(_ bytes: ByteCount, isFatal: Bool) -> MemoryLimit {
            if let standard, standard.bytes == bytes { return standard }
            return MemoryLimit(bytes: bytes, isFatal: isFatal)
        }
        active = declared.active.map { limit($0, isFatal: declared.isActiveFatal) } ?? standard
        inactive = declared.inactive.map { limit($0, isFatal: declared.isInactiveFatal) }
    }
}

// Every process has an active and an inactive limit, of which one applies.
extension LiveProcess {
    /// A process launched for an event counts as working from its launch.
    ///
    /// A daemon has its active limit in every band above 0, as the kernel has it.
    var hasActiveLimit: Bool {
        bands.kind == .daemon
            ? bands.mayBeAboveIdle : isInFront || worksOffScreen || reasons.awaitsEvent
    }

    /// Whether the inactive limit applies now, and not the active one.
    private var hasInactiveLimit: Bool { !hasActiveLimit && record.limits.inactive != nil }

    /// The limit that applies now.
    var presentLimit: MemoryLimit? { hasInactiveLimit ? record.limits.inactive : record.limits.active }

    /// What messages call it: by its key in the scenario, unless it is the device's default.
    var limitName: String {
        if presentLimit?.isStandard == true { return "default" }
        return hasInactiveLimit ? "inactive" : "active"
    }

    /// What the process was told about that limit.
    var toldOfLimit: ToldOfLimit { warnings.told(ofInactive: hasInactiveLimit) }

    func tellOfLimit(_ told: ToldOfLimit) { warnings.tell(told, ofInactive: hasInactiveLimit) }

    /// The limit that an allocation must not cross unnoticed; nil: none, or a soft one that the process was told of.
    var limitToNotice: ByteCount? { toldOfLimit.above ? nil : presentLimit?.bytes }
}
