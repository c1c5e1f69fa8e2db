import Quantities
import Scenario

/// One line of a usage trace.
struct UsageRecord: Hashable, Sendable {
    enum Event: String, CaseIterable, Sendable {
        case opened
        case closed
        /// The user did something in the app, so it is in front.
        case interaction = "user interaction"
        /// The app's record ends abruptly.
        case broken
    }

    /// The instant since 1970, in universal time.
    var at: Instant
    var app: String
    var event: Event
}

/// A trace of app use: which user used which app at which time.
///
/// Reads two forms. The first line names the columns, in any order, and tells the forms apart: comma-separated
/// `timestamp, user, app, event` (opened, closed), and LSApp's tab-separated `user_id, session_id, timestamp, app_name,
/// event_type` (Opened, Closed, User Interaction, Broken). Further columns are ignored.
struct UsageTrace: Sendable {
    /// All users in the order of first appearance.
    private(set) var users: [String] = []
    /// The records of one user, in the order of the file.
    private(set) var records: [UsageRecord] = []
    /// The number of lines that are not blank, without the first.
    private(set) var lines = 0
    let source: SourceText

    /// - Parameter user: The user whose records are kept; nil for the first user.
    init(_ bytes: [UInt8], file: String, user: String?) throws(ScenarioFault) {
        source = try SourceText(file: file, bytes: bytes, as: "a usage trace")
        do throws(TextFault) {
            try read(user)
        } catch {
            throw source.fault(at: error.offset, error.message)
        }
    }

    private mutating func read(_ wanted: String?) throws(TextFault) {
        var lines = UsageLines(source.bytes)
        guard let first = lines.next() else {
            throw TextFault(offset: 0, message: "the file is empty; expected a line that names the columns")
        }
        let columns = try UsageColumns(first, source.bytes)
        var known: Set<String> = []
        var calendar = UniversalCalendar()
        while let line = lines.next() {
            let cells = try columns.cells(of: line, source.bytes)
            if known.insert(cells.user.text).inserted { users.append(cells.user.text) }
            let record = UsageRecord(
                at: try UsageTrace.instant(cells.timestamp, &calendar), app: try UsageTrace.app(cells.app),
                event: try UsageTrace.event(cells.event))
            if cells.user.text == wanted ?? users[0] { records.append(record) }
            self.lines += 1
        }
        guard self.lines > 0 else {
            throw TextFault(offset: source.bytes.count, message: "the trace holds no event")
        }
    }

    private static func app(_ cell: UsageCell) throws(TextFault) -> String {
        guard !cell.text.isEmpty else { throw TextFault(offset: cell.offset, message: "the app's name is missing") }
        return cell.text
    }

    private static func event(_ cell: UsageCell) throws(TextFault) -> UsageRecord.Event {
        guard let event = UsageRecord.Event(rawValue: cell.text.lowercased()) else {
            let valid = UsageRecord.Event.allCases.map(\.rawValue).joined(separator: ", ")
            throw TextFault(
                offset: cell.offset, message: "'\(onOneLine(cell.text, atMost: 40))' is no event; expected \(valid)")
        }
        return event
    }

    private static func instant(
        _ cell: UsageCell, _ calendar: inout UniversalCalendar
    ) throws(TextFault) -> Instant {
        guard let instant = Timestamp.instant(cell.text, &calendar) else {
            throw TextFault(
                offset: cell.offset,
                message: "'\(onOneLine(cell.text, atMost: 40))' is no time; expected seconds since 1970, or "
                    + "2018-01-16 06:01:05")
        }
        return instant
    }
}

/// A cell of a line, with its position.
struct UsageCell: Hashable, Sendable {
    let text: String
    let offset: Int
}

/// The lines of a text that are not blank.
private struct UsageLines {
    private let bytes: [UInt8]
    private var position: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    }

    mutating func next() -> Range<Int>? {
        while position < bytes.count {
            let start = position
            let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
            position = end + 1
            let last = end > start && bytes[end - 1] == 0x0d ? end - 1 : end
            if bytes[start..<last].contains(where: { $0 != 0x20 && $0 != 0x09 }) { return start..<last }
        }
        return nil
    }
}

/// The positions of the needed columns.
private struct UsageColumns {
    private let separator: UInt8
    private let count: Int
    private let timestamp, user, app, event: Int

    private static let (tab, comma, quote) = (UInt8(ascii: "\t"), UInt8(ascii: ","), UInt8(ascii: "\""))

    init(_ header: Range<Int>, _ bytes: [UInt8]) throws(TextFault) {
        let separator = bytes[header].contains(UsageColumns.tab) ? UsageColumns.tab : UsageColumns.comma
        let cells = try UsageColumns.split(header, bytes, separator)
        let names = cells.map { $0.text.lowercased().filter { $0 != " " } }
        func position(_ accepted: [String]) throws(TextFault) -> Int {
            let found = names.indices.filter { accepted.contains(names[$0]) }
            if found.count > 1 {
                let (first, second) = (names[found[0]], names[found[1]])
                throw TextFault(
                    offset: cells[found[1]].offset,
                    message: first == second
                        ? "column '\(second)' is there twice, and it is unclear which one counts"
                        : "columns '\(first)' and '\(second)' mean the same, and it is unclear which one counts")
            }
            if let position = found.first { return position }
            throw TextFault(
                offset: header.lowerBound,
                message:
                    "no column '\(accepted[0])'; expected a line that names the columns: timestamp,user,app,event, "
                    + "or LSApp's user_id, session_id, timestamp, app_name, event_type with tabs between them")
        }
        self.separator = separator
        count = names.count
        timestamp = try position(["timestamp"])
        user = try position(["user", "user_id"])
        app = try position(["app", "app_name"])
        event = try position(["event", "event_type"])
    }

    func cells(
        of line: Range<Int>, _ bytes: [UInt8]
    ) throws(TextFault) -> (timestamp: UsageCell, user: UsageCell, app: UsageCell, event: UsageCell) {
        let cells = try UsageColumns.split(line, bytes, separator)
        guard cells.count == count else {
            let kind = separator == UsageColumns.tab ? "tabs" : "commas"
            throw TextFault(
                offset: line.lowerBound,
                message: "this line has \(cells.count.counted("cell")); expected \(count), with \(kind) between them")
        }
        return (cells[timestamp], cells[user], cells[app], cells[event])
    }

    /// Comma-separated cells may be in quotes (RFC 4180); tab-separated cells are taken literally.
    private static func split(
        _ line: Range<Int>, _ bytes: [UInt8], _ separator: UInt8
    ) throws(TextFault) -> [UsageCell] {
        var cells: [UsageCell] = []
        var at = line.lowerBound
        while true {
            let start = at
            var text: [UInt8] = []
            if separator == comma, at < line.upperBound, bytes[at] == quote {
                text = try quoted(line, bytes, &at)
            } else {
                let end = bytes[at..<line.upperBound].firstIndex(of: separator) ?? line.upperBound
                text = Array(bytes[at..<end])
                at = end
            }
            cells.append(UsageCell(text: trimmed(String(decoding: text, as: UTF8.self)), offset: start))
            guard at < line.upperBound else { return cells }
            guard bytes[at] == separator else {
                throw TextFault(offset: at, message: "expected ',' after the closing quote")
            }
            at += 1
        }
    }

    private static func quoted(
        _ line: Range<Int>, _ bytes: [UInt8], _ at: inout Int
    ) throws(TextFault) -> [UInt8] {
        let start = at
        var text: [UInt8] = []
        at += 1
        while at < line.upperBound {
            if bytes[at] != quote {
                text.append(bytes[at])
                at += 1
            } else if at + 1 < line.upperBound, bytes[at + 1] == quote {
                text.append(quote)
                at += 2
            } else {
                at += 1
                return text
            }
        }
        throw TextFault(offset: start, message: "this quote is not closed on its line")
    }

    private static func trimmed(_ text: String) -> String {
        let front = text.drop { $0 == " " }
        return String(front.reversed().drop { $0 == " " }.reversed())
    }
}
