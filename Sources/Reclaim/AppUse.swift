import Quantities

/// How the app of a process has been used, and how it comes back.
public struct UseSnapshot: Hashable, Sendable {
    /// How often the app has been launched and used.
    public var counts = AppUse()
    /// The declared time of a return to the foreground, and the time until the pages are back that come with it.
    public var returnCost = TimeSpan.zero
    /// The time from each termination by the system to the next launch, oldest first.
    public var relaunchIntervals: [TimeSpan] = []

    /// That of an app which has not been used.
    public init() {}
}

/// How often an app has been launched and used since the run began, as a system can count it.
public struct AppUse: Hashable, Sendable {
    /// The launches of its processes; a process that the system has only prewarmed is none.
    public private(set) var launches = 0
    /// How often the user has called for it, in memory or not.
    public private(set) var uses = 0
    private var first = Instant.zero
    private var last = Instant.zero

    /// An app that has neither been launched nor used.
    public init() {}

    /// An app with these launches, used at these instants, which rise.
    public init(launches: Int, at instants: [Instant]) {
        self.launches = launches
        for instant in instants { wasUsed(at: instant) }
    }

    /// A process of the app has been launched.
    public mutating func wasLaunched() { launches += 1 }

    /// The user called for the app. A tap that has to wait for the end of an old process is one use.
    public mutating func wasUsed(at now: Instant) {
        guard uses == 0 || now > last else { return }
        if uses == 0 { first = now }
        last = now
        uses += 1
    }

    /// The mean time from one use to the next. Of an app used less than twice nothing shows that it is used more often
    /// than once in the whole run so far: the time since the run began.
    public func gap(at now: Instant) -> TimeSpan {
        guard uses > 1 else { return max(.zero, now - .zero) }
        return TimeSpan(microseconds: (last - first).microseconds / Int64(uses - 1))
    }
}
