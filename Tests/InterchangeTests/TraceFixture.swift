import Foundation
import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Scenario
import Simulation
import TestSupport
import Workload

@testable import Interchange

/// Small traces in files of their own, handmade or drawn from a seed.
enum TraceFixture {
    /// Every operation at least once; identifiers recur after their free; the last line has no newline.
    static let byHand = """
        1: malloc 0x10 100
        1: calloc 0x20 4 25
        2: realloc 0x30 0x0 50 100 200
        2: memalign 0x40 64 200
        1: realloc 0x50 0x10 300
        1: free 0x0
        2: free 0x20
        2: malloc 0x20 0
        2: thread_done 0x0
        1: realloc 0x30 0x30 5000
        1: free 0x40
        """

    static func write(_ text: String, to name: String = "trace.txt") throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plimsoll-trace-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file
    }

    static func remove(_ file: URL) { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }

    /// A seeded trace of about `count` operations over a small set of identifiers.
    static func random(seed: UInt64, count: Int) -> String {
        var random = SeededGenerator(seed: seed, stream: "trace")
        var live: [Int] = []
        var idle = Array(1...4_000)
        var lines: [String] = []
        func name(_ id: Int) -> String { "0x" + String(id * 16, radix: 16) }
        func take(_ list: inout [Int]) -> Int {
            let index = random.number(in: 0...list.count - 1)
            list.swapAt(index, list.count - 1)
            return list.removeLast()
        }
        func size() -> Int {
            let largest = random.chance(.percent(5)) ? 60_000 : 900
            return random.number(in: 1...random.number(in: 1...largest))
        }
        while lines.count < count {
            let thread = random.number(in: 1...9)
            switch random.number(in: 0...9) {
            case 0...4 where !idle.isEmpty:
                let id = take(&idle)
                live.append(id)
                let forms = [
                    "malloc \(name(id)) \(size())", "calloc \(name(id)) \(random.number(in: 1...4)) \(size())",
                    "memalign \(name(id)) \(1 << random.number(in: 3...12)) \(size())",
                    "realloc \(name(id)) 0x0 \(size())",
                ]
                lines.append("\(thread): " + forms[random.number(in: 0...3)])
            case 5 where !live.isEmpty && !idle.isEmpty:
                let (old, new) = (take(&live), take(&idle))
                live.append(new)
                idle.append(old)
                lines.append("\(thread): realloc \(name(new)) \(name(old)) \(size())")
            case 6...8 where !live.isEmpty:
                let id = take(&live)
                idle.append(id)
                lines.append("\(thread): free \(name(id))")
            case 9: lines.append("\(thread): \(random.chance(.percent(50)) ? "free" : "thread_done") 0x0")
            default: break
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A scenario with one app that only plays the trace.
    static func scenario(
        _ trace: String, duration: String = "30s", more: String = "", device: String = "{ ceiling: 64MiB }"
    ) -> String {
        """
        plimsoll: 1
        name: replay
        duration: \(duration)
        device: \(device)
        apps:
          - name: replay
            memory: { base: 0B, scene: 0B, trace: \(trace) }
            background: { snapshot: 0B }
            \(more)
        user: [ { at: 0s, launch: replay } ]
        """
    }

    struct Output {
        let tally: RunTally
        let events, apps, samples, launches: [TableRow]

        /// The rows of `events.csv` of this kind: time, detail, reason.
        func events(_ kind: String) -> [(time: String, detail: String, reason: String)] {
            events.filter { $0["event"] == kind }.map { ($0["time_s"], $0["detail"], $0["reason"]) }
        }
    }

    static func load(_ text: String, beside file: URL) throws -> RunPlan {
        let scenario = file.deletingLastPathComponent().appending(path: "scenario.yaml")
        try Data(text.utf8).write(to: scenario)
        return try ScenarioLoader.load(path: scenario.path()).get()
    }

    static func play(_ plan: RunPlan) throws -> Output {
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        let traces = try TraceFiles(plan)
        let simulation = Simulation(plan, memory: memory, sinks: sinks, traces: traces, verify: true)
        _ = try simulation.run()
        func rows(_ sink: any ByteSink) -> [TableRow] { TableRow.all(in: (sink as? MemorySink)?.bytes ?? []) }
        return Output(
            tally: simulation.tally, events: rows(sinks[RunTables.events]), apps: rows(sinks[RunTables.apps]),
            samples: rows(sinks[RunTables.samples]), launches: rows(sinks[RunTables.launches]))
    }
}
