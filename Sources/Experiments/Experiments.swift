/// Why an experiment cannot be planned or continued.
public struct ExperimentFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line that says what would be right.
    public let message: String

    /// A fault with this message.
    public init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}

/// FNV-1a, 64 bits: detects that a file was edited since the plan was made. It guards against accidents, not malice.
///
/// Source: Fowler, Noll and Vo; the offset and the prime as in draft-eastlake-fnv-17, section 5.
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
    /// The hash of the bytes added so far.
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    /// The hash of no bytes.
    public init() {}

    /// The hash of these bytes.
    public init(of bytes: some Sequence<UInt8>) { add(bytes) }

    /// The hash of the text's UTF-8.
    public init(of text: String) { add(text.utf8) }

    /// Appends bytes to the hashed sequence.
    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    }

    /// Sixteen hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
