import Quantities

/// Computes the jetsam band of one process from its requested priority, ageing, assertions and dirty tracking, and
/// tells which of its two limits applies.
///
/// An app that becomes idle stays in band 20 for 2 s, then falls to 0. A daemon that tracks its dirty state ages in
/// band 10 while it is clean; a daemon whose assertion is stuck ages in band 15. An assertion lifts the priority while
/// it is held; when it is relinquished, the band below it applies again. Source: xnu-11417.101.15 (rows A10 to A15 of
/// jetsam's behaviours in Policies.md). The machine has no clock: the caller passes the time.
///
/// A daemon of a run tracks its dirty state from its start.
public struct BandMachine: Hashable, Sendable {
    /// What the process is: apps and daemons age in different bands.
    public enum Kind: String, CaseIterable, Sendable {
        case app
        case daemon
    }

    /// A request that the kernel answers with "invalid argument".
    public enum Refusal: Error, Hashable, Sendable {
        case notTracked
        case negativeBand
    }

    /// How long an app ages in band 20.
    public static let appAgeing = TimeSpan.seconds(2)
    /// How long a clean daemon ages in band 10.
    public static let daemonAgeing = TimeSpan.seconds(10)
    /// How long a daemon whose assertion was stuck ages in band 15.
    public static let stuckTime = TimeSpan.seconds(30)

    /// Whether the process is an app or a daemon.
    public let kind: Kind
    /// Whether the process may enter bands 1 to 9; without the entitlement it is put into band 0 instead.
    public let isEntitled: Bool
    /// The band last requested, before ageing and assertions.
    public private(set) var requested: JetsamBand
    /// The band that the held assertion lifts the process to; nil without an assertion.
    public private(set) var assertion: JetsamBand?
    /// Whether the daemon reports its dirty state.
    public private(set) var isTracked = false
    /// Whether a tracked daemon is dirty: it then has the requested band.
    public private(set) var isDirty = false
    private var ageing: Ageing?
    /// When the process was last put at the tail of a band.
    public private(set) var positionedAt: Instant

    private struct Ageing: Hashable, Sendable {
        var band: JetsamBand
        var until: Instant
        /// The ageing that follows when this one is over.
        var next: JetsamBand?
    }

    /// A process that enters `band` at `now`, without ageing and without an assertion.
    public init(_ kind: Kind, band: JetsamBand, isEntitled: Bool = false, at now: Instant) {
        self.kind = kind
        self.isEntitled = isEntitled
        requested = BandMachine.permitted(band, isEntitled)
        positionedAt = now
    }

    private static func permitted(_ band: JetsamBand, _ isEntitled: Bool) -> JetsamBand {
        (1...9).contains(band.number) && !isEntitled ? .idle : band
    }

    /// The band that the process gets when it asks for one: without the entitlement, bands 1 to 9 are band 0.
    public func permitted(_ band: JetsamBand) -> JetsamBand { BandMachine.permitted(band, isEntitled) }

    // MARK: Questions

    /// The band at `now`.
    public func band(at now: Instant) -> JetsamBand { max(assertion ?? .idle, natural(at: now)) }

    /// The band without the assertion.
    private func natural(at now: Instant) -> JetsamBand {
        if isTracked && isDirty { return requested }
        if let ageing, now < ageing.until { return ageing.band }
        if let next = ageing?.next, let until = ageing?.until, now - until < BandMachine.stuckTime { return next }
        return isTracked ? .idle : requested
    }

    /// Whether the band stays as it is until the process or the system changes it; that is, whether no ageing is under
    /// way.
    public func isSettled(at now: Instant) -> Bool { nextChange(after: now) == nil }

    /// When the current ageing ends and the band may change by itself; nil when the process is not ageing.
    public func nextChange(after now: Instant) -> Instant? {
        guard let ageing else { return nil }
        if now < ageing.until { return ageing.until }
        guard ageing.next != nil, now < ageing.until + BandMachine.stuckTime else { return nil }
        return ageing.until + BandMachine.stuckTime
    }

    /// When the process took its place in its band. The process with the earliest time is the band's head.
    public func position(at now: Instant) -> Instant {
        guard let ageing, ageing.until <= now else { return positionedAt }
        return max(positionedAt, ageing.until)
    }

    /// Whether the kernel applies the process's active limit: in every band above 0. In a run, the app's reasons to
    /// run decide this instead.
    public func hasActiveLimit(at now: Instant) -> Bool { band(at: now) > .idle }

    /// Whether the band was above 0 at the last change; an ageing counts until `settle` ends it.
    public var mayBeAboveIdle: Bool {
        assertion != nil || ageing != nil || (isTracked ? isDirty : requested > .idle)
    }

    // MARK: Changes

    /// Forgets an ageing that is over. It changes no answer about `now` or later, but for `mayBeAboveIdle`.
    public mutating func settle(at now: Instant) {
        guard ageing != nil, isSettled(at: now) else { return }
        positionedAt = position(at: now)
        ageing = nil
    }

    /// Puts the process at the tail of a band. An app that becomes idle ages first.
    public mutating func set(_ band: JetsamBand, at now: Instant) {
        let wasIdle = self.band(at: now) == .idle || ageing.map { now < $0.until } == true
        requested = BandMachine.permitted(band, isEntitled)
        positionedAt = now
        if requested > .idle { ageing = nil }
        guard kind == .app, requested == .idle, !wasIdle else { return }
        ageing = Ageing(band: .ageing, until: now + BandMachine.appAgeing)
    }

    /// The daemon starts to report its dirty state. It is clean at first, so it ages.
    public mutating func track(at now: Instant) {
        isTracked = true
        age(at: now)
    }

    /// The daemon reports its dirty state; throws `notTracked` before `track`.
    public mutating func setDirty(_ dirty: Bool, at now: Instant) throws(Refusal) {
        guard isTracked else { throw .notTracked }
        guard dirty != isDirty else { return }
        isDirty = dirty
        positionedAt = now
        if dirty { ageing = nil } else { age(at: now) }
    }

    private mutating func age(at now: Instant) {
        guard !isDirty else { return }
        ageing = Ageing(band: .daemonAgeing, until: now + BandMachine.daemonAgeing)
        positionedAt = now
    }

    /// Takes an assertion or replaces the held one; the same band again changes nothing. Throws `negativeBand`.
    public mutating func assert(_ band: JetsamBand, at now: Instant) throws(Refusal) {
        guard band >= .idle else { throw .negativeBand }
        guard assertion != band else { return }
        assertion = band
        positionedAt = now
    }

    /// Relinquishes the assertion, if one is held. An app becomes idle by it, so it ages.
    public mutating func relinquish(at now: Instant) {
        guard assertion != nil else { return }
        if kind == .app && !isTracked { set(.idle, at: now) }
        assertion = nil
        positionedAt = now
        if isTracked { age(at: now) }
    }

    /// The process kept its assertion too long. It loses the assertion and ages in band 10, then in band 15.
    public mutating func assertionIsStuck(at now: Instant) {
        guard assertion != nil else { return }
        assertion = nil
        age(at: now)
        ageing?.next = .daemonStuck
    }
}
