/// The only source of randomness: xoshiro256**, seeded through SplitMix64, in integers only.
///
/// Each stream has a name, so that every app draws from a stream of its own: adding an app does not change the draws
/// of the others. Algorithms: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2018), public
/// domain.
public struct SeededGenerator: Sendable {
    @usableFromInline var s0, s1, s2, s3: UInt64

    /// - Parameters:
    ///   - seed: The run's seed.
    ///   - stream: The stream's name, for example `app/maps/sizes`.
    public init(seed: UInt64, stream: String) {
        var state = seed
        for byte in stream.utf8 { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        s0 = SeededGenerator.splitMix(&state)
        s1 = SeededGenerator.splitMix(&state)
        s2 = SeededGenerator.splitMix(&state)
        s3 = SeededGenerator.splitMix(&state)
    }

    private static func splitMix(_ state: inout UInt64) -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// The next 64 random bits.
    @inlinable
    public mutating func next() -> UInt64 {
        let product = s1 &* 5
        let result = ((product << 7) | (product >> 57)) &* 9
        let t = s1 << 17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= t
        s3 = (s3 << 45) | (s3 >> 19)
        return result
    }

    /// A number in `0 ..< bound`. The bias of the multiplication method is below 2^-32 for every bound used here.
    @inlinable
    public mutating func below(_ bound: UInt64) -> UInt64 {
        precondition(bound > 0, "nothing is below zero")
        return next().multipliedFullWidth(by: bound).high
    }

    /// A number in `range`, both ends included.
    @inlinable
    public mutating func number(in range: ClosedRange<Int>) -> Int {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int(below(width))
    }

    /// True with the probability `ratio` (0 never, 1 always).
    @inlinable
    public mutating func chance(_ ratio: Ratio) -> Bool {
        Int64(below(1_000_000)) < ratio.partsPerMillion
    }

    /// The numbers `0 ..< count` in a random order (Fisher and Yates).
    public mutating func order(of count: Int) -> [Int] {
        var order = Array(0..<count)
        for last in stride(from: count - 1, to: 0, by: -1) { order.swapAt(last, number(in: 0...last)) }
        return order
    }

    /// A uniform value in the open interval (0, 1) with 53 significant bits.
    @inlinable
    public mutating func unit() -> Double {
        (Double(next() >> 11) + 0.5) * 0x1p-53
    }
}
