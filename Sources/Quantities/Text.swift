// Quantities as people write them: always a number and its unit. All arithmetic is in integers, so "0.1s" is exact.

/// A unit of a quantity, such as MiB.
public struct Unit: Sendable {
    /// The unit as written after the number.
    public let symbol: String
    /// The number of the quantity's smallest units in one of this unit.
    public let size: Int64

    /// A unit of `size` smallest units.
    public init(symbol: String, size: Int64) { (self.symbol, self.size) = (symbol, size) }
}

/// A text is not a quantity.
public struct QuantityFault: Error, Equatable, Sendable {
    /// What would be right, in words that fit after "expected".
    public let expected: String
}

extension ByteCount: CustomStringConvertible {
    /// Binary and decimal units, each family from the largest.
    public static let units: [Unit] = [
        Unit(symbol: "GiB", size: 1 << 30), Unit(symbol: "MiB", size: 1 << 20), Unit(symbol: "KiB", size: 1 << 10),
        Unit(symbol: "GB", size: 1_000_000_000), Unit(symbol: "MB", size: 1_000_000), Unit(symbol: "KB", size: 1_000),
        Unit(symbol: "B", size: 1),
    ]

    /// What a size looks like, in words that fit after "expected".
    public static let expectation = "a size with its unit, such as 512KiB, 38MiB or 1.5GiB"

    /// Reads a size such as `38MiB`. A bare number is a fault, because its unit is unknown.
    public init(parsing text: String) throws(QuantityFault) {
        guard let (value, rest) = DecimalPrefix.read(text),
            let unit = ByteCount.units.first(where: { $0.symbol == rest }),
            let bytes = value.times(unit.size)
        else { throw QuantityFault(expected: ByteCount.expectation) }
        self.init(Int(bytes))
    }

    /// The shortest exact form: `160MiB`, `1234B`.
    public var description: String {
        let unit = ByteCount.units.first { $0.size.isBinaryUnit && bytes != 0 && Int64(bytes) % $0.size == 0 }
        guard let unit else { return "\(bytes)B" }
        return "\(Int64(bytes) / unit.size)\(unit.symbol)"
    }

    /// The size for people, with one decimal: `38.2 MiB`.
    public var readable: String {
        let unit = ByteCount.units.first { $0.size.isBinaryUnit && $0.size > 1 && abs(bytes) >= Int($0.size) }
        guard let unit else { return "\(bytes) B" }
        let tenths = (Int64(bytes) * 10 + unit.size / 2) / unit.size
        return "\(tenths / 10).\(abs(tenths % 10)) \(unit.symbol)"
    }

    /// The size for people, without a decimal where that is zero: `24 MiB`.
    public var brief: String { readable.replacing(".0 ", with: " ") }

    /// The size on the original of a scale model, if these bytes are the model's.
    ///
    /// - Parameter scale: The model's size as a share of the original's, above zero; 1 changes nothing.
    public func onOriginal(of scale: Ratio) -> ByteCount { scale == .one ? self : unscaled(by: scale) }
}

extension Int64 {
    fileprivate var isBinaryUnit: Bool { self & (self - 1) == 0 }
}

extension TimeSpan: CustomStringConvertible {
    /// Days to microseconds, from the largest.
    public static let units: [Unit] = [
        Unit(symbol: "d", size: 86_400_000_000), Unit(symbol: "h", size: 3_600_000_000),
        Unit(symbol: "min", size: 60_000_000), Unit(symbol: "s", size: 1_000_000),
        Unit(symbol: "ms", size: 1_000), Unit(symbol: "us", size: 1),
    ]

    /// What a time looks like, in words that fit after "expected".
    public static let expectation = "a time with its unit, such as 250ms, 1.5s, 30min or 1h30min"

    /// Reads a time such as `100ms` or a sum of falling units such as `1h30min`.
    public init(parsing text: String) throws(QuantityFault) {
        var total: Int64 = 0
        var rest = text
        var smallest = Int64.max
        repeat {
            guard let (value, tail) = DecimalPrefix.read(rest) else {
                throw QuantityFault(expected: TimeSpan.expectation)
            }
            let symbol = String(tail.prefix { !$0.isNumber })
            guard let unit = TimeSpan.units.first(where: { $0.symbol == symbol }), unit.size < smallest,
                let part = value.times(unit.size), !total.addingReportingOverflow(part).overflow
            else { throw QuantityFault(expected: TimeSpan.expectation) }
            total += part
            smallest = unit.size
            rest = String(tail.dropFirst(symbol.count))
        } while !rest.isEmpty
        self.init(microseconds: total)
    }

    /// The span for people, cut to a tenth of a second: `352.1 s`.
    public var readable: String { "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s" }

    /// In hours, minutes and seconds, cut to a tenth of a second: `1 h 2 min 3.4 s`.
    public var clock: String {
        let (seconds, tenths) = (microseconds / 1_000_000, microseconds / 100_000 % 10)
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let whole = hours > 0 ? "\(hours) h " : ""
        return whole + (seconds >= 60 ? "\(minutes) min " : "") + "\(seconds % 60).\(tenths) s"
    }

    /// The shortest exact form in one unit: `100ms`, `90s`, `2min`.
    public var description: String {
        let unit = TimeSpan.units.first { microseconds != 0 && microseconds % $0.size == 0 }
        guard let unit else { return "\(microseconds / 1_000_000)s" }
        return "\(microseconds / unit.size)\(unit.symbol)"
    }
}

extension Instant: CustomStringConvertible {
    /// Seconds with as many decimals as needed: `12.5s`.
    public var description: String { microseconds == .max ? "never" : "\(secondsText)s" }

    /// Since the start of the run: `1 h 2 min 3.4 s`.
    public var clock: String { (self - Instant.zero).clock }

    /// Seconds without a unit and without trailing zeros, as in the CSV.
    public var secondsText: String { decimalText(microseconds, digits: 6) }
}

extension Ratio: CustomStringConvertible {
    /// What a share looks like, in words that fit after "expected".
    public static let expectation = "a share such as 5% or 0.05"

    /// Reads `5%`, `0.05` or `1.25`.
    public init(parsing text: String) throws(QuantityFault) {
        guard let (value, rest) = DecimalPrefix.read(text), rest.isEmpty || rest == "%",
            let parts = value.times(rest == "%" ? 10_000 : 1_000_000)
        else { throw QuantityFault(expected: Ratio.expectation) }
        self.init(partsPerMillion: parts)
    }

    /// The ratio in percent: `12.5%`.
    public var description: String { decimalText(partsPerMillion, digits: 4) + "%" }

    /// The ratio for people, with at most one decimal: `29.9%`.
    ///
    /// - Parameter isAbove: Whether it is told because it is above a threshold; it is then rounded up, otherwise cut.
    ///   So a value beyond a threshold with one decimal never reads as the threshold.
    public func readable(isAbove: Bool = false) -> String {
        decimalText((partsPerMillion + (isAbove ? 999 : 0)) / 1_000, digits: 1) + "%"
    }
}

extension ByteRate: CustomStringConvertible {
    /// What a rate looks like, in words that fit after "expected".
    public static let expectation = "a rate with its unit, such as 2MiB/s"

    /// Reads `2MiB/s`.
    public init(parsing text: String) throws(QuantityFault) {
        guard text.hasSuffix("/s"), let size = try? ByteCount(parsing: String(text.dropLast(2))) else {
            throw QuantityFault(expected: ByteRate.expectation)
        }
        self.init(bytesPerSecond: size.bytes)
    }

    /// The shortest exact form: `2MiB/s`.
    public var description: String { "\(ByteCount(bytesPerSecond))/s" }
}

extension StringProtocol {
    /// Whether the text is one or more ASCII digits and nothing else; unlike `Int`, this rejects a sign.
    public var isDigits: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

/// `value / 10^digits` as a decimal without trailing zeros.
public func decimalText(_ value: Int64, digits: Int) -> String {
    var power: UInt64 = 1
    for _ in 0..<digits { power *= 10 }
    let magnitude = value.magnitude
    let sign = value < 0 ? "-" : ""
    let fraction = magnitude % power
    guard fraction != 0 else { return "\(sign)\(magnitude / power)" }
    var text = String(fraction)
    text = String(repeating: "0", count: digits - text.count) + text
    while text.last == "0" { text.removeLast() }
    return "\(sign)\(magnitude / power).\(text)"
}

/// A non-negative decimal read from the front of a text: `digits / 10^scale`.
struct DecimalPrefix {
    let digits: Int64
    let power: Int64

    /// The number and the text after it; nil when the text does not begin with a number.
    static func read(_ text: String) -> (DecimalPrefix, String)? {
        var digits: Int64 = 0
        var power: Int64 = 1
        var seenPoint = false
        var seenDigit = false
        var index = text.startIndex
        while index < text.endIndex {
            let character = text[index]
            if character == "." && !seenPoint && seenDigit {
                seenPoint = true
            } else if let digit = character.asciiDigit {
                let (shifted, o1) = digits.multipliedReportingOverflow(by: 10)
                let (sum, o2) = shifted.addingReportingOverflow(digit)
                guard !o1, !o2, !(seenPoint && power > 1_000_000_000_000) else { return nil }
                digits = sum
                if seenPoint { power *= 10 }
                seenDigit = true
            } else {
                break
            }
            index = text.index(after: index)
        }
        // A point has digits before and after it.
        guard seenDigit, !seenPoint || power > 1 else { return nil }
        return (DecimalPrefix(digits: digits, power: power), String(text[index...]))
    }

    /// The number times `unit`, rounded towards zero; nil when it does not fit.
    func times(_ unit: Int64) -> Int64? {
        let product = digits.multipliedFullWidth(by: unit)
        // The quotient fits 63 bits exactly when the product is below power * 2^63; otherwise the division traps.
        guard product.high < 1 << 61, product.high * 2 + Int64(product.low >> 63) < power else { return nil }
        let (quotient, _) = power.dividingFullWidth(product)
        return quotient
    }
}

extension Character {
    fileprivate var asciiDigit: Int64? {
        guard let value = asciiValue, value >= 48, value <= 57 else { return nil }
        return Int64(value - 48)
    }
}
