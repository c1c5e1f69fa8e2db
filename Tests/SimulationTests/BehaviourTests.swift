import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

@Suite("behaviours of an app's memory")
struct BehaviourTests {
    /// The app's requested bytes at every sample, and the times of the samples in seconds.
    private func requested(
        seconds: Int64 = 30, _ change: @escaping (inout AppProfile) -> Void
    ) throws -> [(time: Double, bytes: Int)] {
        let app = testApp("a") {
            $0.memory.cache = CacheProfile()
            change(&$0)
        }
        let plan = testPlan([app], ceiling: .mebibytes(128), seconds: seconds, user: [(0, .launch(AppID(0)))])
        return try TableRow.all(in: runToEnd(plan).apps).map { row in
            (try #require(row.number("time_s")), try #require(row.integer("requested_bytes")))
        }
    }

    private func mebibytes(_ bytes: Int) -> Double { Double(bytes) / 1_048_576 }

    @Test("a constant stays where it is")
    func constant() throws {
        let after = try requested { _ in }.filter { $0.time > 2 }
        #expect(Set(after.map(\.bytes)).count == 1)
    }

    @Test("a ramp and a leak rise by their rate; the ramp to its end")
    func ramp() throws {
        let ramp = try requested {
            $0.memory.growth = GrowthProfile(rate: .mebibytesPerSecond(1), upTo: .mebibytes(14))
        }
        let leak = try requested { $0.memory.leak = .mebibytesPerSecond(1) }
        for rows in [ramp, leak] {
            let (early, later) = (try #require(rows.first { $0.time >= 3 }), try #require(rows.first { $0.time >= 8 }))
            #expect(abs(mebibytes(later.bytes - early.bytes) - 5) < 0.3)
        }
        #expect(mebibytes(try #require(ramp.last).bytes) == 16)
        #expect(mebibytes(try #require(leak.last).bytes) > 34)
    }

    @Test("a saw-tooth falls once per period, and never stays below its start")
    func sawTooth() throws {
        let rows = try requested {
            $0.memory.sawTooth = SawToothProfile(size: .mebibytes(20), period: .seconds(5))
        }.filter { $0.time > 2 }
        let falls = zip(rows, rows.dropFirst()).filter { $1.bytes < $0.bytes - 10 << 20 }
        #expect(falls.count == 5)
        for (before, after) in falls {
            #expect(mebibytes(before.bytes) > 24 && mebibytes(after.bytes) < 8)
        }
    }

    @Test(
        "a saw-tooth never reaches more than its size, whatever its period", arguments: [1_999, 100_999, 5_000_000])
    func sawToothSize(period: Int64) {
        var tooth = MemoryProfile(base: .zero, scene: .zero)
        tooth.sawTooth = SawToothProfile(size: .mebibytes(100), period: TimeSpan(microseconds: period))
        // The gain just before the fall is the size less the amount held then.
        let last = TimeSpan(microseconds: period - 1)
        let held = ByteCount.mebibytes(100) - tooth.gain(from: last, over: .zero, cache: .zero)
        #expect(held <= .mebibytes(100) && held >= .mebibytes(99))
    }

    @Test("a burst arrives, stays and goes")
    func burst() throws {
        let rows = try requested {
            $0.memory.bursts = [
                BurstProfile(after: .seconds(5), size: .mebibytes(30), over: .seconds(1), hold: .seconds(4))
            ]
        }
        let high = rows.filter { mebibytes($0.bytes) > 35.9 }
        let span = try #require(high.last).time - (try #require(high.first).time)
        #expect(span > 3.5 && span < 4.5)
        #expect(mebibytes(try #require(rows.last).bytes) == 6)
    }

    @Test("a full cache keeps turning over at its rate, at the same size; without turnover it rests")
    func turnover() throws {
        func objects(_ turnover: ByteRate) throws -> (sizes: Set<String>, counts: Set<String>) {
            let app = testApp("a") {
                $0.memory.cache = CacheProfile(size: .mebibytes(4), rate: .mebibytesPerSecond(8), turnover: turnover)
            }
            let plan = testPlan([app], ceiling: .mebibytes(128), seconds: 20, user: [(0, .launch(AppID(0)))])
            let later = TableRow.all(in: try runToEnd(plan).apps).filter { ($0.number("time_s") ?? 0) > 5 }
            return (Set(later.map { $0["cache_bytes"] }), Set(later.map { $0["objects"] }))
        }
        let (resting, turning) = try (objects(.zero), try objects(.mebibytesPerSecond(2)))
        #expect(resting.counts.count == 1)
        #expect(turning.counts.count > 20)
        for size in turning.sizes { #expect(abs((Int(size) ?? 0) - 4 << 20) < 100_000) }
    }

    @Test("the scene in front grows to its size; it begins anew after a disconnect")
    func sceneGrowth() throws {
        let rows = try requested {
            $0.memory.sceneGrowth = GrowthProfile(rate: .mebibytesPerSecond(1), upTo: .mebibytes(10))
        }
        #expect(mebibytes(try #require(rows.last).bytes) == 14)
    }

    @Test("churn holds its rate times its lifetime")
    func churn() throws {
        let rows = try requested {
            $0.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(2), lifetime: .seconds(3))
        }
        #expect(abs(mebibytes(try #require(rows.last).bytes) - 12) < 0.3)
    }

    @Test("rounding, fragmentation and dirt are shares of what all processes held, over all samples")
    func ratios() throws {
        let app = testApp("a") {
            // Each object has a size class of 24 KiB and, like every large object, one additional page.
            $0.memory.objects = .constant(ByteCount(20_481))
            $0.memory.churn = ChurnProfile(rate: .mebibytesPerSecond(4), lifetime: .seconds(1))
        }
        let plan = testPlan([app], ceiling: .mebibytes(128), seconds: 30, user: [(0, .launch(AppID(0)))])
        let run = try runToEnd(plan)
        let names = ["active_bytes", "dirty_bytes", "requested_bytes", "usable_bytes"]
        var sums = [0.0, 0, 0, 0]
        for row in TableReader(Array(run.apps.utf8), columns: names).rows {
            for (index, cell) in row.enumerated() { sums[index] += try #require(Double(cell)) }
        }
        let (active, dirty, requested, usable) = (sums[0], sums[1], sums[2], sums[3])
        let expected = [
            "rounding_ratio": 1 - requested / usable, "fragmentation_ratio": 1 - usable / active,
            "dirty_ratio": dirty / (active + dirty),
        ]
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
            let cell = TableReader(Array(run.summary.utf8), columns: [name]).rows.first?.first ?? ""
            let written = try #require(Double(cell))
            #expect(abs(written - value) < 0.000_002, "\(name)")
        }
        #expect(abs(1 - requested / usable - (1 - 20_481.0 / 24_576)) < 0.01)
        #expect(abs(1 - usable / active - (1 - 24_576.0 / 28_672)) < 0.02)
        #expect(dirty > 0)
    }

    @Test("shares of nothing are absent, not zero")
    func ratiosOfNothing() throws {
        let run = try runToEnd(testPlan([testApp("a")], seconds: 2, user: []))
        let names = ["rounding_ratio", "fragmentation_ratio", "dirty_ratio"]
        #expect(TableReader(Array(run.summary.utf8), columns: names).rows == [["", "", ""]])
    }

    @Test("reading and rewriting go on at their rates")
    func use() throws {
        let app = testApp("a") {
            $0.memory.read = .mebibytesPerSecond(3)
            $0.memory.touch = .mebibytesPerSecond(2)
        }
        let tally = try runToEnd(testPlan([app], seconds: 20, user: [(0, .launch(AppID(0)))])).tally
        // The launch takes about a second.
        #expect(abs(mebibytes(tally.use.read.bytes) - 57) < 4)
        #expect(abs(mebibytes(tally.use.rewritten.bytes) - 38) < 3)
    }

    @Test("what an app forgets of a disconnected scene stays until its process ends")
    func disconnect() throws {
        func held(_ frees: Ratio, ignores: Ratio) throws -> Int {
            let app = testApp("a") {
                $0.scenes.multiple = true
                $0.memory.cache = CacheProfile()
                $0.disconnect = DisconnectDiscipline(frees: frees, ignores: ignores)
            }
            let plan = testPlan(
                [app], ceiling: .mebibytes(128), seconds: 20,
                user: [(0, .launch(AppID(0))), (5, .openScene(AppID(0))), (10, .closeScene(AppID(0)))])
            return try #require(TableRow.all(in: try runToEnd(plan).apps).last?.integer("requested_bytes"))
        }
        let whole = try held(.one, ignores: .zero)
        #expect(mebibytes(try held(.one, ignores: .one) - whole) == 2)
        #expect(abs(mebibytes(try held(.percent(50), ignores: .zero) - whole) - 1) < 0.05)
    }

    @Test("an app that ignores its duty off screen keeps its cache; one that is slow frees it later")
    func background() throws {
        func freed(_ change: @escaping (inout AppProfile) -> Void) throws -> Double? {
            let app = testApp("a") {
                $0.memory.cache.rate = .mebibytesPerSecond(8)
                $0.background.frees = .one
                change(&$0)
            }
            let plan = testPlan(
                [app], ceiling: .mebibytes(128), seconds: 20, user: [(0, .launch(AppID(0))), (5, .home)])
            let rows = TableRow.all(in: try runToEnd(plan).apps)
            return rows.first { ($0.number("time_s") ?? 0) > 5 && $0["cache_bytes"] == "0" }?.number("time_s")
        }
        let prompt = try #require(try freed { _ in })
        #expect(try freed { $0.background.ignores = .one } == nil)
        #expect(try #require(try freed { $0.background.delay = .seconds(2) }) - prompt > 1.9)
    }

    @Test("the cache belongs to all scenes: the last to leave the screen frees it, the first to return reloads it")
    func backgroundOfSeveralScenes() throws {
        let app = AppID(0)
        let profile = testApp("a") {
            $0.scenes.multiple = true
            $0.memory.cache.rate = .mebibytesPerSecond(8)
            // The delay lets only the reload bring back the dropped part.
            $0.costs.activate = .seconds(2)
            $0.background.frees = .percent(50)
            $0.background.reloads = .one
        }
        func caches(_ user: [(Double, UserAction)]) throws -> (Double) -> Double {
            let plan = testPlan(
                [profile], ceiling: .mebibytes(128), seconds: 60, user: [(0, .launch(app))] + user)
            let rows = TableRow.all(in: try runToEnd(plan).apps)
            return { time in
                (rows.last { ($0.number("time_s") ?? 0) <= time }?.number("cache_bytes") ?? -1) / 1_048_576
            }
        }
        let external = try caches([(10, .showOnDisplay(app)), (20, .lock(lasting: .seconds(20)))])
        #expect(abs(external(19) - 4) < 0.1 && abs(external(39) - 2) < 0.1 && abs(external(41) - 4) < 0.1)
        // The app stays on the screen while it changes from one scene to another.
        let second = try caches([(20, .openScene(app))])
        for time in stride(from: 20.0, through: 30, by: 0.1) { #expect(abs(second(time) - 4) < 0.1) }
    }
}

extension ByteRate {
    fileprivate static func mebibytesPerSecond(_ count: Int) -> ByteRate { ByteRate(bytesPerSecond: count << 20) }
}

@Suite("many apps")
struct ManyAppsTests {
    @Test("a thousand apps live at the same time")
    func thousand() throws {
        let apps = (0..<1_000).map { index in
            testApp("app \(index)") {
                $0.memory = MemoryProfile(base: .kibibytes(64), scene: .kibibytes(16))
                $0.costs = CallbackCosts(process: .milliseconds(1), launch: .milliseconds(1))
                $0.background = BackgroundDiscipline(work: .milliseconds(100), snapshot: .zero)
            }
        }
        let user = apps.indices.map { (Double($0) * 0.01, UserAction.launch(AppID($0))) }
        let plan = testPlan(apps, ceiling: .gibibytes(1), seconds: 20, user: user) {
            $0.monitor.interval = .seconds(5)
            // On fewer cores the first launches starve, and the watchdog ends them.
            $0.device.cores = 64
        }
        let output = try runToEnd(plan)
        #expect(TableRow.all(in: output.samples).last?["processes"] == "1000")
        #expect(output.tally.terminations.isEmpty)
    }
}
