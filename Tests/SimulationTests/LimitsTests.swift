import Lifecycle
import Memory
import Plan
import Quantities
import Reclaim
import Simulation
import TestSupport
import Testing
import Workload

@Suite("limits and fairness, in a run", .serialized)
struct LimitsTests {
    private let six = (0..<6).map { testApp("app\($0)") }
    private let tour: [(Double, UserAction)] = (0..<24).map { (Double($0 * 4), .launch(AppID($0 % 6))) }

    private func plan(ceiling: Int = 256, _ limits: Limits) -> RunPlan {
        testPlan(six, ceiling: .mebibytes(ceiling), seconds: 100, user: tour) {
            $0.limits = limits
            $0.backend = .accounting
        }
    }

    /// How many processes are off screen at each sample that has one.
    private func offScreen(_ run: RunOutput) -> [Int] {
        var counts: [String: Int] = [:]
        for row in TableRow.all(in: run.apps) where ["background", "suspended"].contains(row["state"]) {
            // An app that is being launched to the foreground reads that it is in the background.
            if row["band"] != "100" { counts[row["time_s"], default: 0] += 1 }
        }
        return Array(counts.values)
    }

    @Test("no more processes stay off screen than the limit allows, and without the limit more do")
    func backgroundProcesses() throws {
        let free = try runToEnd(plan(Limits()))
        let bound = try runToEnd(plan(Limits(backgroundProcesses: 2)))
        #expect(offScreen(free).max() == 5)
        // The limit is checked from sample to sample, so one sample may show a third process.
        let above = offScreen(bound).filter { $0 > 2 }
        #expect(above.allSatisfy { $0 == 3 } && above.count <= bound.tally.terminations.count)
        #expect(!bound.tally.terminations.isEmpty)
    }

    @Test("what is off screen holds no more than the limit allows, as soon as the policy has done its work")
    func backgroundMemory() throws {
        let limit = ByteCount.mebibytes(20)
        let free = try runToEnd(plan(Limits()))
        let bound = try runToEnd(plan(Limits(backgroundMemory: limit)))
        func last(_ run: RunOutput) -> Int {
            let rows = TableRow.all(in: run.apps)
            let end = rows.last?["time_s"]
            return rows.filter { $0["time_s"] == end && $0["state"] != "active" }
                .reduce(0) { $0 + ($1.integer("footprint_bytes") ?? 0) }
        }
        #expect(last(free) > limit.bytes)
        #expect(last(bound) <= limit.bytes)
    }

    @Test(
        "who is on its way to the screen is not off screen: it answers no limit, whatever state it reads",
        arguments: ["lru", "jetsam", "largest-first", "earlyoom", "ladder", "foresight"])
    func onItsWayIn(policy: String) throws {
        let apps = [testApp("slow") { $0.costs.enterForeground = .seconds(3) }, testApp("b"), testApp("c")]
        let user: [(Double, UserAction)] = [
            (0, .launch(AppID(0))), (10, .launch(AppID(1))), (20, .launch(AppID(2))), (30, .switchTo(AppID(0))),
        ]
        // Each limit has room for two apps, and not for three.
        for limits in [Limits(backgroundProcesses: 2), Limits(backgroundMemory: .mebibytes(30))] {
            let plan = testPlan(apps, ceiling: .mebibytes(256), seconds: 40, policy: policy, user: user) {
                $0.limits = limits
                $0.backend = .accounting
            }
            let run = try runToEnd(plan)
            #expect(run.terminationRows.isEmpty)
            let last = TableRow.all(in: run.launches).last
            #expect(last?["app"] == "slow" && last?["outcome"] == "ready")
            // It reads that it is in the background, and is in the band of the screen.
            let coming = TableRow.all(in: run.apps).filter {
                $0["app"] == "slow" && $0["state"] == "background" && ($0.number("time_s") ?? 0) > 30.5
            }
            #expect(!coming.isEmpty && coming.allSatisfy { $0["band"] == "100" })
        }
    }

    @Test(
        "who is on its way out answers a limit of the background by itself: nobody else ends for it",
        arguments: ["lru", "jetsam", "largest-first", "earlyoom", "ladder", "foresight"])
    func onItsWayOut(policy: String) throws {
        let apps = [testApp("stays"), testApp("leaves") { $0.costs.terminate = .seconds(2) }]
        let user: [(Double, UserAction)] = [
            (0, .launch(AppID(0))), (10, .launch(AppID(1))), (20, .quit(AppID(1))),
        ]
        let exits = try [Limits(backgroundProcesses: 1), Limits(backgroundMemory: .mebibytes(15))].map { limits in
            let plan = testPlan(apps, ceiling: .mebibytes(256), seconds: 30, policy: policy, user: user) {
                $0.limits = limits
                $0.backend = .accounting
            }
            return try runToEnd(plan).eventRows.filter { $0.event == "exit" }.map { "\($0.app) \($0.detail)" }
        }
        #expect(exits == [["leaves userTerminated"], ["leaves userTerminated"]])
    }

    /// The yardsticks that take nothing from any process.
    private static let idle = ["none", "unbounded"]

    @Test(
        "limits of the background are demands on the policy: whoever reclaims at all meets them, on record in any case",
        arguments: PolicyCatalogue.all.map { $0.name })
    func everyPolicy(name: String) throws {
        var plan = plan(Limits(backgroundProcesses: 2))
        plan.policy = PolicySettings(name: name)
        let run = try runToEnd(plan)
        #expect(offScreen(run).max() == (Self.idle.contains(name) ? 5 : 3))
        #expect(run.decisions.contains("background_processes"))
        #expect(run.tally.terminations.isEmpty == Self.idle.contains(name))
    }

    @Test("an app's own limits and its time off screen hold under every policy", arguments: idle)
    func systemLimits(name: String) throws {
        let apps = [
            testApp("leaky") {
                $0.memory.leak = ByteRate(bytesPerSecond: 4 << 20)
                $0.limits = ProcessLimits(active: .mebibytes(24))
            }, testApp("worker") { $0.background.work = .seconds(20) },
        ]
        let run = try runToEnd(
            testPlan(
                apps, ceiling: .mebibytes(256), seconds: 30, policy: name,
                user: [(0, .launch(AppID(1))), (5, .launch(AppID(0)))]
            ) { $0.limits.backgroundTime = .seconds(3) })
        #expect(run.eventRows.filter { $0.event == "exit" }.map(\.detail) == ["memoryResourceLimit"])
        let left = run.eventRows.first { $0.app == "worker" && $0.detail == "suspended" }.flatMap { Double($0.time) }
        #expect(try #require(left) < 9)
    }

    /// In front the app's footprint reaches 40 MiB for a second; leaving the screen takes 30 MiB for a moment.
    private func twice(_ limits: ProcessLimits) throws -> [String] {
        let app = testApp("a") {
            $0.limits = limits
            $0.memory.cache.size = .zero
            $0.memory.bursts = [
                BurstProfile(after: .seconds(5), size: .mebibytes(40), over: .seconds(1), hold: .seconds(1))
            ]
            $0.background.snapshot = .mebibytes(30)
        }
        let user: [(Double, UserAction)] = [(0, .launch(AppID(0))), (9, .launch(AppID(0))), (12, .home)]
        let plan = testPlan([app], ceiling: .mebibytes(256), policy: "none", user: user) {
            $0.backend = .accounting
            $0.device.dirtyDecay = .milliseconds(100)
        }
        return try runToEnd(plan).eventRows.compactMap { row in
            guard let limit = row.reason.components(separatedBy: "crossed its ").dropFirst().first else { return nil }
            return "\(row.event == "exit" ? "ended" : "told"): \(limit)"
        }
    }

    @Test("each limit is fatal or soft by itself, and what is said of both holds for the one that does not say")
    func fatal() throws {
        let ends = ["ended: active limit of 30MiB", "ended: inactive limit of 20MiB"]
        let tells = ["told: active limit of 30MiB", "told: inactive limit of 20MiB"]
        func limits(_ fatal: Bool, _ active: Bool?, _ inactive: Bool?) -> ProcessLimits {
            ProcessLimits(
                active: .mebibytes(30), inactive: .mebibytes(20), fatal: fatal, activeFatal: active,
                inactiveFatal: inactive)
        }
        for fatal in [true, false] {
            for active in [true, false, nil] {
                for inactive in [true, false, nil] {
                    let story = try twice(limits(fatal, active, inactive))
                    let expected = [active ?? fatal ? ends[0] : tells[0], inactive ?? fatal ? ends[1] : tells[1]]
                    #expect(story == expected, "\(fatal), \(String(describing: (active, inactive)))")
                }
            }
        }
    }

    @Test("an app with one limit crosses that one, on screen and off, and the reason names it")
    func oneLimit() throws {
        #expect(try twice(ProcessLimits(active: .mebibytes(80))).isEmpty)
        #expect(
            try twice(ProcessLimits(active: .mebibytes(30), fatal: false)).map { $0.suffix(21) } == [
                "active limit of 30MiB", "active limit of 30MiB",
            ])
        #expect(try twice(ProcessLimits(inactive: .mebibytes(20))) == ["ended: inactive limit of 20MiB"])
    }

    @Test("a policy ends no more processes within a minute than it may")
    func terminationsPerMinute() throws {
        func times(_ run: RunOutput) -> [Double] {
            run.eventRows.filter { $0.event == "action" && $0.detail == "terminate" }.compactMap { Double($0.time) }
        }
        let free = times(try runToEnd(plan(Limits(backgroundProcesses: 1))))
        let bound = times(try runToEnd(plan(Limits(backgroundProcesses: 1, terminationsPerMinute: 3))))
        func most(_ times: [Double]) -> Int {
            times.map { start in times.count { $0 >= start && $0 < start + 60 } }.max() ?? 0
        }
        #expect(most(free) > 3)
        #expect(most(bound) == 3)
    }

    @Test("code runs off screen no longer than the limit, unless a background mode holds it")
    func backgroundTime() throws {
        let apps = [
            testApp("worker") { $0.background.work = .seconds(20) },
            testApp("radio") {
                $0.background.work = .seconds(20)
                $0.backgroundModes = [.audio]
            }, testApp("front"),
        ]
        let run = try runToEnd(
            testPlan(
                apps, ceiling: .mebibytes(256), seconds: 40,
                user: [(0, .launch(AppID(0))), (5, .launch(AppID(1))), (10, .launch(AppID(2)))]
            ) { $0.limits.backgroundTime = .seconds(4) })
        func suspended(_ app: String) -> Double? {
            run.eventRows.first { $0.app == app && $0.event == "process_state" && $0.detail == "suspended" }
                .flatMap { Double($0.time) }
        }
        let left = try #require(suspended("worker"))
        #expect(left > 9 && left < 9.2)
        #expect(suspended("radio") == nil)
    }

    @Test("the foreground is ended only when nobody else is left")
    func foregroundLast() throws {
        let apps = [
            testApp("a"), testApp("b"), testApp("hungry") { $0.memory.leak = ByteRate(bytesPerSecond: 4 << 20) },
        ]
        let run = try runToEnd(
            testPlan(
                apps, ceiling: .mebibytes(64), seconds: 40,
                user: [(0, .launch(AppID(0))), (4, .launch(AppID(1))), (8, .launch(AppID(2)))]))
        let exits = run.eventRows.filter { $0.event == "exit" }
        #expect(exits.map(\.app) == ["a", "b", "hungry"])
        // The app has crossed no limit of its own: the device has run out of memory.
        #expect(exits.map(\.detail) == ["memoryPressure", "memoryPressure", "memoryPressure"])
        #expect(exits.map { $0.reason.contains("no process left to reclaim") } == [false, false, true])
        #expect(run.tally.terminations.map(\.wasForeground) == [false, false, true])
    }

    @Test("an app that is added and never launched changes nobody's memory")
    func streams() throws {
        let user = tour.prefix(10).map { $0 }
        let few = try runToEnd(testPlan(six, ceiling: .mebibytes(64), seconds: 50, user: user))
        let more = try runToEnd(testPlan(six + [testApp("idle")], ceiling: .mebibytes(64), seconds: 50, user: user))
        #expect(few.apps == more.apps)
        #expect(few.events == more.events)
    }

    @Test("a run that is stopped ends in order and says so")
    func stopped() throws {
        let run = try runToEnd(plan(Limits()), stopAfter: .zero + .seconds(30))
        #expect(run.ending == .interrupted)
        #expect(run.summary.split(separator: "\n").count == 2)
        #expect(run.tally.duration == .seconds(30))
    }

    @Test("time at the levels adds up to the run, and launches to their rows")
    func sums() throws {
        let run = try runToEnd(plan(ceiling: 64, Limits()))
        let tally = run.tally
        #expect(tally.levels.normal + tally.levels.warning + tally.levels.critical == tally.duration)
        #expect(run.launches.split(separator: "\n").count - 1 == tally.launches.count)
        #expect(run.eventRows.count { $0.event == "warning" } == tally.warnings)
        let suspensions = run.eventRows.count { $0.event == "process_state" && $0.detail == "suspended" }
        #expect(suspensions == tally.suspensions)
    }
}
