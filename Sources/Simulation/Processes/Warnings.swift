import Quantities
import Reclaim

/// What a process was told about one of its limits since it was last well below it.
struct ToldOfLimit {
    var near = false
    /// Whether the process was told that it is above a soft limit.
    var above = false
}

/// The memory warnings that a process was sent, and what it was told about its own limits.
struct Warnings {
    private(set) var lastAt: Instant?
    /// When a warning to it was lost.
    private(set) var lostAt: Instant?
    /// When the first warning was sent that is still on its way to it.
    private(set) var lateSince: Instant?
    /// Whether the last warning is not yet answered.
    private(set) var isAnswering = false
    /// Whether the warning that the process is answering came from the policy.
    private var isByPolicy = false
    /// What the process was told about its active limit, and about its inactive limit if it has one.
    private var ofActiveLimit = ToldOfLimit()
    private var ofInactiveLimit = ToldOfLimit()

    mutating func expectByPolicy() { isByPolicy = true }

    mutating func warn(at now: Instant) {
        lastAt = now
        isAnswering = true
    }

    mutating func wasLost(at now: Instant) { lostAt = now }

    mutating func isLate(since now: Instant) { lateSince = lateSince ?? now }

    mutating func lateHasArrived() { lateSince = nil }

    /// The warning is answered.
    ///
    /// - Returns: Whether it came from the policy.
    mutating func answer() -> Bool {
        defer { (isAnswering, isByPolicy) = (false, false) }
        return isByPolicy
    }

    // MARK: Limits

    func told(ofInactive isInactive: Bool) -> ToldOfLimit { isInactive ? ofInactiveLimit : ofActiveLimit }

    mutating func tell(_ told: ToldOfLimit, ofInactive isInactive: Bool) {
        if isInactive { ofInactiveLimit = told } else { ofActiveLimit = told }
    }

    /// For each limit that the process is well below, forgets what the process was told about it, even if the limit
    /// does not apply now.
    mutating func forget(_ limits: AppLimits, above footprint: ByteCount) {
        func isFar(_ limit: MemoryLimit?) -> Bool { limit.map { footprint < $0.near } ?? false }
        if isFar(limits.active) { ofActiveLimit = ToldOfLimit() }
        if isFar(limits.inactive) { ofInactiveLimit = ToldOfLimit() }
    }
}
