import Memory
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// Memory that the system wires over time, and the system's own files. `runToEnd` checks every invariant at every
/// sample, where the pages are after every event, and that nothing is left at the end.
@Suite("what the system wires, and its own files", .serialized)
struct WiredMemoryTests {
    /// Apps that come one after the other, none of which gives memory back.
    private func plan(
        _ backend: MemoryBackend, ceiling: ByteCount, apps: Int = 2, wired: [(Int64, Int)] = [],
        _ change: (inout RunPlan) -> Void = { _ in }
    ) -> RunPlan {
        let apps = (0..<apps).map { index in
            testApp("a\(index)") {
                $0.memory.base = .mebibytes(8)
                $0.background.frees = .zero
            }
        }
        let user = apps.indices.map { (Double($0) * 2, UserAction.launch(AppID($0))) }
        return testPlan(apps, ceiling: ceiling, seconds: 60, policy: "none", user: user) {
            $0.backend = backend
            $0.device.wired = wired.map { WiredPoint(at: .seconds($0), size: .mebibytes($1)) }
            change(&$0)
        }
    }

    /// A cell of the last row before this second.
    private func value(_ column: String, before second: Double, in table: String) throws -> ByteCount {
        let rows = TableRow.all(in: table)
        let row = try #require(rows.last { ($0.number("time_s") ?? .infinity) < second })
        return ByteCount(try #require(row.integer(column)))
    }

    private func reserved(before second: Double, in run: RunOutput) throws -> ByteCount {
        try value("reserved_bytes", before: second, in: run.samples)
    }

    // MARK: Wired memory

    @Test("it comes and goes at its instants, beyond what is reserved", arguments: MemoryBackend.allCases)
    func comesAndGoes(backend: MemoryBackend) throws {
        let run = try runToEnd(
            plan(backend, ceiling: .mebibytes(160), wired: [(10, 24), (20, 8), (30, 0), (40, 24), (90, 9)]))
        for (second, more) in [(9.0, 0), (15, 24), (25, 8), (35, 0), (45, 24), (59, 24)] {
            #expect(try reserved(before: second, in: run) == .mebibytes(4 + more), "before \(second) s")
        }
        let (before, after) = (
            try value("available_bytes", before: 39, in: run.samples),
            try value("available_bytes", before: 45, in: run.samples)
        )
        #expect(before - after == .mebibytes(24))
    }

    @Test("what is wired at the beginning is there at the first sample")
    func fromTheBeginning() throws {
        let run = try runToEnd(plan(.accounting, ceiling: .mebibytes(160), wired: [(0, 24)]))
        #expect(TableRow.all(in: run.samples).first?["reserved_bytes"] == "\(28 << 20)")
    }

    /// Four apps leave little free, and more is to be wired than that, until the user ends one.
    private func short(_ backend: MemoryBackend, _ change: (inout RunPlan) -> Void = { _ in }) -> RunPlan {
        plan(backend, ceiling: .mebibytes(80), apps: 4, wired: [(20, 60)]) {
            $0.user.append(.once(.quit(AppID(0)), at: .zero + .seconds(40)))
            change(&$0)
        }
    }

    @Test("it waits for memory when there is too little, and ends clean")
    func waits() throws {
        let run = try runToEnd(short(.accounting))
        let (first, second) = (try reserved(before: 39, in: run), try reserved(before: 50, in: run))
        #expect(first > .mebibytes(8) && first < .mebibytes(64), "\(first)")
        #expect(second > first + .mebibytes(4) && second < .mebibytes(64), "\(second)")
        #expect(run.tally.peakResident <= .mebibytes(80))
    }

    @Test("runs are the same on both backends, also with a compressor and files")
    func backends() throws {
        func everything(_ plan: inout RunPlan) {
            plan.device.compressor = CompressorSettings()
            plan.device.fileCache = FileCacheSettings()
            plan.device.fileCache?.system = .mebibytes(12)
        }
        let (plain, same) = (try runToEnd(short(.accounting)), try runToEnd(short(.jemalloc)))
        #expect(plain.events == same.events && plain.launches == same.launches)
        let columns = ["reserved_bytes", "available_bytes"]
        for (a, b) in zip(TableRow.all(in: plain.samples), TableRow.all(in: same.samples)) {
            #expect(columns.allSatisfy { a[$0] == b[$0] }, "at \(a["time_s"]) s")
        }
        let counted = try runToEnd(short(.accounting, everything))
        let real = try runToEnd(short(.jemalloc, everything))
        #expect(counted.pages == real.pages && counted.events == real.events)
        #expect(counted.decisions == real.decisions && counted.launches == real.launches)
    }

    @Test("a scale model wires its share", arguments: MemoryBackend.allCases)
    func scaled(backend: MemoryBackend) throws {
        let run = try runToEnd(
            plan(backend, ceiling: .mebibytes(80), wired: [(10, 12)]) {
                $0.device.scale = .percent(50)
                $0.device.reserved = .mebibytes(2)
            })
        let more = try reserved(before: 15, in: run) - .mebibytes(2)
        #expect(more >= .mebibytes(12) && more <= .mebibytes(12) + .kibibytes(4), "\(more)")
    }

    @Test("without entries nothing changes")
    func off() throws {
        let with = plan(.accounting, ceiling: .mebibytes(160), wired: [(70, 8)])
        let without = plan(.accounting, ceiling: .mebibytes(160))
        #expect(try runToEnd(with).tables == runToEnd(without).tables)
    }

    // MARK: The system's own files

    /// One app, files of 40 MiB, and for ten seconds so much wired that most of them have to go.
    private func files(_ rate: ByteRate, _ backend: MemoryBackend = .accounting) -> RunPlan {
        plan(backend, ceiling: .mebibytes(120), apps: 1, wired: [(10, 90), (20, 0)]) {
            $0.device.fileCache = FileCacheSettings()
            $0.device.fileCache?.system = .mebibytes(40)
            $0.device.fileCache?.systemReadRate = rate
        }
    }

    @Test("they are there when the run begins, are dropped, and come back at their rate, with nobody waiting")
    func dropAndReturn() throws {
        let run = try runToEnd(files(ByteRate(bytesPerSecond: 2 << 20)))
        func held(before second: Double) throws -> ByteCount {
            try value("file_backed_bytes", before: second, in: run.pages)
        }
        #expect(try held(before: 0.01) == .mebibytes(40) && held(before: 9) == .mebibytes(40))
        let least = try held(before: 19.9)
        #expect(least < .mebibytes(24), "\(least)")
        // From the instant at which they find room.
        let back = try held(before: 25) - least
        #expect(back > .mebibytes(9) && back <= .mebibytes(11), "\(back)")
        #expect(try held(before: 59) == .mebibytes(40))
        func sum(_ column: String) -> Int { run.pageRows.compactMap { $0.integer(column) }.reduce(0, +) }
        #expect(sum("file_read_bytes") == sum("file_dropped_bytes") && sum("file_read_bytes") > 0)
        #expect(sum("file_refaulted_bytes") == 0)
    }

    @Test("they stay away if nothing brings them back, and as many as fit are there when the run begins")
    func room() throws {
        let away = try runToEnd(files(.zero))
        let left = try value("file_backed_bytes", before: 59, in: away.pages)
        #expect(left < .mebibytes(24))
        var plan = files(.zero)
        plan.device.fileCache?.system = .mebibytes(400)
        let run = try runToEnd(plan)
        // 120 MiB without 4 MiB that are reserved and 4 % that are kept free; an app is being launched.
        let first = try value("file_backed_bytes", before: 0.01, in: run.pages)
        #expect(first > .mebibytes(100) && first < .mebibytes(112), "\(first)")
    }

    @Test("their tables are the same on both backends")
    func filesOnBothBackends() throws {
        let rate = ByteRate(bytesPerSecond: 3 << 20)
        let (counted, real) = (try runToEnd(files(rate)), try runToEnd(files(rate, .jemalloc)))
        #expect(counted.pages == real.pages && counted.launches == real.launches && counted.events == real.events)
    }
}
