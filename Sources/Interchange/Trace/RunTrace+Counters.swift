import Metrics
import Pressure
import Scenario

// Turns samples.csv, apps.csv and cores.csv into counters, and launches.csv into spans.
extension RunTrace {
    /// Adds counters for the device's memory (stacked up to the ceiling), the level as a number, and stall shares if
    /// present.
    mutating func addSamples(_ bytes: [UInt8]) {
        let fixed = ["time_s", "reserved_bytes", "active_bytes", "dirty_bytes", "available_bytes", "pressure_level"]
        let stalls = TableReader(bytes, columns: []).columns.filter { $0.hasPrefix("psi_") }
        let levels = PressureLevel.allCases.map(\.rawValue)
        let device = TraceTrack(process: 1, thread: 0)
        var last: [String: [Int]] = [:]
        for row in TableReader(bytes, columns: fixed + stalls).rows {
            guard let at = RunTrace.microseconds(row[0]) else { continue }
            end = max(end, at)
            samples.append(at)
            let memory = row[1...4].map { Int($0) ?? 0 }
            count("memory", on: device, at: at, ["system", "active", "dirty", "available"], memory, &last)
            if let level = levels.firstIndex(of: row[5]) {
                count("pressure level (0 to 2)", on: device, at: at, ["level"], [level], &last)
            }
            for (name, cell) in zip(stalls, row[6...]) {
                // The cell has six decimals, so as a whole number it is in parts per million.
                guard let value = RunTrace.microseconds(cell) else { continue }
                count("\(name) (millionths)", on: device, at: at, [name], [value], &last)
            }
        }
    }

    /// Adds what is in RAM beside the system, which adds up to the rest of the ceiling, and how much is compressed.
    /// Only runs with kinds of pages have the table.
    mutating func addPages(_ bytes: [UInt8]) {
        let columns = [
            "time_s", "resident_bytes", "pool_bytes", "file_backed_bytes", "free_bytes", "compressed_bytes",
        ]
        let device = TraceTrack(process: 1, thread: 0)
        var last: [String: [Int]] = [:]
        for row in TableReader(bytes, columns: columns).rows {
            guard let at = RunTrace.microseconds(row[0]) else { continue }
            let pages = row[1...5].map { Int($0) ?? 0 }
            let series = ["resident", "compressor", "files", "free"]
            count("in RAM", on: device, at: at, series, Array(pages[0..<4]), &last)
            count("compressed pages", on: device, at: at, ["bytes"], [pages[4]], &last)
        }
    }

    /// Adds how many cores worked for each class, and how many pieces of its work waited: averages, in thousandths.
    /// Classes without any work are left out.
    ///
    /// A row tells of the time since the sample before it, so its values count from that sample on. A sample without a
    /// row was idle; the first of these has a row of zeros.
    mutating func addCores(_ bytes: [UInt8]) {
        let columns = TableReader(bytes, columns: []).columns
        for (prefix, name) in [("given_", "cores busy"), ("waited_", "pieces of work that wait")] {
            let series = columns.filter { $0.hasPrefix(prefix) && $0.hasSuffix("_ms") }
            let rows = TableReader(bytes, columns: ["time_s"] + series).rows
            let used = series.indices.filter { index in rows.contains { $0[index + 1] != "0" } }
            guard !used.isEmpty else { continue }
            let classes = used.map { String(series[$0].dropFirst(prefix.count).dropLast(3)) }
            var last: [String: [Int]] = [:]
            var (begin, sample) = (0, 0)
            for row in rows {
                guard let at = RunTrace.microseconds(row[0]), at > begin else { continue }
                while sample < samples.count, samples[sample] < at {
                    begin = max(begin, samples[sample])
                    sample += 1
                }
                let values = used.map { index in
                    // A cell in milliseconds, read as seconds, is in billionths of a second.
                    (RunTrace.microseconds(row[index + 1]) ?? 0) / (at - begin)
                }
                let device = TraceTrack(process: 1, thread: 0)
                count("\(name) (thousandths)", on: device, at: begin, classes, values, &last)
                begin = at
            }
        }
    }

    /// Adds each app's footprint, and zero once its process is gone.
    mutating func addFootprints(_ bytes: [UInt8]) {
        var last: [String: [Int]] = [:]
        var living: [String] = []
        var seen: Set<String> = []
        var now = 0
        for row in TableReader(bytes, columns: ["time_s", "app", "footprint_bytes"]).rows {
            guard let at = RunTrace.microseconds(row[0]), let footprint = Int(row[2]) else { continue }
            if at != now {
                endFootprints(of: living, besides: seen, at: now, &last)
                (living, seen, now) = (living.filter(seen.contains), [], at)
            }
            if !living.contains(row[1]) { living.append(row[1]) }
            seen.insert(row[1])
            let track = TraceTrack(process: number(of: row[1]), thread: 0)
            count("footprint", on: track, at: at, ["bytes"], [footprint], &last)
        }
        endFootprints(of: living, besides: seen, at: now, &last)
        // No row follows, so no process is alive any more.
        if now < end { endFootprints(of: living, besides: [], at: end, &last) }
    }

    private mutating func endFootprints(
        of living: [String], besides seen: Set<String>, at now: Int, _ last: inout [String: [Int]]
    ) {
        for app in living where !seen.contains(app) {
            count(
                "footprint", on: TraceTrack(process: number(of: app), thread: 0), at: now, ["bytes"], [0], &last)
        }
    }

    /// Adds a counter's value if it changed; a counter holds until its next value.
    private mutating func count(
        _ name: String, on track: TraceTrack, at now: Int, _ series: [String], _ values: [Int],
        _ last: inout [String: [Int]]
    ) {
        let key = "\(track.process) \(name)"
        guard last[key] != values else { return }
        last[key] = values
        events.append(
            TraceEvent(
                kind: .counter, microseconds: now, track: track, name: name, category: "counter",
                arguments: zip(series, values).map { JSON.Member(key: $0, value: .whole($1)) }))
    }

    /// A launch overlaps the states of its app and of others, so it is a span with an id, not a slice.
    mutating func addLaunches(_ bytes: [UInt8]) {
        let columns = ["app", "kind", "tapped_s", "ready_s", "latency_ms", "outcome"]
        for (index, row) in TableReader(bytes, columns: columns).rows.enumerated() {
            guard let tapped = RunTrace.microseconds(row[2]), let ready = RunTrace.microseconds(row[3]) else {
                continue
            }
            end = max(end, ready)
            var event = TraceEvent(
                kind: .asyncBegin, microseconds: tapped, track: TraceTrack(process: number(of: row[0]), thread: 1),
                name: "\(row[1]) launch", category: "launch", id: index + 1,
                arguments: [
                    JSON.Member(key: "latency_ms", value: .string(row[4])),
                    JSON.Member(key: "outcome", value: .string(row[5])),
                ])
            events.append(event)
            event.kind = .asyncEnd
            event.microseconds = ready
            event.arguments = []
            events.append(event)
        }
    }
}
