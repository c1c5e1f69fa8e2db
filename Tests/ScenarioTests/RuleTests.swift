import Foundation
import Lifecycle
import Pressure
import Quantities
import Simulation
import Testing

@testable import Reclaim
@testable import Scenario

/// Tables that show the effect of every key, measure, feature and order of a rule.
@Suite("rules of one's own")
struct RuleTests {
    private typealias Samples = RuleSamples

    // MARK: Every key matters

    /// For each key: a rule without it, the rule with it, and a device on which the results differ.
    private static let cases: [String: (without: String, with: String, device: SystemSnapshot)] = {
        let two = [RuleSamples.process(1, idle: 20, size: 90), RuleSamples.process(2, idle: 90, size: 40)]
        let device = RuleSamples.device(100, two)
        let waits = RuleSamples.device(100, two, demand: .allocation(by: ProcessID(2), wanted: .mebibytes(1)))
        let grouped = RuleSamples.device(
            100,
            two.map { process in
                var process = process
                process.linux.controlGroup = 0
                return process
            }
        ) { $0.groups = [ControlGroup(name: "both")] }
        return [
            "when": ("name: a", "name: a, when: available < 5%", device),
            "action": ("name: a", "name: a, action: terminate_politely", device),
            "who": ("name: a", "name: a, who: footprint > 50MiB", device),
            "order": ("name: a", "name: a, order: largest", device),
            "name": ("name: a", "name: b", device),
            "unit": ("name: a", "name: a, unit: control_group", grouped),
            "spare_requester": ("name: a", "name: a, spare_requester: false", waits),
        ]
    }()

    /// Keys that need several instants; the tests of durations below cover them.
    private static let elsewhere = ["take", "until", "cool_down"]

    @Test("another value of a key changes a decision", arguments: cases.keys.sorted())
    func key(key: String) throws {
        let found = try #require(Self.cases[key])
        let without = try Samples.policy("[{ \(found.without) }]").decide(found.device)
        let with = try Samples.policy("[{ \(found.with) }]").decide(found.device)
        #expect(without != with)
    }

    @Test("no key is without a case")
    func complete() {
        #expect(Set(LadderRule.definition.keys) == Set(Self.cases.keys).union(Self.elsewhere))
        #expect(RuleTier.definition.keys == ["where", "by"])
    }

    // MARK: Measures

    /// For each measure: a claim that holds on the first device and not on the second.
    private static let measures: [SystemMeasure: (claim: String, yes: SystemSnapshot, no: SystemSnapshot)] = {
        let quiet = RuleSamples.device(500, [RuleSamples.process(1)])
        func device(_ change: (inout SystemSnapshot) -> Void) -> SystemSnapshot {
            RuleSamples.device(500, [RuleSamples.process(1)], change)
        }
        func stall(_ path: WritableKeyPath<SystemMeasures, Ratio>) -> SystemSnapshot {
            device { $0.measures[keyPath: path] = .percent(70) }
        }
        let swap = device {
            ($0.measures.swapTotal, $0.measures.swapFree) = (.mebibytes(100), .mebibytes(10))
        }
        let crowd = RuleSamples.device(
            500, [RuleSamples.process(1), RuleSamples.process(2, .background, size: 200)])
        return [
            .available: ("available < 10%", RuleSamples.device(90, [RuleSamples.process(1)]), quiet),
            .used: ("used >= 900MiB", RuleSamples.device(90, [RuleSamples.process(1)]), quiet),
            .largest: ("largest > 10%", crowd, quiet),
            .fileCache: ("file_cache > 1MiB", device { $0.measures.fileBacked = .mebibytes(2) }, quiet),
            .swapFree: ("swap_free < 15%", swap, quiet),
            .swapUsed: ("swap_used > 80MiB", swap, quiet),
            .someAvg10: ("psi_some_avg10 > 60%", stall(\.some.avg10), quiet),
            .someAvg60: ("psi_some_avg60 > 60%", stall(\.some.avg60), quiet),
            .someAvg300: ("psi_some_avg300 > 60%", stall(\.some.avg300), quiet),
            .fullAvg10: ("psi_full_avg10 > 60%", stall(\.full.avg10), quiet),
            .fullAvg60: ("psi_full_avg60 > 60%", stall(\.full.avg60), quiet),
            .fullAvg300: ("psi_full_avg300 > 60%", stall(\.full.avg300), quiet),
            .someStall: ("stall_some >= 7%", device { $0.measures.someLost = .milliseconds(70) }, quiet),
            .fullStall: ("stall_full >= 7%", device { $0.measures.fullLost = .milliseconds(70) }, quiet),
            .thrashing: ("thrashing > 100%", device { $0.measures.thrashing = .percent(120) }, quiet),
            .limitShare: (
                "limit_share > 80%",
                RuleSamples.device(
                    500,
                    [RuleSamples.process(1) { $0.limit = MemoryLimit(bytes: .mebibytes(55), isFatal: false) }]),
                quiet
            ),
            .processes: ("processes != 1", crowd, quiet),
            .offScreen: ("off_screen >= 2", crowd, quiet),
            .suspended: (
                "suspended <= 0", RuleSamples.device(500, [RuleSamples.process(1, .background)]), quiet
            ),
            .kills: (
                "kills_last_minute > 0",
                device {
                    $0.history.kills = [
                        .init(
                            at: RuleSamples.now - .seconds(50), pid: ProcessID(9), band: .idle, cause: nil,
                            footprint: .zero)
                    ]
                }, quiet
            ),
            .purgeable: ("purgeable > 1MiB", device { $0.measures.purgeable = .mebibytes(2) }, quiet),
            .compressed: ("compressed > 1MiB", device { $0.measures.compressed = .mebibytes(2) }, quiet),
            .compressorPool: ("compressor_pool > 1MiB", device { $0.measures.pool = .mebibytes(2) }, quiet),
            .compressor: ("compressor >= thrashing", device { $0.measures.compressor = .full }, quiet),
            .level: ("level >= warning", device { $0.level = .critical }, quiet),
            .demand: ("demand == pressure", device { $0.demand = .pressure(deficit: .mebibytes(1)) }, quiet),
        ]
    }()

    @Test("every measure can be claimed, and a claim can be false", arguments: SystemMeasure.allCases)
    func measure(measure: SystemMeasure) throws {
        let found = try #require(Self.measures[measure], "no case for \(measure.rawValue)")
        #expect(found.claim.hasPrefix(measure.rawValue + " "))
        let rule = "[{ name: a, when: \(found.claim) }]"
        #expect(try Samples.targets(rule, found.yes).isEmpty == false)
        #expect(try Samples.targets(rule, found.no).isEmpty)
        #expect(!measure.meaning.isEmpty)
    }

    @Test("a claim about swap holds neither way where there is no swap")
    func noSwap() throws {
        let device = Samples.device(10, [Samples.process(1)])
        #expect(try Samples.targets("[{ name: a, when: swap_free < 100% }]", device).isEmpty)
        #expect(try Samples.targets("[{ name: a, when: swap_free >= 0% }]", device).isEmpty)
    }

    @Test(
        "every comparison compares",
        arguments: [
            ("<", [49]), ("<=", [49, 50]), (">", [51]), (">=", [50, 51]), ("==", [50]), ("!=", [49, 51]),
        ])
    func comparisons(symbol: String, sizes: [Int]) throws {
        let device = Samples.device(100, [49, 50, 51].map { Samples.process($0, size: $0) })
        let found = try Samples.targets("[{ name: a, who: footprint \(symbol) 50MiB, order: smallest }]", device)
        #expect(found == sizes)
        #expect(RuleComparison(rawValue: symbol) != nil)
    }

    @Test("all, any and not combine, and a list means all")
    func combinations() throws {
        let device = Samples.device(
            100, [Samples.process(1, size: 10), Samples.process(2, size: 60), Samples.process(3, .background)])
        func who(_ condition: String) throws -> [Int] {
            try Samples.targets("[{ name: a, who: \(condition) }]", device)
        }
        #expect(try who("[state == suspended, footprint > 20MiB]") == [2])
        #expect(try who("{ all: [state == suspended, footprint > 20MiB] }") == [2])
        #expect(try who("{ any: [state == background, footprint > 55MiB] }") == [2, 3])
        #expect(try who("{ not: state == suspended }") == [3])
        #expect(try who("{ not: { any: [state == background, footprint < 20MiB] } }") == [2])
        // The form that the effective scenario uses for a condition that always holds.
        #expect(try who("[]") == [1, 2, 3])
    }

    @Test("blanks between the words of a claim do not matter")
    func blanks() throws {
        let claim = SystemClaim(.available, .below, .share(.percent(10)), for: .seconds(5))
        for text in ["available < 10% for 5s", "  available<10%  for   5s ", "available  <  10%   for 5s"] {
            #expect(try SystemClaim(parsing: text) == claim, "\(text)")
        }
    }

    @Test("a claim's value is within what its measure can be", arguments: SystemMeasure.allCases)
    func scopes(measure: SystemMeasure) throws {
        guard measure.kind == .share else { return }
        let most = measure.scope.mostShare
        #expect(throws: Never.self) { try SystemClaim(parsing: "\(measure.rawValue) > \(most)") }
        let message = "\(measure.rawValue): expected a share up to \(most), such as 60%, not '60'"
        let fault = #expect(throws: RuleFault.self) { try SystemClaim(parsing: "\(measure.rawValue) > 60") }
        #expect(fault?.message == message)
    }

    @Test("oom_score goes below zero, as Android's does")
    func negative() throws {
        #expect(try ProcessClaim(parsing: "oom_score >= -900") == ProcessClaim(.oomScore, .atLeast, .count(-900)))
        for text in ["oom_score > -1001", "oom_score > 1001", "band > -1", "oom_score > +5"] {
            #expect(throws: RuleFault.self, "\(text)") { try ProcessClaim(parsing: text) }
        }
    }

    @Test("the schema's pattern and the reader agree about a claim")
    func patterns() throws {
        let system = [
            "available < 10%", " available <10% for  5s ", "available < 150MB for 1min30s", "available < 1.5",
            "level >= warning",
            "level == hot", "demand > pressure", "demand != pressure for 2s", "psi_full_avg10 > 60",
            "psi_full_avg10 > 100.0%",
            "psi_full_avg10 > 101%", "psi_some_avg300 >= 0.5", "thrashing > 150%", "processes > 3", "processes > x",
            "processes > -1", "available < 10% for", "available < 10% for 5", "availible < 10%", "available == ",
            "kills_last_minute<=2", "limit_share > 60", "limit_share > 10", "limit_share > 10.1", "limit_share > 010.0",
            "limit_share > 9.99",
            "available < $room", "available < $room for $hold", "available < $ room", "available < 3% for $hold",
            "level >= $room", "demand == $room", "processes>$many", "available < $Room", "available < $",
            "thrashing > 2000%", "thrashing > 1000%", "thrashing > 1000.1%", "thrashing > 01000.0%",
            "available < 1.0", "available < 0099%",
        ]
        for text in system {
            let isMatched = try Regex(SystemClaim.pattern).wholeMatch(in: text) != nil
            let parameters = try parameters(text, ["room": "5%", "hold": "2s", "many": "3"])
            #expect(isMatched == ((try? SystemClaim(parsing: text, parameters)) != nil), "\(text)")
        }
        let process = [
            "like == messaging", "like == mesaging", "app == my app", "app < a", "state == suspended",
            "state >= suspended",
            "oom_score > -900", "band >= 100", "band > -1", "idle > 1min", "idle > 1", "likelihood >= medium",
            "growth > 150%",
            "size_rank > 50", "size_rank > 50%", "footprint >= 8MiB", "busy == yes", "busy == true",
            "sibling_share >= 1", "growth > 1001%", "limit_share > 11", "oom_score > -5000", "oom_score > -1000",
            "idle > $calm", "footprint > $room", "band > $many", "state == $calm", "app == $calm", "growth > $room",
            "oom_score <= 1000", "oom_score <= 1001", "oom_score > -01000", "oom_score > -0", "oom_score > +5",
        ]
        for text in process {
            let isMatched = try Regex(ProcessClaim.pattern).wholeMatch(in: text) != nil
            let parameters = try parameters(text, ["room": "5%", "calm": "2s", "many": "3"])
            #expect(isMatched == ((try? ProcessClaim(parsing: text, parameters)) != nil), "\(text)")
        }
    }

    /// Parameters with these values, as their units say.
    private func parameters(_ text: String, _ values: [String: String]) throws -> RuleParameters {
        var found = RuleParameters()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where text.contains("$" + name) {
            let low: ParameterValue =
                value.hasSuffix("%") ? .ratio(.percent(1)) : value.hasSuffix("s") ? .time(.seconds(1)) : .count(1)
            let high: ParameterValue =
                value.hasSuffix("%") ? .ratio(.percent(9)) : value.hasSuffix("s") ? .time(.seconds(9)) : .count(9)
            found.declared.append(
                PolicyParameter(name: name, standard: low, range: (low, high), meaning: "", source: ""))
        }
        return found
    }

    @Test("a rule about an app that the scenario does not have is told, with the nearest name")
    func strangers() throws {
        let rule = "[{ name: a, who: { any: [app == mpas, app != maps] }, order: [{ where: app == nobody }] }]"
        let sets = ["policy={ name: ladder, rules: \(rule) }"]
        let plan = try ScenarioTests.Samples.load(ScenarioTests.Samples.commute, Overrides(sets: sets)).get()
        #expect(
            plan.strangers == [
                "rule 'a': no app is called 'mpas'; did you mean 'maps'?", "rule 'a': no app is called 'nobody'",
            ])
    }

    @Test("so is one in a parameter of a policy")
    func strangersOfParameters() throws {
        let sets = ["policy={ name: earlyoom, parameters: { prefer: [mpas, maps], avoid: [nobody] } }"]
        let plan = try ScenarioTests.Samples.load(ScenarioTests.Samples.commute, Overrides(sets: sets)).get()
        #expect(
            plan.strangers == [
                "parameter 'prefer': no app is called 'mpas'; did you mean 'maps'?",
                "parameter 'avoid': no app is called 'nobody'",
            ])
    }

    @Test("a rule or a parameter about a part that the device lacks is told, and none about one that it has")
    func idleSettings() throws {
        let when = "[swap_free < 10%, compressor == full, { any: [file_cache < 1%] }]"
        let rules = "{ name: a, when: \(when), action: compress }, { name: b, who: swapped > 1MiB, action: drop_files }"
        let sets = ["policy={ name: ladder, rules: [\(rules)] }"]
        func told(_ more: [String] = []) throws -> [String] {
            try ScenarioTests.Samples.load(ScenarioTests.Samples.commute, Overrides(sets: sets + more)).get()
                .idleSettings
        }
        let swapless = "the device has no swap; device.compressor gives it one"
        let swap = [
            "rule 'a': 'swap_free < 10%' has no effect: \(swapless)",
            "rule 'b': 'swapped > 1MiB' has no effect: \(swapless)",
        ]
        let (compressor, files) = ("device.compressor gives it one", "device.file_cache gives it one")
        let all = try told()
        #expect(all.count == 6 && swap.allSatisfy(all.contains))
        #expect(all.count { $0.hasSuffix(compressor) } == 4 && all.count { $0.hasSuffix(files) } == 2)
        #expect(try told(["device.compressor={}", "device.file_cache={}"]).isEmpty)
        let apple = ["device.compressor={}", "device.file_cache={}", "device.swap={ zram: false }"]
        let noSwap = "the device's compressor is no swap; see device.swap"
        #expect(try told(apple) == swap.map { $0.replacing(swapless, with: noSwap) })
        let freezing = ["policy={ name: ladder, rules: [{ name: c, who: frozen == yes, action: thaw }] }"]
        func toldOfFreezer(_ more: [String] = []) throws -> [String] {
            try ScenarioTests.Samples.load(ScenarioTests.Samples.commute, Overrides(sets: freezing + more)).get()
                .idleSettings
        }
        let lacks = "has no effect: the device has no freezer; device.freezer gives it one"
        #expect(try toldOfFreezer() == ["rule 'c': 'frozen == yes' \(lacks)", "rule 'c': thaw \(lacks)"])
        let has = ["device.compressor={}", "device.kernel=11417", "device.freezer={}"]
        #expect(try toldOfFreezer(has).isEmpty)
        let lmkd = ["policy={ name: lmkd, parameters: { swap_low: 20%, kill_wait: 1s } }"]
        let plan = try ScenarioTests.Samples.load(ScenarioTests.Samples.commute, Overrides(sets: lmkd)).get()
        #expect(plan.idleSettings == ["parameter 'swap_low' has no effect: \(swapless)"])
    }

    // MARK: Features

    /// For each feature: a claim that holds for process 1 and not for process 2, and the change that makes it hold.
    private static let features: [ProcessFeature: (claim: String, change: @Sendable (inout ProcessSnapshot) -> Void)] =
        [
            .state: ("state == background", { $0.phase = .background }),
            .app: ("app == feed", { $0.name = "feed" }),
            .like: ("like == video", { $0.like = "video" }),
            .mode: ("mode == location", { ($0.phase, $0.modes) = (.background, [.location]) }),
            .busy: ("busy == yes", { $0.isBusy = true }),
            .answering: ("answering == yes", { $0.answersWarning = true }),
            .waiting: ("waiting == no", { _ in }),
            .likelihood: ("likelihood >= medium", { $0.relaunchIntervals = [.seconds(6)] }),
            .footprint: ("footprint > 10%", { $0.footprint = .mebibytes(200) }),
            .dirty: ("dirty >= 1MiB", { $0.dirty = .mebibytes(1) }),
            .cache: ("cache > 1MiB", { $0.cache = .mebibytes(3) }),
            .purgeable: ("purgeable > 1MiB", { $0.memory.purgeable = .mebibytes(3) }),
            .compressed: ("compressed > 1MiB", { $0.memory.compressed = .mebibytes(3) }),
            .files: ("files > 1MiB", { $0.memory.files = .mebibytes(3) }),
            .frozen: ("frozen == thawed", { $0.memory.freezer = .thawed }),
            .swapped: ("swapped > 0B", { $0.swapped = .mebibytes(3) }),
            .limitShare: ("limit_share > 90%", { $0.limit = MemoryLimit(bytes: .mebibytes(51), isFatal: false) }),
            .siblingShare: ("sibling_share >= 60%", { $0.footprint = .mebibytes(200) }),
            .sizeRank: ("size_rank > 90%", { $0.footprint = .mebibytes(200) }),
            .growth: ("growth >= 125%", { $0.growth = .percent(130) }),
            .idle: ("idle > 90s", { $0.lastForeground = RuleSamples.now - .seconds(100) }),
            .age: ("age < 1min", { $0.launchedAt = RuleSamples.now - .seconds(10) }),
            .warned: ("warned <= 5s", { $0.warnedAt = RuleSamples.now - .seconds(5) }),
            .relaunchCost: ("relaunch_cost < 500ms", { $0.relaunchCost = .milliseconds(400) }),
            .frees: ("frees < 30MiB", { $0.memory.compressed = .mebibytes(30) }),
            .returnCost: ("return_cost > 1s", { $0.use.returnCost = .seconds(2) }),
            .launches: ("launches >= 3", { $0.use.counts = AppUse(launches: 3, at: []) }),
            .uses: ("uses > 1", { $0.use.counts = AppUse(launches: 1, at: [1, 2].map { .zero + .seconds($0) }) }),
            .useGap: (
                "use_gap < 5min", { $0.use.counts = AppUse(launches: 1, at: [1, 9].map { .zero + .seconds($0) }) }
            ),
            .band: ("band >= 20", { $0.band = .ageing }),
            .oomScore: ("oom_score < 800", { $0.lastForeground = RuleSamples.now - .seconds(1) }),
        ]

    @Test("every feature can be claimed of a process, and a claim can be false", arguments: ProcessFeature.allCases)
    func feature(feature: ProcessFeature) throws {
        let found = try #require(Self.features[feature], "no case for \(feature.rawValue)")
        #expect(found.claim.hasPrefix(feature.rawValue + " "))
        #expect(!feature.meaning.isEmpty)
        let processes = [Samples.process(1, .suspended, found.change), Samples.process(2), Samples.process(3)]
        let isWaiting = feature == .waiting
        let device = Samples.device(
            100, processes,
            demand: isWaiting ? .allocation(by: ProcessID(2), wanted: .mebibytes(1)) : .nothing)
        // A waiting process may be purged, so only the claim excludes it.
        let rule = "[{ name: a, action: \(isWaiting ? "warn" : "terminate"), who: \(found.claim) }]"
        let targets = try Samples.targets(rule, isWaiting ? Self.running(device) : device)
        #expect(targets == (isWaiting ? [1, 3] : [1]))
    }

    private static func running(_ device: SystemSnapshot) -> SystemSnapshot {
        var device = device
        for index in device.processes.indices { device.processes[index].phase = .background }
        return device
    }

    // MARK: Orders

    /// For each order: the change that puts process 2 of three first.
    private static let orders: [RuleOrder.Name: @Sendable (inout ProcessSnapshot) -> Void] = [
        .idleLongest: { $0.lastForeground = RuleSamples.now - .seconds(600) },
        .largest: { $0.footprint = .mebibytes(80) },
        .smallest: { $0.footprint = .mebibytes(8) },
        .cheapestRelaunch: { $0.relaunchCost = .milliseconds(100) },
        .lowestBand: { $0.band = JetsamBand(-1) },
        .highestOomScore: { $0.lastForeground = RuleSamples.now - .seconds(600) },
        .highestBadness: { $0.declaredOomScoreAdj = 1_000 },
        .fastestGrowing: { $0.growth = .percent(200) },
        .mostSwapped: { $0.swapped = .mebibytes(9) },
        .nearestLimit: { $0.limit = MemoryLimit(bytes: .mebibytes(50), isFatal: false) },
    ]

    @Test("every order puts another first, and says why", arguments: RuleOrder.Name.allCases)
    func order(order: RuleOrder.Name) throws {
        let change = try #require(Self.orders[order], "no case for \(order.rawValue)")
        let device = Samples.device(
            100, [Samples.process(1), Samples.process(2, .suspended, change), Samples.process(3)])
        let decision = try Samples.policy("[{ name: a, order: \(order.rawValue) }]").decide(device)
        #expect(decision.ranking.map(\.action.target.number) == [2, 1, 3])
        #expect(decision.ranking[0].reason.hasPrefix("rule 'a': "))
        #expect(decision.ranking[0].reason != "rule 'a': ")
    }

    @Test("weights add up shares of the greatest, and a negative one prefers less")
    func weights() throws {
        let device = Samples.device(
            100,
            [
                Samples.process(1, idle: 100, size: 50), Samples.process(2, idle: 50, size: 100),
                Samples.process(3, idle: 100, size: 90) { $0.relaunchCost = .seconds(4) },
            ])
        func order(_ weights: String) throws -> [Int] {
            try Samples.targets("[{ name: a, order: { \(weights) } }]", device)
        }
        #expect(try order("footprint: 1") == [2, 3, 1])
        #expect(try order("footprint: 1, idle: 1") == [3, 1, 2])
        #expect(try order("footprint: 1, idle: 1, relaunch_cost: -1") == [1, 2, 3])
        #expect(try order("footprint: -1") == [1, 3, 2])
    }

    @Test("tiers stand one after the other, and who stands in none is left alone")
    func tiers() throws {
        let device = Samples.device(
            100,
            [
                Samples.process(1, .background, modes: [.location]), Samples.process(2, size: 10),
                Samples.process(3, size: 60), Samples.process(4, .background),
            ])
        let rule = """
            [{ name: a, order: [{ where: mode == location, by: largest }, { where: state == suspended, by: largest }] }]
            """
        let decision = try Samples.policy(rule).decide(device)
        #expect(decision.ranking.map(\.action.target.number) == [1, 3, 2])
        #expect(
            decision.spared == [
                Spared(ProcessID(4), reason: "rule 'a' leaves it alone: it stands in no tier of its order")
            ])
    }

    // MARK: Actions

    @Test("every action is asked of whoever it fits", arguments: RuleAction.allCases)
    func actions(action: RuleAction) throws {
        var shown = Samples.process(1, .active, idle: 0)
        shown.dirty = .mebibytes(1)
        let hidden = Samples.process(2, .background) {
            $0.dirty = .mebibytes(1)
            $0.memory.purgeable = .mebibytes(1)
            $0.memory.files = .mebibytes(1)
            $0.memory.onFlash = .mebibytes(1)
            $0.scenes = [
                SceneSnapshot(scene: SceneID(7), phase: .background, size: .mebibytes(5), lastForeground: nil)
            ]
        }
        let asleep = Samples.process(3)
        var device = Samples.device(100, [shown, hidden, asleep])
        (device.measures.compressor, device.measures.freezer) = (.working, .ready)
        let decision = try Samples.policy("[{ name: a, action: \(action.rawValue) }]").decide(device)
        let expected: [ReclaimAction] =
            switch action {
            case .warn: [.warn(ProcessID(2)), .warn(ProcessID(1))]
            case .purge: [.purge(ProcessID(2)), .purge(ProcessID(1))]
            case .discard: [.discard(ProcessID(2))]
            case .dropFiles: [.dropFiles(ProcessID(2))]
            case .compress: [.compress(ProcessID(2)), .compress(ProcessID(3)), .compress(ProcessID(1))]
            case .freeze: [.freeze(ProcessID(3))]
            case .thaw: [.thaw(ProcessID(2))]
            case .suspend: [.suspend(ProcessID(2))]
            case .disconnectScene: [.disconnectScene(ProcessID(2), SceneID(7))]
            case .terminatePolitely: [.terminatePolitely(ProcessID(2)), .terminatePolitely(ProcessID(3))]
            case .terminate: [.terminate(ProcessID(2)), .terminate(ProcessID(3))]
            }
        #expect(decision.ranking.map(\.action) == expected)
        #expect(!action.meaning.isEmpty)
    }

    @Test("only suspended apps that are not frozen are frozen, and only on a device with a freezer")
    func freezing() throws {
        let processes = [
            Samples.process(1), Samples.process(2, .background), Samples.process(3) { $0.memory.freezer = .frozen },
            Samples.process(4) { $0.memory.freezer = .thawed }, Samples.process(5) { $0.kind = .helper },
            Samples.process(6) { $0.memory.onFlash = $0.footprint },
        ]
        var device = Samples.device(100, processes)
        let freeze = "[{ name: a, action: freeze }]"
        #expect(try Samples.targets(freeze, device).isEmpty)
        for state in [FreezerState.ready, .busy, .outOfSlots, .outOfBudget, .outOfSpace] {
            device.measures.freezer = state
            #expect(try Samples.targets(freeze, device) == [1, 4])
        }
        #expect(try Samples.targets("[{ name: a, action: thaw }]", device) == [6])
    }

    @Test("a rule that disconnects is asked of every scene off screen, by the scene's own time, also in front")
    func windows() throws {
        func window(_ number: Int, _ phase: ScenePhase, idle: Int64) -> SceneSnapshot {
            SceneSnapshot(
                scene: SceneID(number), phase: phase, size: .mebibytes(5), lastForeground: Samples.now - .seconds(idle))
        }
        let front = Samples.process(1, .active, idle: 0) {
            $0.scenes = [
                window(1, .background, idle: 40), window(2, .background, idle: 500),
                window(3, .foregroundActive, idle: 0), window(4, .unattached, idle: 900),
            ]
        }
        let asleep = Samples.process(2, idle: 60) {
            $0.scenes = [window(1, .suspended, idle: 60), window(2, .suspended, idle: 90)]
        }
        func order(_ rule: String, _ demand: ReclaimDemand = .nothing) throws -> [ReclaimAction] {
            try Samples.policy("[{ name: a, action: disconnect_scene\(rule) }]").decide(
                Samples.device(100, [front, asleep], demand: demand)
            ).ranking.map(\.action)
        }
        func scene(_ pid: Int, _ number: Int) -> ReclaimAction { .disconnectScene(ProcessID(pid), SceneID(number)) }
        #expect(try order("") == [scene(1, 2), scene(2, 2), scene(2, 1), scene(1, 1)])
        #expect(try order(", who: idle > 80s") == [scene(1, 2), scene(2, 2)])
        #expect(try order(", who: state == suspended, order: { idle: -1 }") == [scene(2, 1), scene(2, 2)])
        #expect(
            try order(", order: [{ where: idle < 80s }, { by: idle_longest }]")
                == [scene(2, 1), scene(1, 1), scene(1, 2), scene(2, 2)])
        // A process that waits for memory cannot give up its scenes, and a limit concerns only apps off screen.
        #expect(try order("", .allocation(by: ProcessID(1), wanted: .mebibytes(1))) == [scene(2, 2), scene(2, 1)])
        #expect(try order("", .backgroundMemory(excess: .mebibytes(1))) == [scene(2, 2), scene(2, 1)])
    }

    @Test("a rule that disconnects goes by what each scene holds, whatever its app does")
    func windowSizes() throws {
        func app(_ number: Int, size: Int, scenes: [Int]) -> ProcessSnapshot {
            Samples.process(number, idle: 60) {
                $0.footprint = .mebibytes(size)
                $0.relaunchCost = .seconds(1)
                $0.scenes = scenes.enumerated().map {
                    SceneSnapshot(
                        scene: SceneID($0 + 1), phase: .suspended, size: .mebibytes($1), lastForeground: nil)
                }
            }
        }
        let device = Samples.device(100, [app(1, size: 90, scenes: [1, 2]), app(2, size: 20, scenes: [15])])
        func ranking(_ rule: String) throws -> [Candidate] {
            try Samples.policy("[{ name: a, action: disconnect_scene, \(rule) }]").decide(device).ranking
        }
        func scene(_ pid: Int, _ number: Int) -> ReclaimAction { .disconnectScene(ProcessID(pid), SceneID(number)) }
        let falling = [scene(2, 1), scene(1, 2), scene(1, 1)]
        for order in ["largest", "{ footprint: 1 }", "cheapest_relaunch"] {
            #expect(try ranking("order: \(order)").map(\.action) == falling, "\(order)")
        }
        #expect(try ranking("order: smallest").map(\.action) == falling.reversed())
        #expect(
            try ranking("order: largest").map(\.reason) == [15, 2, 1].map { "rule 'a': holds \($0).0 MiB" })
        #expect(try ranking("who: footprint >= 2MiB, order: smallest").map(\.action) == [scene(1, 2), scene(2, 1)])
        #expect(
            try ranking("order: [{ where: footprint < 2MiB }, { by: largest }]").map(\.action)
                == [scene(1, 1), scene(2, 1), scene(1, 2)])
        // An action that ends an app considers the whole app.
        let ended = try Samples.policy("[{ name: a, order: largest }]").decide(device).ranking
        #expect(ended.map(\.action) == [.terminate(ProcessID(1)), .terminate(ProcessID(2))])
    }

    @Test("rules are asked in their order, and everybody left alone is told why")
    func several() throws {
        let device = Samples.device(100, [Samples.process(1), Samples.process(2, .background)])
        let decision = try Samples.policy(
            "[{ name: first, who: state == background }, { name: late, when: available < 1% }]"
        ).decide(device)
        #expect(decision.ranking.map(\.action) == [.terminate(ProcessID(2))])
        #expect(
            decision.spared == [
                Spared(ProcessID(1), reason: "rule 'first' leaves it alone: state == background does not hold")
            ])
        let late = try Samples.policy("[{ name: late, when: available < 1% }]")
        let asked = late.decide(
            Samples.device(100, device.processes, demand: .pressure(deficit: .mebibytes(1)), level: .warning))
        #expect(asked.spared[0].reason == "rule 'late' is not due: available < 1% does not hold")
        #expect(asked.standstill == .content("no rule is due"))
    }

    @Test("when nothing is demanded and nothing is done, nobody is told why: so it is at nearly every sample")
    func calm() throws {
        let device = Samples.device(100, [Samples.process(1), Samples.process(2, .background)])
        let late = try Samples.policy("[{ name: late, when: available < 1% }]").decide(device)
        #expect(late.ranking.isEmpty && late.spared.isEmpty && late.standstill == .content("no rule is due"))
    }

    @Test("a limit that no rule answers is answered by the longest idle")
    func limits() throws {
        let device = Samples.device(
            900, [Samples.process(1, idle: 10), Samples.process(2, idle: 20)],
            demand: .backgroundProcesses(excess: 1))
        #expect(try Samples.targets("[{ name: a, when: available < 1% }]", device) == [2, 1])
    }
}
