import Quantities

/// What lmkd remembers from one look to the next. The simulation keeps it in the history.
///
/// Source: AOSP lmkd, the static variables of `mp_event_psi` (13:2563-2578) and `polling_params`.
public struct LMKDCourse: Hashable, Sendable {
    /// Why lmkd looks without having been polled.
    enum Event: Hashable {
        /// Some processes waited for longer than `partial_stall`.
        case partial
        /// All processes waited for longer than `complete_stall`.
        case complete
    }

    /// What the kernel does to make room.
    enum Reclaim: Hashable {
        /// Nothing, and no page of a file came back: lmkd does nothing either.
        case none
        /// kswapd scans pages, or pages of files come back.
        case background
        /// A process scans pages itself.
        case direct
    }

    /// A decision to end a process.
    public struct Request: Hashable, Sendable {
        /// When it was taken. The process ended only if the history has a kill of this instant.
        public var at: Instant
        /// Whether the kill lowers the limit of thrashing.
        public var lowersLimit: Bool
    }

    /// When the kernel last reported a partial stall; nil: never.
    public var partialAt: Instant?
    /// When the kernel last reported a complete stall; nil: never.
    public var completeAt: Instant?
    /// When lmkd last looked; nil: never.
    public var lookedAt: Instant?
    /// Since when lmkd polls; nil: it waits for a report.
    public var pollsSince: Instant?
    /// Whether it polls every 10 ms and not every 100 ms.
    public var pollsFast = false
    /// Its last decision to end a process, until the first look after it.
    public var request: Request?
    /// The instant of the last kill after which it has looked.
    public var answered: Instant?
    /// The limit of thrashing in percent, lowered by kills; nil: as configured.
    public var limit: Int?
    /// When the present window of thrashing began; nil: there was none.
    public var windowBegan: Instant?
    /// Whether a low file cache counts, because there was thrashing.
    public var checksFileCache = false
    /// Since when processes have scanned pages themselves without a break; nil: none does.
    public var directSince: Instant?
    /// What had been scanned at the last look.
    public var scans: PageScans?
    /// The measure of thrashing at the last look.
    public var thrashing = Ratio.zero

    /// Nothing remembered.
    public init() {}

    // MARK: Reports

    /// The kernel's reports of stalls. It makes at most one of each kind a second (psi.c, `update_triggers`), and lmkd
    /// gets it even if it does nothing about it. A threshold of zero is none (13:3165, `init_mp_psi`).
    mutating func takeEvent(_ snapshot: SystemSnapshot, partial: TimeSpan, complete: TimeSpan) -> Event? {
        let (now, measures) = (snapshot.now, snapshot.measures)
        func isDue(_ last: Instant?) -> Bool { last.map { now - $0 >= LMKDCourse.second } ?? true }
        let isPartial = partial > .zero && measures.someLost >= partial && isDue(partialAt)
        let isComplete = complete > .zero && measures.fullLost >= complete && isDue(completeAt)
        if isPartial { partialAt = now }
        if isComplete { completeAt = now }
        return isComplete ? .complete : isPartial ? .partial : nil
    }

    private static let second = TimeSpan.seconds(1)

    // MARK: Looks

    /// The last kill, if lmkd has not looked since. Kills for the scenario's limits are none of lmkd's.
    func unanswered(_ history: ReclaimHistory, at now: Instant) -> ReclaimHistory.Kill? {
        guard let last = history.kills.last, last.at != answered else { return nil }
        if let request { return request.at == last.at ? last : nil }
        // The history of a snapshot without a course.
        return lookedAt == nil && now - last.at <= LMKDCourse.second ? last : nil
    }

    /// Notes the first look after a kill. Only now does a kill for thrashing lower the limit, which changes nothing:
    /// lmkd has not looked since (13:2842-2847).
    mutating func answer(_ kill: ReclaimHistory.Kill, decay: Int, configured: Int) {
        answered = kill.at
        if request?.lowersLimit == true { limit = (limit ?? configured) * (100 - decay) / 100 }
        request = nil
    }

    /// Whether it is time for the next poll. Times are those of a clock that ticks every 4 ms (a kernel with 250 ticks
    /// a second, as Android's common kernel has).
    ///
    /// - Parameter window: For how long it polls. The first look after that is the last one.
    func isPolling(at now: Instant, for window: TimeSpan) -> Bool {
        guard let since = pollsSince, let last = lookedAt, now - since <= window + interval else { return false }
        return now - last >= interval - .milliseconds(4)
    }

    /// `PSI_POLL_PERIOD_SHORT_MS` and `PSI_POLL_PERIOD_LONG_MS` (13:135-140).
    private var interval: TimeSpan { pollsFast ? .milliseconds(10) : .milliseconds(100) }

    /// Notes that a look is over (13:2857-2876).
    ///
    /// - Parameter begins: Whether polling begins anew: after a report or a kill, and while processes scan pages
    ///   themselves.
    mutating func endLook(at now: Instant, begins: Bool, isFast: Bool, window: TimeSpan) {
        lookedAt = now
        pollsFast = isFast
        if begins {
            pollsSince = now
        } else if let since = pollsSince, now - since > window {
            pollsSince = nil
        }
    }

    // MARK: What the kernel does

    /// Follows for how long processes have scanned pages themselves.
    mutating func followDirectReclaim(_ snapshot: SystemSnapshot) {
        directSince = snapshot.measures.directReclaim ? directSince ?? snapshot.now : nil
    }

    /// What the kernel has done since the last look or, if `hears`, what it does now. Below the low watermark kswapd
    /// works. Without counts of pages, something is taken to have been scanned.
    mutating func takeReclaim(_ measures: SystemMeasures, isBelowLow: Bool, hears: Bool) -> Reclaim {
        defer { (scans, thrashing) = (measures.scans, measures.thrashing) }
        if measures.directReclaim { return .direct }
        guard let now = measures.scans else { return .background }
        let before = scans ?? PageScans()
        if !hears && now.direct != before.direct { return .direct }
        if isBelowLow || (hears ? now.isKswapdAwake : now.kswapd != before.kswapd) { return .background }
        return now.refaults == before.refaults && measures.thrashing <= thrashing ? .none : .background
    }

    // MARK: Thrashing

    /// The limit of thrashing in percent, which kills lower. It is as configured again a second after the last kill.
    ///
    /// - Parameter beginsAnew: Whether this is the first look after a kill.
    mutating func limit(at now: Instant, beginsAnew: Bool, configured: Int) -> Int {
        if beginsAnew { windowBegan = now }
        if windowBegan.map({ now - $0 > LMKDCourse.second }) ?? true { (windowBegan, limit) = (now, nil) }
        return limit ?? configured
    }
}

/// Counts of pages that the kernel has scanned since the run began. Only their changes matter.
public struct PageScans: Hashable, Sendable {
    /// How often a process began to scan pages itself (direct reclaim).
    public var direct = 0
    /// How often kswapd took pages.
    public var kswapd = 0
    /// Pages of files that were read again after they had been dropped.
    public var refaults = 0
    /// Whether kswapd works at the moment.
    public var isKswapdAwake = false

    /// Nothing scanned.
    public init() {}
}
