import Quantities
import Reclaim
import Workload

/// What a process was told about one of its limits since it was last well below it.
struct ToldOfLimit {
    var near = false
    /// A soft one: it holds more.
    var above = false
}

/// The memory warnings that a process was sent, and what it was told about its own limits.
struct Warnings {
    private(set) var lastAt: Instant?
    /// The last one is not yet answered.
    private(set) var isAnswering = false
    /// The warning that it answers is the policy's.
    private var isByPolicy = false
    /// What it was told about its active limit, and about its inactive one where it has one of its own.
    private var ofActiveLimit = ToldOfLimit()
    private var ofInactiveLimit = ToldOfLimit()

    mutating func expectByPolicy() { isByPolicy = true }

    mutating func warn(at now: Instant) {
        lastAt = now
        isAnswering = true
    }

    /// The warning is answered.
    ///
    /// - Returns: Whether it was the policy's.
    mutating func answer() -> Bool {
        defer { (isAnswering, isByPolicy) = (false, false) }
        return isByPolicy
    }

    // MARK: Limits

    func told(ofInactive isInactive: Bool) -> ToldOfLimit { isInactive ? ofInactiveLimit : ofActiveLimit }

    mutating func tell(_ told: ToldOfLimit, ofInactive isInactive: Bool) {
        if isInactive { ofInactiveLimit = told } else { ofActiveLimit = told }
    }

    /// Well below a limit what the process was told about that is over, whether the limit applies now or not.
    mutating func forget(_ limits: ProcessLimits, above footprint: ByteCount) {
        func isFar(_ limit: MemoryLimit?) -> Bool { limit.map { footprint < $0.near } ?? false }
        if isFar(limits.whileActive) { ofActiveLimit = ToldOfLimit() }
        if isFar(limits.whileInactive) { ofInactiveLimit = ToldOfLimit() }
    }
}

extension ProcessLimits {
    var whileActive: MemoryLimit? { active.map { MemoryLimit(bytes: $0, isFatal: isActiveFatal) } }
    var whileInactive: MemoryLimit? { inactive.map { MemoryLimit(bytes: $0, isFatal: isInactiveFatal) } }
}
