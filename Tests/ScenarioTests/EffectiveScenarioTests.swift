import Foundation
import Lifecycle
import Memory
import Plan
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

@testable import Scenario

@Suite("the effective scenario")
struct EffectiveScenarioTests {
    @Test("loading it gives the plan that it was written from", arguments: [Samples.commute, Samples.minimal])
    func roundTrip(text: String) throws {
        let plan = try Samples.load(text).get()
        let yaml = EffectiveScenario.yaml(of: plan)
        #expect(try Samples.load(yaml).get() == plan)
        #expect(EffectiveScenario.yaml(of: try Samples.load(yaml).get()) == yaml)
    }

    @Test("two hundred random plans come back as they were")
    func randomPlans() throws {
        for seed in 0..<200 as Range<UInt64> {
            let plan = RandomPlan.make(seed: seed)
            let yaml = EffectiveScenario.yaml(of: plan)
            let result = Samples.load(yaml)
            guard case .success(let loaded) = result else {
                Issue.record("seed \(seed): \(result)\n\(yaml)")
                return
            }
            #expect(loaded == plan, "seed \(seed)")
        }
    }

    /// Expects that a scenario comes back as it was with each of these settings that the loader takes.
    private func expectBack(_ keys: [String], as values: [String], in text: (String) -> String) {
        var tried = 0
        for setting in keys.flatMap({ key in values.map { "\(key): \($0)" } }) {
            guard case .success(let plan) = Samples.load(text(setting)) else { continue }
            tried += 1
            #expect((try? Samples.load(EffectiveScenario.yaml(of: plan)).get()) == plan, "\(setting)")
        }
        #expect(tried > 6, "\(tried)")
    }

    @Test("a device by name with any of its settings as in a plain device", arguments: DevicePreset.all.map(\.name))
    func plainDevices(name: String) {
        expectBack(Device.definition.keys.filter { $0 != "like" }, as: ["none", "off", "0%", "0B", "requester"]) {
            "plimsoll: 1\nname: w\nduration: 1s\ndevice: { like: \(name), \($0) }\n"
                + "apps: [{ name: a, entitled: true }]\n"
        }
    }

    @Test("an app like another with any of its settings as in a plain app", arguments: Archetype.all.map(\.name))
    func plainApps(name: String) {
        expectBack(AppProfile.definition.keys.filter { !["name", "like"].contains($0) }, as: ["none", "0%", "false"]) {
            "plimsoll: 1\nname: w\nduration: 1s\ndevice: { ceiling: 1GiB }\n"
                + "apps: [{ name: a, like: \(name), \($0) }]\n"
        }
    }

    @Test("what happens again and again is one entry, as it was written")
    func repeated() throws {
        let user = "user: [ { every: 16s, from: 2s, launch: only }, { every: 7s, to: 50s, interrupt: call, for: 1s } ]"
        let plan = try Samples.load(Samples.minimal + user).get()
        let yaml = EffectiveScenario.yaml(of: plan)
        let entries = yaml.split(separator: "\n").filter { $0.contains("every") }.map(String.init)
        #expect(
            entries == [
                "  - { every: 16s, from: 2s, to: 1min, launch: only }",
                "  - { every: 7s, from: 0s, to: 50s, interrupt: call, for: 1s }",
            ], "\(yaml)")
        #expect(try Samples.load(yaml).get() == plan)
    }

    @Test(
        "every setting is written", arguments: ["fill_rate", "warning_grace", "sigma", "ignores", "perceived_within"])
    func explicit(key: String) throws {
        #expect(EffectiveScenario.yaml(of: try Samples.load(Samples.minimal).get()).contains("\(key): "))
    }

    @Test("every property of the plan has a key")
    func everyProperty() throws {
        let plan = try Samples.load(Samples.commute).get()
        let app = plan.apps[0]
        let elsewhere = ["expectations", "perceived_within", "app_rows", "shows_duties", "remarks"]
        expectKeys(of: plan, besides: elsewhere)
        expectKeys(of: plan.device, besides: ["linux_memory"])
        expectKeys(of: plan.device.swap)
        // Its parts are keys of the device.
        let linux = Mirror(reflecting: plan.device.linuxMemory).children.compactMap(\.label)
        #expect(linux.allSatisfy { $0 == "isOfApple" || Device.definition.keys.contains($0) }, "\(linux)")
        // The keys of faults are among those of the monitor and of the app.
        expectKeys(of: plan.monitor, besides: ["faults"])
        expectKeys(of: plan.monitor.warning)
        expectKeys(of: plan.limits)
        expectKeys(of: plan.lifecycle)
        // The keys are `entitled` and `managed_oom_preference`.
        expectKeys(of: app, besides: ["part", "faults", "is_entitled", "managed_o_o_m_preference"])
        expectKeys(of: app.scenes, besides: ["uses_u_i_kit"])
        // Either the base or the footprint.
        expectKeys(of: app.memory, besides: ["held"])
        expectKeys(of: app.memory.cache)
        expectKeys(of: app.memory.growth)
        expectKeys(of: app.memory.churn)
        expectKeys(of: app.memory.sawTooth)
        expectKeys(of: TraceProfile(file: "trace.txt"))
        expectKeys(of: app.disconnect)
        expectKeys(of: plan.apps[2].memory.bursts[0])
        expectKeys(of: app.costs)
        expectKeys(of: app.spread)
        expectKeys(of: app.background)
        expectKeys(of: app.warnings)
        expectKeys(of: app.limits)
    }

    /// A new property of a type needs a key. The compiler does not enforce this, so this test does.
    private func expectKeys<Value: Described>(of value: Value, besides elsewhere: [String] = []) {
        for label in Mirror(reflecting: value).children.compactMap(\.label) {
            let key = label.map { $0.isUppercase ? "_\($0.lowercased())" : String($0) }.joined()
            #expect(Value.definition.keys.contains(key) || elsewhere.contains(key), "\(Value.self).\(label)")
        }
    }

    @Test("a footprint is written in place of the base, and the base follows from it")
    func footprint() throws {
        let text = """
            plimsoll: 1
            name: stated
            duration: 10s
            device: { ceiling: 512MiB, app_limit: 60MiB }
            apps: [{ name: a, memory: { footprint: 38MiB, scene: 6MiB } }, { name: b, memory: { footprint: none } }]
            processes: [{ name: c, kind: daemon, memory: { footprint: 4MiB } }]
            """
        let plan = try ScenarioLoader.load(text: text, file: "t.yaml").get()
        #expect(plan.apps.map(\.memory.footprint) == [.mebibytes(38), nil, .mebibytes(4)])
        #expect(plan.apps.map(\.memory.base) == [.mebibytes(32), .mebibytes(46), .mebibytes(4)])
        let yaml = EffectiveScenario.yaml(of: plan)
        #expect(yaml.contains("footprint: 38MiB") && !yaml.contains("base: 32MiB") && yaml.contains("base: 46MiB"))
        #expect(try ScenarioLoader.load(text: yaml, file: "s.yaml").get() == plan)
        let tooMuch = Overrides(sets: ["apps.a.memory.footprint=60MiB"])
        guard case .failure(let fault) = ScenarioLoader.load(text: text, file: "t.yaml", overrides: tooMuch) else {
            Issue.record("a footprint that reaches the limit is not refused")
            return
        }
        #expect("\(fault)".contains("its footprint of 60MiB reaches its fatal limit of 60MiB"), "\(fault)")
    }

    @Test("a text that looks like something else comes back as a text")
    func strings() throws {
        for text in ["true", "null", "", "1.5", "a: b", "#", "tab\there", "ü \"quoted\" \\", "- x", "none", "x\ny"] {
            #expect(try Tree.read(text: "k: " + Tree.string(text).yaml)["k"]?.content == .scalar(text, isQuoted: true))
        }
    }
}

/// Plans with random settings within the limits of a scenario.
enum RandomPlan {
    private static func cores(_ random: inout SeededGenerator) -> CoreLayout {
        var cores = CoreLayout(random.number(in: 1...64))
        if random.chance(.percent(50)) {
            cores.efficiency = random.number(in: 0...8)
            cores.efficiencySpeed = .percent(Int64(random.number(in: 1...100)))
            cores.further = (0..<random.number(in: 0...2)).map { .init(count: $0 + 1, speed: .percent(Int64($0 + 20))) }
            cores.priorities = random.chance(.percent(50))
        }
        return cores
    }

    static func make(seed: UInt64) -> RunPlan {
        var random = SeededGenerator(seed: seed, stream: "plans")
        let names = (0..<random.number(in: 1...6)).map { "app \($0)." }
        let apps = names.map { app(named: $0, &random) }
        var plan = RunPlan(
            name: "random-\(seed)", seed: random.next(), duration: .hours(10),
            device: Device(
                ceiling: MemoryLimits.highestCeiling, reserved: size(&random), cores: cores(&random),
                fillRate: ByteRate(bytesPerSecond: random.number(in: 1 << 20...1 << 36)),
                terminationTime: time(&random), dirtyDecay: time(&random)),
            monitor: random.chance(.percent(50)) ? .ios : .brisk, policy: policy(&random), limits: Limits(), apps: apps,
            user: events(among: names.count, &random))
        plan.monitor.warning.leave = .percent(Int64(random.number(in: 30...100)))
        plan.monitor.warningRest = time(&random)
        plan.limits.backgroundProcesses = random.chance(.percent(50)) ? nil : random.number(in: 0...50)
        plan.limits.backgroundMemory = random.chance(.percent(50)) ? nil : size(&random)
        plan.limits.protected = random.chance(.percent(50)) ? [] : [AppID(names.count - 1)]
        plan.showsDuties = random.chance(.percent(50))
        plan.lifecycle.scenes = random.chance(.percent(50))
        plan.lifecycle.stateAtLaunch = random.chance(.percent(50)) ? .background : .inactive
        plan.lifecycle.protectedDataDelay = time(&random)
        plan.lifecycle.idleScenes = random.chance(.percent(50)) ? .background : .suspended
        plan.backend = random.chance(.percent(50)) ? .jemalloc : .accounting
        plan.expectations = [
            Expectation(metric: "warnings", comparison: .atMost, text: "warnings <= 3.5", value: 3.5)
        ]
        return plan
    }

    private static func size(_ random: inout SeededGenerator) -> ByteCount {
        ByteCount(random.number(in: 0...random.number(in: 0...1 << 34)))
    }

    private static func time(_ random: inout SeededGenerator) -> TimeSpan {
        TimeSpan(microseconds: Int64(random.number(in: 0...random.number(in: 0...100_000_000_000))))
    }

    private static func share(_ random: inout SeededGenerator) -> Ratio {
        Ratio(partsPerMillion: Int64(random.number(in: 0...1_000_000)))
    }

    private static func policy(_ random: inout SeededGenerator) -> PolicySettings {
        let type = PolicyCatalogue.all[random.number(in: 0...PolicyCatalogue.all.count - 1)]
        var settings = PolicySettings(name: type.name)
        for parameter in type.parameterTable {
            let values = [parameter.standard, parameter.lowest, parameter.highest]
            settings.parameters.append(.init(name: parameter.name, value: values[random.number(in: 0...2)]))
        }
        return settings
    }

    private static func app(named name: String, _ random: inout SeededGenerator) -> AppProfile {
        var app = Archetype.all[random.number(in: 0...Archetype.all.count - 1)].profile
        app.name = name
        app.scenes = SceneSupport(support: true, multiple: true)
        app.memory.base = size(&random)
        app.memory.leak = ByteRate(bytesPerSecond: random.number(in: 0...1 << 36))
        app.memory.objects = objects(&random)
        app.memory.bursts = [
            BurstProfile(
                after: time(&random), size: size(&random), over: time(&random),
                hold: random.chance(.percent(50)) ? nil : time(&random))
        ]
        app.memory.trace = trace(&random)
        app.memory.sawTooth.size = size(&random)
        app.memory.sceneGrowth.upTo = size(&random)
        app.disconnect.frees = share(&random)
        app.background.ignores = share(&random)
        app.costs.process = time(&random)
        app.spread = CostSpread(sigma: share(&random), except: CostName.allCases.filter { _ in random.next() % 4 == 0 })
        app.backgroundModes = BackgroundMode.allCases
        app.features = AppFeature.allCases
        app.deferred = DeferredWork(work: time(&random), memory: size(&random))
        app.observers = AppNotification.allCases.map {
            NotificationObserver(of: $0, cost: time(&random), frees: share(&random))
        }
        app.background.task = random.chance(.percent(50)) ? nil : time(&random)
        app.background.leaksTask = random.chance(.percent(50))
        app.background.modesLast = random.chance(.percent(50)) ? nil : time(&random)
        app.background.holdsFileLock = random.chance(.percent(50))
        app.warnings.ignores = share(&random)
        app.background.frees = share(&random)
        app.background.reloads = share(&random)
        app.limits = ProcessLimits(
            active: .gibibytes(32), inactive: nil, fatal: random.chance(.percent(50)),
            activeFatal: [true, false, nil][random.number(in: 0...2)])
        return app
    }

    private static func trace(_ random: inout SeededGenerator) -> TraceProfile? {
        guard random.chance(.percent(50)) else { return nil }
        let isPaced = random.chance(.percent(50))
        return TraceProfile(
            file: "/traces/\"a b\".txt", pace: isPaced ? random.number(in: 1...10_000_000) : nil,
            over: isPaced ? nil : .milliseconds(100) + time(&random), copies: share(&random),
            ends: TraceEnding.allCases[random.number(in: 0...2)],
            lastLine: random.chance(.percent(50)) ? nil : random.number(in: 1...1_000_000))
    }

    private static func objects(_ random: inout SeededGenerator) -> SizeDistribution {
        let low = ByteCount(random.number(in: 1...1_000))
        let high = ByteCount(random.number(in: 1_000...1 << 30))
        return switch random.number(in: 0...3) {
        case 0: .constant(high)
        case 1: .uniform(lowest: low, highest: high)
        case 2: .logNormal(median: low, sigma: share(&random), highest: high)
        default: .histogram([.init(size: low, weight: 0), .init(size: high, weight: random.number(in: 1...99))])
        }
    }

    private static func events(among apps: Int, _ random: inout SeededGenerator) -> [UserEntry] {
        (0..<random.number(in: 0...20)).map { _ in
            let app = AppID(random.number(in: 0...apps - 1))
            let span = TimeSpan(microseconds: Int64(random.number(in: 1...90_000_000)))
            let actions: [UserAction] = [
                .launch(app), .switchTo(app), .home, .openScene(app), .closeScene(app), .quit(app),
                .interrupt(Interruption.allCases[random.number(in: 0...2)], lasting: span), .lock(lasting: span),
                .open(app, [.url, .userActivity, .shortcutItem][random.number(in: 0...2)]),
                .wake(app, [.location, .remoteNotification, .backgroundFetch][random.number(in: 0...2)], lasting: nil),
                .wake(app, [.processing, .bluetoothCentrals][random.number(in: 0...1)], lasting: span),
                .timeChange(TimeChange.allCases[random.number(in: 0...2)]), .beginBackgroundTask(app),
                .showScene(app, SceneID(random.number(in: 1...9))), .hideScene(app, SceneID(2)),
                .open(app, .notification), .wake(app, .call, lasting: span), .restart(lasting: span),
                .endBackgroundTask(app), .showOnDisplay(app), .unplugDisplay, .crash(app), .terminate(app),
                .resetFreezer,
            ]
            let action = actions[random.number(in: 0...actions.count - 1)]
            let at = Instant(microseconds: Int64(random.number(in: 0...35_999_999_999)))
            let end = Instant(microseconds: Int64(random.number(in: Int(at.microseconds) + 1...36_000_000_000)))
            return switch random.number(in: 0...5) {
            case 0: .model(UserModel.allCases[random.number(in: 0...1)], from: at, until: end)
            case 1: .repeated(action, Repetition(every: .seconds(1) + span, from: at, to: end))
            default: .once(action, at: at)
            }
        }
    }
}
