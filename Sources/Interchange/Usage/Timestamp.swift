import Quantities

/// Reads times as recorders write them: a number since 1970, or a date with a time of day.
enum Timestamp {
    /// The instant, or nil if the text is no time.
    ///
    /// A number is in seconds, from 10^11 in milliseconds, and from 10^14 in microseconds. A date is `2018-01-16
    /// 06:01:05`, or with `T` instead of the space, and may have decimals and a zone (`Z`, `+01:00`, `+0100`). Without
    /// a zone it is in universal time.
    ///
    /// - Parameter calendar: Keeps the last day between calls.
    static func instant(_ text: String, _ calendar: inout UniversalCalendar) -> Instant? {
        let bytes = Array(text.utf8)
        if bytes.count > 10, bytes[4] == UInt8(ascii: "-") { return date(bytes, &calendar) }
        return number(bytes)
    }

    private static func number(_ bytes: [UInt8]) -> Instant? {
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = digits(parts[0], atMost: 17) else { return nil }
        guard parts.count == 2 else {
            if whole >= 100_000_000_000_000 { return Instant(microseconds: whole) }
            if whole >= 100_000_000_000 { return Instant(microseconds: whole * 1_000) }
            return Instant(microseconds: whole * 1_000_000)
        }
        guard whole < 100_000_000_000, let fraction = fraction(parts[1]) else { return nil }
        return Instant(microseconds: whole * 1_000_000 + fraction)
    }

    private static func digits(_ bytes: ArraySlice<UInt8>, atMost most: Int) -> Int64? {
        guard !bytes.isEmpty, bytes.count <= most, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// The decimals of a second, in microseconds.
    private static func fraction(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard digits(bytes, atMost: 18) != nil else { return nil }
        let six = Array(bytes.prefix(6)) + Array(repeating: 0x30, count: max(0, 6 - bytes.count))
        return digits(six[...], atMost: 6)
    }

    private static func date(_ bytes: [UInt8], _ calendar: inout UniversalCalendar) -> Instant? {
        guard bytes.count >= 19 else { return nil }
        func field(_ from: Int, _ length: Int, _ range: ClosedRange<Int64>) -> Int64? {
            digits(bytes[from..<from + length], atMost: length).flatMap { range.contains($0) ? $0 : nil }
        }
        func sign(_ at: Int, _ among: String) -> Bool { among.utf8.contains(bytes[at]) }
        guard let year = field(0, 4, 1970...9_999), let month = field(5, 2, 1...12), let day = field(8, 2, 1...31),
            let hour = field(11, 2, 0...23), let minute = field(14, 2, 0...59), let second = field(17, 2, 0...60),
            sign(7, "-"), sign(10, " T"), sign(13, ":"), sign(16, ":"),
            let days = calendar.seconds(toDay: Int(day), Int(month), Int(year))
        else { return nil }
        var rest = bytes[19...]
        var micros: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let decimals = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
            guard let fraction = fraction(decimals) else { return nil }
            micros = fraction
            rest = rest.dropFirst(1 + decimals.count)
        }
        guard let zone = zone(rest) else { return nil }
        let seconds = days + hour * 3_600 + minute * 60 + second - zone
        return Instant(microseconds: seconds * 1_000_000 + micros)
    }

    /// The zone as seconds east of universal time.
    private static func zone(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let text = bytes.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") }
        if text.isEmpty || text == [UInt8(ascii: "Z")] { return 0 }
        guard text.count == 5, let hours = digits(text[1..<3], atMost: 2), let minutes = digits(text[3..<5], atMost: 2),
            hours <= 14, minutes < 60
        else { return nil }
        let seconds = hours * 3_600 + minutes * 60
        switch text[0] {
        case UInt8(ascii: "+"): return seconds
        case UInt8(ascii: "-"): return -seconds
        default: return nil
        }
    }
}
