import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Simulation
import Testing
import Workload

@Suite("what a run was for each app")
struct AppSummaryTests {
    private func row(_ app: String, _ run: RunOutput) throws -> [String: String] {
        try #require(run.appSummaryRows.first { $0["app"] == app })
    }

    /// An editor of 30 MiB goes off screen, and a game of 40 MiB opens on a device with 60 MiB for apps.
    private func evening(_ backend: MemoryBackend = .accounting, wantedAgain: Bool = true) throws -> RunOutput {
        let editor = testApp("editor") { $0.memory.base = .mebibytes(30) }
        let game = testApp("game") { $0.memory.base = .mebibytes(40) }
        var user: [(Double, UserAction)] = [(0, .launch(AppID(0))), (20, .launch(AppID(1)))]
        if wantedAgain { user.append((40, .launch(AppID(0)))) }
        return try runToEnd(
            testPlan([editor, game, testApp("unused")], ceiling: .mebibytes(64), seconds: 60, user: user) {
                $0.backend = backend
            })
    }

    @Test("an editor that the game's launch cost its life: who was ended, for whom, and whether it was felt")
    func price() throws {
        let run = try evening()
        let (editor, game) = (try row("editor", run), try row("game", run))
        #expect(editor["survived"] == "0" && editor["terminations"] == "1" && editor["ends_memory_pressure"] == "1")
        #expect(editor["terminations_perceived"] == "1" && editor["terminations_felt"] == "1")
        #expect(editor["launches_cold"] == "2" && editor["processes"] == "2" && editor["processes_at_end"] == "1")
        #expect(game["others_ended"] == "1" && game["others_ended_felt"] == "1")
        #expect(game["others_ended_allocation"] == "1" || game["others_ended_launch"] == "1")
        let held = Int(game["others_ended_bytes"] ?? "") ?? 0
        #expect(held >= 30 << 20 && held <= Int(editor["peak_footprint_bytes"] ?? "") ?? 0)
        // In its turn, the editor's second tap ends the game, for the level: the editor has taken no memory yet.
        #expect(game["survived"] == "0" && editor["others_ended"] == "0")
    }

    @Test("without a wish for it, the same end is paid for and not felt")
    func unfelt() throws {
        let game = try row("game", evening(wantedAgain: false))
        #expect(game["others_ended"] == "1" && game["others_ended_felt"] == "0" && game["survived"] == "1")
    }

    @Test("an app that was never launched has a row of zeros, and neither survives nor dies")
    func unused() throws {
        let unused = try row("unused", evening())
        #expect(unused["survived"] == "" && unused["terminations"] == "0" && unused["processes"] == "0")
        #expect(unused["launch_latency_p95_ms"] == "" && unused["peak_footprint_bytes"] == "0")
        #expect(unused["time_not_running_s"] == "60" && unused["time_active_s"] == "0")
    }

    @Test("the states are timed from change to change")
    func states() throws {
        let editor = try row("editor", evening(wantedAgain: false))
        let active = try #require(Double(editor["time_active_s"] ?? ""))
        #expect(active > 18 && active < 20, "\(active)")
        #expect(Double(editor["time_not_running_s"] ?? "") ?? 0 > 38)
    }

    @Test("pressure while the user launches an app counts as its launch; later growth counts as being in front")
    func needs() throws {
        let old = testApp("old") { $0.memory.base = .mebibytes(20) }
        let other = testApp("other") { $0.memory.base = .mebibytes(14) }
        let growing = testApp("growing") {
            $0.memory.growth = GrowthProfile(rate: ByteRate(bytesPerSecond: 1 << 20), upTo: .mebibytes(80))
        }
        let run = try runToEnd(
            testPlan(
                [old, other, growing], ceiling: .mebibytes(96), seconds: 90, policy: "lru",
                user: [(0, .launch(AppID(0))), (15, .launch(AppID(1))), (30, .launch(AppID(2)))]
            ) { $0.backend = .accounting })
        let app = try row("growing", run)
        #expect(app["others_ended_front"] != "0" && app["others_ended_launch"] == "0", "\(app)")
        #expect(AppSums.differences(run) == [])
    }

    @Test("a peak between two samples counts")
    func peak() throws {
        let bursting = testApp("bursting") {
            $0.memory.bursts = [
                BurstProfile(
                    after: .milliseconds(5_300), size: .mebibytes(16), over: .milliseconds(100),
                    hold: .milliseconds(200))
            ]
        }
        let run = try runToEnd(
            testPlan([bursting], ceiling: .mebibytes(128), user: [(0, .launch(AppID(0)))]) {
                $0.monitor.interval = .seconds(5)
                $0.backend = .accounting
            })
        let peak = Int(try row("bursting", run)["peak_footprint_bytes"] ?? "") ?? 0
        #expect(peak == run.tally.peakResident.bytes - 4 << 20)
    }

    @Test("both backends give the same table")
    func backends() throws {
        #expect(try evening(.jemalloc).appSummary == evening(.accounting).appSummary)
    }
}
