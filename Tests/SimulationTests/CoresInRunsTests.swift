import Lifecycle
import Metrics
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// What apps do to each other on the cores of a whole run.
@Suite("cores in runs")
struct CoresInRunsTests {
    private let front = AppID(0)
    private let other = AppID(1)

    /// The last launch of this app.
    private func launch(of app: String, in run: RunOutput) throws -> (latency: Double, coreWait: Double) {
        let row = try #require(run.launchRows.last { $0["app"] == app })
        return (try #require(row.number("latency_ms")), try #require(row.number("cpu_wait_ms")))
    }

    /// An app that works off screen as long as it lives, using this share of a core.
    private func busy(_ name: String, _ share: Ratio) -> AppProfile {
        testApp(name) {
            $0.backgroundModes = [.audio]
            $0.background.cpu = share
        }
    }

    @Test("deferred work of another app does not delay a launch")
    func deferredWork() throws {
        func run(deferred span: TimeSpan) throws -> RunOutput {
            let apps = [testApp("front"), testApp("other") { $0.deferred.work = span }]
            return try live(apps, [(0, .launch(other)), (5, .launch(front))]) { $0.device.cores = 1 }
        }
        let (idle, busy) = (
            try launch(of: "front", in: run(deferred: .zero)), try launch(of: "front", in: run(deferred: .seconds(60)))
        )
        #expect(busy.latency == idle.latency && busy.coreWait == 0)
    }

    @Test("a refresh just before a launch does not delay it")
    func refresh() throws {
        let apps = [
            testApp("front"),
            testApp("other") {
                $0.backgroundModes = [.fetch]
                $0.costs.process = .seconds(3)
            },
        ]
        func run(_ before: [(Double, UserAction)]) throws -> RunOutput {
            try live(apps, before + [(10, .launch(front))]) { $0.device.cores = 1 }
        }
        let refreshed = try run([(9, .wake(other, .backgroundFetch, lasting: nil))])
        #expect(try launch(of: "front", in: refreshed).latency == launch(of: "front", in: run([])).latency)
        #expect(refreshed.rows("process_state", of: "other").contains { $0.detail == "background" })
    }

    @Test("what apps use off screen slows nothing in front; without priorities it does")
    func backgroundUse() throws {
        func run(priorities: Bool, busy count: Int) throws -> RunOutput {
            let apps = [testApp("front")] + (0..<count).map { busy("busy\($0)", .percent(75)) }
            let taps = (0..<count).map { (Double($0) * 5, UserAction.launch(AppID($0 + 1))) }
            return try live(apps, taps + [(50, .home), (60, .launch(front))]) {
                $0.device.cores = 2
                $0.device.cores.priorities = priorities
            }
        }
        let idle = try launch(of: "front", in: run(priorities: true, busy: 0))
        let first = try launch(of: "front", in: run(priorities: true, busy: 8))
        let shared = try launch(of: "front", in: run(priorities: false, busy: 8))
        #expect(first.latency == idle.latency && first.coreWait == 0)
        #expect(shared.latency > 3 * idle.latency && shared.coreWait > 2 * idle.latency)
    }

    @Test("the core of a process that ends is free at that instant")
    func theDead() throws {
        let apps = [testApp("front") { $0.costs.launch = .seconds(60) }, testApp("other")]
        let run = try live(apps, [(0, .launch(front)), (10, .launch(other)), (11, .crash(front))]) {
            $0.device.cores = 1
            $0.device.cores.priorities = false
        }
        let launch = try #require(run.launchRows.last { $0["app"] == "other" })
        #expect(launch["outcome"] == "ready")
        // Until then the two share the core.
        #expect(abs((launch.number("cpu_wait_ms") ?? 0) - 500) < 10)
    }

    @Test("work in the background keeps to slow cores, and a starved launch says so at its watchdog's end")
    func starved() throws {
        let apps =
            [testApp("front") { $0.cpu = .percent(190) }]
            + [testApp("other") { $0.backgroundModes = [.fetch] }]
        let run = try live(apps, [(0, .launch(front)), (10, .wake(other, .backgroundFetch, lasting: nil))]) {
            $0.device.cores = 2
        }
        // The front app leaves a tenth of a core, and the other's launch needs more than its twenty seconds.
        let slow = testApp("other") {
            $0.backgroundModes = [.fetch]
            $0.costs.launch = .seconds(6)
        }
        let hungry = try live(
            [apps[0], slow], [(0, .launch(front)), (10, .wake(other, .backgroundFetch, lasting: nil))]
        ) { $0.device.cores = 2 }
        #expect(run.rows("exit", of: "other").isEmpty)
        let exit = try #require(hungry.rows("exit", of: "other").first)
        #expect(exit.detail == "appWatchdog")
        #expect(exit.reason.contains("its present work was kept from a core for "), "\(exit.reason)")
    }

    @Test("an app off screen has what the slow cores give")
    func slowCores() throws {
        func end(efficiency: Int) throws -> Double? {
            let run = try live([busy("front", .percent(100))], seconds: 120, [(0, .launch(front)), (10, .home)]) {
                $0.device.cores.efficiency = efficiency
            }
            return run.rows("exit", of: "front").first.flatMap { Double($0.time) }
        }
        // The limit counts time on a core, of whatever speed.
        let (fast, slow) = (try #require(try end(efficiency: 0)), try #require(try end(efficiency: 4)))
        #expect(abs(fast - slow) < 3)
    }

    @Test("the limit off screen counts what a process was really given")
    func limitCountsWhatWasGiven() throws {
        func ends(cores: CoreLayout) throws -> Int {
            let apps = (0..<3).map { busy("busy\($0)", .percent(100)) }
            let taps = (0..<3).map { (Double($0) * 5, UserAction.launch(AppID($0))) }
            let run = try live(apps, seconds: 300, taps + [(20, .home)]) { $0.device.cores = cores }
            return (0..<3).reduce(0) { $0 + run.rows("exit", of: "busy\($1)").count }
        }
        // On one core each has a third: no process reaches 48 s within a minute.
        #expect(try ends(cores: 4) == 3)
        #expect(try ends(cores: 1) == 0)
    }

    @Test("frames are late when their work takes too long, or when the main thread is busy")
    func frames() throws {
        func tally(_ share: Ratio) throws -> CPUTally {
            let apps = [testApp("front") { $0.cpu = share }, testApp("other") { $0.cpu = share }]
            return try live(apps, seconds: 20, [(0, .launch(front))]) { $0.device.cores = 1 }.tally.cpu
        }
        let (half, most, over) = (try tally(.percent(50)), try tally(.percent(99)), try tally(.percent(150)))
        #expect(half.frames > 1_000 && half.lateFrames < 20)
        #expect(most.frames == half.frames && most.lateFrames < 40)
        #expect(over.lateFrames > over.frames / 3)
        // Every other frame is given up.
        #expect(over.purposes[CPUPurpose.frames.rawValue] < most.purposes[CPUPurpose.frames.rawValue])
    }

    /// Keeps a run for its own observer.
    private final class Watched { var run: Simulation? }

    @Test("the policy is asked for the process in front first, even if others have waited longer")
    func memory() throws {
        let apps = (0..<6).map { index in
            testApp("app\(index)") {
                $0.memory.base = .mebibytes(30)
                $0.backgroundModes = [.fetch]
            }
        }
        let wakes = (0..<40).map { (Double($0) * 1.5, UserAction.wake(AppID($0 % 3), .backgroundFetch, lasting: nil)) }
        let taps = (0..<20).map { (Double($0) * 3 + 0.2, UserAction.launch(AppID(3 + $0 % 3))) }
        /// How often the policy was asked for another process although the one in front waited.
        func timesPassedOver(priorities: Bool) throws -> Int {
            let plan = testPlan(apps, seconds: 60, policy: "lru", user: wakes + taps) {
                $0.device.terminationTime = .seconds(4)
                $0.device.cores.priorities = priorities
            }
            let watched = Watched()
            var count = 0
            let options = RunOptions(observer: { decision in
                guard case .allocation(let pid, _) = decision.snapshot.demand, let run = watched.run else { return }
                let inFront = run.display.frontApp.flatMap { run.processes.process(of: $0) }
                if let inFront, run.waiters.isWaiting(inFront), inFront.pid != pid { count += 1 }
            })
            let run = Simulation(
                plan, memory: try plan.makeDevice(), device: ScenarioDevice(plan.device),
                sinks: RunSinks { _ in MemorySink() }, options)
            watched.run = run
            _ = try run.run()
            return count
        }
        #expect(try timesPassedOver(priorities: false) > 0)
        #expect(try timesPassedOver(priorities: true) == 0)
    }

    @Test("the parts of every launch add up, each measured on its own", arguments: [1, 2])
    func parts(cores: Int) throws {
        let apps = [testApp("front"), testApp("other") { $0.costs.resignActive = .milliseconds(700) }]
        let run = try live(
            apps, [(0, .launch(other)), (1, .launch(front)), (3, .launch(other)), (3.2, .launch(front))]
        ) {
            $0.device.cores = CoreLayout(cores)
            $0.device.cores.priorities = false
        }
        let columns = [
            "declared_ms", "fill_ms", "memory_wait_ms", "cpu_wait_ms", "warning_ms", "earlier_work_ms",
            "screen_wait_ms",
        ]
        for row in run.launchRows where row["outcome"] == "ready" {
            let sum = columns.reduce(0) { $0 + (row.number($1) ?? .infinity) }
            #expect(abs(sum - (row.number("latency_ms") ?? 0)) < 0.001, "\(row)")
        }
        #expect(run.launchRows.contains { ($0.number("screen_wait_ms") ?? 0) > 0 })
    }

    @Test("a glance at the cores is what cores.csv says of the time since the last sample")
    func glance() throws {
        let apps = [testApp("front")] + (0..<4).map { busy("busy\($0)", .percent(70)) }
        let user = (1...4).map { (Double($0) * 2, UserAction.launch(AppID($0))) } + [(15, .home), (25, .launch(front))]
        let plan = testPlan(apps, ceiling: .mebibytes(512), seconds: 30, policy: "none", user: user) {
            $0.backend = .accounting
        }
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: sinks)
        var glances: [String: CoreGlance] = [:]
        _ = try simulation.run(progress: { now in
            glances[String(now.microseconds)] = simulation.glance.cores
        })
        let rows = TableRow.all(in: (sinks[RunTables.cores] as? MemorySink)?.bytes ?? [])
        #expect(rows.count > 100)
        var waited = 0
        for row in rows {
            let at = ((row.number("time_s") ?? 0) * 1_000_000).rounded()
            let glance = try #require(glances[String(Int(at))])
            #expect(glance.count == 2)
            let busy = (row.number("busy_ratio") ?? -1) * 2_000_000
            #expect(abs(Double(glance.working.partsPerMillion) - busy) <= 2, "at \(at)")
            #expect((glance.waiting > .zero) == ((row.number("waited_background_ms") ?? 0) > 0))
            #expect(glance.waitingOnScreen == .zero)
            waited += glance.waiting > .zero ? 1 : 0
        }
        #expect(waited > 50)
    }
}
