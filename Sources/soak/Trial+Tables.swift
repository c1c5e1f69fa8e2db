import Foundation
import Metrics
import Quantities
import Scenario
import Worlds

// Checks of what the tables of a run say, whatever its world is.
extension Trial {
    /// Columns of which the first is a part of the second.
    private static let sums = [
        "pages": [
            ("file_refaulted_bytes", "file_read_bytes"), ("stored_bytes", "pool_bytes"),
            ("repeated_bytes", "compressed_bytes"), ("resumed_bytes", "refaulted_bytes"),
        ],
        "apps": [("cache_bytes", "requested_bytes"), ("active_bytes", "footprint_bytes")],
        "samples": [("resident_bytes", "ceiling_bytes"), ("available_bytes", "ceiling_bytes")],
    ]

    func checkTables() throws(Fault) {
        for table in tables {
            let bytes = bytes("a/\(table).csv")
            try checkCells(bytes, table)
            for (part, sum) in Trial.sums[table] ?? [] { try checkSum(of: bytes, table, part, sum) }
        }
        try checkEnds()
        try checkStart()
    }

    /// What a cell holds that is no figure: the end of its type's range, or no number.
    private static let noFigures = [
        "9223372036854775807", "9223372036854775808", "18446744073709551615", ",nan", ",inf", ",-inf",
    ]

    /// No figure is the end of its type's range, or no number.
    private func checkCells(_ bytes: [UInt8], _ table: String) throws(Fault) {
        // A string would be searched letter by letter, which takes long.
        let data = Data(bytes)
        for word in Trial.noFigures {
            guard let place = data.range(of: Data(word.utf8)) else { continue }
            let index = bytes[..<place.lowerBound].reversed().prefix { $0 != UInt8(ascii: "\n") }
                .count { $0 == UInt8(ascii: ",") }
            let columns = TableReader(bytes, columns: []).columns
            let column = columns.indices.contains(index) ? columns[index] : "a column"
            throw Fault(check: .tables, kind: "\(table).csv: \(column) is no figure", text: word)
        }
    }

    private func checkSum(of bytes: [UInt8], _ table: String, _ part: String, _ sum: String) throws(Fault) {
        let read = TableReader(bytes, columns: [part, sum, "time_s"])
        guard read.columns.contains(part), read.columns.contains(sum) else { return }
        for row in read.rows {
            guard let less = Int(row[0]), let more = Int(row[1]), less > more else { continue }
            throw Fault(
                check: .tables, kind: "\(table).csv: \(part) exceeds \(sum)",
                text: "\(less) and \(more) at \(row[2]) s")
        }
    }

    /// The tables of samples end with the run.
    private func checkEnds() throws(Fault) {
        let end = last("samples")
        if let duration = world.document["duration"]?.text.flatMap({ try? TimeSpan(parsing: $0) }),
            let end, abs(end - Double(duration.microseconds) / 1_000_000) > 0.000_001
        {
            throw Fault(check: .tables, kind: "samples.csv ends early", text: "at \(end) s of \(duration)")
        }
        // cores.csv leaves out samples in which nothing has changed.
        if tables.contains("pages"), last("pages") != end {
            throw Fault(check: .tables, kind: "pages.csv lacks the last sample", text: "")
        }
    }

    private func last(_ table: String) -> Double? {
        TableReader(bytes("a/\(table).csv"), columns: ["time_s"]).rows.last.flatMap { Double($0[0]) }
    }

    // MARK: The start

    /// What is alive when the run begins is as the world says: in its band, and with what is compressed.
    private func checkStart() throws(Fault) {
        guard let entries = world.document["start"]?.elements, !entries.isEmpty else { return }
        let columns = ["time_s", "app", "band", "footprint_bytes"]
        let rows = TableReader(bytes("a/apps.csv"), columns: columns).rows.prefix { $0[0] == "0" }
        // What happens at the very beginning changes what a process is in.
        let events = TableReader(bytes("a/events.csv"), columns: ["time_s", "app", "event"]).rows
        let busy = Set(events.prefix { $0[0] == "0" }.filter { $0[2] != "state" }.map { $0[1] })
        for entry in entries {
            guard let name = entry["process"]?.text, !busy.contains(name), busy.isEmpty || isApp(name),
                let row = rows.first(where: { $0[1] == name })
            else { continue }
            if let band = entry["band"]?.text, band != "none", entry["state"]?.text != "front", row[2] != band {
                throw Fault(
                    check: .tables, kind: "a start is in another band", text: "\(name): \(row[2]) and not \(band)")
            }
            try checkFootprint(of: entry, row[3])
        }
        try checkCompressed(entries.filter { !busy.contains($0["process"]?.text ?? "") })
    }

    private func isApp(_ name: String) -> Bool {
        (world.document["apps"]?.elements ?? []).contains { $0["name"]?.text == name }
    }

    /// Sizes of a scale model are rounded; only whole devices are looked at.
    private var isScaled: Bool {
        world.options.scale != nil || world.document["scale"] != nil || world.document["device"]?["scale"] != nil
    }

    private func checkFootprint(of entry: Tree, _ cell: String) throws(Fault) {
        guard !isScaled, let stated = entry["footprint"]?.text.flatMap({ try? ByteCount(parsing: $0) }),
            let held = Int(cell), abs(held - stated.bytes) > max(256 << 10, stated.bytes / 50)
        else { return }
        let name = entry["process"]?.text ?? ""
        throw Fault(check: .tables, kind: "a start holds another footprint", text: "\(name): \(held) and not \(stated)")
    }

    private func checkCompressed(_ entries: [Tree]) throws(Fault) {
        guard !isScaled, tables.contains("pages"),
            let first = TableReader(bytes("a/pages.csv"), columns: ["time_s", "compressed_bytes"]).rows.first,
            first[0] == "0", let held = Int(first[1])
        else { return }
        var stated = 0
        for entry in entries {
            let bytes = entry["compressed"]?.text.flatMap { try? ByteCount(parsing: $0) }?.bytes ?? 0
            let whole = entry["footprint"]?.text.flatMap { try? ByteCount(parsing: $0) }?.bytes ?? bytes
            stated += max(0, min(bytes, whole) - max(256 << 10, bytes / 50))
        }
        guard held < stated else { return }
        throw Fault(
            check: .tables, kind: "a start has less compressed than it says", text: "\(held) of at least \(stated)")
    }
}
