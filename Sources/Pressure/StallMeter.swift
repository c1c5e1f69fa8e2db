import Quantities

/// The share of time that was lost to waiting for memory, averaged over 10, 60 and 300 s.
public struct StallAverages: Hashable, Sendable {
    public var avg10: Ratio = .zero
    public var avg60: Ratio = .zero
    public var avg300: Ratio = .zero

    public init(avg10: Ratio = .zero, avg60: Ratio = .zero, avg300: Ratio = .zero) {
        self.avg10 = avg10
        self.avg60 = avg60
        self.avg300 = avg300
    }
}

/// Pressure stall information: *some* is the time in which at least one process waits for memory, *full* the time in
/// which whoever could run waits.
///
/// Exponential averages, updated every 2 s, in whole numbers, as the Linux kernel does; beside them the time lost
/// within a sliding second, which is what a trigger looks at. Time comes from outside: `advance` is told what was the
/// case since it was last called.
public struct StallMeter: Hashable, Sendable {
    /// The kernel updates its averages this often.
    public static let period = TimeSpan.seconds(2)
    /// A trigger's window.
    public static let window = TimeSpan.seconds(1)

    /// One update of the averages.
    public struct Update: Hashable, Sendable {
        public var at: Instant
        public var some: StallAverages
        public var full: StallAverages

        public init(at: Instant, some: StallAverages, full: StallAverages) {
            self.at = at
            self.some = some
            self.full = full
        }
    }

    public private(set) var some = StallAverages()
    public private(set) var full = StallAverages()
    /// All the time lost so far.
    public private(set) var someTotal: TimeSpan = .zero
    public private(set) var fullTotal: TimeSpan = .zero
    /// The last updates, oldest first; at most `remembered`.
    public var updates: ArraySlice<Update> { history.suffix(StallMeter.remembered) }
    /// Twice as many at most: the older half goes at once, for going one by one would move all the others each time.
    private var history: [Update] = []
    private var clock: Instant = .zero
    private var updatedAt: Instant = .zero
    private var someAtUpdate: TimeSpan = .zero
    private var fullAtUpdate: TimeSpan = .zero
    private var windowStart: Instant = .zero
    private var someWindow = Window()
    private var fullWindow = Window()

    /// Five minutes of updates.
    public static let remembered = 150

    public init() {}

    /// Takes the time up to `now` into account, in which a process waited or not, and somebody else ran or not.
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

    /// The time lost within the last second, the way a trigger counts it: what has grown in this window, and the
    /// share of the previous one's growth that the second still covers.
    public var lostWithinWindow: (some: TimeSpan, full: TimeSpan) {
        let elapsed = clock - windowStart
        return (someWindow.growth(after: elapsed, to: someTotal), fullWindow.growth(after: elapsed, to: fullTotal))
    }

    private struct Window: Hashable, Sendable {
        private var totalAtStart: TimeSpan = .zero
        private var before: TimeSpan = .zero

        /// The window is over, and the next one begins.
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

    /// A rising average is rounded up, so that it reaches what it nears.
    private static func averaged(_ old: Ratio, _ share: Ratio, _ decay: Int64) -> Ratio {
        let sum = old.partsPerMillion * decay + share.partsPerMillion * (2_048 - decay)
        return Ratio(partsPerMillion: share >= old ? (sum + 2_047) / 2_048 : sum / 2_048)
    }
}
