/// Why an experiment cannot be planned or continued, in one line that says what would be right.
public struct ExperimentFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String

    public init(_ message: String) { self.message = message }

    public var description: String { message }
}

/// FNV-1a, 64 bits: tells an edited file from the one that was planned with. It guards against accidents, not malice.
///
/// Source: Fowler, Noll and Vo; the offset and the prime as in draft-eastlake-fnv-17, section 5.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    public init() {}

    public init(of bytes: some Sequence<UInt8>) { add(bytes) }

    public init(of text: String) { add(text.utf8) }

    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
