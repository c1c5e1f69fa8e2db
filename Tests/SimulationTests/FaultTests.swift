import Lifecycle
import Metrics
import Plan
import Pressure
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

@Suite("what fails because the scenario says so")
struct FaultTests {
    /// Two apps take turns on a phone that is too small for both.
    private func plan(_ change: (inout RunPlan) -> Void = { _ in }) -> RunPlan {
        let apps = ["a", "b", "c"].map { name in
            testApp(name) {
                $0.memory.base = .mebibytes(30)
                $0.memory.cache = CacheProfile(size: .mebibytes(20), rate: .init(bytesPerSecond: 8 << 20))
            }
        }
        let turns = (0..<20).map { (Double($0) * 3, UserAction.launch(AppID($0 % 3))) }
        return testPlan(apps, ceiling: .mebibytes(96), seconds: 62, policy: "lru", user: turns) {
            $0.backend = .accounting
            $0.monitor = .brisk
            change(&$0)
        }
    }

    private func faults(_ run: RunOutput) -> [TableRow] {
        TableRow.all(in: run.events).filter { $0["event"] == "fault" }
    }

    @Test("without faults no row and no draw says anything of them")
    func none() throws {
        #expect(try faults(runToEnd(plan())).isEmpty)
    }

    @Test("a monitor that misses every sample never changes its level; one that misses some says which")
    func missed() throws {
        let blind = try runToEnd(plan { $0.monitor.faults.missed = .one })
        let rows = TableRow.all(in: blind.events)
        #expect(!rows.contains { $0["event"] == "pressure_level" })
        let samples = TableRow.all(in: blind.samples)
        #expect(samples.allSatisfy { $0["pressure_level"] == "normal" })
        // The last sample is written when the run ends, for which nobody looks.
        #expect(abs(faults(blind).count - samples.count) <= 1)
        #expect(faults(blind).allSatisfy { $0["detail"] == "missed_sample" })
        let some = try runToEnd(
            plan {
                $0.device.ceiling = .mebibytes(128)
                $0.monitor.faults.missed = .percent(30)
            })
        let count = faults(some).count
        #expect(count * 100 > samples.count * 20 && count * 100 < samples.count * 40, "\(count) of \(samples.count)")
        #expect(TableRow.all(in: some.events).contains { $0["event"] == "pressure_level" })
    }

    @Test("a warning that is lost is in the place of one that arrives, and frees nothing")
    func lost() throws {
        let tight: (inout RunPlan) -> Void = { $0.device.ceiling = .mebibytes(128) }
        let sound = TableRow.all(in: try runToEnd(plan(tight)).events)
        let deaf = try runToEnd(
            plan {
                tight(&$0)
                $0.monitor.faults.warningsLost = .one
            })
        #expect(sound.contains { $0["event"] == "warning" && $0["cause"] == "level" })
        let rows = TableRow.all(in: deaf.events)
        #expect(!rows.contains { $0["event"] == "warning" && $0["cause"] == "level" })
        #expect(faults(deaf).contains { $0["detail"] == "lost_warning" && !$0["app"].isEmpty })
    }

    @Test("a late warning arrives that much later, and nobody is told who runs no code by then")
    func late() throws {
        let run = try runToEnd(
            plan {
                $0.device.ceiling = .mebibytes(128)
                $0.monitor.faults.warningsLate = .milliseconds(700)
            })
        let sent = faults(run).filter { $0["detail"] == "late_warning" }
        let arrived = TableRow.all(in: run.events).filter { $0["event"] == "warning" && $0["cause"] == "level" }
        #expect(!arrived.isEmpty && sent.count >= arrived.count)
        for row in arrived {
            let at = try #require(Double(row["time_s"]))
            #expect(sent.contains { $0["app"] == row["app"] && abs((Double($0["time_s"]) ?? 0) + 0.7 - at) < 1e-6 })
        }
    }

    @Test("a launch that meets a hanging app waits for it, and its parts add up: the run ends where they do not")
    func hangsIntoLaunch() throws {
        let turns: [UserEntry] = (0..<40).map { number in
            .once(.launch(AppID(number % 2)), at: Instant(microseconds: Int64(number) * 1_500_000))
        }
        let waits: [Double] = try (1...8).flatMap { seed in
            try TableRow.all(
                in: runToEnd(
                    plan {
                        $0.seed = UInt64(seed)
                        $0.device.ceiling = .mebibytes(512)
                        $0.user = turns
                        $0.apps[0].faults.hangsAfter = .seconds(1)
                        $0.apps[0].faults.hangsFor = .seconds(4)
                    }
                ).launches
            ).filter { $0["app"] == "a" }.map { Double($0["earlier_work_ms"]) ?? 0 }
        }
        #expect(waits.contains { $0 > 500 } && waits.allSatisfy { $0 <= 4_500 }, "\(waits)")
    }

    @Test("an app that hangs answers nothing meanwhile, and the watchdog ends it if it should leave the screen")
    func hangs() throws {
        func run(_ span: TimeSpan) throws -> [TableRow] {
            try TableRow.all(
                in: runToEnd(
                    plan {
                        $0.device.ceiling = .mebibytes(512)
                        $0.apps[0].faults.hangsAfter = .seconds(1)
                        $0.apps[0].faults.hangsFor = span
                    }
                ).events)
        }
        func hung(_ rows: [TableRow]) -> [TableRow] { rows.filter { $0["event"] == "fault" && $0["detail"] == "hang" } }
        func ends(_ rows: [TableRow]) -> [TableRow] {
            rows.filter { $0["event"] == "exit" && $0["exit_reason"] == "appWatchdog" }
        }
        let (short, long) = (try run(.milliseconds(200)), try run(.seconds(20)))
        #expect(hung(short).count >= 2 && ends(short).isEmpty)
        #expect(!ends(long).isEmpty && ends(long).allSatisfy { $0["app"] == "a" })
        let why = "does not answer and did not leave the screen within 5s"
        #expect(ends(long).allSatisfy { $0["reason"].contains(why) })
        for row in hung(long) {
            let from = try #require(Double(row["time_s"]))
            let until = ends(long).compactMap { Double($0["time_s"]) }.first { $0 >= from } ?? from + 20
            let said = long.filter { other in
                guard other["app"] == "a", other["event"] == "callback", let at = Double(other["time_s"]) else {
                    return false
                }
                return at > from && at < min(until, from + 20)
            }
            #expect(said.isEmpty, "\(said)")
        }
    }

    @Test("a policy that always errs takes another candidate than its first choice, and says which that was")
    func errs() throws {
        // Room for more than one that may go.
        func five(_ share: Ratio) -> RunPlan {
            let apps = ["a", "b", "c", "d", "e"].map { testApp($0) { $0.memory.base = .mebibytes(30) } }
            let user = (0..<5).map { (1 + Double($0) * 6, UserAction.launch(AppID($0))) }
            return testPlan(apps, ceiling: .mebibytes(160), seconds: 62, policy: "lru", user: user) {
                $0.backend = .accounting
                $0.monitor = .brisk
                $0.limits.policyErrs = share
            }
        }
        let (sound, run) = (try runToEnd(five(.zero)), try runToEnd(five(.one)))
        let erred = faults(run).filter { $0["detail"] == "policy_error" }
        #expect(!erred.isEmpty && faults(sound).isEmpty)
        #expect(erred.allSatisfy { $0["reason"].hasPrefix("the policy's first choice was ") })
        #expect(erred.allSatisfy { !$0["reason"].contains("was \($0["app"]) ") }, "\(erred)")
    }

    @Test("a process that crashes by itself crashes at another time in each life, and never while it runs no code")
    func crashes() throws {
        let run = try runToEnd(plan { $0.apps[0].faults.crashesAfter = .seconds(2) })
        let rows = TableRow.all(in: run.events)
        let exits = rows.filter { $0["event"] == "exit" && $0["exit_reason"] == "abnormal" }
        #expect(exits.count >= 3 && exits.allSatisfy { $0["app"] == "a" })
        #expect(faults(run).count { $0["detail"] == "crash" } == exits.count)
        for (index, row) in rows.enumerated() where row["event"] == "exit" && row["exit_reason"] == "abnormal" {
            let before = rows[..<index].last { $0["event"] == "process_state" && $0["app"] == "a" }
            #expect(before?["state"] != "suspended", "\(row)")
        }
    }

    @Test("memory of a process that refuses to die comes back only after that time")
    func slowExit() throws {
        func longest(_ change: @escaping (inout RunPlan) -> Void) throws -> (reclaim: Int, slow: Int) {
            let run = try runToEnd(plan(change))
            let summary = try #require(TableRow.all(in: run.summary).first)
            return (summary.integer("stall_time_s") ?? 0, faults(run).count { $0["detail"] == "slow_exit" })
        }
        let (quick, slow) = (
            try longest { _ in },
            try longest { plan in for index in plan.apps.indices { plan.apps[index].faults.slowExit = .seconds(2) } }
        )
        #expect(quick.slow == 0 && slow.slow > 0)
        #expect(slow.reclaim >= quick.reclaim)
    }

    @Test("who looks for the largest goes by what processes report; tables, and the limits of apps, have the truth")
    func falseReports() throws {
        func run(
            _ share: Ratio, of app: Int, _ change: @escaping (inout RunPlan) -> Void = { _ in }
        ) throws -> RunOutput {
            let apps = [("a", 48), ("b", 30), ("c", 30), ("d", 30)].map { name, size in
                testApp(name) { $0.memory.base = .mebibytes(size) }
            }
            let user = (0..<4).map { (1 + Double($0) * 6, UserAction.launch(AppID($0))) }
            return try runToEnd(
                testPlan(apps, ceiling: .mebibytes(150), seconds: 40, policy: "largest-first", user: user) {
                    $0.backend = .accounting
                    $0.monitor = .brisk
                    $0.apps[app].faults.reports = share
                    change(&$0)
                })
        }
        func victims(_ run: RunOutput) -> [String] {
            TableRow.all(in: run.events).filter { $0["exit_reason"] == "memoryPressure" }.map { $0["app"] }
        }
        func largest(_ run: RunOutput) -> Int {
            let rows = TableRow.all(in: run.apps).filter { $0["app"] == "a" && (Double($0["time_s"]) ?? 0) < 10 }
            return rows.compactMap { $0.integer("footprint_bytes") }.max() ?? 0
        }
        let (sound, less, more) = (try run(.one, of: 0), try run(.percent(10), of: 0), try run(.percent(300), of: 1))
        #expect(victims(sound).first == "a" && victims(more).first == "b")
        #expect(victims(less).first.map { $0 != "a" } == true, "\(victims(less))")
        #expect(largest(sound) > 40 << 20 && largest(less) == largest(sound))
        #expect(faults(sound).isEmpty && faults(less).map { $0["detail"] } == ["false_report"])
        #expect(faults(less).first?["reason"] == "10% of its memory is seen by what decides about it (reports)")
        let limited = try run(.percent(10), of: 0) {
            $0.apps[0].limits = ProcessLimits(active: .mebibytes(40), fatal: true)
        }
        let exits = TableRow.all(in: limited.events).filter { $0["event"] == "exit" && $0["app"] == "a" }
        #expect(exits.first?["exit_reason"] == "memoryResourceLimit")
    }
}
