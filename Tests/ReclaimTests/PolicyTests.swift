import Lifecycle
import Pressure
import Quantities
import Testing

@testable import Reclaim

/// A process that left the screen `idle` seconds before the snapshot's instant, which is 1,000 s.
func process(
    _ number: Int, _ phase: ProcessPhase = .suspended, idle: Int64 = 60, size: Int = 50, dirty: Int = 0,
    scene: ScenePhase? = nil, modes: [BackgroundMode] = [], _ change: (inout ProcessSnapshot) -> Void = { _ in }
) -> ProcessSnapshot {
    var snapshot = ProcessSnapshot(
        app: AppID(number), name: "app\(number)", pid: ProcessID(number), phase: phase,
        band: JetsamBand.band(of: phase, modes: modes), footprint: .mebibytes(size), dirty: .mebibytes(dirty),
        cache: .zero, launchedAt: .zero, lastForeground: now - .seconds(idle), modes: modes, warnedAt: nil,
        answersWarning: false, isBusy: false, relaunchCost: .seconds(1),
        scenes: scene.map { [window(1, $0, idle: idle)] } ?? [])
    change(&snapshot)
    return snapshot
}

/// A scene that left the screen `idle` seconds before the snapshot's instant.
func window(_ number: Int, _ phase: ScenePhase, idle: Int64 = 60) -> SceneSnapshot {
    SceneSnapshot(
        scene: SceneID(number), phase: phase, size: .mebibytes(5), lastForeground: now - .seconds(idle))
}

let now = Instant.zero + .seconds(1000)

func snapshot(
    _ processes: [ProcessSnapshot], level: PressureLevel = .critical,
    demand: ReclaimDemand = .pressure(deficit: .mebibytes(100))
) -> SystemSnapshot {
    SystemSnapshot(
        now: now, demand: demand, level: level, ceiling: .gibibytes(1), resident: .mebibytes(1000),
        available: .mebibytes(24), threshold: .mebibytes(50), processes: processes, monitor: .ios)
}

func policy(_ name: String, _ parameters: [PolicySettings.Assignment] = []) throws -> any ReclaimPolicy {
    try #require(PolicyCatalogue.make(PolicySettings(name: name, parameters: parameters)))
}

extension Decision {
    var order: [ReclaimAction] { ranking.map(\.action) }
}

@Suite("policies rank, by table")
struct PolicyTests {
    @Test("the catalogue's names are unique, and a default lies within its range")
    func catalogue() {
        #expect(Set(PolicyCatalogue.all.map { $0.name }).count == PolicyCatalogue.all.count)
        for type in PolicyCatalogue.all {
            #expect(Set(type.parameterTable.map(\.name)).count == type.parameterTable.count, "\(type.name)")
            for parameter in type.parameterTable {
                let numbers = [parameter.lowest, parameter.standard, parameter.highest].compactMap(\.number)
                #expect(numbers == numbers.sorted(), "\(type.name).\(parameter.name)")
                let isChoice = parameter.mayBeTable || parameter.choices.contains("\(parameter.standard)")
                #expect(isChoice || parameter.choices.isEmpty, "\(type.name).\(parameter.name)")
            }
        }
    }

    @Test("what a policy says of when it is content is so", arguments: PolicyCatalogue.all.map { $0.name })
    func content(name: String) throws {
        let policy = try policy(name)
        var random = SeededGenerator(seed: 3, stream: name)
        let phases: [ProcessPhase] = [.active, .inactive, .background, .suspended]
        for ceiling in [ByteCount.mebibytes(256), .gibibytes(1), .gibibytes(4), .gibibytes(16)] {
            guard let enough = policy.contentAbove(on: DeviceSize(ceiling)) else { continue }
            for _ in 0..<50 {
                let processes = (1...random.number(in: 1...20)).map { number in
                    process(
                        number, phases[random.number(in: 0...3)], idle: Int64(random.number(in: 0...900)),
                        size: random.number(in: 1...500), dirty: random.number(in: 0...9)
                    ) {
                        $0.limit = MemoryLimit(bytes: .mebibytes(100), isFatal: random.below(2) == 0)
                        $0.relaunchIntervals = [.seconds(Int64(random.number(in: 1...3_000)))]
                    }
                }
                var asked = snapshot(processes, level: .normal, demand: .nothing)
                asked.ceiling = ceiling
                asked.available = enough + ByteCount(random.number(in: 0...1) * random.number(in: 0...1 << 28))
                asked.history.kills = [
                    .init(at: now - .seconds(1), pid: ProcessID(99), band: .idle, cause: nil, footprint: .mebibytes(1))
                ]
                let decision = policy.decide(asked)
                #expect(decision.ranking.isEmpty && decision.nextLook == nil, "\(name) at \(asked.available)")
                if case .content = decision.standstill { continue }
                Issue.record("\(name) is not content: \(decision)")
            }
        }
    }

    @Test("jetsam, its relatives and largest-first say when they are content, and below that they may act")
    func contentAbove() throws {
        for name in ["jetsam", "jetsam-classic", "largest-first", "lmkd-minfree"] {
            let policy = try policy(name)
            let enough = try #require(policy.contentAbove(on: DeviceSize(.gibibytes(4))))
            var asked = snapshot([process(1, idle: 900)], level: .normal, demand: .nothing)
            asked.ceiling = .gibibytes(4)
            // No available memory is below every threshold; the returned amount is not far above the highest one.
            asked.available = .zero
            #expect(!policy.decide(asked).ranking.isEmpty, "\(name)")
            #expect(enough > .zero && enough < .gibibytes(1), "\(name)")
        }
    }

    @Test("none ranks nobody, whatever the demand")
    func none() throws {
        let decision = try policy("none").decide(snapshot([process(1), process(2)]))
        #expect(decision.ranking.isEmpty)
        #expect(decision.spared.count == 2)
    }

    @Test("lru ends the longest idle first, ties by the lower number, never the foreground")
    func lru() throws {
        let all = [
            process(1, .active, idle: 0), process(2, idle: 10), process(3, idle: 90), process(4, idle: 90),
        ]
        let decision = try policy("lru").decide(snapshot(all))
        #expect(decision.order == [3, 4, 2].map { .terminate(ProcessID($0)) })
        #expect(decision.spared.map(\.pid) == [ProcessID(1)])
    }

    @Test("lru waits for the critical level, unless it is told not to")
    func lruLevel() throws {
        let calm = snapshot([process(1)], level: .warning)
        #expect(try policy("lru").decide(calm).ranking.isEmpty)
        let eager = try policy("lru", [.init(name: "only_when_critical", value: .flag(false))])
        #expect(eager.decide(calm).order == [.terminate(ProcessID(1))])
    }

    @Test("the ladder climbs: purge, suspend, disconnect, terminate, and whoever is audible last")
    func ladder() throws {
        let all = [
            process(1, .active, idle: 0, dirty: 2, scene: .foregroundActive),
            process(2, .background, idle: 50, scene: .background),
            process(3, .suspended, idle: 40, scene: .suspended),
            process(4, .background, idle: 500, modes: [.audio]),
        ]
        let decision = try policy("ladder").decide(snapshot(all))
        #expect(
            decision.order == [
                .purge(ProcessID(1)), .suspend(ProcessID(2)),
                .disconnectScene(ProcessID(2), SceneID(1)), .disconnectScene(ProcessID(3), SceneID(1)),
                .terminate(ProcessID(2)), .terminate(ProcessID(3)), .terminate(ProcessID(4)),
            ])
    }

    @Test("the ladder ends nobody at the warning level, unless it is told to")
    func ladderLevel() throws {
        let calm = snapshot([process(1)], level: .warning)
        #expect(try policy("ladder").decide(calm).ranking.isEmpty)
        let eager = try policy("ladder", [.init(name: "terminate_at_warning", value: .flag(true))])
        #expect(eager.decide(calm).order == [.terminate(ProcessID(1))])
    }

    @Test("a warned app has its grace before the ladder climbs past purging")
    func grace() throws {
        let warned = process(1, dirty: 2) {
            $0.warnedAt = now - .milliseconds(600)
            $0.answersWarning = true
        }
        #expect(try policy("ladder").decide(snapshot([warned])).order == [.purge(ProcessID(1))])
        let strict = try policy("ladder", [.init(name: "warning_grace", value: .time(.milliseconds(500)))])
        #expect(strict.decide(snapshot([warned])).order == [.purge(ProcessID(1)), .terminate(ProcessID(1))])
    }

    private func ladder(_ name: String, _ value: ParameterValue) throws -> any ReclaimPolicy {
        try policy("ladder", [.init(name: name, value: value)])
    }

    private let mixed = [
        process(1, idle: 100, size: 20), process(2, idle: 40, size: 80), process(3, idle: 10, size: 50),
    ]

    private func ends(_ numbers: Int...) -> [ReclaimAction] { numbers.map { .terminate(ProcessID($0)) } }

    @Test("the ladder ends the longest idle first, the largest under a full size_weight, and a mix between")
    func sizeWeight() throws {
        #expect(try policy("ladder").decide(snapshot(mixed)).order == ends(1, 2, 3))
        // Scores, with idle times as shares of 100 s: 65 + 8.75 against 26 + 35 and 6.5 + 21.875.
        #expect(try ladder("size_weight", .ratio(.percent(35))).decide(snapshot(mixed)).order == ends(1, 2, 3))
        // 25 + 18.75 against 10 + 75 and 2.5 + 46.875.
        let mostlySize = try ladder("size_weight", .ratio(.percent(75))).decide(snapshot(mixed))
        #expect(mostlySize.order == ends(2, 3, 1))
        #expect(mostlySize.ranking.map(\.score) == [85_000_000, 49_375_000, 43_750_000])
        // What the ranking looked at is said once, and is part of the reason.
        #expect(
            mostlySize.ranking.map(\.standing) == [
                "largest of the idle", "by idle time and size", "idle longest",
            ])
        #expect(mostlySize.ranking.allSatisfy { $0.reason.hasSuffix(", \($0.standing ?? "?")") })
        #expect(try ladder("size_weight", .ratio(.one)).decide(snapshot(mixed)).order == ends(2, 3, 1))
    }

    @Test("a costly launch speaks against ending an app, as much as relaunch_weight says")
    func relaunchWeight() throws {
        let all = [process(1, idle: 100) { $0.relaunchCost = .seconds(4) }, process(2, idle: 60)]
        #expect(try ladder("relaunch_weight", .ratio(.percent(50))).decide(snapshot(all)).order == ends(1, 2))
        // 100 - 60 against 60 - 15.
        #expect(try ladder("relaunch_weight", .ratio(.percent(60))).decide(snapshot(all)).order == ends(2, 1))
    }

    @Test("who was just seen is not ended for the level's sake, and goes last where somebody waits")
    func spareRecent() throws {
        let all = [process(1, idle: 5), process(2, idle: 60), process(3, .background, idle: 90, modes: [.audio])]
        let kind = try ladder("spare_recent", .time(.seconds(10)))
        #expect(kind.decide(snapshot(all)).order == ends(2, 3))
        // A push launched it, and it has never been on the screen.
        let pushed = process(4) { ($0.lastForeground, $0.launchedAt) = (nil, now - .seconds(5)) }
        #expect(kind.decide(snapshot(all + [pushed])).order == ends(2, 4, 3))
        let demand = ReclaimDemand.allocation(by: ProcessID(9), wanted: .mebibytes(1))
        let weighty = try policy(
            "ladder",
            [
                .init(name: "spare_recent", value: .time(.seconds(10))),
                .init(name: "size_weight", value: .ratio(.one)),
            ])
        let large = [process(1, idle: 5, size: 90)] + all.dropFirst()
        #expect(weighty.decide(snapshot(large, demand: demand)).order.filter(\.isTermination) == ends(2, 1, 3))
    }

    @Test("nobody is ended before the level has held for terminate_after, unless somebody waits for memory")
    func terminateAfter() throws {
        var state = snapshot([process(1)])
        state.history.levelSince = now - .seconds(2)
        let patient = try ladder("terminate_after", .time(.seconds(3)))
        #expect(patient.decide(state).order.isEmpty)
        state.history.levelSince = now - .seconds(3)
        #expect(patient.decide(state).order == ends(1))
        state.history.levelSince = now
        state.demand = .allocation(by: ProcessID(9), wanted: .mebibytes(1))
        #expect(patient.decide(state).order == ends(1))
    }

    @Test("terminate_below keeps endings for the lower part of what the level asks for, and never from who waits")
    func terminateBelow() throws {
        // 24 of 50 MiB are available.
        #expect(try ladder("terminate_below", .ratio(.percent(49))).decide(snapshot([process(1)])).order == ends(1))
        let late = try ladder("terminate_below", .ratio(.percent(48)))
        #expect(late.decide(snapshot([process(1)])).order.isEmpty)
        let demand = ReclaimDemand.allocation(by: ProcessID(9), wanted: .mebibytes(1))
        #expect(late.decide(snapshot([process(1)], demand: demand)).order == ends(1))
    }

    @Test("small dirty remains are not worth a purge, and fresh scenes are not disconnected")
    func thresholds() throws {
        let app = process(1, idle: 15, dirty: 1, scene: .suspended)
        let calm = snapshot([app], level: .warning)
        #expect(try policy("ladder").decide(calm).order == [.purge(ProcessID(1))])
        let picky = try policy("ladder", [.init(name: "purge_minimum", value: .bytes(.mebibytes(2)))])
        #expect(picky.decide(calm).ranking.isEmpty)
        let hasty = try policy("ladder", [.init(name: "disconnect_idle", value: .time(.seconds(10)))])
        #expect(hasty.decide(calm).order == [.purge(ProcessID(1)), .disconnectScene(ProcessID(1), SceneID(1))])
    }

    @Test("a limit on processes is met by ending some, not by purging")
    func backgroundProcesses() throws {
        let app = process(1, dirty: 20, scene: .suspended)
        let decision = try policy("ladder").decide(
            snapshot([app], level: .normal, demand: .backgroundProcesses(excess: 1)))
        #expect(decision.order == [.terminate(ProcessID(1))])
    }

    @Test("who waits for memory is no victim where the policy says so, and one where its original has no such rule")
    func requester() throws {
        let all = [process(1, .background), process(2)]
        let demand = ReclaimDemand.allocation(by: ProcessID(1), wanted: .mebibytes(1))
        for name in ["lru", "ladder", "cheapest-relaunch"] {
            let decision = try policy(name).decide(snapshot(all, demand: demand))
            #expect(!decision.order.contains(.terminate(ProcessID(1))), "\(name)")
            #expect(decision.order.contains(.terminate(ProcessID(2))), "\(name)")
        }
        for name in ["largest-first", "lmkd-minfree", "jetsam", "jetsam-classic"] {
            let decision = try policy(name).decide(snapshot(all, demand: demand))
            #expect(decision.order.contains(.terminate(ProcessID(1))), "\(name)")
            #expect(decision.order.contains(.terminate(ProcessID(2))), "\(name)")
        }
    }

    @Test("the largest goes first, in front, too, where the limits allow that", arguments: [true, false])
    func largestInFront(isProtected: Bool) throws {
        let all = [process(1, .active, size: 300), process(2, size: 40)]
        for demand in [ReclaimDemand.nothing, .allocation(by: ProcessID(1), wanted: .mebibytes(1))] {
            var state = snapshot(all, demand: demand)
            (state.protectsForeground, state.available) = (isProtected, .mebibytes(2))
            let order = try policy("largest-first").decide(state).order
            #expect(order == (isProtected ? ends(2) : ends(1, 2)))
        }
    }

    @Test("a rule takes what is in front only where the limits allow that", arguments: [true, false])
    func rulesInFront(isProtected: Bool) {
        var state = snapshot([process(1, .active, size: 300), process(2, size: 40)], demand: .nothing)
        state.protectsForeground = isProtected
        for action in [RuleAction.terminate, .suspend] {
            let rule = LadderRule(name: "big", action: action, order: [RuleTier(.named(.largest))])
            let order = RuleLadder(rules: [rule]).decide(state).order
            guard action == .terminate else {
                #expect(order.isEmpty)
                continue
            }
            #expect(order == (isProtected ? ends(2) : ends(1, 2)))
        }
    }
}

@Suite("limits stand above any policy")
struct GuardrailTests {
    private func rule(
        _ action: ReclaimAction, _ processes: [ProcessSnapshot], _ limits: Limits = Limits(),
        _ prepare: (inout Guardrails) -> Void = { _ in }
    ) -> String? {
        var guardrails = Guardrails(limits)
        prepare(&guardrails)
        return guardrails.refusal(of: action, in: snapshot(processes))?.rule.rawValue
    }

    @Test("nonsense is refused with its rule: the dead, the foreground, the same fruitless victim")
    func nonsense() {
        let one = ProcessID(1)
        #expect(rule(.terminate(ProcessID(9)), [process(1)]) == "alive")
        #expect(rule(.terminate(one), [process(1, .active)]) == "foreground")
        #expect(rule(.suspend(one), [process(1, .active)]) == "phase")
        #expect(rule(.suspend(one), [process(1, .background, modes: [.audio])]) == "background_mode")
        #expect(rule(.disconnectScene(one, SceneID(1)), [process(1, scene: .foregroundActive)]) == "phase")
        #expect(rule(.disconnectScene(one, SceneID(7)), [process(1, scene: .suspended)]) == "alive")
        #expect(rule(.purge(one), [process(1)]) == nil)
        #expect(rule(.purge(one), [process(1)], Limits(), { $0.noteFruitless(.purge(one)) }) == "fruitless")
        #expect(rule(.terminate(one), [process(1)]) == nil)
    }

    @Test("each limit refuses when it is set, and only then")
    func limits() {
        let one = ReclaimAction.terminate(ProcessID(1))
        #expect(rule(one, [process(1)], Limits(protected: [AppID(1)])) == "protected")
        #expect(rule(one, [process(1)], Limits(protected: [AppID(2)])) == nil)
        let young = process(1) { $0.launchedAt = now - .seconds(5) }
        #expect(rule(one, [young], Limits(minimumStay: .seconds(6))) == "minimum_stay")
        #expect(rule(one, [young], Limits(minimumStay: .seconds(5))) == nil)
        let two = Limits(terminationsPerMinute: 2)
        func spent(_ age: Int64) -> (inout Guardrails) -> Void {
            { guardrails in
                guardrails.noteTermination(of: ProcessID(8), at: now - .seconds(age))
                guardrails.noteTermination(of: ProcessID(9), at: now - .seconds(1))
            }
        }
        #expect(rule(one, [process(1)], two, spent(59)) == "terminations_per_minute")
        #expect(rule(one, [process(1)], two, spent(60)) == nil)
        // The second action concerns the same process: it was asked to end and may now be ended.
        let asked: (inout Guardrails) -> Void = { guardrails in
            guardrails.noteTermination(of: ProcessID(8), at: now - .seconds(2))
            guardrails.noteTermination(of: ProcessID(1), at: now - .seconds(1))
        }
        #expect(rule(one, [process(1)], two, asked) == nil)
    }

    /// What the limits answer about freezing or thawing process 1 on a device whose freezer is in this state.
    private func refusal(
        _ action: ReclaimAction, _ freezer: FreezerState, _ phase: ProcessPhase = .suspended,
        _ change: (inout ProcessSnapshot) -> Void = { _ in }
    ) -> Refusal? {
        var device = snapshot([process(1, phase, change)])
        device.measures.freezer = freezer
        return Guardrails(Limits()).refusal(of: action, in: device)
    }

    @Test("a suspended app is frozen if the freezer has a slot, budget and room, and the refusal says what lacks")
    func freezing() {
        let one = ReclaimAction.freeze(ProcessID(1))
        #expect(refusal(one, .ready) == nil)
        #expect(refusal(one, .ready, .background)?.rule == .phase)
        #expect(refusal(one, .ready) { $0.kind = .helper }?.rule == .phase)
        #expect(refusal(one, .ready) { $0.isBusy = true }?.rule == .busy)
        #expect(refusal(one, .ready) { $0.memory.freezer = .frozen }?.explanation == "it is frozen already")
        for state in [FreezerState.none, .outOfSlots, .outOfBudget, .outOfSpace] {
            let refusal = refusal(one, state)
            #expect(refusal?.rule == .freezer && refusal?.isTemporary == false, "\(state)")
        }
        #expect(refusal(one, .busy)?.isTemporary == true)
        #expect(refusal(one, .outOfSlots) { $0.memory.freezer = .thawed } == nil, "it has a slot")
        #expect(refusal(one, .outOfBudget) { $0.memory.freezer = .thawed }?.rule == .freezer)
    }

    @Test("what is on flash comes back if there is room for it and for what is compressed")
    func thawing() {
        let one = ReclaimAction.thaw(ProcessID(1))
        #expect(refusal(one, .ready)?.explanation == "nothing of it is on flash")
        // 24 MiB are available.
        for (compressed, isRefused) in [(4, false), (5, true)] {
            let refusal = refusal(one, .outOfSlots, .background) {
                ($0.memory.onFlash, $0.memory.compressed) = (.mebibytes(20), .mebibytes(compressed))
            }
            #expect((refusal?.rule == .freezer) == isRefused)
        }
    }

    @Test("while somebody who was asked to end is not gone yet, nothing passes but ending it at once")
    func ending() {
        let both = [process(1), process(2)]
        for action in [ReclaimAction.terminate(ProcessID(2)), .purge(ProcessID(2)), .purge(ProcessID(1))] {
            #expect(rule(action, both, Limits(), { $0.ending = ProcessID(1) }) == "ending")
            #expect(rule(action, both, Limits()) == nil)
        }
        #expect(rule(.terminate(ProcessID(1)), both, Limits(), { $0.ending = ProcessID(1) }) == nil)
    }
}
