import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Simulation
import TestSupport
import Testing
import Workload

/// The invariants hold whatever users, systems and apps do.
@Suite("two hundred random lives")
struct RandomLifeTests {
    /// A block of seeds per case, so that a failure is found quickly; every tenth run uses real memory.
    @Test("every invariant holds in every one", arguments: 0..<20)
    func invariants(block: Int) throws {
        for seed in UInt64(block * 10)..<UInt64(block * 10 + 10) {
            let plan = RandomLife(seed: seed).plan
            do {
                let run = try Self.lives.value(of: seed) { try runToEnd(plan) }
                check(run, seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }

    /// The runs of the first seeds are read by two tests.
    private static let lives = Memo<UInt64, RunOutput>()

    @Test("they do not pass for want of events: every kind of row and every exit reason occurs")
    func coverage() throws {
        var kinds: Set<String> = []
        var exits: Set<String> = []
        for seed in 0..<40 as Range<UInt64> {
            let run = try Self.lives.value(of: seed) { try runToEnd(RandomLife(seed: seed).plan) }
            for row in run.eventRows {
                kinds.insert(row.event)
                if row.event == "exit" { exits.insert(row.detail) }
            }
        }
        #expect(
            kinds.isSuperset(of: ["callback", "refused", "snapshot", "background_event", "background_task", "exit"]))
        #expect(exits == Set(ExitReason.allCases.map(\.rawValue)))
    }

    /// Checks the rows by themselves, without the engine.
    private func check(_ run: RunOutput, _ seed: UInt64) {
        var states: [String: String] = [:]
        var changes: [String: Int] = [:]
        var active: [String: Set<String>] = [:]
        var scenes: [[String]: String] = [:]
        for row in run.eventRows {
            switch row.event {
            case "process_state":
                states[row.pid] = row.detail
                changes[row.pid, default: 0] += 1
            case "callback", "notification", "background_event", "snapshot":
                let state = states[row.pid]
                if state == nil || state == "suspended" || state == "notRunning" {
                    Issue.record(
                        "seed \(seed): \(row.app) is \(state ?? "unborn") at \(row.time) and gets \(row.detail)")
                }
            case "action" where row.detail == "disconnect_scene":
                let state = scenes[[row.pid, row.scene]] ?? "unattached"
                #expect(["background", "suspended"].contains(state), "seed \(seed): \(state) at \(row.time): \(row)")
            case "scene_state":
                scenes[[row.pid, row.scene]] = row.detail
                if row.detail == "foregroundActive" {
                    active[row.app, default: []].insert(row.scene)
                } else {
                    active[row.app]?.remove(row.scene)
                }
                let count = active.values.reduce(0) { $0 + $1.count }
                // One scene on the device's own display, one on the second.
                #expect(count <= 2, "seed \(seed): \(count) active scenes at \(row.time)")
            default: break
            }
        }
        checkThatTheSuspendedDoNotGrow(run, seed)
        check(run.launches, against: RunTables.launches, seed)
        check(run.samples, against: RunTables.samples, seed)
        check(run.appSummary, against: RunTables.appSummary, seed)
        check(run.exits, against: RunTables.exits, seed)
        // Every end is counted in one row.
        let counted = run.exitTable.reduce(0) { $0 + ($1.integer("count") ?? 0) }
        #expect(counted == run.eventRows.count { $0.event == "exit" }, "seed \(seed)")
        for difference in AppSums.differences(run) + TerminationRowsTests.differences(run) {
            Issue.record("seed \(seed): \(difference)")
        }
    }

    /// Checks every cell against the table's schema, which is also the schema in the run's data package.
    private func check(_ text: String, against schema: TableSchema, _ seed: UInt64) {
        let table = TableReader(Array(text.utf8), columns: schema.columns.map(\.name))
        #expect(table.columns == schema.columns.map(\.name))
        for row in table.rows {
            for (column, cell) in zip(schema.columns, row) where !column.allows(cell) {
                Issue.record("seed \(seed): \(schema.file) has \(column.name) = '\(cell)' in \(row)")
            }
        }
    }

    private func checkThatTheSuspendedDoNotGrow(_ run: RunOutput, _ seed: UInt64) {
        var resumed: [String: [Double]] = [:]
        for row in run.eventRows where row.event == "process_state" && row.detail != "suspended" {
            resumed[row.pid, default: []].append(Double(row.time) ?? 0)
        }
        var last: [String: (time: Double, requested: Int)] = [:]
        for row in TableRow.all(in: run.apps) {
            let pid = row["pid"]
            guard row["state"] == "suspended", let time = row.number("time_s"),
                let requested = row.integer("requested_bytes")
            else {
                last[pid] = nil
                continue
            }
            if let before = last[pid], requested > before.requested,
                !(resumed[pid] ?? []).contains(where: { $0 >= before.time && $0 <= time })
            {
                Issue.record("seed \(seed): \(row["app"]) is suspended at \(time), but allocates")
            }
            last[pid] = (time, requested)
        }
    }
}

extension Column {
    /// Whether the cell is a permitted absence, or a value of the column's type, choices and bounds.
    fileprivate func allows(_ cell: String) -> Bool {
        if cell.isEmpty { return isOptional }
        guard choices.isEmpty || choices.contains(cell) else { return false }
        switch type {
        case .string: return true
        case .boolean: return cell == "true" || cell == "false"
        case .integer, .number:
            guard let value = Double(cell), type == .number || Int(cell) != nil else { return false }
            return value >= Double(bounds.lowest ?? .min) && value <= Double(bounds.highest ?? .max)
        }
    }
}

/// A random scenario: any apps, any actions, in any order.
private struct RandomLife {
    private var random: SeededGenerator
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed, stream: "lives")
    }

    var plan: RunPlan {
        var copy = self
        return copy.draw()
    }

    private mutating func draw() -> RunPlan {
        let count = random.number(in: 5...40)
        var apps: [AppProfile] = []
        for index in 0..<count { apps.append(app(named: "app\(index)")) }
        var user: [(Double, UserAction)] = []
        for _ in 0..<random.number(in: 40...160) {
            let at = Double(random.number(in: 0...150_000)) / 1_000
            user.append((at, action(among: count)))
        }
        let policies = PolicyCatalogue.all.map { $0.name }
        let ceiling = ByteCount.mebibytes(random.number(in: 40...240))
        let policy = policies[random.number(in: 0...policies.count - 1)]
        var plan = testPlan(apps, ceiling: ceiling, seconds: 180, seed: seed, policy: policy, user: user)
        plan.monitor.interval = .seconds(1)
        plan.device.cores = CoreLayout(random.number(in: 1...4))
        if chance(50) { plan.device.cores.efficiency = random.number(in: 1...4) }
        plan.device.cores.priorities = chance(80)
        plan.showsDuties = chance(30)
        plan.lifecycle.scenes = !chance(5)
        plan.lifecycle.idleScenes = chance(70) ? .suspended : .background
        plan.lifecycle.swipeEntersBackground = chance(30)
        plan.lifecycle.sceneBeforeApplication = chance(70)
        plan.lifecycle.stateAtLaunch = chance(70) ? .background : .inactive
        plan.lifecycle.pausedAudioRuns = chance(30)
        plan.lifecycle.protectedDataDelay = .seconds(Int64(random.number(in: 0...12)))
        plan.backend = seed % 10 == 0 ? .jemalloc : .accounting
        drawSettings(&plan)
        return plan
    }

    /// From a stream of its own, so that the lives stay as they are.
    private func drawSettings(_ plan: inout RunPlan) {
        var draw = SeededGenerator(seed: seed, stream: "settings of the life cycle")
        func chance() -> Bool { draw.chance(.percent(30)) }
        func seconds(_ most: Int) -> TimeSpan { .seconds(Int64(draw.number(in: 1...most))) }
        if chance() { plan.lifecycle.enterBackgroundTime = seconds(10) }
        if chance() { plan.lifecycle.idleSceneDisconnect = seconds(60) }
        if chance() { plan.lifecycle.bootTime = seconds(10) }
        if chance() { plan.lifecycle.cpuOfBackgroundLaunch = seconds(5) }
        if chance() { plan.lifecycle.call = .banner }
        if chance() { plan.device.windows = .one }
        plan.lifecycle.backgroundLaunchEntersBackground = !chance()
        for index in plan.apps.indices where chance() { plan.apps[index].background.fileLockTime = seconds(6) }
        if chance() { plan.device.fallback.rule = .kernelOOM }
    }

    private mutating func chance(_ percent: Int64) -> Bool { random.chance(.percent(percent)) }

    private mutating func some<Element>(of all: [Element], percent: Int64) -> [Element] {
        var chosen: [Element] = []
        for element in all where chance(percent) { chosen.append(element) }
        return chosen
    }

    private mutating func app(named name: String) -> AppProfile {
        let support = chance(75)
        let multiple = chance(60)
        let waking = some(of: BackgroundMode.allCases.filter { !$0.keepsRunning }, percent: 40)
        let modes = waking + some(of: BackgroundMode.allCases.filter(\.keepsRunning), percent: 12)
        let features = some(of: AppFeature.allCases, percent: 70)
        let observers = some(of: AppNotification.allCases, percent: 10).map {
            NotificationObserver(of: $0, cost: .milliseconds(20), frees: .percent(10))
        }
        let base = ByteCount.mebibytes(random.number(in: 1...8))
        let rate = ByteRate(bytesPerSecond: random.number(in: 0...1 << 19))
        let seconds = chance(15) ? Int64(random.number(in: 1...14)) : 0
        let slow = chance(5) ? TimeSpan.seconds(25) : .milliseconds(150) + .seconds(seconds)
        let work = TimeSpan.milliseconds(Int64(random.number(in: 0...5_000)))
        let behaviour = (leaks: chance(8), task: chance(20), file: chance(10), busy: chance(6), deferred: chance(20))
        let hangs = chance(8)
        let limit = (isSet: chance(10), isFatal: chance(50), bytes: ByteCount.mebibytes(random.number(in: 8...16)))
        return testApp(name) { profile in
            profile.scenes = SceneSupport(support: support, multiple: multiple)
            profile.backgroundModes = modes
            profile.features = features
            profile.observers = observers
            profile.memory.base = base
            profile.memory.growth = GrowthProfile(rate: rate, upTo: .mebibytes(24))
            profile.memory.objects = .constant(.kibibytes(64))
            profile.costs.launch = slow
            if hangs { profile.costs.resignActive = .seconds(12) }
            profile.background.work = work
            profile.background.leaksTask = behaviour.leaks
            profile.background.task = behaviour.task ? .seconds(8) : nil
            profile.background.holdsFileLock = behaviour.file
            profile.background.cpu = behaviour.busy ? .percent(96) : .percent(5)
            if limit.isSet { profile.limits = ProcessLimits(active: limit.bytes, fatal: limit.isFatal) }
            if behaviour.deferred { profile.deferred = DeferredWork(work: .seconds(2), memory: .mebibytes(1)) }
        }
    }

    private mutating func action(among count: Int) -> UserAction {
        let app = AppID(random.number(in: 0...count - 1))
        let span = TimeSpan.milliseconds(Int64(random.number(in: 1...30_000)))
        let openings: [LaunchReason] = [.url, .userActivity, .shortcutItem, .notification]
        let wakes: [LaunchReason] = [
            .location, .remoteNotification, .backgroundFetch, .processing, .bluetoothCentrals, .call,
        ]
        let scene = SceneID(random.number(in: 1...3))
        return switch random.number(in: 0...29) {
        case 0...6: .launch(app)
        case 7, 8: .switchTo(app)
        case 9, 10: .home
        case 11, 12: .openScene(app)
        case 13: .closeScene(app)
        case 14: .quit(app)
        case 15: .interrupt(Interruption.allCases[random.number(in: 0...2)], lasting: span)
        case 16: .lock(lasting: span)
        case 17, 18: .open(app, openings[random.number(in: 0...3)])
        case 19...21: .wake(app, wakes[random.number(in: 0...5)], lasting: chance(50) ? span : nil)
        case 22: .timeChange(TimeChange.allCases[random.number(in: 0...2)])
        case 23: .beginBackgroundTask(app)
        case 24: .endBackgroundTask(app)
        case 25: chance(60) ? .showOnDisplay(app) : .unplugDisplay
        case 26: .crash(app)
        case 27: chance(60) ? .showScene(app, scene) : .hideScene(app, scene)
        case 28: chance(20) ? .restart(lasting: span) : .launch(app)
        default: .terminate(app)
        }
    }
}
