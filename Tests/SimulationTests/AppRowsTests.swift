import Lifecycle
import Memory
import Metrics
import Quantities
import Simulation
import Testing
import Workload

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
    private func filled(_ output: RunOutput) -> [Substring] {
        var exits: [Substring: Double] = [:]
        for row in output.eventRows where row.event == "exit" { exits[Substring(row.pid)] = Double(row.time) }
        var changed = output.apps.split(separator: "\n").dropFirst()[...]
        var last: [(pid: Substring, tail: Substring)] = []
        var rows = [output.apps.split(separator: "\n")[0]]
        for sample in output.samples.split(separator: "\n").dropFirst() {
            let time = sample.prefix { $0 != "," }
            while let row = changed.first, row.hasPrefix(time + ",") {
                changed.removeFirst()
                let pid = row.split(separator: ",")[2]
                last.removeAll { $0.pid == pid }
                last.append((pid, row.dropFirst(time.count)))
            }
            last.removeAll { (exits[$0.pid] ?? .infinity) <= (Double(time) ?? 0) }
            last.sort { (Int($0.pid) ?? 0) < (Int($1.pid) ?? 0) }
            rows += last.map { Substring(time + $0.tail) }
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
        func certain(_ rows: [Substring]) -> [Substring] {
            rows.filter { row in
                let cells = row.split(separator: ",", maxSplits: 3)
                return !exits.contains("\(cells[0]) \(cells[2])")
            }
        }
        // Compares by hand, because a failed expectation would print megabytes.
        let (made, written) = (certain(filled(changed)), certain(all.apps.split(separator: "\n")))
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
            left = (sinks.samples as? MemorySink)?.bytes.count { $0 == UInt8(ascii: "\n") } ?? 0
        })
        #expect(left >= seconds, "\(left) lines")
    }
}
