import Foundation
import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import Simulation
import TestSupport
import Testing
import Workload

@testable import Interchange

/// A busy run on the accounting backend: launches, two scenes, warnings, disconnections, kills.
private func busyTables(_ compressor: CompressorSettings? = nil) throws -> RunTrace.Tables {
    let apps = (0..<8).map { index in
        AppProfile(
            name: index == 3 ? "odd \"name\"\\ <b>" : "app\(index)", like: "test", scenes: SceneSupport(),
            backgroundModes: [],
            memory: MemoryProfile(
                base: .mebibytes(6), scene: .mebibytes(2),
                cache: CacheProfile(size: .mebibytes(4), rate: ByteRate(bytesPerSecond: 4 << 20)),
                objects: .uniform(lowest: ByteCount(64), highest: .kibibytes(32))),
            costs: CallbackCosts(), background: BackgroundDiscipline(work: .seconds(1), snapshot: .mebibytes(1)),
            warnings: WarningDiscipline(), limits: ProcessLimits())
    }
    let user = (0..<24).map {
        UserEntry.once(.launch(AppID($0 % 8)), at: Instant(microseconds: Int64($0) * 5_000_000))
    }
    var plan = RunPlan(
        name: "trace", seed: 1, duration: .seconds(130),
        device: Device(ceiling: .mebibytes(64), reserved: .mebibytes(4)), monitor: .brisk,
        policy: PolicySettings(name: "ladder"), limits: Limits(), apps: apps, user: user, backend: .accounting)
    plan.device.compressor = compressor
    let memory = try plan.makeDevice()
    let sinks = RunSinks { _ in MemorySink() }
    _ = try Simulation(plan, memory: memory, sinks: sinks).run()
    func bytes(_ sink: any ByteSink) -> [UInt8] { (sink as? MemorySink)?.bytes ?? [] }
    return RunTrace.Tables(
        samples: bytes(sinks[RunTables.samples]), apps: bytes(sinks[RunTables.apps]),
        events: bytes(sinks[RunTables.events]),
        launches: bytes(sinks[RunTables.launches]), cores: bytes(sinks[RunTables.cores]),
        pages: bytes(sinks[RunTables.pages]))
}

/// An event as a viewer parses it.
private struct Event {
    let kind, name, category: String
    let at, process, thread: Int
    let id: Int?
    let arguments: [String: Any]

    init(_ object: [String: Any]) throws {
        kind = try #require(object["ph"] as? String)
        name = try #require(object["name"] as? String)
        category = try #require(object["cat"] as? String)
        at = try #require(object["ts"] as? Int)
        process = try #require(object["pid"] as? Int)
        thread = try #require(object["tid"] as? Int)
        id = object["id"] as? Int
        arguments = object["args"] as? [String: Any] ?? [:]
    }

    static func all(in json: [UInt8]) throws -> [Event] {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        return try #require(root["traceEvents"] as? [[String: Any]]).map(Event.init)
    }
}

@Suite("the trace of a run, held against the rules of the format")
struct RunTraceTests {
    @Test("it is valid JSON in the order of time, names first, and every app has a name")
    func order() throws {
        let events = try Event.all(in: RunTrace.json(of: busyTables()))
        #expect(events.count > 500)
        let names = events.prefix { $0.kind == "M" }
        #expect(!events.dropFirst(names.count).contains { $0.kind == "M" })
        let times = events.map(\.at)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
        let named = Set(names.filter { $0.name == "process_name" }.map(\.process))
        #expect(events.allSatisfy { named.contains($0.process) })
        #expect(names.contains { $0.arguments["name"] as? String == "odd \"name\"\\ <b>" })
        let kinds = Set(events.map(\.kind))
        #expect(kinds == ["M", "B", "E", "b", "e", "i", "C"])
    }

    @Test("on every track each begin has its end, properly nested")
    func nesting() throws {
        var open: [String: [Event]] = [:]
        var deepest = 0
        for event in try Event.all(in: RunTrace.json(of: busyTables())) where "BE".contains(event.kind) {
            let track = "\(event.process)/\(event.thread)"
            if event.kind == "B" {
                open[track, default: []].append(event)
                deepest = max(deepest, open[track, default: []].count)
            } else {
                let popped = open[track]?.popLast()
                let last = try #require(popped, "an end without begin on \(track)")
                #expect(last.name == event.name && last.at <= event.at)
            }
        }
        #expect(open.values.allSatisfy { $0.isEmpty })
        // The three levels are a process, its state, and a callback in that state.
        #expect(deepest == 3)
    }

    @Test("launches begin and end once, under ids of their own")
    func launches() throws {
        let tables = try busyTables()
        let events = try Event.all(in: RunTrace.json(of: tables)).filter { "be".contains($0.kind) }
        let begun = events.filter { $0.kind == "b" }.map(\.id)
        let ended = events.filter { $0.kind == "e" }.map(\.id)
        #expect(Set(begun).count == begun.count && Set(begun) == Set(ended) && begun.count == ended.count)
        let ready = TableRow.all(in: tables.launches).filter { !$0["ready_s"].isEmpty }
        #expect(begun.count == ready.count && !begun.isEmpty)
    }

    @Test("warnings, kills and actions are instants with their reasons, as many as in events.csv")
    func instants() throws {
        let tables = try busyTables()
        let events = try Event.all(in: RunTrace.json(of: tables)).filter { $0.kind == "i" }
        let rows = TableRow.all(in: tables.events)
        for (category, kind) in [("warning", "warning"), ("kill", "exit"), ("action", "action")] {
            let found = events.filter { $0.category == category }
            #expect(found.count == rows.count { $0["event"] == kind } && !found.isEmpty, "\(category)")
            #expect(found.allSatisfy { !($0.arguments["reason"] as? String ?? "").isEmpty }, "\(category)")
        }
    }

    @Test("at every sample, as many apps are in each state as samples.csv says")
    func stateTotals() throws {
        let tables = try busyTables()
        let slices = try Event.all(in: RunTrace.json(of: tables)).filter { $0.category == "state" }
        let groups = ["active": 0, "inactive": 0, "background": 1, "suspended": 2]
        var counts = [0, 0, 0]
        var position = 0
        var compared = 0
        func advance(while isDue: (Int) -> Bool) {
            while position < slices.count, isDue(slices[position].at) {
                if let group = groups[slices[position].name] {
                    counts[group] += slices[position].kind == "B" ? 1 : -1
                }
                position += 1
            }
        }
        for row in TableRow.all(in: tables.samples) {
            let at = try #require(RunTrace.microseconds(row["time_s"]))
            advance { $0 < at }
            let before = counts
            // A change at the instant of a sample may come before or after it, so only samples without one are
            // compared.
            guard position == slices.count || slices[position].at > at else { continue }
            let sampled = ["apps_foreground", "apps_background", "apps_suspended"].map { row.integer($0) }
            #expect(before == sampled, "at \(row["time_s"]) s")
            compared += 1
        }
        #expect(compared > 2_000)
    }

    @Test("counters show the device's memory stacked up to the ceiling, and an app's as zero when it is gone")
    func counters() throws {
        let events = try Event.all(in: RunTrace.json(of: busyTables())).filter { $0.kind == "C" }
        let memory = events.filter { $0.name == "memory" }
        let totals = memory.map { $0.arguments.values.compactMap { $0 as? Int }.reduce(0, +) }
        #expect(Set(totals) == [64 << 20])
        #expect(events.contains { $0.name == "footprint" && $0.arguments["bytes"] as? Int == 0 })
    }

    @Test("with a compressor, counters show what is in RAM up to the ceiling, and what is compressed")
    func pages() throws {
        let events = try Event.all(in: RunTrace.json(of: busyTables(CompressorSettings()))).filter { $0.kind == "C" }
        let memory = events.filter { $0.name == "in RAM" }
        let totals = memory.map { $0.arguments.values.compactMap { $0 as? Int }.reduce(0, +) }
        // The system has 4 MiB.
        #expect(Set(totals) == [60 << 20])
        #expect(memory.contains { ($0.arguments["compressor"] as? Int ?? 0) > 1 << 20 })
        #expect(events.contains { $0.name == "compressed pages" && ($0.arguments["bytes"] as? Int ?? 0) > 4 << 20 })
        #expect(try !Event.all(in: RunTrace.json(of: busyTables())).contains { $0.name == "in RAM" })
    }

    @Test("counters of the cores hold from sample to sample, and add up to what cores.csv says")
    func cores() throws {
        let tables = try busyTables()
        let events = try Event.all(in: RunTrace.json(of: tables)).filter { $0.name == "cores busy (thousandths)" }
        let rows = TableRow.all(in: tables.cores)
        #expect(events.count > 20 && rows.count > 100)
        for service in ["user_interactive", "background"] {
            var given = 0.0
            for (event, next) in zip(events, events.dropFirst().map(\.at) + [130_000_000]) {
                let value = try #require(event.arguments[service] as? Int)
                #expect(0...2_000 ~= value)
                given += Double(value * (next - event.at)) / 1_000_000
            }
            let expected = rows.reduce(0) { $0 + ($1.number("given_\(service)_ms") ?? 0) }
            #expect(expected > 0 && abs(given - expected) < 0.02 * expected, "\(service): \(given), not \(expected)")
        }
        // No work of this class ever ran.
        #expect(events.allSatisfy { $0.arguments["default"] == nil })
    }

    @Test("a run without a table of cores has no counters of them, and one without samples has the same time")
    func olderRuns() throws {
        var tables = try busyTables()
        func cores() throws -> [Event] {
            try Event.all(in: RunTrace.json(of: tables)).filter { $0.name.hasPrefix("cores busy") }
        }
        let whole = try cores()
        tables.samples = []
        #expect(try cores().first?.at == whole.first?.at)
        tables.cores = []
        #expect(try cores().isEmpty && !whole.isEmpty)
    }

    @Test("a run that was cut off anywhere still gives a trace whose slices are closed")
    func cutOff() throws {
        var tables = try busyTables()
        for share in [0, 1, 333, 777] {
            tables.events = Array(tables.events.prefix(tables.events.count * share / 1000))
            var depth = 0
            for event in try Event.all(in: RunTrace.json(of: tables)) {
                if event.kind == "B" { depth += 1 } else if event.kind == "E" { depth -= 1 }
            }
            #expect(depth == 0)
        }
    }

    @Test(
        "a table of events without the columns of facts gives the same trace, and nonsense for people the same slices")
    func facts() throws {
        var tables = try busyTables()
        let whole = RunTrace.json(of: tables)
        let columns = TableReader(tables.events, columns: []).columns
        let rows = TableReader(tables.events, columns: columns).rows
        func written(_ columns: [String], _ rows: [[String]]) -> [UInt8] {
            let lines = ([columns] + rows).map { row in
                row.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",") + "\n"
            }
            return Array(lines.joined().utf8)
        }
        tables.events = written(Array(columns.prefix(7)), rows.map { Array($0.prefix(7)) })
        #expect(RunTrace.json(of: tables) == whole)

        let position = Dictionary(uniqueKeysWithValues: zip(columns, columns.indices))
        let (event, detail, reason) = try (
            #require(position["event"]), #require(position["detail"]), #require(position["reason"])
        )
        let nonsense = rows.enumerated().map { number, row in
            var row = row
            row[reason] = "nonsense \(number)"
            if ["process_state", "scene_state", "pressure_level", "warning", "action", "exit"].contains(row[event]) {
                row[detail] = row[reason]
            }
            return row
        }
        tables.events = written(columns, nonsense)
        func names(_ json: [UInt8]) throws -> [String] { try Event.all(in: json).map { "\($0.at) \($0.name)" } }
        #expect(try names(RunTrace.json(of: tables)) == names(whole))
    }

    @Test("the same run gives the same bytes")
    func determinism() throws {
        let once = try RunTrace.json(of: busyTables())
        let again = try RunTrace.json(of: busyTables())
        #expect(once == again)
    }

    @Test(
        "seconds are read exactly",
        arguments: [("0", 0), ("1.5", 1_500_000), ("0.000001", 1), ("12.345678", 12_345_678)])
    func seconds(text: String, microseconds: Int) {
        #expect(RunTrace.microseconds(text) == microseconds)
        #expect(RunTrace.microseconds("x") == nil && RunTrace.microseconds("") == nil)
    }
}
