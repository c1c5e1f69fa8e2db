/// A number of bytes. A well-formed count is never negative, but the type is signed, so that differences are safe.
public struct ByteCount: Hashable, Comparable, Sendable {
    /// The number of bytes.
    public var bytes: Int

    @inlinable
    public init(_ bytes: Int) { self.bytes = bytes }

    /// A whole number of KiB (1,024 bytes).
    @inlinable
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }
    /// A whole number of MiB (2^20 bytes).
    @inlinable
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }
    /// A whole number of GiB (2^30 bytes).
    @inlinable
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count << 30) }

    @inlinable
    public static var zero: ByteCount { ByteCount(0) }

    @inlinable
    public static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }
    @inlinable
    public static func + (a: ByteCount, b: ByteCount) -> ByteCount { ByteCount(a.bytes + b.bytes) }
    @inlinable
    public static func - (a: ByteCount, b: ByteCount) -> ByteCount { ByteCount(a.bytes - b.bytes) }
    @inlinable
    public static func += (a: inout ByteCount, b: ByteCount) { a.bytes += b.bytes }
    @inlinable
    public static func -= (a: inout ByteCount, b: ByteCount) { a.bytes -= b.bytes }
    @inlinable
    public static func * (a: ByteCount, factor: Int) -> ByteCount { ByteCount(a.bytes * factor) }

    /// The bytes times the ratio, rounded towards zero; exact in integers.
    @inlinable
    public static func * (a: ByteCount, ratio: Ratio) -> ByteCount {
        ByteCount(Int(scaled(Int64(a.bytes), by: ratio.partsPerMillion, over: 1_000_000)))
    }

    /// These bytes divided by the ratio, rounded up. The ratio must be positive.
    public func unscaled(by ratio: Ratio) -> ByteCount {
        let (whole, rest) = ratio.partsPerMillion.dividingFullWidth(
            Int64(bytes).multipliedFullWidth(by: 1_000_000))
        return ByteCount(Int(rest > 0 ? whole + 1 : whole))
    }

    /// This many bytes, rounded up to whole multiples of `unit`. `unit` must be positive.
    @inlinable
    public func roundedUp(toMultipleOf unit: Int) -> ByteCount {
        precondition(unit > 0, "unit \(unit) is not positive")
        return ByteCount((bytes + unit - 1) / unit * unit)
    }

    /// This count divided by `whole`; zero when `whole` is zero.
    public func share(of whole: ByteCount) -> Ratio {
        guard whole.bytes != 0 else { return .zero }
        return Ratio(partsPerMillion: scaled(Int64(bytes), by: 1_000_000, over: Int64(whole.bytes)))
    }
}

/// A rate in bytes per virtual second.
public struct ByteRate: Hashable, Comparable, Sendable {
    /// Bytes per virtual second.
    public var bytesPerSecond: Int

    @inlinable
    public init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

    @inlinable
    public static var zero: ByteRate { ByteRate(bytesPerSecond: 0) }

    @inlinable
    public static func < (a: ByteRate, b: ByteRate) -> Bool { a.bytesPerSecond < b.bytesPerSecond }

    /// The bytes moved in `span` at this rate, rounded towards zero.
    @inlinable
    public func bytes(in span: TimeSpan) -> ByteCount {
        ByteCount(Int(scaled(Int64(bytesPerSecond), by: span.microseconds, over: 1_000_000)))
    }

    /// The time to move `bytes` at this rate, rounded up. The rate must be positive.
    public func time(for bytes: ByteCount) -> TimeSpan {
        precondition(bytesPerSecond > 0, "a rate of \(bytesPerSecond) B/s never finishes")
        let (whole, rest) = Int64(bytesPerSecond)
            .dividingFullWidth(Int64(bytes.bytes).multipliedFullWidth(by: 1_000_000))
        return TimeSpan(microseconds: rest == 0 ? whole : whole + 1)
    }
}

/// `value * multiplier / divisor`, rounded towards zero, without overflow of the product.
@inlinable
public func scaled(_ value: Int64, by multiplier: Int64, over divisor: Int64) -> Int64 {
    // 64 bits are nearly always enough, and then the division is short.
    let (product, isTooLong) = value.multipliedReportingOverflow(by: multiplier)
    if !isTooLong { return product / divisor }
    return divisor.dividingFullWidth(value.multipliedFullWidth(by: multiplier)).quotient
}
