import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import TestSupport
import Testing
import Workload

@testable import Simulation

/// The freezer in runs: the rows A19 to A24 of jetsam's behaviours in Policies.md. `runToEnd` checks after every event
/// that a process's footprint is what is resident, compressed and on flash.
@Suite("a device with a freezer", .serialized)
struct FreezerRunTests {
    /// Suspended apps of 24 MiB, of which the first was used longest ago, on a phone of 256 MiB whose freezer works
    /// however much memory is available.
    private func plan(
        _ count: Int = 6, seconds: Int64 = 20, user: [(Double, UserAction)] = [],
        _ change: (inout RunPlan) -> Void = { _ in }
    ) -> RunPlan {
        let apps = (0..<count).map { number in testApp("a\(number)") { $0.memory.base = .mebibytes(20) } }
        var freezer = FreezerSettings()
        (freezer.suspendedAbove, freezer.below) = (0, .one)
        return testPlan(apps, ceiling: .mebibytes(256), seconds: seconds, policy: "none", user: user) {
            $0.backend = .accounting
            $0.device.kernel = .standard
            $0.device.compressor = CompressorSettings()
            $0.device.freezer = freezer
            $0.start = (0..<count).map { number in
                var entry = StartedProcess(AppID(number))
                entry.footprint = .mebibytes(24)
                (entry.age, entry.idle) = (.minutes(30), .minutes(Int64(20 - number)))
                return entry
            }
            change(&$0)
        }
    }

    /// The rows of an event of the freezer that took place, or that did not.
    private func rows(_ event: String, skipped: Bool = false, in run: RunOutput) -> [EventRow] {
        run.eventRows.filter { $0.event == event && ($0.detail == "skipped") == skipped }
    }

    /// The apps that were frozen, in order.
    private func frozen(_ run: RunOutput) -> [String] { rows("freeze", in: run).map(\.app) }

    /// The app's band at the last sample.
    private func band(of app: String, in run: RunOutput) -> Int? {
        TableRow.all(in: run.apps).last { $0["app"] == app }?.integer("band")
    }

    /// The bands that the app had at samples, each change once.
    private func bands(of app: String, in run: RunOutput) -> [Int] {
        TableRow.all(in: run.apps).filter { $0["app"] == app }.compactMap { $0.integer("band") }
            .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    private func sum(_ column: String, _ run: RunOutput) -> Int {
        run.freezerRows.compactMap { $0.integer(column) }.reduce(0, +)
    }

    // MARK: Whom, and when

    @Test("the app used longest ago goes first, one each 2 s; frozen apps are in band 75, and take no frames")
    func order() throws {
        let run = try runToEnd(plan())
        #expect(frozen(run) == ["a0", "a1", "a2", "a3", "a4", "a5"])
        let times = rows("freeze", in: run).compactMap { Double($0.time) }
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 2 && $1 - $0 < 2.5 }, "\(times)")
        #expect((0..<6).allSatisfy { band(of: "a\($0)", in: run) == 75 })
        let last = try #require(run.freezerRows.last)
        #expect(last.integer("frozen") == 6 && last.integer("thawed") == 0 && last.integer("candidates") == 0)
        let (swapped, stored) = (last.integer("swapped_bytes") ?? 0, last.integer("on_storage_bytes") ?? 0)
        #expect(swapped > 100 << 20 && stored * 2 < swapped && stored > 20 << 20, "\(swapped), \(stored)")
        #expect(sum("written_bytes", run) == stored && sum("read_bytes", run) == 0)
        #expect(last.integer("budget_left_bytes") == (1 << 30) - stored)
        let first = try #require(run.freezerRows.first)
        #expect(first.integer("candidates") == 6 && first.integer("frozen") == 0)
        let gained = (run.pageRows.last?.integer("free_bytes") ?? 0) - (run.pageRows.first?.integer("free_bytes") ?? 0)
        #expect(gained > 100 << 20, "\(gained)")
    }

    @Test("all tables are the same on both backends")
    func backends() throws {
        let visits: [(Double, UserAction)] = [
            (5, .launch(AppID(0))), (8, .launch(AppID(5))), (10, .home), (14, .launch(AppID(1))), (15, .quit(AppID(2))),
        ]
        let runs = try [MemoryBackend.accounting, .jemalloc].map { backend in
            try runToEnd(
                plan(user: visits) {
                    $0.backend = backend
                    $0.device.freezer?.slots = 4
                })
        }
        #expect(runs[0].freezer == runs[1].freezer && runs[0].pages == runs[1].pages)
        #expect(runs[0].events == runs[1].events && runs[0].launches == runs[1].launches)
        #expect(sum("read_bytes", runs[0]) > 0)
    }

    @Test("a quarter of the device freezes the same apps")
    func scaled() throws {
        let whole = try runToEnd(plan())
        let quarter = Ratio.percent(25)
        let run = try runToEnd(
            plan { plan in
                (plan.device.scale, plan.device.ceiling) = (quarter, .mebibytes(64))
                plan.device.reserved = plan.device.reserved * quarter
                plan.device.freezer?.minimum = .mebibytes(2)
                plan.device.freezer?.budget = .mebibytes(256)
                plan.device.freezer?.store = .mebibytes(160)
                plan.device.freezer?.writeRate = ByteRate(bytesPerSecond: 50 << 20)
                for place in plan.start.indices { plan.start[place].footprint = .mebibytes(6) }
            })
        #expect(frozen(run) == frozen(whole))
        let ends = [whole, run].map { $0.freezerRows.last?.integer("on_storage_bytes") ?? 0 }
        #expect(abs(ends[1] * 4 - ends[0]) * 20 < ends[0], "\(ends)")
    }

    @Test("A19: apps below the minimum and apps in a band above 20 are left alone")
    func eligible() throws {
        #expect(try frozen(runToEnd(plan(seconds: 5) { $0.device.freezer?.minimum = .mebibytes(32) })).isEmpty)
        let run = try runToEnd(plan(seconds: 10) { $0.start[0].band = 40 })
        #expect(frozen(run).first == "a1" && !frozen(run).contains("a0") && band(of: "a0", in: run) == 40)
    }

    @Test("it works only while more suspended processes than four are not frozen")
    func suspended() throws {
        #expect(try frozen(runToEnd(plan { $0.device.freezer?.suspendedAbove = 4 })) == ["a0", "a1"])
    }

    @Test("it works only while less than a share of the RAM is available")
    func below() throws {
        // 108 MiB of 256 are available.
        #expect(try frozen(runToEnd(plan { $0.device.freezer?.below = .percent(40) })).isEmpty)
        #expect(try frozen(runToEnd(plan { $0.device.freezer?.below = .percent(45) })) == ["a0"])
    }

    @Test("A20: with all slots taken, the others are told so once")
    func slots() throws {
        let run = try runToEnd(plan { $0.device.freezer?.slots = 2 })
        #expect(frozen(run) == ["a0", "a1"])
        let skipped = rows("freeze", skipped: true, in: run)
        #expect(skipped.map(\.app) == ["a2", "a3", "a4", "a5"])
        #expect(skipped.allSatisfy { $0.reason == "out-of-slots" })
        #expect(run.freezerRows.compactMap { $0.integer("frozen") }.max() == 2)
    }

    @Test("A21: a helper follows its app, whatever its size")
    func members() throws {
        var helper = AppProfile.part(.helper)
        (helper.name, helper.memory.base) = ("helper", .mebibytes(3))
        helper.part?.host = AppID(0)
        helper.part?.idleExit = nil
        let run = try runToEnd(
            plan(seconds: 10) {
                $0.apps.append(helper)
                var entry = StartedProcess(AppID(6))
                (entry.footprint, entry.age) = (.mebibytes(4), .minutes(30))
                $0.start.append(entry)
            })
        #expect(frozen(run).prefix(3) == ["a0", "helper", "a1"])
        #expect(band(of: "helper", in: run) == 75)
    }

    @Test("an app of which nothing can go to flash is tried again only when it has run")
    func fails() throws {
        let visit: [(Double, UserAction)] = [(5, .launch(AppID(0))), (7, .home)]
        let run = try runToEnd(
            plan(user: visit) { plan in
                for place in plan.apps.indices {
                    plan.apps[place].memory.compressibility = Compressibility(
                        ratio: .one, repeated: .one, incompressible: .zero)
                }
            })
        #expect(frozen(run).isEmpty)
        let skipped = rows("freeze", skipped: true, in: run)
        #expect(skipped.map(\.app) == ["a0", "a1", "a2", "a3", "a4", "a5", "a0"])
        #expect(skipped.allSatisfy { $0.reason == "no-swap-space" })
    }

    @Test("an app that is resumed before its pages are compressed is not frozen")
    func cancelled() throws {
        let run = try runToEnd(
            plan(seconds: 12, user: [(1, .launch(AppID(0)))]) {
                $0.device.compressor?.compressRate = ByteRate(bytesPerSecond: 8 << 20)
            })
        #expect(frozen(run).first == "a1" && !frozen(run).contains("a0"))
        #expect(try #require(run.launchRows.first)["resumed_from"] == "memory")
    }

    // MARK: The store and the budget

    @Test("A23: what the budget of a day allows is written, and no more; the others are told so")
    func budget() throws {
        let run = try runToEnd(plan { $0.device.freezer?.budget = .mebibytes(12) })
        #expect(frozen(run) == ["a0", "a1"])
        let written = sum("written_bytes", run)
        #expect(written <= 12 << 20 && written > (12 << 20) - 4_096)
        #expect(run.freezerRows.last?.integer("budget_left_bytes") == (12 << 20) - written)
        let skipped = rows("freeze", skipped: true, in: run)
        #expect(skipped.map(\.app) == ["a2", "a3", "a4", "a5"])
        #expect(skipped.allSatisfy { $0.reason == "out-of-budget" })
        let free = try runToEnd(plan(seconds: 2) { $0.device.freezer?.budget = nil })
        #expect(free.freezerRows.allSatisfy { $0["budget_left_bytes"].isEmpty })
    }

    @Test("without a budget, a thawed app loses its place")
    func urgent() throws {
        let visit: [(Double, UserAction)] = [(8, .launch(AppID(0))), (10, .home)]
        let run = try runToEnd(plan(user: visit) { $0.device.freezer?.budget = .mebibytes(12) })
        let demoted = rows("demote", in: run)
        #expect(demoted.map(\.app) == ["a0"] && demoted.allSatisfy { $0.reason.hasPrefix("the budget is spent") })
        #expect(band(of: "a0", in: run) == 0 && band(of: "a1", in: run) == 75)
        #expect(run.freezerRows.last?.integer("frozen") == 2, "it keeps its slot")
    }

    @Test("the store holds no more than its size, and an app that ends gives its part back")
    func store() throws {
        let small = try runToEnd(plan { $0.device.freezer?.store = .mebibytes(12) })
        #expect(frozen(small) == ["a0", "a1"])
        #expect(small.freezerRows.allSatisfy { ($0.integer("on_storage_bytes") ?? .max) <= 12 << 20 })
        let run = try runToEnd(plan(user: [(5.01, .quit(AppID(0)))]) { $0.device.freezer?.slots = 1 })
        #expect(frozen(run) == ["a0", "a1"])
        let gone = try #require(run.freezerRows.first { ($0.number("time_s") ?? 0) > 5.01 })
        #expect(gone.texts("frozen", "swapped_bytes", "on_storage_bytes") == ["0", "0", "0"])
        #expect(sum("read_bytes", run) == 0)
    }

    // MARK: Thaws and demotions

    @Test("A22: a frozen app comes back from flash, is in front in band 100, and in band 75 again when it is suspended")
    func thaw() throws {
        let visit: [(Double, UserAction)] = [(5, .launch(AppID(0))), (8, .home)]
        let run = try runToEnd(plan(user: visit) { $0.device.freezer?.slots = 1 })
        let launch = try #require(run.launchRows.first)
        #expect(launch.texts("app", "kind", "resumed_from") == ["a0", "hot", "frozen"])
        #expect(rows("thaw", in: run).map(\.app) == ["a0"])
        #expect(bands(of: "a0", in: run) == [0, 75, 100, 75])
        #expect(sum("read_bytes", run) > 0)
        let last = try #require(run.freezerRows.last)
        #expect(last.integer("frozen") == 1 && last.integer("thawed") == 1)
        #expect(rows("freeze", in: run).count == 1, "one thawed process is not frozen anew")
    }

    @Test("with three thawed apps, the one that was resumed first is frozen anew")
    func refreeze() throws {
        let visits: [(Double, UserAction)] = [
            (8, .launch(AppID(0))), (11, .launch(AppID(1))), (14, .launch(AppID(2))), (17, .home),
        ]
        let run = try runToEnd(plan(seconds: 30, user: visits) { $0.device.freezer?.slots = 3 })
        #expect(frozen(run) == ["a0", "a1", "a2", "a0"])
        let again = try #require(rows("freeze", in: run).last)
        #expect(again.reason.hasPrefix("anew") && (Double(again.time) ?? 0) > 14)
        #expect(run.freezerRows.last?.integer("thawed") == 2 && run.freezerRows.last?.integer("frozen") == 3)
    }

    @Test("when a day is over, two apps that were seldom thawed go to band 0 without ageing, and the budget is renewed")
    func daily() throws {
        let run = try runToEnd(plan(4, seconds: 25 * 3_600) { $0.monitor.interval = .seconds(60) })
        let demoted = rows("demote", in: run)
        #expect(demoted.map(\.app) == ["a0", "a1"] && demoted.allSatisfy { Double($0.time) == 86_400 })
        #expect(demoted.allSatisfy { $0.detail == "band 0" && $0.reason.hasPrefix("a day is over") })
        #expect((0..<4).map { band(of: "a\($0)", in: run) } == [0, 0, 75, 75])
        #expect(bands(of: "a0", in: run) == [0, 75, 0])
        #expect((run.freezerRows.last?.integer("budget_left_bytes") ?? 0) > 1 << 30)
        #expect(frozen(run) == ["a0", "a1", "a2", "a3"], "a demoted app that has not run is not frozen anew")
    }

    // MARK: A reset

    @Test("A24: a reset ends the frozen apps that are suspended, not one that runs, and the budget is whole again")
    func reset() throws {
        let user: [(Double, UserAction)] = [(15, .launch(AppID(0))), (17, .resetFreezer), (18, .launch(AppID(1)))]
        let runs = try [MemoryBackend.accounting, .jemalloc].map { backend in
            try runToEnd(plan(user: user) { $0.backend = backend })
        }
        let run = runs[0]
        #expect(frozen(run) == ["a0", "a1", "a2", "a3", "a4", "a5"])
        let ended = run.tally.terminations
        #expect(ended.map(\.app) == ["a1", "a2", "a3", "a4", "a5"])
        for end in ended {
            #expect(end.at == Instant(microseconds: 17_000_000) && end.reason == .memoryPressure)
            #expect(end.course.cause == "jettisoned" && end.course.band == 75 && end.course.decision == nil)
        }
        let before = try #require(run.freezerRows.last { ($0.number("time_s") ?? 0) < 17 })
        let after = try #require(run.freezerRows.first { ($0.number("time_s") ?? 0) > 17 })
        #expect(before.integer("frozen") == 6 && (before.integer("budget_left_bytes") ?? 0) < 1 << 30)
        #expect(after.integer("frozen") == 1 && after.integer("budget_left_bytes") == 1 << 30)
        #expect(run.launchRows.map { $0["kind"] } == ["hot", "cold"])
        #expect(run.freezer == runs[1].freezer && run.events == runs[1].events && run.pages == runs[1].pages)
    }

    @Test("on a device without a freezer, and with nothing frozen, a reset ends nobody")
    func resetOfNothing() throws {
        let user: [(Double, UserAction)] = [(1, .resetFreezer)]
        let none = try runToEnd(plan(seconds: 2, user: user) { $0.device.freezer = nil })
        #expect(rows("refused", in: none).map(\.reason) == ["the device has no freezer"])
        let idle = try runToEnd(plan(seconds: 2, user: user) { $0.device.freezer?.suspendedAbove = 1_000 })
        #expect(rows("refused", in: idle).isEmpty && idle.tally.terminations.isEmpty)
        #expect(rows("user", in: idle).map(\.detail) == ["reset_freezer"])
    }

    // MARK: What policies ask for

    /// Rules on a device whose freezer does nothing of its own.
    private func ruled(
        _ rules: [LadderRule], count: Int = 6, user: [(Double, UserAction)] = [],
        _ change: (inout RunPlan) -> Void = { _ in }
    ) -> RunPlan {
        plan(count, user: user) {
            $0.device.freezer?.suspendedAbove = 1_000
            $0.policy = PolicySettings(name: "ladder")
            $0.policy.rules = rules
            change(&$0)
        }
    }

    /// A rule about one app.
    private func rule(_ action: RuleAction, of app: String, take: RuleAmount? = nil) -> LadderRule {
        LadderRule(
            name: action.rawValue, action: action, who: .claim(ProcessClaim(.app, .equal, .word(app))), take: take)
    }

    /// What the policy did, each kind once.
    private func actions(_ run: RunOutput) -> [String] {
        run.eventRows.filter { $0.event == "action" }.map(\.detail)
            .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    @Test("rules freeze apps that the freezer would leave alone, and all tables are the same on both backends")
    func rules() throws {
        let runs = try [MemoryBackend.accounting, .jemalloc].map { backend in
            try runToEnd(
                ruled([LadderRule(name: "freeze", action: .freeze)]) {
                    $0.backend = backend
                    $0.device.freezer?.minimum = .mebibytes(32)
                })
        }
        #expect(frozen(runs[0]) == ["a0", "a1", "a2", "a3", "a4", "a5"] && actions(runs[0]) == ["freeze"])
        #expect(band(of: "a0", in: runs[0]) == 75)
        let last = try #require(runs[0].freezerRows.last)
        #expect(last.integer("frozen") == 6 && sum("written_bytes", runs[0]) == last.integer("on_storage_bytes"))
        #expect(runs[0].freezer == runs[1].freezer && runs[0].pages == runs[1].pages)
        #expect(runs[0].events == runs[1].events && runs[0].decisions == runs[1].decisions)
    }

    @Test("a rule that finds no slot or no budget is refused, and the refusal is told")
    func refused() throws {
        // What is written is written before the action is over, so that the freezer is not at work then.
        let rate = ByteRate(bytesPerSecond: 100 << 30)
        let freeze = [LadderRule(name: "freeze", action: .freeze)]
        let full = try runToEnd(
            ruled(freeze) {
                $0.device.freezer?.slots = 2
                $0.device.freezer?.writeRate = rate
            })
        #expect(frozen(full) == ["a0", "a1"])
        #expect(full.decisions.contains("refused by freezer: all slots of the freezer are taken"))
        let spent = try runToEnd(
            ruled(freeze) {
                $0.device.freezer?.budget = .mebibytes(12)
                $0.device.freezer?.writeRate = rate
            })
        #expect(frozen(spent) == ["a0", "a1"])
        #expect(spent.decisions.contains("refused by freezer: what may be written to flash within a day is written"))
    }

    @Test("a rule that thaws brings an app back into memory; it keeps its slot and its place, and resumes from memory")
    func thawed() throws {
        let rules = [rule(.freeze, of: "a0", take: .count(1)), rule(.thaw, of: "a0")]
        let runs = try [MemoryBackend.accounting, .jemalloc].map { backend in
            try runToEnd(ruled(rules, user: [(10, .launch(AppID(0)))]) { $0.backend = backend })
        }
        let run = runs[0]
        #expect(frozen(run) == ["a0"] && actions(run) == ["freeze", "thaw"])
        let thaws = rows("thaw", in: run)
        #expect(thaws.map(\.app) == ["a0", "a0"] && thaws.first?.reason == "the policy asks for it")
        let row = try #require(run.freezerRows.last { ($0.number("time_s") ?? 0) < 10 })
        #expect(row.texts("frozen", "thawed", "swapped_bytes", "on_storage_bytes") == ["1", "1", "0", "0"])
        #expect(sum("read_bytes", run) == sum("written_bytes", run) && sum("read_bytes", run) > 0)
        #expect(bands(of: "a0", in: run) == [0, 75, 100])
        let launch = try #require(run.launchRows.first)
        #expect(launch.texts("kind", "resumed_from") == ["hot", "memory"])
        #expect(run.freezer == runs[1].freezer && run.events == runs[1].events && run.pages == runs[1].pages)
    }

    @Test("rules that freeze and thaw the same app do so once in two seconds at most")
    func toAndFro() throws {
        let run = try runToEnd(ruled([rule(.freeze, of: "a0"), rule(.thaw, of: "a0")], count: 1))
        let times = rows("freeze", in: run).compactMap { Double($0.time) }
        #expect((4...10).contains(times.count), "\(times)")
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 2 })
    }

    // MARK: Without a freezer

    @Test("a device without a freezer, and one with unbounded memory, have no such table")
    func none() throws {
        let plain = plan(seconds: 2) { $0.device.freezer = nil }
        #expect(try runToEnd(plain).freezer.isEmpty)
        #expect(!RunTables.all(of: plain).contains { $0.name == "freezer" })
        #expect(RunTables.all(of: plan()).contains { $0.name == "freezer" })
        let unbounded = plan(seconds: 2) { $0.policy = PolicySettings(name: "unbounded") }
        #expect(try runToEnd(unbounded).freezer.isEmpty)
    }
}
