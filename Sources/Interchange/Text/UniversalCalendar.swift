import Foundation

/// Foundation's Gregorian calendar in universal time.
struct UniversalCalendar {
    private let calendar: Calendar
    /// The day of the last request, kept because many lines of a trace share a day.
    private var last: (day: Int, month: Int, year: Int, seconds: Int64)?

    init() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        self.calendar = calendar
    }

    /// Seconds from 1 January 1970 to the start of a day, or nil if the day does not exist.
    mutating func seconds(toDay day: Int, _ month: Int, _ year: Int) -> Int64? {
        if let last, (last.day, last.month, last.year) == (day, month, year) { return last.seconds }
        let components = DateComponents(year: year, month: month, day: day)
        guard components.isValidDate(in: calendar), let date = calendar.date(from: components) else { return nil }
        let seconds = Int64(date.timeIntervalSince1970)
        last = (day, month, year, seconds)
        return seconds
    }

    /// The date and the time of day at this number of whole seconds after the start of 2001.
    func components(since2001 seconds: Int64) -> DateComponents {
        calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second],
            from: Date(timeIntervalSinceReferenceDate: Double(seconds)))
    }
}
