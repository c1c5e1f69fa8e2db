import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// A row of `apps.csv`.
private struct AppRow: Equatable {
    let time, pid: String
    /// All cells but the time.
    let rest: [String]

    static func all(in output: RunOutput) -> [AppRow] {
        TableRow.all(in: output.apps).map {
            AppRow(time: $0["time_s"], pid: $0["pid"], rest: $0.texts(besides: "time_s"))
        }
    }
}

@Suite("rows of apps.csv")
struct AppRowsTests {
    private func plan(_ seed: UInt64, _ rows: AppRows) -> RunPlan {
        let apps = (0..<6).map { number in
            testApp("app\(number)") { if number == 1 { $0.backgroundModes = [.audio] } }
        }
        return testPlan(apps, ceiling: .mebibytes(44), seconds: 300, seed: seed, user: []) {
            $0.user = [.model(.commuter, from: .zero, until: .zero + .seconds(300))]
            $0.backend = .accounting
            $0.appRows = rows
        }
    }

    /// The rows of every sample, reconstructed from the rows of changed processes: a process without a row is unchanged
    /// until it exits.
    private func filled(_ output: RunOutput) -> [AppRow] {
        var exits: [String: Double] = [:]
        for row in output.eventRows where row.event == "exit" { exits[row.pid] = Double(row.time) }
        var changed = AppRow.all(in: output)[...]
        var last: [AppRow] = []
        var rows: [AppRow] = []
        for time in TableRow.all(in: output.samples).map({ $0["time_s"] }) {
            while let row = changed.first, row.time == time {
                changed.removeFirst()
                last.removeAll { $0.pid == row.pid }
                last.append(row)
            }
            last.removeAll { (exits[$0.pid] ?? .infinity) <= (Double(time) ?? 0) }
            last.sort { (Int($0.pid) ?? 0) < (Int($1.pid) ?? 0) }
            rows += last.map { AppRow(time: time, pid: $0.pid, rest: $0.rest) }
        }
        return rows
    }

    @Test(
        "those of the changed processes say everything that those of all say", arguments: 1...6 as ClosedRange<UInt64>)
    func changed(seed: UInt64) throws {
        let all = try runToEnd(plan(seed, .all))
        let changed = try runToEnd(plan(seed, .changed))
        #expect(changed.apps.utf8.count * 3 < all.apps.utf8.count)
        #expect(changed.samples == all.samples && changed.events == all.events && changed.summary == all.summary)
        // A process that exits at the instant of a sample may or may not appear in it, depending on the order at that
        // instant.
        let exits = Set(all.eventRows.filter { $0.event == "exit" }.map { "\($0.time) \($0.pid)" })
        func certain(_ rows: [AppRow]) -> [AppRow] { rows.filter { !exits.contains("\($0.time) \($0.pid)") } }
        // Compares by hand, because a failed expectation would print megabytes.
        let (made, written) = (certain(filled(changed)), certain(AppRow.all(in: all)))
        #expect(zip(made, written).first { $0 != $1 }.map { "\($0.0) instead of \($0.1)" } == nil, "seed \(seed)")
        #expect(made.count == written.count)
    }

    @Test(
        "a run that is killed has left all rows but those of the last minutes, however many processes there are",
        arguments: [(isWatched: false, seconds: 300), (true, 30)])
    func flushed(isWatched: Bool, seconds: Int64) throws {
        let apps = (0..<200).map { number in
            testApp("app\(number)") { $0.memory = MemoryProfile(base: .kibibytes(64), scene: .zero) }
        }
        let user = apps.indices.map { (Double($0) / 20, UserAction.launch(AppID($0))) }
        let plan = testPlan(apps, ceiling: .gibibytes(1), seconds: seconds + 10, user: user) {
            $0.backend = .accounting
            $0.appRows = .changed
            $0.monitor.interval = .seconds(1)
        }
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: sinks)
        if isWatched { simulation.keepEvents() }
        var left = 0
        _ = try simulation.run(progress: { now in
            guard now < Instant.zero + .seconds(seconds + 9) else { return }
            left = (sinks[RunTables.samples] as? MemorySink)?.bytes.count { $0 == UInt8(ascii: "\n") } ?? 0
        })
        #expect(left >= seconds, "\(left) lines")
    }
}
