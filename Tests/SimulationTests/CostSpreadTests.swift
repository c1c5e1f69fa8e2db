import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing
import Workload

@Suite("the spread of costs")
struct CostSpreadTests {
    private let app = AppID(0)
    /// What a normal number exceeds in one case of ten.
    private static let tenth = 1.2816

    /// The value at or below which this share of the values lies, by nearest rank.
    private static func quantile(_ share: Double, of values: [Double]) -> Double {
        values.sorted()[max(0, Int((share * Double(values.count)).rounded(.up)) - 1)]
    }

    private static func ratioOfP90ToP50(_ values: [Double]) -> Double {
        quantile(0.9, of: values) / quantile(0.5, of: values)
    }

    /// A small app with the archetypes' spread.
    private func drawnApp(_ name: String, _ change: (inout AppProfile) -> Void = { _ in }) -> AppProfile {
        testApp(name) {
            $0.spread = .ofArchetypes
            change(&$0)
        }
    }

    /// The app is launched cold again and again: every 10 s, and each time quit 5 s later.
    private static func coldLaunches(_ count: Int, of app: AppID) -> [(Double, UserAction)] {
        (0..<count).flatMap { [(Double($0) * 10, .launch(app)), (Double($0) * 10 + 5, .quit(app))] }
    }

    private func declared(_ run: RunOutput, of name: String) -> [Double] {
        run.launchRows.filter { $0["app"] == name }.compactMap { $0.number("declared_ms") }
    }

    // MARK: The draw

    @Test("the factors' median is 1 and their p90 is e^(1.28 sigma)", arguments: [10, 35, 70] as [Int64])
    func factors(percent: Int64) {
        let spread = CostSpread(sigma: .percent(percent))
        var generator = SeededGenerator(seed: 1, stream: "app/a/costs")
        let factors = (0..<50_000).map { _ in spread.factor(using: &generator) }
        let expected = exponential(Self.tenth * Double(percent) / 100)
        #expect(abs(Self.quantile(0.5, of: factors) - 1) < 0.015)
        #expect(abs(Self.ratioOfP90ToP50(factors) / expected - 1) < 0.02)
        let most = exponential(4 * Double(percent) / 100)
        #expect(factors.allSatisfy { $0 <= most && $0 >= 1 / most * 0.999_999 })
    }

    @Test("a factor multiplies every cost and the deferred work, except those that are excepted")
    func costs() {
        let names = CostName.allCases
        let profile = drawnApp("a") {
            $0.costs.firstLaunch = .milliseconds(3)
            $0.deferred.work = .seconds(2)
        }
        func costs(_ drawn: DrawnCosts) -> [TimeSpan] {
            let all = drawn.callbacks
            return [
                all.process, all.launch, all.firstLaunch, all.connect, all.enterForeground, all.activate,
                all.resignActive, all.enterBackground, all.disconnect, all.terminate, all.event, drawn.deferredWork,
            ]
        }
        let medians = costs(DrawnCosts(of: profile))
        #expect(medians.count == names.count && medians.allSatisfy { $0 > .zero })
        let drawn = costs(DrawnCosts(of: profile, times: 1.5))
        #expect(drawn.map(\.microseconds) == medians.map { $0.microseconds * 3 / 2 })
        for (index, name) in names.enumerated() {
            var other = profile
            other.spread.except = [name]
            let drawn = costs(DrawnCosts(of: other, times: 2))
            for place in names.indices { #expect(drawn[place] == medians[place] * (place == index ? 1 : 2)) }
        }
    }

    // MARK: Runs

    @Test("one app's cold launches over 50 draws: p90/p50 is what the spread says")
    func coldLaunches() throws {
        var all: [Double] = []
        let expected = exponential(Self.tenth * 0.35)
        for seed in 1...8 as ClosedRange<UInt64> {
            let run = try runToEnd(
                testPlan([drawnApp("a")], seconds: 500, seed: seed, user: Self.coldLaunches(50, of: app)))
            let costs = declared(run, of: "a")
            #expect(costs.count == 50 && Set(costs).count == 50)
            // The ratio of 50 draws is off by a factor of up to e^0.2 in 19 of 20 samples, and of up to e^0.3 in 399
            // of 400.
            #expect(abs(naturalLogarithm(Self.ratioOfP90ToP50(costs) / expected)) < 0.3, "seed \(seed)")
            all += costs
        }
        #expect(abs(Self.ratioOfP90ToP50(all) / expected - 1) < 0.1, "\(Self.ratioOfP90ToP50(all))")
        #expect(abs(Self.quantile(0.5, of: all) / 680 - 1) < 0.05, "\(Self.quantile(0.5, of: all))")
    }

    @Test("without a spread all launches cost the same")
    func exact() throws {
        let run = try runToEnd(testPlan([testApp("a")], seconds: 500, user: Self.coldLaunches(50, of: app)))
        #expect(Set(declared(run, of: "a")) == [680])
    }

    /// Three apps that the user changes between, with pushes for one of them. Two fit on the device.
    private func crowd(policy: String, seed: UInt64 = 1, apps extra: [AppProfile] = []) throws -> RunOutput {
        let names = ["a", "b", "c"]
        let apps = names.map { name in
            drawnApp(name) {
                $0.memory.base = .mebibytes(20)
                $0.backgroundModes = [.remoteNotification]
            }
        }
        let taps = (0..<60).map { (Double($0) * 8, UserAction.launch(AppID($0 * 7 % 5 % 3))) }
        let push = UserAction.wake(AppID(1), .remoteNotification, lasting: nil)
        let pushes = (0..<20).map { (Double($0) * 24 + 4, push) }
        return try runToEnd(testPlan(apps + extra, seconds: 480, seed: seed, policy: policy, user: taps + pushes))
    }

    /// The factor of each finished launch, by app and time of the tap, from what the launch cost.
    private func factors(of run: RunOutput) throws -> [String: (kind: String, factor: Double)] {
        // Hot: enter the foreground, activate. Warm: connect. Cold: process and launch.
        let medians = ["hot": 50.0, "warm": 130, "cold": 680]
        var factors: [String: (kind: String, factor: Double)] = [:]
        for row in run.launchRows where row["outcome"] == "ready" {
            let median = try #require(medians[row["kind"]])
            let cost = try #require(row.number("declared_ms"))
            factors["\(row["app"]) \(row["tapped_s"])"] = (row["kind"], cost / median)
        }
        return factors
    }

    @Test("an event draws the same costs under every policy, also where the app was ended before under one of them")
    func policies() throws {
        let (tight, roomy) = (try factors(of: crowd(policy: "lru")), try factors(of: crowd(policy: "unbounded")))
        let both = tight.keys.filter { roomy[$0] != nil }.sorted()
        #expect(both.count > 30)
        #expect(both.count { tight[$0]?.kind != roomy[$0]?.kind } > 10)
        for key in both {
            let (left, right) = (try #require(tight[key]), try #require(roomy[key]))
            // The sum of a hot launch is rounded to microseconds twice, and shown in milliseconds.
            #expect(abs(left.factor / right.factor - 1) < 0.001, "\(key): \(left), \(right)")
        }
    }

    @Test("another seed draws other costs, and another app changes nobody's")
    func seeds() throws {
        let run = try crowd(policy: "lru")
        #expect(try run.launches == crowd(policy: "lru").launches)
        #expect(try run.launches == crowd(policy: "lru", apps: [drawnApp("idle")]).launches)
        #expect(try run.launches != crowd(policy: "lru", seed: 2).launches)
    }

    @Test("the deferred work of a launch is drawn with its costs")
    func deferred() throws {
        let worker = drawnApp("a") { $0.deferred = DeferredWork(work: .seconds(1), memory: .kibibytes(64)) }
        let run = try runToEnd(testPlan([worker], seconds: 200, user: Self.coldLaunches(20, of: app)))
        let starts = run.eventRows.filter { $0.event == "callback" && $0.detail == didFinish }.compactMap {
            Double($0.time)
        }
        let ends = run.rows("deferred_work", of: "a").compactMap { Double($0.time) }
        let costs = declared(run, of: "a")
        try #require(starts.count == 20 && ends.count == 20 && costs.count == 20)
        for launch in 0..<20 {
            // The work waits for nothing: the device has a core for it.
            let factor = ends[launch] - starts[launch]
            #expect(abs(factor - costs[launch] / 680) < 0.05, "launch \(launch): \(factor), \(costs[launch])")
        }
    }

    @Test("policies see the median of a relaunch's cost, whatever the launches cost")
    func medians() throws {
        let plan = testPlan(
            [drawnApp("a") { $0.memory.base = .mebibytes(20) }, drawnApp("b") { $0.memory.base = .mebibytes(20) }],
            seconds: 200, policy: "cheapest-relaunch",
            user: (0..<20).map { (Double($0) * 10, .launch(AppID($0 % 2))) })
        var seen: Set<TimeSpan> = []
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in MemorySink() },
            observer: { record in for process in record.snapshot.processes { seen.insert(process.relaunchCost) } })
        _ = try simulation.run()
        let fill = plan.device.fillRate.time(for: .mebibytes(22))
        #expect(seen == [.milliseconds(680) + fill])
    }
}
