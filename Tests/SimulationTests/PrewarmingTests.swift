import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

/// Processes that the system launches ahead of time.
@Suite("prewarmed processes")
struct PrewarmingTests {
    private let mail = AppID(0)
    private let web = AppID(1)
    private let apps = [
        testApp("mail") {
            $0.memory.base = .mebibytes(40)
            $0.backgroundModes = [.fetch]
        },
        testApp("web"),
    ]

    private func run(_ user: [(Double, UserAction)], _ change: (inout RunPlan) -> Void = { _ in }) throws -> RunOutput {
        try live(apps, user, change)
    }

    private func refusals(_ run: RunOutput) -> [String] {
        run.eventRows.filter { $0.event == "refused" }.map { "\($0.detail) \($0.app): \($0.reason)" }
    }

    private func sample(_ run: RunOutput, at instant: Double) -> TableRow? {
        TableRow.all(in: run.apps).last { ($0.number("time_s") ?? 0) <= instant && $0["app"] == "mail" }
    }

    @Test("the process exists, holds a share of its base, and hears of nothing; a push of time passes by")
    func waits() throws {
        let run = try run([
            (1, .prewarm(mail)), (30, .timeChange(.midnight)), (40, .interrupt(.call, lasting: .seconds(2))),
        ])
        #expect(run.story(of: "mail") == ["-> prewarmed"])
        #expect(run.callbacks(of: "mail").isEmpty && run.notifications(of: "mail").isEmpty)
        let row = try #require(sample(run, at: 100))
        #expect(row["state"] == "prewarmed" && row["band"] == "0")
        let held = (row.number("footprint_bytes") ?? 0) / Double(40 << 20)
        // The rest is what the slabs of few objects leave unused.
        #expect(held > 0.3 && held < 0.4, "\(held)")
        let last = try #require(TableRow.all(in: run.samples).last)
        #expect(last["apps_suspended"] == "1" && last["apps_background"] == "0")
        #expect(run.tally.launches.isEmpty)
    }

    @Test("a tap goes on from there: a cold launch without the cost of the process, and with the rest of the base")
    func tap() throws {
        let plain = try run([(20, .launch(mail))])
        let warm = try run([(1, .prewarm(mail)), (20, .launch(mail))])
        let (before, after) = (try #require(plain.launchRows.first), try #require(warm.launchRows.first))
        #expect(before["kind"] == "cold" && before["resumed_from"].isEmpty)
        #expect(after["kind"] == "cold" && after["resumed_from"] == "prewarmed" && after["outcome"] == "ready")
        let saved = (before.number("declared_ms") ?? 0) - (after.number("declared_ms") ?? 0)
        #expect(saved == Double(CallbackCosts().process.microseconds) / 1_000)
        #expect((after.number("fill_ms") ?? 0) < (before.number("fill_ms") ?? 0))
        #expect(after.number("earlier_work_ms") == 0)
        #expect(warm.callbacks(of: "mail") == plain.callbacks(of: "mail"))
        let (one, other) = (try #require(sample(plain, at: 60)), try #require(sample(warm, at: 60)))
        #expect(abs((one.number("footprint_bytes") ?? 0) - (other.number("footprint_bytes") ?? 0)) < 300_000)
        // It was never launched before, so that this is its first launch.
        #expect(warm.rows("launch", of: "mail").first?.reason == "userTap; first launch ever")
    }

    @Test("a tap while the process is still being created waits for that, as for any earlier work")
    func early() throws {
        let run = try run([(1, .prewarm(mail)), (1.001, .launch(mail)), (30, .home)])
        let row = try #require(run.launchRows.first)
        #expect(row["resumed_from"] == "prewarmed" && (row.number("earlier_work_ms") ?? 0) > 0)
        #expect(run.story(of: "mail").prefix(2) == ["-> prewarmed", "-> background"])
        // The user leaves before the launch has come anywhere.
        let left = try self.run([(1, .prewarm(mail)), (1.001, .launch(mail)), (1.002, .home)])
        #expect(left.launchRows.first?["outcome"] == "abandoned")
    }

    @Test("an event off screen goes on from there, too", arguments: [true, false])
    func wake(hasScenes: Bool) throws {
        let apps = apps.map { app in
            var app = app
            app.scenes = SceneSupport(support: hasScenes)
            return app
        }
        let run = try live(apps, [(1, .prewarm(mail)), (20, .wake(mail, .backgroundFetch, lasting: nil))])
        let plain = try live(apps, [(20, .wake(mail, .backgroundFetch, lasting: nil))])
        #expect(run.story(of: "mail") == ["-> prewarmed"] + plain.story(of: "mail"))
        #expect(run.appSummaryRows.first?["launches_by_system"] == "1")
    }

    @Test("it is refused with a reason")
    func refused() throws {
        let run = try run([
            (1, .prewarm(mail)), (2, .prewarm(mail)), (3, .launch(web)), (9, .prewarm(web)), (10, .crash(mail)),
            (11, .beginBackgroundTask(mail)), (12, .showOnDisplay(mail)), (13, .quit(mail)),
            (14, .restart(lasting: .seconds(5))), (15, .prewarm(mail)),
        ])
        #expect(
            refusals(run) == [
                "prewarm mail: it has a process already", "prewarm web: it has a process already",
                "crash mail: it is not running", "begin_background_task mail: it is not running",
                "show_on_display mail: the app does not support multiple scenes",
                "quit mail: it is not in the switcher",
                "prewarm mail: the device is restarting",
            ])
    }

    @Test("a quit or a termination ends it at once, and none of its code runs")
    func ends() throws {
        let user: [(Double, UserAction)] = [
            (0, .launch(mail)), (5, .crash(mail)), (6, .prewarm(mail)), (20, .quit(mail)), (30, .prewarm(mail)),
            (40, .terminate(mail)), (50, .launch(mail)),
        ]
        let run = try run(user)
        #expect(
            run.rows("exit", of: "mail").map(\.reason).suffix(2) == [
                "swiped away while prewarmed: no code ran", "ended in good order while prewarmed: no code ran",
            ])
        #expect(run.callbacks(of: "mail", from: 50).prefix(3) == [willFinish, didFinish, didDiscard])
        #expect(run.launchRows.last?["resumed_from"] == "")
    }

    @Test("pressure may end it; the user never perceives that, not even when the app is wanted next")
    func pressure() throws {
        func run(_ first: [(Double, UserAction)]) throws -> RunOutput {
            let apps = [
                testApp("mail") { $0.memory.base = .mebibytes(24) },
                testApp("game") {
                    $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 2 << 20), upTo: .mebibytes(200))
                },
            ]
            return try runToEnd(
                testPlan(
                    apps, ceiling: .mebibytes(80), seconds: 90, policy: "lru",
                    user: first + [(10, .launch(AppID(1))), (60, .launch(AppID(0)))]))
        }
        let output = try run([(1, .prewarm(AppID(0)))])
        let end = try #require(output.tally.terminations.first)
        #expect(end.app == "mail" && !end.wasPerceived && !end.wasForeground)
        // An app that the user has seen is missed.
        let seen = try run([(1, .launch(AppID(0)))])
        #expect(seen.tally.terminations.contains { $0.app == "mail" && $0.wasPerceived })
    }

    @Test("how much it holds is a share that the scenario can change")
    func share() throws {
        let run = try run([(1, .prewarm(mail)), (20, .launch(mail))]) { $0.lifecycle.prewarmedBase = .one }
        let row = try #require(sample(run, at: 10))
        #expect((row.number("footprint_bytes") ?? 0) >= Double(40 << 20))
        #expect(run.launchRows.first?["outcome"] == "ready")
    }

    // MARK: At the start

    @Test("at the start it is in band 0 with what it holds; a tap is cold, and loads the rest of the base")
    func start() throws {
        var entry = StartedProcess(mail)
        (entry.state, entry.footprint) = (.prewarmed, .mebibytes(2))
        let run = try run([(20, .launch(mail))]) { $0.start = [entry] }
        let first = try #require(sample(run, at: 0))
        #expect(first["state"] == "prewarmed" && first["band"] == "0")
        #expect(abs((first.number("footprint_bytes") ?? 0) - Double(2 << 20)) <= 65_536)
        #expect(run.callbacks(of: "mail", from: 0).first == willFinish)
        let row = try #require(run.launchRows.first)
        #expect(row["kind"] == "cold" && row["resumed_from"] == "prewarmed" && row["outcome"] == "ready")
        let plain = try self.run([(20, .launch(mail))])
        let (one, other) = (try #require(sample(plain, at: 60)), try #require(sample(run, at: 60)))
        #expect(abs((one.number("footprint_bytes") ?? 0) - (other.number("footprint_bytes") ?? 0)) < 300_000)
    }

    @Test("without a footprint it holds the share of its base that a prewarmed process has")
    func startOfUnknownSize() throws {
        var entry = StartedProcess(mail)
        entry.state = .prewarmed
        for (share, least, most) in [(Ratio.percent(30), 0.3, 0.4), (.one, 1, 1.3)] {
            let run = try run([]) {
                $0.start = [entry]
                $0.lifecycle.prewarmedBase = share
            }
            let held = (try #require(sample(run, at: 0)).number("footprint_bytes") ?? 0) / Double(40 << 20)
            #expect(held >= least && held < most, "\(held)")
        }
    }

    @Test("its place in band 0 follows from how long it has been idle, and its end is felt by nobody")
    func startInOrder() throws {
        func first(idle: TimeSpan) throws -> (app: String, isFelt: Bool)? {
            var (early, late) = (StartedProcess(mail), StartedProcess(web))
            (early.state, early.footprint, early.idle) = (.prewarmed, .mebibytes(20), idle)
            (late.footprint, late.idle) = (.mebibytes(20), .minutes(2))
            let apps = [testApp("mail"), testApp("web"), testApp("game") { $0.memory.base = .mebibytes(70) }]
            let plan = testPlan(
                apps, ceiling: .mebibytes(100), seconds: 30, policy: "jetsam", user: [(5, .launch(AppID(2)))]
            ) { $0.start = [early, late] }
            return try runToEnd(plan).tally.terminations.first.map { ($0.app, $0.wasPerceived) }
        }
        #expect(try first(idle: .minutes(4))?.app == "mail")
        #expect(try first(idle: .minutes(1))?.app == "web")
        #expect(try first(idle: .minutes(4))?.isFelt == false)
    }
}
