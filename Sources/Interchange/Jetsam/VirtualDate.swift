import Foundation
import Quantities

/// An instant of a run as a date. Every run begins at the start of 2001 in universal time, whatever the real date is.
struct VirtualDate {
    private let date: String
    /// Hours, minutes, seconds.
    private let clock: [String]
    private let hundredths: String

    init(_ instant: Instant) {
        let parts = UniversalCalendar().components(since2001: instant.microseconds / 1_000_000)
        func padded(_ number: Int?) -> String { String(format: "%02d", number ?? 0) }
        date = "\(padded(parts.year))-\(padded(parts.month))-\(padded(parts.day))"
        clock = [parts.hour, parts.minute, parts.second].map(padded)
        hundredths = padded(Int(instant.microseconds / 10_000 % 100))
    }

    /// The form of a report's header: `2001-01-01 00:08:44.79 +0000`.
    var timestamp: String { "\(date) \(clock.joined(separator: ":")).\(hundredths) +0000" }

    /// The form of a report's name: `2001-01-01-000844`.
    var stamp: String { "\(date)-\(clock.joined())" }
}
