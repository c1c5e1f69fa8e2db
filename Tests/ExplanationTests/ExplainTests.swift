import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Simulation
import Testing

@testable import Explanation
@testable import Scenario

@Suite("explaining a termination")
struct ExplainTests {
    /// Five apps on a phone with room for two or three.
    private func plan(_ policy: String, _ sets: [String] = []) throws -> RunPlan {
        let taps = [(0, "a"), (10, "b"), (20, "c"), (30, "d"), (40, "e"), (55, "a")]
        return try loadedPlan(
            TightPhone.scenario(policy, seconds: 70, taps: taps.map { (at: $0.0, app: $0.1) }), sets)
    }

    @Test(
        "the counterfactual, applied with --set, saves the app",
        arguments: [
            "jetsam", "{ name: largest-first, parameters: { floor: 16% } }",
            "{ name: earlyoom, parameters: { terminate: 16% } }",
            "{ rules: [{ name: room, when: available < 16%, order: largest }] }",
        ])
    func counterfactual(policy: String) throws {
        let explainer = Explainer(plan: try plan(policy), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations().first, "\(policy) ended nobody")
        let changes = explainer.changesOfDecision(termination)
        let change = try #require(
            try changes.first { change in
                let fate = try explainer.trial(of: termination, with: change).fate
                return explainer.question(about: termination).isSaved(fate)
            }, "nothing saves it under \(policy)")
        let other = Explainer(plan: try plan(policy, change.assignments), scenario: "r/scenario.yaml")
        let saved = try other.terminations().filter {
            $0.app == termination.app && $0.at <= termination.at + Explainer.survival
        }
        #expect(saved.isEmpty, "\(change.assignments) does not save \(termination.app)")
    }

    @Test("a process that pays ends in the changed run, and did not in this one")
    func payers() throws {
        let explainer = Explainer(plan: try plan("lru"), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations().first)
        let change = explainer.protection(of: termination.app)
        let with = try explainer.trial(of: termination, with: change).course
        let price = AdvicePrice(saving: termination.pid, without: try explainer.course(), with: with)
        for loss in price.losses where loss.kind.isEnd {
            let (now, then) = (try exits(of: loss.app, in: change.plan), try exits(of: loss.app, in: explainer.plan))
            #expect(now.contains(loss.at) && !then.contains(loss.at), "\(loss)")
        }
        #expect(price.losses.contains { $0.kind.isEnd }, "\(price.losses)")
        #expect(!price.losses.isEmpty && !price.losses.contains { $0.app == termination.app }, "\(price.losses)")
        let same = AdvicePrice(saving: termination.pid, without: try explainer.course(), with: try explainer.course())
        #expect(same.losses.isEmpty && same.spared.isEmpty && !same.isSaved && !same.isWorse)
        let text = try explainer.explain(termination).wholeText
        #expect(text.contains("\n  Who pays:      "), "\(text)")
    }

    @Test("the words name who, when, why, what was observed, who was spared, and what would have saved it")
    func words() throws {
        let explainer = Explainer(plan: try plan("jetsam"), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations().first)
        let text = try explainer.explain(termination).wholeText
        for piece in [
            termination.app, "into the run", "idle-exit", "threshold", "Spared:", "--set policy.parameters.",
        ] {
            #expect(text.contains(piece), "\(piece) is missing in:\n\(text)")
        }
    }

    @Test("of rules it says which claim of which rule becomes what")
    func wordsOfRules() throws {
        let rules = "{ rules: [{ name: room, when: available < 16%, order: largest }] }"
        let explainer = Explainer(plan: try plan(rules), scenario: "my runs/scenario.yaml")
        let termination = try #require(try explainer.terminations().first)
        let text = try explainer.explain(termination).wholeText
        #expect(text.flat.contains(" instead of available < 16%, in the rule room (when)"), "\(text)")
        #expect(!text.contains(" = available"), "\(text)")
        #expect(
            text.contains("plimsoll run 'my runs/scenario.yaml' --set 'policy.rules.room.when=available < "), "\(text)")
    }

    @Test("what the monitor's end_suspended_first ends is not laid to the policy, whose numbers cannot save it")
    func byMonitor() throws {
        let text = """
            plimsoll: 1
            name: first
            duration: 1min
            backend: accounting
            device: { ceiling: 256MiB }
            policy: none
            monitor: { preset: brisk, end_suspended_first: true }
            apps:
              - { name: old, memory: { base: 60MiB, scene: 4MiB } }
              - { name: front, memory: { base: 40MiB, scene: 4MiB, growth: { rate: 8MiB/s, up_to: 180MiB } } }
            user:
              - { at: 0s, launch: old }
              - { at: 5s, launch: front }
            """
        func explained(_ sets: [String]) throws -> String {
            let plan = try ScenarioLoader.load(text: text, file: "t.yaml", overrides: Overrides(sets: sets)).get()
            let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
            let termination = try #require(try explainer.terminations().first)
            return try explainer.explain(termination).wholeText
        }
        let none = try explained([])
        #expect(none.hasPrefix("old was ended by the monitor's end_suspended_first, "), "\(none)")
        let command = "plimsoll run r/scenario.yaml --set monitor.end_suspended_first=false\n  Who pays:      "
        #expect(none.contains(command), "\(none)")
        // Without the setting the policy ends it a little later.
        let lru = try explained(["policy=lru"])
        #expect(lru.hasPrefix("old was ended by the monitor's end_suspended_first, "), "\(lru)")
        #expect(lru.flat.contains("In vain: monitor.end_suspended_first = false instead of true"), "\(lru)")
        #expect(lru.contains("--set 'limits.protected=[old]'\n  Who pays:      "), "\(lru)")
    }

    @Test("a policy without a number that helps is said to have none")
    func hopeless() throws {
        let explainer = Explainer(plan: try plan("lru", ["device.ceiling=128MiB"]), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations().first)
        let text = try explainer.explain(termination).wholeText
        #expect(
            text.flat.contains("In vain: the numbers of lru") && text.flat.contains("Or: protection by name"), "\(text)"
        )
        let command = "plimsoll run r/scenario.yaml --set 'limits.protected=[\(termination.app)]'\n  Who pays:      "
        #expect(text.contains(command), "\(text)")
    }
}

extension ExplainTests {
    /// `n` leaks behind `f` until the policy ends it or no memory is left for it.
    private func leaking(_ sets: [String] = []) throws -> RunPlan {
        let text = """
            plimsoll: 1
            name: leaking
            duration: 60s
            backend: accounting
            device: { ceiling: 256MiB, reserved: 16MiB }
            policy: ladder
            apps:
              - name: n
                like: plain
                background_modes: [location]
                warnings: { ignores: 100% }
                memory: { base: 60MiB, leak: 5MiB/s }
              - { name: f, like: plain, memory: { base: 40MiB } }
            user:
              - { at: 0s, launch: n }
              - { at: 5s, launch: f }
            """
        return try ScenarioLoader.load(text: text, file: "t.yaml", overrides: Overrides(sets: sets)).get()
    }

    @Test(
        "what only the policy spares, and what then ends by itself, is not called saved",
        arguments: ["ladder", "jetsam", "largest-first"])
    func endsAllTheSame(policy: String) throws {
        let explainer = Explainer(plan: try leaking(["policy=\(policy)"]), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations(of: "n").first)
        for advice in try explainer.counsel(for: termination).advices {
            let ends = try exits(of: "n", in: advice.change.plan)
            let until = termination.at + Explainer.survival
            #expect(ends.allSatisfy { $0 > until }, "\(advice.change.words) does not save it")
        }
        let protected = explainer.protection(of: termination.app)
        guard case .ends(let at, let reason, _) = try explainer.trial(of: termination, with: protected).fate else {
            Issue.record("it is said to stay")
            return
        }
        #expect(try exits(of: "n", in: try leaking(["policy=\(policy)", "limits.protected=[n]"])) == [at])
        #expect(reason.hasPrefix("memory"))
        let text = try explainer.explain(termination).wholeText
        #expect(!text.contains("would"), "\(text)")
        #expect(
            ["still there", "longer, until", "it ends all the same"].contains { text.flat.contains($0) }, "\(text)")
    }

    @Test("who was ranked later and may not be touched is said to be forbidden, with the limit's name")
    func forbidden() throws {
        let explainer = Explainer(
            plan: try plan("lru", ["device.ceiling=128MiB", "limits.protected=[b]"]), scenario: "r/scenario.yaml")
        let texts = try explainer.terminations().map { try explainer.explain($0).wholeText }
        #expect(texts.contains { $0.contains("Spared:        b: protected by name [protected].") }, "\(texts)")
        #expect(!texts.contains { $0.contains("Spared:        b, whose turn was later") }, "\(texts)")
    }

    @Test("an instant has hours where there are some")
    func hours() throws {
        let late = [
            "duration=3h", "device.ceiling=128MiB", "monitor.interval=1s",
            "user=[{ at: 2h, launch: a }, { at: 2h9s, launch: b }, { at: 2h18s, launch: c }, { at: 2h27s, launch: d }]",
        ]
        let explainer = Explainer(plan: try plan("lru", late), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations(most: 1).first)
        let head = try #require(try explainer.explain(termination).lines(.all, width: 112).first)
        #expect(head.contains(", 2 h 0 min "), "\(head)")
    }

    @Test("a default that stands for a row of a table is shown as the row that this policy takes")
    func presentValues() throws {
        func from(_ name: String, _ policy: String, _ sets: [String]) throws -> Set<String> {
            Set(PolicyChange.all(of: try plan(policy, sets)).filter { $0.name == name }.map(\.from))
        }
        #expect(try from("idle", "jetsam", []) == ["10%"])
        for policy in ["jetsam", "jetsam-classic"] {
            #expect(try from("soft", policy, ["policy.parameters.ram=8GiB"]) == ["12%"])
            #expect(try from("ram", policy, ["policy.parameters.ram=8GiB"]) == ["8GiB"])
            #expect(try from("ram", policy, []) == ["172MiB"])
        }
        #expect(try from("minfree_0", "lmkd-minfree", []) == ["12MiB"])
        #expect(try from("minfree_0", "lmkd-minfree", ["policy.parameters.small_below=1MiB"]) == ["72MiB"])
    }
}

/// Always names the same processes: the foreground process first, then dead ones.
private struct Nonsense: ReclaimPolicy {
    static let name = "nonsense"
    static let summary = "names whom it may not"
    static let parameters: [Parameter<Self>] = []
    static let needs: PolicyNeeds = .everySample

    func decide(_ snapshot: SystemSnapshot) -> Decision {
        let front = snapshot.processes.filter(\.phase.isForeground).map {
            Candidate(.terminate($0.pid), score: 9, reason: "it is in the way")
        }
        let dead = Candidate(.terminate(ProcessID(999)), score: 1, reason: "it is dead")
        let scene = Candidate(.disconnectScene(ProcessID(1), SceneID(77)), score: 1, reason: "there is none")
        let same = Candidate(.purge(ProcessID(1)), score: 0, reason: "again and again")
        let shown = snapshot.processes.flatMap { process in
            process.scenes.filter { $0.phase != .background && $0.phase != .suspended }.map {
                Candidate(.disconnectScene(process.pid, $0.scene), score: 8, reason: "it is on screen")
            }
        }
        return Decision(ranking: front + shown + [dead, scene, same, same])
    }
}

extension ExplainTests {
    @Test("a policy that returns nonsense is refused and recorded, and the run ends in order")
    func nonsense() throws {
        let plan = try plan("none", ["device.ceiling=128MiB"])
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: true, policy: Nonsense())
        #expect(try simulation.run() == .completed)
        let decisions = (sinks[RunTables.decisions] as? MemorySink)?.text ?? ""
        for rule in ["refused by alive", "refused by foreground", "refused by fruitless"] {
            #expect(decisions.contains(rule), "\(rule)")
        }
        #expect(!simulation.tally.terminations.isEmpty && simulation.kills.total == 0)
    }
}

extension String {
    /// The text without line breaks and margins.
    fileprivate var flat: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
