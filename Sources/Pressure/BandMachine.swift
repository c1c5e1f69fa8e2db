import Quantities

/// Where a process stands in jetsam's bands, and which of its two limits applies: requested priority, ageing,
/// assertions and dirty tracking.
///
/// An app that becomes idle stays in band 20 for 2 s, then falls to 0. A daemon that tracks its dirty state ages in
/// band 10 while it is clean, one whose assertion is stuck in band 15. An assertion lifts the priority for as long as
/// it is held; what lies below it comes back when it is given up. Source: xnu-11417.101.15 (rows A10 to A15 of the
/// table of behaviours). The machine knows no clock: whoever asks says what time it is.
///
/// Runs have apps alone: what is about daemons, entitlements and lifting assertions is there for the kernel's table,
/// and only tests use it.
public struct BandMachine: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case app
        case daemon
    }

    /// A request that the kernel answers with "invalid argument".
    public enum Refusal: Error, Hashable, Sendable {
        case notTracked
        case negativeBand
    }

    /// How long an app ages in band 20, a daemon in band 10, and a stuck one in band 15.
    public static let appAgeing = TimeSpan.seconds(2)
    public static let daemonAgeing = TimeSpan.seconds(10)
    public static let stuckTime = TimeSpan.seconds(30)

    public let kind: Kind
    /// Bands 1 to 9 are for those who are entitled to them.
    public let isEntitled: Bool
    public private(set) var requested: JetsamBand
    public private(set) var assertion: JetsamBand?
    public private(set) var isTracked = false
    public private(set) var isDirty = false
    private var ageing: Ageing?
    /// When the process was last put into a band: it went to the band's tail then.
    public private(set) var positionedAt: Instant

    private struct Ageing: Hashable, Sendable {
        var band: JetsamBand
        var until: Instant
        /// The ageing that follows when this one is over.
        var next: JetsamBand?
    }

    public init(_ kind: Kind, band: JetsamBand, isEntitled: Bool = false, at now: Instant) {
        self.kind = kind
        self.isEntitled = isEntitled
        requested = BandMachine.permitted(band, isEntitled)
        positionedAt = now
    }

    private static func permitted(_ band: JetsamBand, _ isEntitled: Bool) -> JetsamBand {
        (1...9).contains(band.number) && !isEntitled ? .idle : band
    }

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

    /// Whether time alone will not change the band any more.
    public func isSettled(at now: Instant) -> Bool { nextChange(after: now) == nil }

    /// When the ageing that is under way ends, and the band may change by itself; nil when there is none.
    public func nextChange(after now: Instant) -> Instant? {
        guard let ageing else { return nil }
        if now < ageing.until { return ageing.until }
        guard ageing.next != nil, now < ageing.until + BandMachine.stuckTime else { return nil }
        return ageing.until + BandMachine.stuckTime
    }

    /// When it came to its place in its band: the least recent is the band's head.
    public func position(at now: Instant) -> Instant {
        guard let ageing, ageing.until <= now else { return positionedAt }
        return max(positionedAt, ageing.until)
    }

    /// Whether the kernel applies the active one of its limits: in every band above 0. Of an app of a run that is
    /// decided by what it runs for, not by its band.
    public func hasActiveLimit(at now: Instant) -> Bool { band(at: now) > .idle }

    // MARK: Changes

    /// Puts the process into a band, at its tail. An app that comes to idle ages first, unless it was there already.
    public mutating func set(_ band: JetsamBand, at now: Instant) {
        let wasIdle = self.band(at: now) == .idle || ageing.map { now < $0.until } == true
        requested = BandMachine.permitted(band, isEntitled)
        positionedAt = now
        if requested > .idle { ageing = nil }
        guard kind == .app, requested == .idle, !wasIdle else { return }
        ageing = Ageing(band: .ageing, until: now + BandMachine.appAgeing)
    }

    /// A daemon says that it will report whether it is dirty; clean for now, it ages.
    public mutating func track(at now: Instant) {
        isTracked = true
        age(at: now)
    }

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

    /// Takes an assertion, or changes the one that is held; the same one again changes nothing.
    public mutating func assert(_ band: JetsamBand, at now: Instant) throws(Refusal) {
        guard band >= .idle else { throw .negativeBand }
        guard assertion != band else { return }
        assertion = band
        positionedAt = now
    }

    /// Gives the assertion up; without one nothing happens.
    public mutating func relinquish(at now: Instant) {
        guard assertion != nil else { return }
        assertion = nil
        positionedAt = now
        if isTracked { age(at: now) }
    }

    /// The assertion was not given back in time: it is taken, and the process ages in 10, then in the stuck band.
    public mutating func assertionIsStuck(at now: Instant) {
        guard assertion != nil else { return }
        assertion = nil
        age(at: now)
        ageing?.next = .daemonStuck
    }
}
