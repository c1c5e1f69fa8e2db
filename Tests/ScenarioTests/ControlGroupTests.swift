import Metrics
import Plan
import Quantities
import Reclaim
import Simulation
import TestSupport
import Testing

@testable import Scenario

/// Linux's control groups in whole runs. `Scenarios/Invalid` has what the loader refuses of them.
@Suite("control groups")
struct ControlGroupTests {
    private struct Run {
        let ends: [TableRow]
        let decisions: [TableRow]
        let samples: [TableRow]

        /// Who ended, in the order of the ends.
        var victims: [String] { ends.map { $0["app"] } }
    }

    private static func run(_ text: String, backend: String = "accounting") throws -> Run {
        let plan = try ScenarioLoader.load(
            text: text, file: "g.yaml", overrides: Overrides(sets: ["backend=\(backend)"])
        ).get()
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: try plan.makeDevice(), sinks: sinks, verify: true, auditEvents: true).run()
        func rows(_ table: TableSchema) -> [TableRow] { TableRow.all(in: (sinks[table] as? MemorySink)?.bytes ?? []) }
        return Run(
            ends: rows(RunTables.terminations), decisions: rows(RunTables.decisions),
            samples: rows(RunTables.apps))
    }

    /// A hog in front that leaks 20 MiB/s, two processes beside it, and one that is in no group.
    private static func device(
        _ groups: String, policy: String = "none", rest: String = "", ceiling: String = "512MiB"
    ) -> String {
        """
        plimsoll: 1
        name: groups
        duration: 20s
        device: { ceiling: \(ceiling), reserved: 16MiB\(rest) }
        policy: \(policy)
        limits: { protect_foreground: false }
        apps:
          - name: hog
            oom_score_adj: 0
            memory: { base: 20MiB, scene: 0B, leak: 20MiB/s, objects: { constant: 64KiB } }
          - { name: large, oom_score_adj: 0, memory: { base: 60MiB, scene: 0B, objects: { constant: 64KiB } } }
          - { name: small, oom_score_adj: 0, memory: { base: 8MiB, scene: 0B, objects: { constant: 64KiB } } }
          - { name: outside, oom_score_adj: 0, memory: { base: 70MiB, scene: 0B, objects: { constant: 64KiB } } }
          - { name: exempt, oom_score_adj: -1000, memory: { base: 4MiB, scene: 0B } }
        start:
          - { process: small, state: suspended }
          - { process: outside, state: suspended }
          - { process: exempt, state: suspended }
          - { process: large, state: suspended }
          - { process: hog, state: front }
        control_groups: [\(groups)]
        """
    }

    @Test(
        "beyond memory_max the kernel ends the process of the group with most badness",
        arguments: ["accounting", "jemalloc"])
    func limit(backend: String) throws {
        let run = try Self.run(
            Self.device("{ name: pod, processes: [hog, large, small], memory_max: 100MiB }"), backend: backend)
        // The large one goes first, then the hog at 92 MiB: the small one has 8 MiB. Nobody outside the group is asked.
        #expect(run.victims == ["large", "hog"])
        let first = try #require(run.ends.first)
        #expect(first["cause"] == "kernel_oom" && first["measure"] == "control_group_bytes")
        #expect(first["threshold"] == "\(100 << 20)" && first["decision"] == "" && first["beneficiary"] == "hog")
        // At most one object beyond the limit.
        #expect(Int(first["observed"]).map { (100 << 20)...(101 << 20) ~= $0 } == true)
        #expect(first["in_short"] == "its control group above its limit of 100 MiB (kernel_oom)")
        #expect(run.ends.last?["need"] == "own_allocation")
        let asked = run.decisions.filter { $0["demand"] == "kernel" }
        #expect(Set(asked.map { $0["app"] }) == ["hog", "large", "small"])
    }

    @Test("the kernel counts the pages itself: an app that reports none of them ends as any other")
    func lies() throws {
        let text = Self.device("{ name: pod, processes: [hog, large, small], memory_max: 100MiB }")
            .replacing("name: large,", with: "name: large, reports: 0%,")
        #expect(try Self.run(text).victims == ["large", "hog"])
    }

    @Test("with oom_group the whole group ends at one instant, except who is exempt")
    func asOne() throws {
        let run = try Self.run(
            Self.device("{ name: pod, processes: [hog, large, small, exempt], memory_max: 104MiB, oom_group: true }"))
        #expect(run.victims == ["large", "small", "hog"])
        #expect(Set(run.ends.map { $0["time_s"] }).count == 1)
        #expect(run.ends.map { $0["standing"] }.dropFirst().allSatisfy { $0 == "its control group ends as one" })
    }

    @Test("a group of exempt processes ends the one that allocates")
    func nobody() throws {
        let text = Self.device("{ name: pod, processes: [hog, exempt], memory_max: 60MiB }")
            .replacing(
                "oom_score_adj: 0\n    memory: { base: 20MiB", with: "oom_score_adj: -1000\n    memory: { base: 20MiB")
        #expect(try Self.run(text).victims == ["hog"])
    }

    @Test("a process's own limit and its group's hold beside each other")
    func ownLimit() throws {
        let group = "{ name: pod, processes: [hog, large], memory_max: 100MiB }"
        func text(_ limit: String) -> String {
            Self.device(group).replacing("leak: 20MiB/s,", with: "leak: 20MiB/s,")
                .replacing(
                    "  - name: hog\n", with: "  - name: hog\n    limits: { active: \(limit), active_fatal: true }\n")
        }
        // Below the group's limit the own one ends the hog; above it the group's comes first.
        #expect(try Self.run(text("30MiB")).ends.map { $0["exit_reason"] } == ["memoryResourceLimit"])
        #expect(try Self.run(text("90MiB")).victims == ["large", "hog"])
        #expect(
            try Self.run(text("90MiB")).ends.map { $0["exit_reason"] } == ["memoryPressure", "memoryResourceLimit"])
    }

    @Test("what is alive when the run begins may hold more; the group's next allocation goes beyond the limit")
    func start() throws {
        let run = try Self.run(Self.device("{ name: pod, processes: [hog, large, small], memory_max: 40MiB }"))
        #expect(run.victims.first == "large" && run.ends.first?["time_s"] != "0")
    }

    @Test(
        "the kernel behind a policy ends a group with oom_group, the policy kernel-oom, too",
        arguments: ["none", "kernel-oom"])
    func behind(policy: String) throws {
        let run = try Self.run(
            Self.device(
                "{ name: pod, processes: [outside, small], oom_group: true }", policy: policy,
                rest: ", fallback: kernel-oom", ceiling: "200MiB"))
        #expect(run.victims.prefix(2) == ["outside", "small"])
        #expect(run.ends[0]["time_s"] == run.ends[1]["time_s"])
        #expect(run.ends[0]["cause"] == (policy == "none" ? "kernel_oom" : "vm-pageshortage"))
    }

    private static let swapping = ", compressor: { input: 30% }, swap: { zram: true }"

    /// systemd-oomd acts as soon as a page is in swap.
    private static let systemd = "{ name: systemd-oomd, parameters: { used: 0%, candidate_swap: 0% } }"

    @Test("systemd-oomd ends a whole group, as it ended a session for the process that grew")
    func session() throws {
        let alone = try Self.run(Self.device("", policy: Self.systemd, rest: Self.swapping, ceiling: "200MiB"))
        let group = "{ name: session.slice, processes: [hog, small, outside, exempt] }"
        let whole = try Self.run(Self.device(group, policy: Self.systemd, rest: Self.swapping, ceiling: "200MiB"))
        #expect(Set(alone.ends.prefix(4).map { $0["time_s"] }).count > 1)
        #expect(Set(whole.victims.prefix(4)) == ["hog", "small", "outside", "exempt"])
        #expect(Set(whole.ends.prefix(4).map { $0["time_s"] }).count == 1)
        #expect(Set(whole.ends.prefix(4).map { $0["decision"] }).count == 1)
    }

    @Test(
        "a preference of the group counts, not that of its processes",
        arguments: [("avoid", "small"), ("omit", "small")])
    func preference(value: String, first: String) throws {
        let group = "{ name: s, processes: [hog, large, outside, exempt], managed_oom_preference: \(value) }"
        let run = try Self.run(Self.device(group, policy: Self.systemd, rest: Self.swapping, ceiling: "200MiB"))
        #expect(run.victims.first == first)
        #expect(value == "avoid" || run.victims == ["small"])
    }

    @Test("a limit that protects one process protects its group")
    func isProtected() throws {
        let text = Self.device(
            "{ name: s, processes: [hog, large, outside] }", policy: Self.systemd, rest: Self.swapping,
            ceiling: "200MiB"
        ).replacing("protect_foreground: false", with: "protect_foreground: false, protected: [large]")
        let run = try Self.run(text)
        #expect(!run.victims.contains("hog") && !run.victims.contains("outside"))
        let refused = try #require(run.decisions.first { $0["outcome"] == "refused" })
        #expect(refused["reason"].contains("large, which would end with it"))
    }

    @Test("a rule with unit: control_group sees a group as one process, and ends it as one")
    func rule() throws {
        func policy(_ unit: String) -> String {
            """
            { name: ladder, rules: [
              { name: r, when: available < 60%, action: terminate, order: largest, take: 1, unit: \(unit) }] }
            """.split(separator: "\n").joined(separator: " ")
        }
        let groups = "{ name: two, processes: [large, small, exempt] }"
        let single = try Self.run(Self.device(groups, policy: policy("process"), ceiling: "400MiB"))
        let whole = try Self.run(Self.device(groups, policy: policy("control_group"), ceiling: "400MiB"))
        // 72 MiB are more than the 70 MiB of the largest process.
        #expect(single.victims.first == "outside")
        #expect(Set(whole.victims.prefix(3)) == ["large", "small", "exempt"])
        #expect(whole.ends.prefix(3).allSatisfy { $0["decision"] == "1" })
    }

    @Test("a helper is in the group of its app, unless a group names it")
    func helpers() throws {
        let text = """
            plimsoll: 1
            name: helpers
            duration: 5s
            device: { ceiling: 256MiB }
            apps: [{ name: a }, { name: b }]
            processes:
              - { name: web, kind: web-content, of: a }
              - { name: net, kind: networking, of: a }
              - { name: d, kind: daemon }
            control_groups:
              - { name: x, processes: [a], memory_max: 100MiB }
              - { name: y, processes: [net] }
            """
        let plan = try ScenarioLoader.load(text: text, file: "h.yaml").get()
        #expect(plan.controlGroupOfEach == [0, nil, 0, 1, nil])
        #expect(try Samples.load(EffectiveScenario.yaml(of: plan)).get() == plan)
        #expect(plan.scaled(by: .percent(50)).controlGroups[0].limit == .mebibytes(50))
        let set = try ScenarioLoader.load(
            text: text, file: "h.yaml", overrides: Overrides(sets: ["control_groups.x.memory_max=7MiB"])
        ).get()
        #expect(set.controlGroups[0].limit == .mebibytes(7))
    }
}
