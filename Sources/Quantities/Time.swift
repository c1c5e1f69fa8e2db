/// A moment of virtual time: whole microseconds since the run began.
public struct Instant: Hashable, Comparable, Sendable {
    /// Microseconds since the run began.
    public var microseconds: Int64

    @inlinable
    public init(microseconds: Int64) { self.microseconds = microseconds }

    @inlinable
    public static var zero: Instant { Instant(microseconds: 0) }
    /// An instant later than any that a run can schedule.
    @inlinable
    public static var never: Instant { Instant(microseconds: .max) }

    @inlinable
    public static func < (a: Instant, b: Instant) -> Bool { a.microseconds < b.microseconds }
    @inlinable
    public static func + (a: Instant, b: TimeSpan) -> Instant { Instant(microseconds: a.microseconds + b.microseconds) }
    @inlinable
    public static func - (a: Instant, b: TimeSpan) -> Instant { Instant(microseconds: a.microseconds - b.microseconds) }
    @inlinable
    public static func - (a: Instant, b: Instant) -> TimeSpan {
        TimeSpan(microseconds: a.microseconds - b.microseconds)
    }
}

/// A length of virtual time in whole microseconds.
public struct TimeSpan: Hashable, Comparable, Sendable {
    /// The length in microseconds. It is negative if a later instant was subtracted from an earlier one.
    public var microseconds: Int64

    @inlinable
    public init(microseconds: Int64) { self.microseconds = microseconds }

    /// A whole number of milliseconds; traps on overflow, like the arithmetic below.
    @inlinable
    public static func milliseconds(_ count: Int64) -> TimeSpan { TimeSpan(microseconds: count * 1_000) }
    /// A whole number of seconds.
    @inlinable
    public static func seconds(_ count: Int64) -> TimeSpan { TimeSpan(microseconds: count * 1_000_000) }
    /// A whole number of minutes.
    @inlinable
    public static func minutes(_ count: Int64) -> TimeSpan { .seconds(count * 60) }
    /// A whole number of hours.
    @inlinable
    public static func hours(_ count: Int64) -> TimeSpan { .minutes(count * 60) }

    @inlinable
    public static var zero: TimeSpan { TimeSpan(microseconds: 0) }

    @inlinable
    public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }
    @inlinable
    public static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan {
        TimeSpan(microseconds: a.microseconds + b.microseconds)
    }
    @inlinable
    public static func - (a: TimeSpan, b: TimeSpan) -> TimeSpan {
        TimeSpan(microseconds: a.microseconds - b.microseconds)
    }
    @inlinable
    public static func += (a: inout TimeSpan, b: TimeSpan) { a.microseconds += b.microseconds }
    @inlinable
    public static func * (a: TimeSpan, factor: Int64) -> TimeSpan { TimeSpan(microseconds: a.microseconds * factor) }

    /// The span times the ratio, rounded towards zero.
    public static func * (a: TimeSpan, ratio: Ratio) -> TimeSpan {
        TimeSpan(microseconds: scaled(a.microseconds, by: ratio.partsPerMillion, over: 1_000_000))
    }

    /// This span divided by `whole`; zero when `whole` is zero.
    public func share(of whole: TimeSpan) -> Ratio {
        guard whole.microseconds != 0 else { return .zero }
        return Ratio(partsPerMillion: scaled(microseconds, by: 1_000_000, over: whole.microseconds))
    }
}
