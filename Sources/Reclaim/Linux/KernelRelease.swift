/// A release of Linux, as far as its OOM killer depends on it: `6.1`.
public struct KernelRelease: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// The first number: 6 of `6.1.0-18-amd64`.
    public let major: Int
    /// The second number: 1 of `6.1.0-18-amd64`.
    public let minor: Int

    /// A release by its numbers.
    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads what `uname -r` or a kernel's report says: `5.15`, `6.1.0-18-amd64`, `3.10.0-1160.el7`. What follows the
    /// second number is ignored, unless it is a letter at once: `5.x` and `6.1a` are none. Nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let digits = parts[1].prefix { $0.isASCII && $0.isNumber }
        if let next = parts[1].dropFirst(digits.count).first, !".-+_~ ".contains(next) { return nil }
        guard let major = Self.number(parts[0]), let minor = Self.number(digits) else { return nil }
        self.init(major, minor)
    }

    /// At most four decimal digits; nil for any other text.
    private static func number(_ text: Substring) -> Int? {
        guard (1...4).contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }

    /// The two numbers: `6.1`.
    public var description: String { "\(major).\(minor)" }

    /// By age.
    public static func < (a: KernelRelease, b: KernelRelease) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}
