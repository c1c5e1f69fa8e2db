import Memory
import Metrics
import Quantities
import Reclaim
import Simulation
import Testing

@testable import Explanation
@testable import Scenario

@Suite("what a saved process costs")
struct ExplainPriceTests {
    private func explained(_ text: String, _ number: Int = 0) throws -> String {
        let explainer = Explainer(plan: try loadedPlan(text), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations().dropFirst(number).first)
        return try explainer.explain(termination).wholeText
    }

    private static let editor = """
        plimsoll: 1
        name: editor
        duration: 2min
        backend: accounting
        device: { ceiling: 1GiB, reserved: 300MiB }
        policy: jetsam
        apps:
          - { name: editor, like: plain, memory: { base: 300MiB } }
          - { name: game, like: plain, memory: { base: 200MiB, growth: { rate: 4MiB/s, up_to: 420MiB } } }
        user:
          - { at: 0s, launch: editor }
          - { at: 30s, launch: game }
        """

    @Test("a saved editor that costs the game in the foreground, 20 s later, is no advice")
    func foregroundPays() throws {
        let ends = try exits(of: "game", in: loadedPlan(Self.editor, ["limits.protected=[editor]"]))
        #expect(ends == [.zero + .seconds(56)])
        let text = try explained(Self.editor)
        let protection = try #require(text.split(separator: "  Or: ").last)
        #expect(protection.contains("protection by name"), "\(text)")
        #expect(
            protection.contains("\n  Who pays:      game, in the FOREGROUND: it ends 56.0 s into the run.\n"),
            "\(text)")
        #expect(
            protection.contains("On the whole:  worse: 1 termination as before, 1 in the foreground instead of 0"),
            "\(text)")
    }

    /// `n` leaks slowly off screen while `f` is in front.
    private static let leaking = """
        plimsoll: 1
        name: leaking
        duration: 3min
        backend: accounting
        device: { ceiling: 256MiB, reserved: 16MiB }
        policy: { rules: [{ name: room, when: available < 16%, order: largest }] }
        apps:
          - name: n
            like: plain
            background_modes: [location]
            warnings: { ignores: 100% }
            memory: { base: 60MiB, leak: 1MiB/s }
          - { name: f, like: plain, memory: { base: 40MiB } }
        user:
          - { at: 0s, launch: n }
          - { at: 5s, launch: f }
        """

    @Test("a process that is ended later in the run is not called saved: how long it lives is said")
    func delayed() throws {
        let explainer = Explainer(plan: try loadedPlan(Self.leaking), scenario: "r/scenario.yaml")
        let termination = try #require(try explainer.terminations().first)
        let advices = try explainer.counsel(for: termination).advices
        let advice = try #require(advices.first { $0.change.kind == .protection }, "nothing delays it")
        let ends = try exits(of: "n", in: advice.change.plan)
        let end = try #require(ends.first)
        #expect(end > termination.at + Explainer.survival && !advice.price.isFair)
        let text = try explainer.explain(termination).wholeText
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("Or: protection by name; its end is only delayed: it lives "), "\(text)")
        #expect(words.contains("What saves it: without its leak: apps.n.memory.leak = 0B/s instead of 1MiB/s; "))
        let until = "until it is ended \(end.clock) into the run (memoryPressure)"
        #expect(words.contains(" longer, \(until)"), "\(text)")
        #expect(words.contains("before the user wants it again"), "\(text)")
    }

    @Test(
        "the advice that is named is in another run what it is said to be",
        arguments: ["lru", "largest-first", "jetsam"])
    func isTrue(policy: String) throws {
        let text = TightPhone.scenario(policy, seconds: 100, taps: TightPhone.rounds("abcd"))
        let explainer = Explainer(plan: try loadedPlan(text), scenario: "r/scenario.yaml")
        for termination in try explainer.terminations() {
            for advice in try explainer.counsel(for: termination).advices { try check(advice, text) }
        }
    }

    private func check(_ advice: Explainer.Advice, _ text: String) throws {
        // The command, not the plan that was tried.
        let other = try loadedPlan(text, advice.change.assignments)
        #expect(other == advice.change.plan, "\(advice.change.words)")
        let simulation = Simulation(other, memory: try other.makeDevice(), sinks: RunSinks { _ in NullSink() })
        _ = try simulation.run()
        let ends = simulation.tally.terminations
        #expect(ends.count == advice.price.with.terminations)
        #expect(ends.count(where: \.wasForeground) == advice.price.with.foreground)
        for loss in advice.price.losses where loss.kind.isEnd {
            #expect(ends.contains { $0.app == loss.app && $0.at == loss.at }, "\(loss)")
        }
        // Every end is accounted for: the new ends equal the additional ends plus the spared ones.
        let spared = advice.price.spared.count + (advice.price.isSaved ? 1 : 0)
        let more = advice.price.losses.count { $0.kind.isEnd && $0.kind.lead == nil }
        #expect(advice.price.without.terminations - spared + more == ends.count, "\(advice)")
    }
}

// MARK: Two runs compared

extension ExplainPriceTests {
    private func course(
        _ ends: [(String, Int, Int64)], _ launches: [(String, Int64, Int64)] = [], foreground: [Int] = [],
        waits: [MemoryWait] = []
    ) -> RunCourse {
        var tally = RunTally(scenario: "s", policy: "p", seed: 1, ceiling: .mebibytes(64))
        tally.terminations = ends.map { app, pid, second in
            RunTally.TerminationFact(
                app: app, pid: ProcessID(pid), at: .zero + .seconds(second), reason: .memoryPressure,
                wasForeground: foreground.contains(pid), wasPerceived: false, footprint: .zero)
        }
        tally.launches = launches.map { app, second, milliseconds in
            RunTally.LaunchFact(
                app: app, kind: .cold, tapped: .zero + .seconds(second), latency: .milliseconds(milliseconds))
        }
        return RunCourse(tally, waits: waits)
    }

    private func seconds(_ count: Int64) -> Instant { .zero + .seconds(count) }

    @Test("an end between the same two taps in both runs is the same loss; that it comes sooner is said")
    func sooner() {
        let price = AdvicePrice(
            saving: ProcessID(3), without: course([("b", 2, 200), ("v", 3, 300)]), with: course([("b", 2, 140)]))
        #expect(price.losses == [.init(app: "b", at: seconds(140), kind: .endsSooner(by: .seconds(60)))])
        #expect(price.spared.isEmpty && price.isFair)
    }

    @Test("an end that both runs have, at whatever time between the same taps, is no price")
    func sameEnds() {
        let without = course([("a", 1, 100), ("b", 2, 200), ("v", 3, 300)])
        let with = course([("a", 1, 100), ("b", 2, 260)])
        let price = AdvicePrice(saving: ProcessID(3), without: without, with: with)
        #expect(price.losses.isEmpty && price.isSaved && price.isFree && !price.isWorse)
    }

    @Test("an end after another tap is another end")
    func otherTap() {
        let launches: [(String, Int64, Int64)] = [("b", 0, 500), ("b", 250, 500)]
        let price = AdvicePrice(
            saving: ProcessID(3), without: course([("b", 2, 200), ("v", 3, 300)], launches),
            with: course([("b", 2, 260)], launches))
        #expect(price.losses.map(\.at) == [seconds(260)] && price.spared.map(\.app) == ["b"] && price.isSaved)
    }

    @Test("an end in the foreground is a price also where the app ended off screen before")
    func inForeground() {
        let price = AdvicePrice(
            saving: ProcessID(3), without: course([("b", 2, 200), ("v", 3, 300)]),
            with: course([("b", 2, 210)], foreground: [2]))
        #expect(price.losses == [.init(app: "b", at: seconds(210), kind: .endsInForeground)])
        #expect(price.isWorse && !price.isFair)
    }

    @Test("a process that ends before its next tap in both runs is not saved; after it, it is")
    func savedForAWhile() {
        func price(_ launches: [(String, Int64, Int64)], end: Int64 = 400) -> AdvicePrice {
            AdvicePrice(
                saving: ProcessID(3), without: course([("v", 3, 300)], launches),
                with: course([("v", 3, end)], launches))
        }
        #expect(!price([("v", 0, 500), ("v", 450, 500)]).isSaved)
        #expect(price([("v", 0, 500), ("v", 350, 500)]).isSaved)
        // The user has nothing of an app that vanishes at the tap.
        #expect(!price([("v", 0, 500), ("v", 350, 500)], end: 350).isSaved)
        #expect(!price([("v", 0, 500), ("v", 350, 500)], end: 359).isSaved)
        #expect(price([("v", 0, 500), ("v", 350, 500)], end: 361).isSaved)
    }

    @Test("a launch that takes a tenth of a second longer is a price, and a shorter delay is none")
    func slower() {
        func losses(_ milliseconds: Int64) -> [AdvicePrice.Loss] {
            AdvicePrice(
                saving: ProcessID(3), without: course([("v", 3, 300)], [("b", 310, 500)]),
                with: course([], [("b", 310, milliseconds)])
            ).losses
        }
        #expect(losses(599).isEmpty && losses(600).map(\.app) == ["b"])
    }

    @Test("a wait for memory is a price once, in the launch or by itself")
    func waits() {
        let wait = MemoryWait(app: "b", since: seconds(320), until: seconds(322), wasForeground: true)
        func losses(_ launches: [(String, Int64, Int64)]) -> [AdvicePrice.Loss] {
            AdvicePrice(
                saving: ProcessID(3), without: course([("v", 3, 300)], launches),
                with: course([], launches, waits: [wait])
            ).losses
        }
        let kind = AdvicePrice.Kind.waits(.seconds(2), than: .zero, isForeground: true)
        #expect(losses([]) == [.init(app: "b", at: seconds(320), kind: kind)])
        #expect(losses([("b", 319, 4_000)]).isEmpty)
    }
}

// MARK: Earlier lives, and policies that say little

extension ExplainPriceTests {
    @Test("what a change costs before the process began is not laid to its end, but said")
    func earlierLife() throws {
        let text = TightPhone.scenario(
            "lru", ceiling: "140MiB", seconds: 120, taps: TightPhone.rounds("abcd", pause: 10))
        let explainer = Explainer(plan: try loadedPlan(text), scenario: "r/scenario.yaml")
        let ends = try explainer.terminations(of: "a")
        let second = try #require(ends.dropFirst().first, "a ends once only")
        let trial = try explainer.trial(of: second, with: explainer.protection(of: second.app))
        let price = AdvicePrice(saving: second.pid, without: try explainer.course(), with: trial.course)
        #expect(price.spared.contains { $0.pid == ends[0].pid })
        let early = try #require(price.losses.first { $0.at < second.since }, "\(price.losses)")
        let words = try explainer.explain(second).wholeText
        let all = words.split(separator: "\n").map(String.init)
        let lines = all.drop { !$0.contains("protection by name") }
        let paid = try #require(lines.firstIndex { $0.hasPrefix("  Who pays:") })
        let before = try #require(lines.firstIndex { $0.hasPrefix("  Before that:") }, "\(words)")
        let at = early.at.clock
        #expect(!lines[paid..<before].contains { $0.contains(at) }, "\(words)")
        #expect(lines[before].contains(at), "\(words)")
    }

    @Test("of a policy that does not name those it spares, explain names the processes that it did not rank")
    func terse() throws {
        let text = """
            plimsoll: 1
            name: terse
            duration: 30s
            backend: accounting
            device: { ceiling: 172MiB, reserved: 16MiB }
            monitor: { preset: brisk }
            policy: lru
            apps:
              - { name: a, memory: { base: 40MiB, scene: 4MiB } }
              - { name: b, memory: { base: 60MiB, scene: 4MiB } }
            user:
              - { at: 0s, launch: a }
              - { at: 10s, launch: b }
            """
        let plan = try loadedPlan(text)
        var records: [DecisionRecord] = []
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in NullSink() }, policy: SuspendedOnly(),
            observer: { records.append($0) })
        _ = try simulation.run()
        let record = try #require(records.first { $0.chosen != nil })
        let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
        let victim = try #require(record.snapshot.process(record.decision.ranking[0].action.target))
        let words = explainer.account(
            of: .init(
                app: victim.name, pid: victim.pid, at: record.snapshot.now, since: victim.launchedAt,
                cause: .decision(record))
        ).words().flatMap { $0.lines(width: 200, margin: 17, commandMargin: 17) }.joined(separator: "\n")
        #expect(!words.contains("there was no other choice"), "\(words)")
        #expect(words.contains("; no other process was ranked."), "\(words)")
        #expect(words.contains("\n  Not ranked:    b: in the foreground, holds "), "\(words)")
        #expect(words.contains("; the policy did not rank it and gives no reason."), "\(words)")
    }
}

extension AdvicePrice.Kind {
    var isEnd: Bool {
        switch self {
        case .endsInForeground, .endsPerceived, .ends, .endsSooner: true
        case .losesLaunch, .launchesSlower, .waits: false
        }
    }
}

/// The policy on the page on extending. It does not mention processes that are not suspended.
private struct SuspendedOnly: ReclaimPolicy {
    static let name = "suspended-only"
    static let summary = "ends suspended processes"
    static let parameters: [Parameter<Self>] = []

    func decide(_ snapshot: SystemSnapshot) -> Decision {
        Decision(
            ranking: snapshot.processes.filter { $0.phase == .suspended }.map {
                Candidate(.terminate($0.pid), score: 1, reason: "idle longest")
            })
    }
}
