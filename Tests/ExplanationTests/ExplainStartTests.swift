import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Simulation
import Testing

@testable import Explanation
@testable import Scenario

@Suite("ends of processes that live when the run begins, and what a policy can be told about them")
struct ExplainStartTests {
    /// A phone with three apps, one of which fills it. They live when the run begins, or are launched in it.
    private static func phone(
        _ beginning: String, policy: String = "earlyoom", front: String = "growth: { rate: 4MiB/s, up_to: 180MiB }"
    ) -> String {
        """
        plimsoll: 1
        name: phone
        duration: 40s
        backend: accounting
        device: { ceiling: 300MiB }
        policy: \(policy)
        apps:
          - { name: front, like: plain, memory: { base: 120MiB, \(front), scene: 0B } }
          - { name: old, like: plain, memory: { base: 40MiB, scene: 0B } }
          - { name: other, like: plain, memory: { base: 40MiB, scene: 0B } }
        \(beginning)
          - { at: 30s, switch: other }

        """
    }

    private static let leak = "leak: 4MiB/s"

    private static let start = """
        start:
          - { process: old, state: suspended, idle: 6min }
          - { process: other, state: suspended }
          - { process: front, state: front }
        user:
        """

    private static let launches = """
        user:
          - { at: 0s, launch: old }
          - { at: 2s, launch: other }
          - { at: 4s, launch: front }
        """

    /// An end of `old` that found no room.
    private static let end = Explainer.Termination(
        app: "old", pid: ProcessID(1), at: .zero + .seconds(1), since: .zero,
        cause: .rule(
            .init(
                app: "old", pid: ProcessID(1), at: .zero + .seconds(1), reason: .memoryPressure, wasForeground: false,
                wasPerceived: false, footprint: .mebibytes(40)), explanation: "no room"))

    private func explainer(_ text: String, _ sets: [String] = []) throws -> Explainer {
        Explainer(plan: try loadedPlan(text, sets), scenario: "r/scenario.yaml")
    }

    /// The changes that save the process of the first end of the app. Each of them is a setting of the scenario, with
    /// which the process outlives its end.
    @discardableResult
    private func saving(_ app: String, _ text: String, _ sets: [String] = []) throws -> [Change] {
        let explainer = try explainer(text, sets)
        let termination = try #require(try explainer.terminations().first { $0.app == app }, "\(app) does not end")
        let changes = try explainer.counsel(for: termination).advices.map(\.change)
        for change in changes {
            let plan = try loadedPlan(text, sets + change.assignments)
            // The loader orders the policy's parameters by its table.
            let isOfPolicy = change.assignments.contains { $0.hasPrefix("policy.") }
            #expect(plan == change.plan || isOfPolicy, "\(change.words)")
            #expect(try exits(of: app, in: plan).allSatisfy { $0 > termination.at }, "\(change.words)")
        }
        return changes
    }

    // MARK: Lives from the start

    @Test("a process that lives when the run begins has the remedies of one that the user has launched")
    func remedies() throws {
        func kinds(_ beginning: String) throws -> [Change.Kind] {
            try saving("old", Self.phone(beginning)).map(\.kind).sorted()
        }
        let started = try kinds(Self.start)
        #expect(started == (try kinds(Self.launches)))
        #expect(started.contains(.device) && started.contains(.protection) && started.contains(.preference))
        let explainer = try explainer(Self.phone(Self.start))
        let text = try explainer.explain(try #require(try explainer.terminations().first)).wholeText
        #expect(!text.contains("has no process at that moment"), "\(text)")
    }

    @Test("what such a process pays for a change is said")
    func price() throws {
        let explainer = try explainer(Self.phone(Self.start))
        let termination = try #require(try explainer.terminations().first)
        let protection = explainer.protection(of: "old")
        let advice = try #require(
            try explainer.counsel(for: termination).advices.first { $0.change.assignments == protection.assignments })
        // Without the change, `other` lives, and the user comes back to it at 30 s.
        #expect(advice.price.isSaved)
        let loss = try #require(advice.price.losses.first { $0.app == "other" })
        #expect(loss.at == termination.at)
        guard case .endsPerceived(let after?) = loss.kind else {
            Issue.record("\(loss.kind)")
            return
        }
        #expect(loss.at + after == .zero + .seconds(30))
    }

    @Test("an end by a rule counts the age of such a process from its launch before the run, and says its reason")
    func age() throws {
        let text = Self.phone(Self.start, policy: "none", front: Self.leak)
        let explainer = try explainer(text, ["device.ceiling=260MiB", "start.2.age=20min"])
        let termination = try #require(try explainer.terminations().first { $0.app == "front" })
        let said = try explainer.explain(termination).wholeText
        #expect(said.contains("in the foreground, 20 min ") && said.contains("no room for "), "\(said)")
        #expect(termination.since == .zero - .minutes(20))
    }

    @Test("a user's end of such a process is among the other ends")
    func quit() throws {
        let text = Self.phone(Self.start).replacing("{ at: 30s, switch: other }", with: "{ at: 1s, quit: old }")
        let ends = try explainer(text).history().otherEnds
        #expect(ends.map(\.app) == ["old"] && ends.map(\.reason) == ["userTerminated"])
    }

    @Test("a smaller app also holds less when the run begins, where the scenario states what it holds")
    func smaller() throws {
        let text = Self.phone(Self.start).replacing(
            "idle: 6min", with: "idle: 6min, footprint: 70MiB, compressed: 8MiB"
        )
        .replacing("ceiling: 300MiB", with: "ceiling: 360MiB, compressor: { input: 10% }, swap: { zram: false }")
        let plan = try loadedPlan(text)
        #expect(plan.start[0].footprint == .mebibytes(70))
        let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
        let sizes = explainer.quests(for: Self.end).flatMap(\.wanted).filter { $0.kind == .size }
        #expect(sizes.count > 1)
        for change in sizes {
            let entry = change.plan.start[0]
            #expect((entry.footprint ?? .zero) < .mebibytes(70) && entry.compressed < .mebibytes(8))
            #expect(try loadedPlan(text, change.assignments) == change.plan, "\(change.words)")
        }
    }

    // MARK: What the policy can be told

    @Test("earlyoom's own settings are tried: a lower oom_score_adj, and its lists of names")
    func earlyoom() throws {
        let text = Self.phone(Self.launches)
        let changes = try saving("old", text).filter { $0.kind == .preference }
        let options = changes.flatMap(\.assignments)
        let score = try #require(changes.first { $0.assignments[0].hasPrefix("apps.old.oom_score_adj=") })
        #expect(score.words.contains(" instead of none"), "\(score.words)")
        #expect(options.contains("policy.parameters.avoid=[old]"), "\(options)")
        #expect(options.contains("policy.parameters.prefer=[other]"), "\(options)")
        // A list that has the process already is tried without it.
        let preferred = try saving("other", text, ["policy={ name: earlyoom, parameters: { prefer: [other] } }"])
        #expect(preferred.flatMap(\.assignments).contains("policy.parameters.prefer=[]"))
    }

    @Test(
        "a policy that reads no oom_score_adj is not asked to, and one that does is",
        arguments: [
            ("lmkd-minfree", true), ("largest-first", false), ("lru", false), ("jetsam", false),
            ("{ name: ladder, rules: [{ name: r, when: available < 40MiB, order: highest_oom_score }] }", true),
            ("{ name: ladder, rules: [{ name: r, when: available < 40MiB, order: largest }] }", false),
        ])
    func scores(policy: String, reads: Bool) throws {
        let explainer = try explainer(Self.phone(Self.launches, policy: policy, front: Self.leak))
        let termination = try #require(try explainer.terminations().first { $0.record != nil }, "\(policy)")
        let wanted = explainer.quests(for: termination).flatMap(\.wanted).flatMap(\.assignments)
        #expect(wanted.contains { $0.contains(".oom_score_adj=") } == reads, "\(policy): \(wanted)")
    }

    @Test("a daemon that jetsam ends over its soft limit, or in its band while it works, gets higher ones")
    func daemon() throws {
        let text = """
            plimsoll: 1
            name: daemons
            duration: 60s
            backend: accounting
            device: { ceiling: 300MiB }
            policy: jetsam
            apps:
              - name: front
                like: plain
                memory: { base: 120MiB, growth: { rate: 4MiB/s, up_to: 170MiB }, scene: 0B }
            processes:
              - { name: syncd, kind: daemon, memory: { base: 30MiB }, limits: { active: 20MiB, inactive: none } }
              - name: maild
                kind: daemon
                band: 60
                memory: { base: 40MiB }
                limits: { active: none, inactive: none }
            user:
              - { at: 0s, launch: front }
              - { every: 20s, from: 1s, demand: syncd, for: 20s }
              - { every: 20s, from: 1s, demand: maild, for: 20s }

            """
        let limited = try saving("syncd", text).flatMap(\.assignments)
        #expect(limited.contains { $0.hasPrefix("processes.syncd.limits.active=") }, "\(limited)")
        #expect(!limited.contains { $0.contains(".band=") })
        let sets = ["processes.syncd.limits.active=none", "apps.front.memory.growth.up_to=180MiB"]
        let banded = try saving("syncd", text, sets).flatMap(\.assignments)
        #expect(banded.contains("processes.syncd.band=70"), "\(banded)")
        #expect(!banded.contains { $0.contains(".limits.") })
    }

    @Test("where the screen protects no app, the limit that would is tried")
    func screen() throws {
        let sets = [
            "limits.protect_foreground=false", "apps.old.oom_score_adj=-1000", "apps.other.oom_score_adj=-1000",
        ]
        func wanted(_ sets: [String], _ app: String) throws -> [String] {
            let explainer = try explainer(Self.phone(Self.launches, front: Self.leak), sets)
            let termination = try #require(try explainer.terminations().first { $0.app == app && $0.record != nil })
            return explainer.quests(for: termination).flatMap(\.wanted).flatMap(\.assignments)
        }
        #expect(try wanted(sets, "front").contains("limits.protect_foreground=true"))
        #expect(try !wanted([], "old").contains("limits.protect_foreground=true"))
    }

    // MARK: The largest device

    @Test("a larger device is sought up to the highest ceiling that is supported, with a compressor and at a scale")
    func highestCeiling() throws {
        let text = Self.phone(Self.launches).replacing(
            "device: { ceiling: 300MiB }",
            with: "device: { ceiling: 60MiB, compressor: {}, swap: { zram: false } }\nscale: 100%")
        for (scale, compressor, highest) in [
            ("1%", "{}", ByteCount.gibibytes(16)), ("1%", "off", .gibibytes(32)), ("50%", "{}", .gibibytes(16)),
        ] {
            // A device of 6 or 12 GiB: four times as much is more than is supported.
            let whole = scale == "1%" && compressor == "off" ? 12 << 10 : 6 << 10
            let plan = try loadedPlan(
                text, ["scale=\(scale)", "device.ceiling=\(whole)MiB", "device.compressor=\(compressor)"])
            let explainer = Explainer(plan: plan, scenario: "r/scenario.yaml")
            let devices = explainer.quests(for: Self.end).flatMap(\.wanted).filter { $0.kind == .device }
            #expect(!devices.isEmpty)
            for change in devices {
                #expect(change.plan.device.meantCeiling <= highest, "\(change.words)")
                // The loader accepts it, and the memory can be made.
                #expect(throws: Never.self) { _ = try change.plan.makeDevice() }
            }
        }
    }
}
