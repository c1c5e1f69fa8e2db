/// A share or a factor in parts per million. Comparisons are exact, and the same on every machine.
public struct Ratio: Hashable, Comparable, Sendable {
    /// The ratio times 1,000,000.
    public var partsPerMillion: Int64

    @inlinable
    public init(partsPerMillion: Int64) { self.partsPerMillion = partsPerMillion }

    /// A whole number of hundredths.
    @inlinable
    public static func percent(_ count: Int64) -> Ratio { Ratio(partsPerMillion: count * 10_000) }

    @inlinable
    public static var zero: Ratio { Ratio(partsPerMillion: 0) }
    @inlinable
    public static var one: Ratio { Ratio(partsPerMillion: 1_000_000) }

    @inlinable
    public static func < (a: Ratio, b: Ratio) -> Bool { a.partsPerMillion < b.partsPerMillion }
    @inlinable
    public static func - (a: Ratio, b: Ratio) -> Ratio {
        Ratio(partsPerMillion: a.partsPerMillion - b.partsPerMillion)
    }
    @inlinable
    public static func + (a: Ratio, b: Ratio) -> Ratio {
        Ratio(partsPerMillion: a.partsPerMillion + b.partsPerMillion)
    }
}
