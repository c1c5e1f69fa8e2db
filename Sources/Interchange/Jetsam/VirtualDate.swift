import Quantities

/// An instant of a run as a date: a run begins with the year 2001, in universal time, whenever it is made.
struct VirtualDate {
    private let year, month, day: Int64
    private let secondOfDay: Int64
    private let hundredths: Int64

    init(_ instant: Instant) {
        let micros = instant.microseconds
        hundredths = micros / 10_000 % 100
        secondOfDay = micros / 1_000_000 % 86_400
        var days = micros / 1_000_000 / 86_400
        var (year, month): (Int64, Int64) = (2001, 1)
        while days >= GregorianCalendar.length(ofYear: year) {
            days -= GregorianCalendar.length(ofYear: year)
            year += 1
        }
        while days >= GregorianCalendar.length(ofMonth: month, year) {
            days -= GregorianCalendar.length(ofMonth: month, year)
            month += 1
        }
        (self.year, self.month, day) = (year, month, days + 1)
    }

    private var date: String { "\(year)-\(padded(month))-\(padded(day))" }

    private var clock: [String] { [secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60].map(padded) }

    private func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// As a report's header has it: `2001-01-01 00:08:44.79 +0000`.
    var timestamp: String { "\(date) \(clock.joined(separator: ":")).\(padded(hundredths)) +0000" }

    /// As a report's name has it: `2001-01-01-000844`.
    var stamp: String { "\(date)-\(clock.joined())" }
}
