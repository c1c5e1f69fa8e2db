import Metrics
import Quantities

extension RelatedWorlds {
    /// The tables that the relation is about.
    package var tables: [String] {
        let ofApps = ["events", "launches", "terminations", "app_summary", "exits"]
        switch relation {
        case .ample: return ofApps
        // Rows of cores in which nothing changes are left out, and the summary has means of the whole time.
        case .shift: return ofApps + ["decisions", "samples"]
        case .renaming, .idleApp: return ofApps + ["decisions", "samples", "cores", "summary"]
        }
    }

    /// The columns whose cells the relation says nothing about.
    private var ignored: [String] {
        switch relation {
        case .renaming, .idleApp: []
        // What lies before the first event, and what is written of its length.
        case .shift: ["duration_s", "time_normal_s", "time_not_running_s", "metadata_bytes"]
        case .ample: []
        }
    }

    /// The tables in which a row of the first run before anything happens rules out a comparison: something happens
    /// by the clock.
    package var tablesOfTheClock: [String] { relation == .shift ? ["events", "decisions"] : [] }

    /// Whether a table of the first run has a row before the first event.
    package static func actsByTheClock(_ table: [UInt8]) -> Bool {
        TableReader(table, columns: ["time_s"]).rows.contains { row in
            microseconds(row[0]).map { $0 < delay.microseconds } ?? false
        }
    }

    /// The first cell that contradicts the relation; nil if none does.
    ///
    /// - Parameters:
    ///   - first: The table's bytes in the run of the first world.
    ///   - second: The same of the second world.
    package func difference(_ first: [UInt8], _ second: [UInt8]) -> (column: String, text: String)? {
        let columns = TableReader(first, columns: []).columns
        let kept = columns.filter { !ignored.contains($0) }
        let here = TableReader(first, columns: kept).rows
        let there = TableReader(second, columns: kept).rows.compactMap { image(of: $0, kept) }
        for (row, other) in zip(here, there) {
            for (index, column) in kept.enumerated() where row[index] != other[index] {
                return (column, "\(row.joined(separator: ",")) and \(other.joined(separator: ","))")
            }
        }
        guard here.count != there.count else { return nil }
        let extra = (here.count > there.count ? here : there)[min(here.count, there.count)]
        return ("its length", "\(here.count) and \(there.count) rows: \(extra.joined(separator: ","))")
    }

    /// What a row of the second run says in terms of the first; nil if the first has no such row.
    private func image(of row: [String], _ columns: [String]) -> [String]? {
        switch relation {
        case .ample: return row
        case .idleApp: return columns.firstIndex(of: "app").map { row[$0] } == RelatedWorlds.idleApp ? nil : row
        case .renaming:
            return row.map { cell in
                guard cell.contains("zq") else { return cell }
                return names.reduce(cell) { $0.replacing($1.second, with: $1.first) }
            }
        case .shift:
            var row = row.map(RelatedWorlds.earlier)
            for (index, column) in columns.enumerated() where ["time_s", "tapped_s", "ready_s"].contains(column) {
                guard let time = RelatedWorlds.microseconds(row[index]) else { continue }
                let earlier = time - RelatedWorlds.delay.microseconds
                // Samples of the time in which nothing runs.
                if earlier < 0, !columns.contains("event") { return nil }
                row[index] = RelatedWorlds.seconds(earlier)
            }
            return row
        }
    }

    /// A reason whose instants are earlier by the delay: "tapped at 63.2s".
    private static func earlier(_ cell: String) -> String {
        let words = cell.split(separator: " ", omittingEmptySubsequences: false)
        return words.enumerated().map { index, word in
            let end = word.last.map { ",;:".contains($0) } == true ? String(word.suffix(1)) : ""
            let body = word.dropLast(end.count)
            guard index > 0, ["at", "since", "before"].contains(words[index - 1]), body.hasSuffix("s"),
                let time = microseconds(String(body.dropLast())), time >= delay.microseconds
            else { return String(word) }
            return seconds(time - delay.microseconds) + "s" + end
        }.joined(separator: " ")
    }

    /// The time of a cell in seconds; nil if it is empty.
    private static func microseconds(_ cell: String) -> Int64? {
        guard cell.allSatisfy({ $0.isNumber || $0 == "." }) else { return nil }
        let parts = cell.split(separator: ".")
        guard let whole = parts.first.flatMap({ Int64($0) }) else { return nil }
        let digits = parts.count > 1 ? String(parts[1]) : ""
        return whole * 1_000_000 + (Int64(digits + String(repeating: "0", count: 6 - digits.count)) ?? 0)
    }

    /// A time as tables write it.
    private static func seconds(_ time: Int64) -> String {
        let part = String(1_000_000 + abs(time) % 1_000_000).dropFirst()
        let digits = part.reversed().drop { $0 == "0" }.reversed()
        return "\(time < 0 ? "-" : "")\(abs(time) / 1_000_000)\(digits.isEmpty ? "" : ".")\(String(digits))"
    }
}
