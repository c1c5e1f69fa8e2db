import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation
import Synchronization
import Testing
import Workload

@testable import Explanation
@testable import Scenario

@Suite("which changes are tried to save a process")
struct ExplainChangesTests {
    private static func scenario(_ name: String) -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return "/\(root)/Scenarios/\(name).yaml"
    }

    private func explainer(_ text: String, _ sets: [String] = []) throws -> Explainer {
        Explainer(plan: try loadedPlan(text, sets), scenario: "r/scenario.yaml")
    }

    /// Whether a process of the app ends by the system in a run with these settings.
    private func ends(_ app: String, _ plan: RunPlan) throws -> Bool {
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in NullSink() })
        _ = try simulation.run()
        return simulation.tally.terminations.contains { $0.app == app }
    }

    // MARK: An editor behind a game

    @Test("of an editor behind a game: the largest size, the smallest device, and the price of protecting it")
    func editor() throws {
        let path = Self.scenario("editor-behind-a-game")
        func plan(_ sets: [String]) throws -> RunPlan {
            try ScenarioLoader.load(
                path: path, overrides: Overrides(sets: sets + ["expect=[]"], backend: .accounting)
            ).get()
        }
        let explainer = Explainer(plan: try plan([]), scenario: path)
        let termination = try #require(try explainer.terminations().first)
        #expect(termination.app == "editor")
        let advices = try explainer.counsel(for: termination).advices

        let size = try #require(advices.first { $0.change.kind == .size }, "no size")
        let device = try #require(advices.first { $0.change.kind == .device }, "no device")
        // As the scenario's comment says.
        #expect(size.change.assignments == ["apps.editor.memory.base=144MiB"])
        #expect(device.change.assignments == ["device.ceiling=1216MiB"])
        for advice in [size, device] {
            #expect(advice.price.isFree, "\(advice.change.words)")
            #expect(try !ends("editor", plan(advice.change.assignments)))
            // The nearest value that is not enough is named, and is not.
            let other = try #require(advice.change.words.firstMatch(of: #/\(with (\S+) it still ends\)/#)?.1)
            let key = try #require(advice.change.assignments.first?.split(separator: "=").first)
            #expect(try ends("editor", plan(["\(key)=\(other)"])), "\(advice.change.words)")
        }
        let protection = try #require(advices.last)
        #expect(protection.change.kind == .protection && protection.price.isWorse)
        #expect(protection.price.losses.first?.app == "game")
        #expect(protection.price.losses.first?.kind == .endsInForeground)
        let text = try explainer.explain(termination).wholeText
        #expect(text.contains("What saves it: apps.editor.memory.base = "), "\(text)")
        #expect(text.contains("\n  Or:            device.ceiling = "), "\(text)")
        #expect(text.contains("\n  Or:            protection by name"), "\(text)")
        #expect(text.contains("game, in the FOREGROUND: it ends "), "\(text)")
    }

    // MARK: Processes that are no apps

    @Test("a process is named by its kind, and what would save it is a setting that the scenario accepts")
    func kinds() throws {
        for (name, sets) in [("extensions", []), ("daemons", ["processes.fetchd.idle_exit=10min"])] {
            let path = Self.scenario(name)
            func plan(_ more: [String]) throws -> RunPlan {
                try ScenarioLoader.load(
                    path: path, overrides: Overrides(sets: sets + more + ["expect=[]"], backend: .accounting)
                ).get()
            }
            let explainer = Explainer(plan: try plan([]), scenario: path)
            let terminations = try explainer.terminations()
            let wanted = name == "extensions" ? "chat-notify" : "syncd"
            let termination = try #require(terminations.first { $0.app == wanted })
            let text = try explainer.explain(termination).wholeText
            let kind =
                name == "extensions" ? "the notification-service extension of chat, " : "a daemon, idle for 1 min"
            #expect(text.contains("What it was:   \(kind)"), "\(text)")
            let advices = try explainer.counsel(for: termination).advices
            #expect(!advices.isEmpty)
            for advice in advices { _ = try plan(advice.change.assignments) }
            if name == "extensions" {
                #expect(text.contains("What saves it: processes.chat-notify.limits.active = "), "\(text)")
            }
        }
    }

    // MARK: Ends that no policy chose

    private static let alone = """
        plimsoll: 1
        name: alone
        duration: 4min
        backend: accounting
        device: { ceiling: 512MiB, reserved: 16MiB }
        policy: none
        apps:
          - { name: a, like: plain }
          - { name: b, like: plain }
        user:
          - { at: 0s, launch: a }
          - { at: 20s, launch: b }
          - { at: 3min, switch: a }
        """

    @Test(
        "an end by a rule is explained, and what is said to avoid it does",
        arguments: [
            (ExitReason.memoryResourceLimit, ["memory.leak=2MiB/s", "limits.active=80MiB"], "memory.leak = 0B/s"),
            (.memoryResourceLimit, ["memory.base=50MiB", "limits.inactive=60MiB"], "limits.inactive = "),
            (.suspendedWithLockedFile, ["background.holds_file_lock=true"], "holds_file_lock = false"),
            (.backgroundTaskAssertionTimeout, ["background.leaks_task=true"], "leaks_task = false"),
            (.cpuResourceLimit, ["background.cpu=100%", "background_modes=[location]"], "background.cpu = 75%"),
            (.appWatchdog, ["costs.enter_background=9s"], "costs.enter_background = "),
        ])
    func byRule(reason: ExitReason, settings: [String], words: String) throws {
        let sets = settings.map { "apps.a.\($0)" }
        let explainer = try explainer(Self.alone, sets)
        let termination = try #require(try explainer.terminations().first, "nothing ended")
        guard case .rule(let fact, let explanation) = termination.cause else {
            Issue.record("a policy did it")
            return
        }
        #expect(fact.reason == reason && !explanation.isEmpty)
        let text = try explainer.explain(termination).wholeText
        #expect(text.hasPrefix("a was ended by the system, "), "\(text)")
        #expect(text.contains("(\(reason.rawValue))") && text.contains(explanation), "\(text)")
        #expect(text.contains(words), "\(text)")
        let advices = try explainer.counsel(for: termination).advices
        let first = try #require(advices.first, "no advice")
        #expect(first.price.isFair)
        for advice in advices where advice.price.isSaved {
            let changed = try loadedPlan(Self.alone, sets + advice.change.assignments)
            #expect(changed == advice.change.plan)
            #expect(try exits(of: "a", in: changed).allSatisfy { $0 > termination.at }, "\(advice.change.words)")
        }
    }

    @Test("an allocation that finds no room is explained with the sizes of app and device")
    func noRoom() throws {
        let explainer = try explainer(
            Self.alone, ["apps.a.memory.leak=4MiB/s", "apps.b.memory.base=200MiB", "device.ceiling=300MiB"])
        let termination = try #require(try explainer.terminations().first)
        let text = try explainer.explain(termination).wholeText
        #expect(text.contains("(memoryPressure)") && text.contains("no room for "), "\(text)")
        #expect(text.contains("device.ceiling = "), "\(text)")
        #expect(!text.contains("protection by name"), "\(text)")
    }

    // MARK: The limit that demanded it

    @Test("the limit on apps off screen that demanded the end is loosened as far as it takes")
    func limit() throws {
        let sets = ["policy=lru", "limits.background_processes=0", "duration=100s", "user.2.at=90s"]
        let explainer = try explainer(Self.alone, sets)
        let termination = try #require(try explainer.terminations().first)
        let first = try #require(try explainer.counsel(for: termination).advices.first)
        #expect(first.change.assignments == ["limits.background_processes=1"], "\(first.change.words)")
        #expect(first.price.isFree)
    }

    // MARK: Searches

    /// Searches among 384 steps; tells whether a step saves, and if not, by how many seconds it delays the end.
    private func search(_ saves: (Int) -> Bool, delay: (Int) -> Int64 = { _ in 0 }) throws -> SizeQuest {
        let plan = try loadedPlan(Self.alone)
        var quest = SizeQuest("n up to", last: 384) {
            "\($0)"
        } change: {
            Change(.size, "\($0)", ["n=\($0)"], plan)
        }
        var rounds = 0
        while !quest.wanted.isEmpty {
            rounds += 1
            let (most, count) = (quest.left, quest.wanted.count)
            quest.learn(
                quest.wanted.map { change in
                    let step = Int(change.words) ?? 0
                    return Outcome(isSaved: saves(step), isFree: false, delay: .seconds(delay(step)))
                })
            #expect(rounds < 36)
            #expect(count > 0 && count + quest.left <= most, "it said that at most \(most) were left")
        }
        return quest
    }

    @Test("a search for a size ends at the smallest change that saves, and names a smaller one that does not")
    func search() throws {
        for least in 1...384 {
            let found = try #require(try search { $0 >= least }.found.first)
            #expect(found.assignments == ["n=\(least)"] && !found.isByChance)
        }
        #expect(try search { $0 >= 9 }.found.first?.words == "9 (with 8 it still ends)")
        let none = try search { _ in false }
        #expect(none.found.isEmpty && none.failure == "n up to 384")
    }

    @Test("what saves by chance is not what is named: all tried changes beyond the named one save, too")
    func robust() throws {
        // A stranger's case: 900 MiB fails, some sizes just below pass, those down to 520 fail, all below pass.
        let found = try #require(try search { (9...13).contains($0) || $0 >= 163 }.found.first)
        let step = try #require(found.assignments.first.flatMap { Int($0.dropFirst(2)) })
        #expect(step == 163 && !found.isByChance, "\(found.words)")
        // Where larger changes fail again, the change is named as what it is.
        let lucky = try #require(try search { (9...20).contains($0) }.found.first)
        #expect(lucky.isByChance && lucky.words.contains("it ends again"), "\(lucky.words)")
        #expect(lucky.brief.contains("by chance: with "), "\(lucky.brief)")
        // A gap beyond the border is found by the steps that are tried there.
        let gap = try #require(try search { $0 >= 9 && !(180...220).contains($0) }.found.first)
        #expect(gap.assignments == ["n=221"], "\(gap.words)")
    }

    @Test("where nothing saves, the change that delays the end longest is found, the smallest of several")
    func delays() throws {
        let found = try search({ _ in false }, delay: { $0 < 100 ? 5 : $0 < 300 ? 60 : 40 }).found
        #expect(found.map(\.assignments) == [["n=192"]])
        #expect(try search({ _ in false }, delay: { _ in 9 }).found.isEmpty, "less than ten seconds is no delay")
    }

    private static let tight = TightPhone.scenario(
        "lru", ceiling: "140MiB", seconds: 120, taps: TightPhone.rounds("abcd", pause: 10))

    @Test("the answer does not depend on how many runs are played at once")
    func workforce() throws {
        let plan = try loadedPlan(Self.tight)
        let alone = Explainer(plan: plan, scenario: "r/scenario.yaml")
        let several = Explainer(plan: plan, scenario: "r/scenario.yaml", likely: "a", workforce: SomeCores(4))
        let ends = try alone.terminations()
        #expect(ends.count > 1)
        for (a, b) in zip(ends, try several.terminations()) {
            #expect(try alone.explain(a).wholeText == several.explain(b).wholeText)
        }
    }

    @Test("several ends that are explained together are explained as each of them alone, in their order")
    func together() throws {
        let plan = try loadedPlan(Self.tight)
        for hands in [1, 3] {
            let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml", workforce: SomeCores(hands))
            var texts: [String] = []
            try explainer.explain(try explainer.terminations()) { texts.append($0.wholeText) }
            let alone = Explainer(plan: plan, scenario: "r/scenario.yaml")
            #expect(try texts == alone.terminations().map { try alone.explain($0).wholeText })
        }
    }

    @Test("progress has a total from the first trial on, and never goes backwards")
    func progress() throws {
        let steps = Mutex<[(done: Int, most: Int)]>([])
        let explainer = Explainer(
            plan: try loadedPlan(Self.tight), scenario: "r/scenario.yaml",
            progress: { step in
                if case .trying(let done, let most) = step { steps.withLock { $0.append((done, most)) } }
            })
        try explainer.explain(try explainer.terminations()) { _ in }
        let said = steps.withLock { $0 }
        #expect(said.first?.done == 0 && said.count > 4)
        for (before, after) in zip(said, said.dropFirst()) {
            #expect(after.done >= before.done && after.most <= before.most, "\(before), then \(after)")
        }
        #expect(said.last.map { $0.done == $0.most } ?? false, "\(said.suffix(2))")
    }

    @Test("how an app answers warnings changes nothing in a run that sends it none")
    func noWarning() throws {
        let limit = ["policy=lru", "limits.background_processes=0", "duration=100s", "user.2.at=90s"]
        let plan = try loadedPlan(
            Self.alone, limit + ["apps.a.warnings.ignores=100%", "apps.a.memory.cache.size=8MiB"])
        let change = try #require(plan.answeringWarnings(of: 0))
        func played(_ plan: RunPlan) throws -> Replay {
            try Player(traces: NoTraces(), isInterrupted: { false }).replay(plan, about: [])
        }
        let (without, with) = (try played(plan), try played(change.plan))
        #expect(without.course.tally.apps[0].warnings == 0 && !without.course.tally.terminations.isEmpty)
        let (a, b) = (without.course, with.course)
        #expect(
            "\(a.tally.launches) \(a.tally.terminations) \(a.waits)"
                == "\(b.tally.launches) \(b.tally.terminations) \(b.waits)")
        #expect(a.tally.events == b.tally.events && a.tally.peakResident == b.tally.peakResident)
        #expect("\(without.lives.ended)" == "\(with.lives.ended)")
        // It is tried in vain all the same.
        let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
        let counsel = try explainer.counsel(for: #require(try explainer.terminations().first))
        #expect(counsel.failures.contains { $0.contains(change.brief) }, "\(counsel.failures)")
    }

    @Test("only a run that compresses real contents is repeated on its own backend")
    func backends() throws {
        let compressor = "device.compressor={ pool: 30% }"
        for (sets, isTheSame) in [
            ([], true), (["backend=jemalloc"], true), (["backend=jemalloc", compressor], true),
            (["backend=jemalloc", compressor, "device.compressor.codec=lz4"], false),
        ] {
            #expect(try loadedPlan(Self.tight, sets).isTheSameOnAccounting == isTheSame, "\(sets)")
        }
    }
}
