import Lifecycle
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import TestSupport
import Testing
import Workload

@testable import Simulation

/// Helpers, extensions and daemons in runs. The rows A10 to A15, A2 and A3 of jetsam's behaviours in Policies.md.
@Suite("processes that are no apps")
struct ProcessKindsTests {
    private let app = AppID(0)

    private func part(
        _ name: String, _ kind: ProcessKind, _ change: (inout AppProfile) -> Void = { _ in }
    ) -> AppProfile {
        var profile = AppProfile.part(kind)
        profile.name = name
        profile.memory.base = .mebibytes(2)
        change(&profile)
        return profile
    }

    private func helper(_ name: String = "helper", of host: AppID = AppID(0)) -> AppProfile {
        part(name, .helper) { $0.part?.host = host }
    }

    private func daemon(_ change: (inout AppProfile) -> Void = { _ in }) -> AppProfile {
        part("daemon", .daemon) {
            $0.part?.band = 80
            $0.limits = ProcessLimits(active: .mebibytes(6), inactive: .mebibytes(4), activeFatal: false)
            change(&$0)
        }
    }

    /// The bands of the process at samples, each change once.
    private func bands(of name: String, in run: RunOutput) -> [Int] {
        var bands: [Int] = []
        for row in TableRow.all(in: run.apps) where row["app"] == name {
            if let band = row.integer("band"), band != bands.last { bands.append(band) }
        }
        return bands
    }

    /// The first time at which the process has this band after `time`.
    private func time(of band: Int, _ name: String, after time: Double, in run: RunOutput) throws -> Double {
        let row = TableRow.all(in: run.apps).first {
            $0["app"] == name && $0.integer("band") == band && ($0.number("time_s") ?? 0) > time
        }
        return try #require(row?.number("time_s"))
    }

    // MARK: Daemons

    @Test("A10: a daemon works in its band, ages for 10 s in band 10, and is idle in band 0; dirty again, it is back")
    func a10() throws {
        let demand = UserAction.wake(AppID(1), .demand, lasting: .seconds(5))
        let run = try live([testApp("app"), daemon()], seconds: 60, [(1, demand), (40, demand)])
        #expect(bands(of: "daemon", in: run) == [80, 10, 0, 80, 10, 0])
        let clean = try time(of: 10, "daemon", after: 0, in: run)
        let idle = try time(of: 0, "daemon", after: clean, in: run)
        #expect(abs(idle - clean - 10) < 0.2)
        #expect(run.callbacks(of: "daemon") == ["main()"])
    }

    @Test("A10: its active limit holds above band 0, its inactive limit in band 0")
    func limitsOfDaemon() throws {
        let plan = testPlan(
            [daemon()], ceiling: .mebibytes(512), seconds: 60, policy: "none",
            user: [(1, .wake(AppID(0), .demand, lasting: .seconds(5)))]
        ) { $0.backend = .accounting }
        let memory = try plan.makeDevice()
        let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in MemorySink() }, verify: true)
        var limits: [ByteCount] = []
        _ = try simulation.run(progress: { _ in
            guard let limit = simulation.processes.process(of: AppID(0))?.presentLimit?.bytes else { return }
            if limits.last != limit { limits.append(limit) }
        })
        #expect(limits == [.mebibytes(6), .mebibytes(4)])
    }

    @Test("A12: a daemon whose assertion is stuck ages in band 10, then in band 15 for 30 s, and is idle")
    func a12() throws {
        let stuck = daemon { $0.part?.assertionTime = .seconds(5) }
        let run = try live(
            [testApp("app"), stuck], seconds: 90,
            [(1, .wake(AppID(1), .demand, lasting: .seconds(1))), (20, .holdAssertion(AppID(1), band: 100))])
        #expect(bands(of: "daemon", in: run) == [80, 10, 0, 100, 10, 15, 0])
        let since = try time(of: 15, "daemon", after: 20, in: run)
        #expect(abs(try time(of: 0, "daemon", after: since, in: run) - since - 30) < 0.2)
    }

    @Test("A13, A14: an assertion lifts a dirty daemon; lowered, its own band holds; released and clean, it ages")
    func a13() throws {
        let run = try live(
            [testApp("app"), daemon()], seconds: 60,
            [
                (1, .wake(AppID(1), .demand, lasting: .seconds(15))), (3, .holdAssertion(AppID(1), band: 100)),
                (6, .holdAssertion(AppID(1), band: 100)), (9, .holdAssertion(AppID(1), band: 30)),
                (20, .releaseAssertion(AppID(1))), (25, .releaseAssertion(AppID(1))),
            ])
        #expect(bands(of: "daemon", in: run) == [80, 100, 80, 30, 10, 0])
        let refused = run.eventRows.filter { $0.event == "refused" }
        #expect(refused.map(\.reason) == ["it holds no assertion"], "releasing twice changes nothing")
    }

    @Test("A15: bands 1 to 9 are 0 without the entitlement", arguments: [false, true])
    func a15(isEntitled: Bool) throws {
        let low = daemon {
            $0.part?.band = 5
            $0.part?.isEntitled = isEntitled
        }
        let demand = UserAction.wake(AppID(1), .demand, lasting: .seconds(5))
        let run = try live([testApp("app"), low], seconds: 10, [(1, demand)])
        #expect(bands(of: "daemon", in: run).first == (isEntitled ? 5 : 0))
    }

    @Test("a daemon that must live starts with the run, and 10 s after its end; others on demand; idle ones exit")
    func starts() throws {
        let kept = part("kept", .daemon) { $0.part?.keepsAlive = true }
        let asked = part("asked", .daemon) { $0.part?.idleExit = .seconds(7) }
        let run = try live(
            [testApp("app"), kept, asked], seconds: 40,
            [(5, .terminate(AppID(1))), (20, .wake(AppID(2), .demand, lasting: .seconds(2)))])
        let starts = run.eventRows.filter { $0.event == "launch" }
        #expect(starts.filter { $0.app == "kept" }.map(\.time) == ["0", "15"])
        let end = try #require(run.eventRows.first { $0.event == "exit" && $0.app == "asked" })
        #expect(end.detail == "normalApp" && end.reason == "was idle for 7s")
    }

    // MARK: Groups

    @Test("a helper goes where its app goes, and ends with it")
    func helper() throws {
        let run = try live(
            [testApp("app"), helper()], seconds: 60,
            [(0, .launch(app)), (10, .home), (30, .launch(app)), (40, .quit(app))])
        let states = run.eventRows.filter { $0.event == "process_state" && $0.app == "helper" }.map(\.detail)
        #expect(
            states == [
                "background", "inactive", "active", "inactive", "background", "suspended", "background", "inactive",
                "active", "inactive", "notRunning",
            ])
        let end = try #require(run.eventRows.first { $0.event == "exit" && $0.app == "helper" })
        #expect(end.reason == "its app app has ended")
    }

    @Test("a helper that comes to the screen with its app is in its band, not in that of work off screen")
    func helperComes() throws {
        let slow = part("helper", .helper) {
            $0.part?.host = AppID(0)
            $0.costs.launch = .seconds(2)
        }
        let run = try live(
            [testApp("app") { $0.costs.launch = .seconds(3) }, slow], seconds: 90,
            [(0, .launch(app)), (10, .home), (40, .launch(app)), (70, .home)])
        // It leaves some time after its app, as long as that one works off screen.
        #expect(bands(of: "helper", in: run) == [100, 30, 20, 0, 100, 30, 20, 0])
    }

    @Test("a helper that ends alone is started again: at once in front, else when its app comes back")
    func reload() throws {
        let run = try live(
            [testApp("app"), helper()], seconds: 60,
            [(0, .launch(app)), (10, .crash(AppID(1))), (20, .home), (25, .terminate(AppID(1))), (40, .launch(app))])
        let starts = run.eventRows.filter { $0.event == "launch" && $0.app == "helper" }.map(\.time)
        #expect(starts.count == 3 && starts[0] == "0" && starts[1] == "10" && (Double(starts[2]) ?? 0) >= 40)
        #expect(!run.eventRows.contains { $0.event == "exit" && $0.app == "app" })
    }

    @Test("A2, A3: on the screen the largest group ends first, and in it the extension, the helper, then the app")
    func a2a3() throws {
        let share = part("share", .share) { $0.part?.host = AppID(0) }
        let alone = part("keyboard", .action) { $0.memory.base = .mebibytes(4) }
        let plan = testPlan(
            [
                testApp("app") {
                    $0.memory.bursts = [BurstProfile(after: .seconds(20), size: .mebibytes(64), over: .seconds(8))]
                },
                helper(), share, alone,
            ], ceiling: .mebibytes(64), seconds: 60, policy: "jetsam",
            user: [
                (0, .launch(app)), (5, .present(AppID(2), lasting: .seconds(50))),
                (6, .present(AppID(3), lasting: .seconds(50))),
            ]
        ) {
            $0.backend = .accounting
            $0.limits.protectForeground = false
        }
        let run = try runToEnd(plan)
        let exits = run.eventRows.filter { $0.event == "exit" }.map { $0.app }
        #expect(Array(exits.prefix(2)) == ["share", "helper"], "\(exits)")
        #expect(exits.firstIndex(of: "app").map { $0 > 1 } ?? true)
    }

    // MARK: Extensions

    @Test("a keyboard and a share sheet are in band 100 over the app in front, and leave with it")
    func presented() throws {
        let keyboard = part("keyboard", .keyboard)
        let share = part("share", .share)
        let run = try live(
            [testApp("app"), keyboard, share], seconds: 60,
            [
                (1, .present(AppID(1), lasting: .seconds(5))), (5, .launch(app)),
                (10, .present(AppID(1), lasting: .seconds(40))), (12, .present(AppID(2), lasting: .seconds(5))),
                (30, .home),
            ])
        let refused = run.eventRows.filter { $0.event == "refused" }
        #expect(refused.map(\.reason) == ["no app is in front"])
        #expect(bands(of: "keyboard", in: run).contains(100) && !bands(of: "keyboard", in: run).contains(80))
        #expect(bands(of: "share", in: run).contains(100))
        let left = run.eventRows.first {
            $0.event == "process_state" && $0.app == "keyboard" && $0.detail == "background"
                && (Double($0.time) ?? 0) > 20
        }
        #expect((Double(left?.time ?? "") ?? 0) >= 30)
    }

    @Test("a tunnel runs in band 100 as long as it is demanded; what the system wakes has the time of an app")
    func demanded() throws {
        let (tunnel, service) = (part("tunnel", .packetTunnel), part("service", .notificationService))
        let run = try live(
            [testApp("app"), tunnel, service], seconds: 900,
            [
                (0, .launch(app)), (3, .wake(AppID(1), .demand, lasting: .minutes(12))),
                (5, .wake(AppID(2), .demand, lasting: .minutes(12))),
            ])
        #expect(bands(of: "tunnel", in: run) == [100, 20, 0])
        #expect(try time(of: 0, "tunnel", after: 4, in: run) > 720)
        #expect(!bands(of: "service", in: run).dropFirst().contains(100))
        let ends = run.eventRows.filter { $0.event == "exit" }.compactMap { Double($0.time) }
        #expect(ends.count == 2 && ends[0] < 60 && ends[1] > 730, "\(ends)")
    }

    @Test("a widget and a keyboard lie suspended until something ends them; other extensions are soon gone")
    func suspended() throws {
        for kind in ProcessKind.allCases where kind.family == .extension {
            let run = try live(
                [testApp("app"), part("it", kind)], seconds: 300,
                [(0, .launch(app)), (2, .wake(AppID(1), .demand, lasting: .seconds(1)))])
            let states = run.eventRows.filter { $0.event == "process_state" && $0.app == "it" }.map(\.detail)
            let stays = kind == .widget || kind == .keyboard
            #expect(states.last == (stays ? "suspended" : "notRunning"), "\(kind.rawValue)")
        }
    }

    @Test("an app is told that its pages have lost their contents: at once where it runs code, else when it runs again")
    func webContent() throws {
        let pages = part("pages", .webContent) { $0.part?.host = AppID(0) }
        let run = try live(
            [testApp("app"), pages, helper()], seconds: 80,
            [
                (0, .launch(app)), (10, .crash(AppID(1))), (15, .crash(AppID(2))), (20, .home),
                (45, .terminate(AppID(1))), (60, .launch(app)), (70, .quit(app)),
            ])
        let told = run.eventRows.filter { $0.detail == "webViewWebContentProcessDidTerminate(_:)" }
        #expect(told.map(\.app) == ["app", "app"])
        #expect(told.first?.time.hasPrefix("10") == true && told.last?.time.hasPrefix("60") == true)
    }

    @Test("a push wakes a notification service extension; it ends by its own limit and not with its app")
    func notification() throws {
        let service = part("service", .notificationService) {
            $0.part?.host = AppID(0)
            $0.memory.leak = ByteRate(bytesPerSecond: 4 << 20)
        }
        let push = UserAction.wake(AppID(1), .remoteNotification, lasting: .seconds(30))
        let run = try live([testApp("app"), service], seconds: 60, [(1, push)])
        #expect(run.callbacks(of: "service") == ["main()", "didReceive(_:withContentHandler:)"])
        let end = try #require(run.eventRows.first { $0.event == "exit" })
        #expect(end.app == "service" && end.detail == "memoryResourceLimit" && end.reason.contains("24MiB"))
    }

    @Test("the limits of extensions by kind, in MB of 2^20 bytes")
    func limits() {
        let expected: [(ProcessKind, Int?)] = [
            (.packetTunnel, 50), (.appProxy, 15), (.dnsProxy, 15), (.filterControl, 12), (.filterData, 6),
            (.appPush, 24), (.notificationService, 24), (.widget, 30), (.share, 120), (.action, 120), (.keyboard, 77),
            (.broadcastUpload, 50), (.messageFilter, 6), (.webContent, 2_048), (.daemon, 6), (.helper, nil),
            (.networking, nil), (.otherExtension, nil),
        ]
        #expect(Set(expected.map(\.0)) == Set(ProcessKind.allCases))
        for (kind, limit) in expected {
            #expect(kind.limit == limit.map { .mebibytes($0) }, "\(kind.rawValue)")
            let limits = AppProfile.part(kind).limits
            #expect(limits.active == kind.limit)
            #expect(kind.limit == nil || limits.isActiveFatal == (kind != .daemon), "extensions' limits are fatal")
        }
    }

    // MARK: The start

    @Test("the run begins where the scenario says: states, bands, order, age, footprints, relaunch history")
    func start() throws {
        let apps = [testApp("front"), testApp("idle"), testApp("music") { $0.backgroundModes = [.audio] }, daemon()]
        let user: [(Double, UserAction)] = [(5, .launch(AppID(1)))]
        let plan = testPlan(apps, ceiling: .mebibytes(256), seconds: 30, policy: "none", user: user) {
            $0.backend = .accounting
            var (front, idle) = (StartedProcess(AppID(0)), StartedProcess(AppID(1)))
            (front.state, front.footprint) = (.front, .mebibytes(20))
            (idle.footprint, idle.relaunched, idle.idle) = (.mebibytes(10), [.seconds(2), .seconds(3)], .minutes(4))
            var (music, daemon) = (StartedProcess(AppID(2)), StartedProcess(AppID(3)))
            (music.state, music.footprint) = (.background, .mebibytes(6))
            (daemon.footprint, daemon.band) = (.mebibytes(3), 170)
            $0.start = [idle, daemon, music, front]
        }
        let run = try runToEnd(plan)
        let rows = TableRow.all(in: run.apps).filter { $0["time_s"] == "0" }
        #expect(rows.map { $0["app"] } == ["idle", "daemon", "music", "front"])
        #expect(rows.map { $0["state"] } == ["suspended", "suspended", "background", "active"])
        #expect(rows.map { $0.integer("band") } == [0, 170, 120, 100])
        let held = rows.map { $0.integer("footprint_bytes") ?? 0 }
        for (held, wanted) in zip(held, [10, 3, 6, 20]) {
            #expect(abs(held - wanted << 20) <= 16_384, "\(held), \(wanted) MiB wanted")
        }
        #expect(run.launchRows.first?.texts("app", "kind") == ["idle", "hot"])
        #expect(run.eventRows.filter { $0.event == "launch" }.isEmpty)
    }

    @Test("a daemon of the start is in the band that the scenario gives, below its own, too, until it works again")
    func lowBand() throws {
        let demand = UserAction.wake(AppID(0), .demand, lasting: .seconds(5))
        let plan = testPlan([daemon()], ceiling: .mebibytes(256), seconds: 60, policy: "none", user: [(30, demand)]) {
            $0.backend = .accounting
            var entry = StartedProcess(AppID(0))
            (entry.state, entry.band) = (.background, 10)
            $0.start = [entry]
        }
        let run = try runToEnd(plan)
        #expect(TableRow.all(in: run.apps).first?.integer("band") == 10)
        #expect(bands(of: "daemon", in: run) == [10, 0, 80, 10, 0])
    }

    @Test("an app of the start in bands 1 to 9 is in band 0, or ages first: it lacks the entitlement")
    func entitledBands() throws {
        for band in [0, 1, 5, 9, 10, 50] {
            for state in StartedProcess.State.allCases {
                let plan = testPlan([testApp("app")], seconds: 3, policy: "none", user: []) {
                    $0.backend = .accounting
                    var entry = StartedProcess(AppID(0))
                    (entry.state, entry.band, entry.idle) = (state, band, state == .front ? .zero : .minutes(5))
                    $0.start = [entry]
                }
                // At every sample this also checks that the band is the one that follows from the state.
                let first = TableRow.all(in: try runToEnd(plan).apps).first
                let lowest = state == .front ? JetsamBand.ageing.number : 0
                let expected = state == .prewarmed || band < 10 ? lowest : band
                #expect(first?.integer("band") == expected, "\(band), \(state)")
            }
        }
    }

    @Test("policies see the age and the relaunch history that a process has at the start")
    func history() throws {
        var entry = StartedProcess(AppID(0))
        (entry.age, entry.idle, entry.relaunched) = (.minutes(20), .minutes(4), [.seconds(2), .seconds(3)])
        let plan = testPlan([testApp("app")], seconds: 2, policy: "none", user: []) {
            $0.backend = .accounting
            $0.start = [entry]
        }
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in MemorySink() })
        var seen: ProcessSnapshot?
        _ = try simulation.run(progress: { _ in
            seen = seen ?? simulation.processes.process(of: AppID(0)).map { simulation.snapshots.snapshot($0) }
        })
        let process = try #require(seen)
        #expect(process.launchedAt == .zero - .minutes(20) && process.lastForeground == .zero - .minutes(4))
        #expect(process.relaunchIntervals == [.seconds(2), .seconds(3)] && process.relaunchLikelihood == .high)
    }
}
