import Quantities

/// A time on cores or without one, in whole parts of a microsecond.
///
/// Pieces of work that share cores get fractions of each microsecond; their sums are exact.
struct CoreTime: Hashable {
    /// The parts of a microsecond: the least common multiple of 1 to 40.
    static let fineness: Int64 = 5_342_931_457_063_200

    private var parts: Int128

    static var zero: CoreTime { CoreTime(parts: 0) }

    private init(parts: Int128) { self.parts = parts }

    init(_ span: TimeSpan) { self.init(parts: Int128(span.microseconds) * Int128(CoreTime.fineness)) }

    mutating func add(parts more: Int128) { parts += more }

    static func += (a: inout CoreTime, b: CoreTime) { a.parts += b.parts }

    static func + (a: CoreTime, b: CoreTime) -> CoreTime { CoreTime(parts: a.parts + b.parts) }

    /// Whole microseconds, rounded down.
    var rounded: TimeSpan { TimeSpan(microseconds: Int64(clamping: parts / Int128(CoreTime.fineness))) }
}
