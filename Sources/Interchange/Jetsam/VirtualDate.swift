import Quantities

/// An instant of a run as a date: a run begins with the year 2001, in universal time, whenever it is made.
struct VirtualDate {
    private let year, month, day: Int
    private let secondOfDay: Int
    private let hundredths: Int

    init(_ instant: Instant) {
        let micros = Int(instant.microseconds)
        hundredths = micros / 10_000 % 100
        secondOfDay = micros / 1_000_000 % 86_400
        var days = micros / 1_000_000 / 86_400
        var year = 2001
        while days >= VirtualDate.length(of: year) {
            days -= VirtualDate.length(of: year)
            year += 1
        }
        var months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        if VirtualDate.isLeap(year) { months[1] = 29 }
        var month = 0
        while days >= months[month] {
            days -= months[month]
            month += 1
        }
        (self.year, self.month, day) = (year, month + 1, days + 1)
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(of year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private var date: String { "\(year)-\(padded(month))-\(padded(day))" }

    private var clock: [String] { [secondOfDay / 3_600, secondOfDay / 60 % 60, secondOfDay % 60].map(padded) }

    private func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// As a report's header has it: `2001-01-01 00:08:44.79 +0000`.
    var timestamp: String { "\(date) \(clock.joined(separator: ":")).\(padded(hundredths)) +0000" }

    /// As a report's name has it: `2001-01-01-000844`.
    var stamp: String { "\(date)-\(clock.joined())" }
}
