import Quantities

/// The share of time lost to waiting for memory, averaged over 10, 60 and 300 s.
public struct StallAverages: Hashable, Sendable {
    /// Averaged over 10 s.
    public var avg10: Ratio = .zero
    /// Averaged over 60 s.
    public var avg60: Ratio = .zero
    /// Averaged over 300 s.
    public var avg300: Ratio = .zero

    /// Averages that are zero unless given.
    public init(avg10: Ratio = .zero, avg60: Ratio = .zero, avg300: Ratio = .zero) {
        self.avg10 = avg10
        self.avg60 = avg60
        self.avg300 = avg300
    }
}

/// Pressure stall information: *some* is the time in which at least one process waits for memory, *full* the time in
/// which every process that could run waits.
///
/// The meter keeps exponential averages in integers, updated every 2 s as in the Linux kernel. It also keeps the time
/// lost within a sliding second, for triggers. It has no clock: the caller of `advance` says how the time since the
/// last call was spent.
public struct StallMeter: Hashable, Sendable {
    /// How often the averages are updated, as in the kernel.
    public static let period = TimeSpan.seconds(2)
    /// The length of a trigger's sliding window.
    public static let window = TimeSpan.seconds(1)

    /// One update of the averages.
    public struct Update: Hashable, Sendable {
        /// When the averages were updated.
        public var at: Instant
        /// The averages of *some*.
        public var some: StallAverages
        /// The averages of *full*.
        public var full: StallAverages

        /// The averages of both kinds at one instant.
        public init(at: Instant, some: StallAverages, full: StallAverages) {
            self.at = at
            self.some = some
            self.full = full
        }
    }

    /// The current averages of *some*.
    public private(set) var some = StallAverages()
    /// The current averages of *full*.
    public private(set) var full = StallAverages()
    /// The time so far in which at least one process waited.
    public private(set) var someTotal: TimeSpan = .zero
    /// The time so far in which every process that could run waited.
    public private(set) var fullTotal: TimeSpan = .zero
    /// The latest updates, oldest first; at most `remembered`.
    public var updates: ArraySlice<Update> { history.suffix(StallMeter.remembered) }
    /// Holds up to twice `remembered` updates, then drops the older half at once. Dropping single updates would move
    /// all the others each time.
    private var history: [Update] = []
    private var clock: Instant = .zero
    private var updatedAt: Instant = .zero
    private var someAtUpdate: TimeSpan = .zero
    private var fullAtUpdate: TimeSpan = .zero
    private var windowStart: Instant = .zero
    private var someWindow = Window()
    private var fullWindow = Window()

    /// The number of updates kept: five minutes' worth.
    public static let remembered = 150

    /// A meter at instant zero, with nothing lost.
    public init() {}

    /// Accounts for the time up to `now`.
    ///
    /// - Parameters:
    ///   - isWaiting: Whether at least one process waited for memory during that time.
    ///   - isWorking: Whether at least one other process ran meanwhile; the time is then not *full*.
    public mutating func advance(to now: Instant, isWaiting: Bool, isWorking: Bool) {
        while clock < now {
            let next = min(now, updatedAt + StallMeter.period, windowStart + StallMeter.window)
            if isWaiting { someTotal += next - clock }
            if isWaiting && !isWorking { fullTotal += next - clock }
            clock = next
            if next == windowStart + StallMeter.window { beginWindow() }
            if next == updatedAt + StallMeter.period { update() }
        }
    }

    private mutating func beginWindow() {
        windowStart = clock
        someWindow.close(someTotal)
        fullWindow.close(fullTotal)
    }

    private mutating func update() {
        updatedAt = clock
        some.take(share(someTotal - someAtUpdate))
        full.take(share(fullTotal - fullAtUpdate))
        someAtUpdate = someTotal
        fullAtUpdate = fullTotal
        if history.count == 2 * StallMeter.remembered { history.removeFirst(StallMeter.remembered) }
        history.append(Update(at: clock, some: some, full: full))
    }

    private func share(_ lost: TimeSpan) -> Ratio {
        Ratio(partsPerMillion: lost.microseconds * 1_000_000 / StallMeter.period.microseconds)
    }

    /// The time lost within the last second, as a trigger counts it. It is the growth in the present window, plus a
    /// share of the growth in the previous window: the share that the last second still covers.
    public var lostWithinWindow: (some: TimeSpan, full: TimeSpan) {
        let elapsed = clock - windowStart
        return (someWindow.growth(after: elapsed, to: someTotal), fullWindow.growth(after: elapsed, to: fullTotal))
    }

    private struct Window: Hashable, Sendable {
        private var totalAtStart: TimeSpan = .zero
        private var before: TimeSpan = .zero

        /// Ends the window and begins the next.
        mutating func close(_ total: TimeSpan) {
            before = total - totalAtStart
            totalAtStart = total
        }

        func growth(after elapsed: TimeSpan, to total: TimeSpan) -> TimeSpan {
            let rest = StallMeter.window - elapsed
            return total - totalAtStart
                + TimeSpan(microseconds: before.microseconds * rest.microseconds / StallMeter.window.microseconds)
        }
    }
}

extension StallAverages {
    /// e^(-2 s / 10 s), e^(-2 s / 60 s) and e^(-2 s / 300 s) with 11 bits after the point, as in the kernel.
    private static let decays: (ten: Int64, sixty: Int64, threeHundred: Int64) = (1_677, 1_981, 2_034)

    fileprivate mutating func take(_ share: Ratio) {
        avg10 = StallAverages.averaged(avg10, share, StallAverages.decays.ten)
        avg60 = StallAverages.averaged(avg60, share, StallAverages.decays.sixty)
        avg300 = StallAverages.averaged(avg300, share, StallAverages.decays.threeHundred)
    }

    /// A rising average is rounded up, so that it reaches its target.
    private static func averaged(_ old: Ratio, _ share: Ratio, _ decay: Int64) -> Ratio {
        let sum = old.partsPerMillion * decay + share.partsPerMillion * (2_048 - decay)
        return Ratio(partsPerMillion: share >= old ? (sum + 2_047) / 2_048 : sum / 2_048)
    }
}
