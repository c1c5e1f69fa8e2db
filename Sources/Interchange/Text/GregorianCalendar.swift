/// The calendar of dates in files, without zones.
enum GregorianCalendar {
    static func length(ofYear year: Int64) -> Int64 { isLeap(year) ? 366 : 365 }

    /// - Parameter month: From 1 to 12.
    static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
        month == 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}
