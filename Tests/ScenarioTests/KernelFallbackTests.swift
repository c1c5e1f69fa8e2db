import Foundation
import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation
import TestSupport
import Testing

/// Linux's kernel in whole runs: as a policy, and behind another policy (`device.fallback`).
@Suite("the kernel behind the policy")
struct KernelFallbackTests {
    private struct Run {
        let events: [TableRow]
        let decisions: [TableRow]
        let ends: [TableRow]
        let texts: [String]
    }

    private static func run(
        _ text: String, _ sets: [String] = [], backend: String = "accounting", dryRun: Bool = false,
        policy: String? = nil
    ) throws -> Run {
        let overrides = Overrides(sets: ["backend=\(backend)"] + sets, policy: policy)
        let plan = try ScenarioLoader.load(text: text, file: "k.yaml", overrides: overrides).get()
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: try plan.makeDevice(), sinks: sinks, verify: true, dryRun: dryRun)
        _ = try simulation.run()
        func rows(_ table: TableSchema) -> [TableRow] { TableRow.all(in: (sinks[table] as? MemorySink)?.bytes ?? []) }
        return Run(
            events: rows(RunTables.events), decisions: rows(RunTables.decisions), ends: rows(RunTables.terminations),
            texts: RunTables.known.map { (sinks[$0] as? MemorySink)?.text ?? "" })
    }

    /// A hog in front that leaks, a daemon's app that plays, and two apps off screen. The large one has a low
    /// `oom_score_adj`.
    private static func device(_ policy: String, fallback: String = "kernel-oom", hog: Int = 0) -> String {
        """
        plimsoll: 1
        name: fallback
        duration: 12s
        device: { ceiling: 256MiB, reserved: 16MiB, fallback: \(fallback) }
        policy: \(policy)
        apps:
          - name: hog
            oom_score_adj: \(hog)
            memory: { base: 20MiB, scene: 0B, leak: 40MiB/s, objects: { constant: 64KiB } }
          - { name: large, oom_score_adj: -500, memory: { base: 60MiB, scene: 0B } }
          - { name: small, oom_score_adj: 800, memory: { base: 8MiB, scene: 0B } }
          - { name: exempt, oom_score_adj: -1000, memory: { base: 20MiB, scene: 0B } }
        start:
          - { process: large, state: suspended }
          - { process: small, state: suspended }
          - { process: exempt, state: suspended }
          - { process: hog, state: front }
        """
    }

    /// The instant of the first stall, and that of the first end.
    private static func firsts(_ run: Run) throws -> (stall: Double, end: Double) {
        (
            try #require(run.events.first { $0["event"] == "stall" }.flatMap { Double($0["time_s"]) }),
            try #require(run.ends.first.flatMap { Double($0["time_s"]) })
        )
    }

    @Test(
        "when the policy frees nothing, the kernel ends the process with most badness within a millisecond",
        arguments: ["none", "systemd-oomd", "{ name: earlyoom, parameters: { terminate: 0%, kill: 0% } }"])
    func acts(policy: String) throws {
        let run = try Self.run(Self.device(policy))
        let (stall, end) = try Self.firsts(run)
        #expect(end - stall <= 0.001, "\(policy)")
        let first = try #require(run.ends.first)
        #expect(first["app"] == "small" && first["exit_reason"] == "memoryPressure", "\(policy)")
        #expect(first["cause"] == "kernel_oom" && first["decision"] == "" && first["demand"] == "", "\(policy)")
        #expect(first["beneficiary"] == "hog" && first["need"] == "allocation", "\(policy)")
        #expect(first["measure"] == "badness_pages", "\(policy)")
        // 65,536 pages: 8 MiB and 800 thousandths of 65 pages each.
        #expect(Int(first["observed"]).map { 54_000...55_000 ~= $0 } == true, "\(policy): \(first["observed"])")
        #expect(first["why"].contains("the policy freed nothing; the kernel ends the process with the most badness"))
        // Then the hog itself has most, though it is in front and the limits protect what is.
        let second = try #require(run.ends.dropFirst().first)
        #expect(second["app"] == "hog" && second["was_foreground"] == "true" && second["need"] == "own_allocation")
        #expect(second["cause"] == "kernel_oom" && run.ends.count == 2, "\(policy)")
    }

    @Test("behind lmkd, which acts on stalls, it lets an allocation wait for two seconds")
    func leavesWaiting() throws {
        let run = try Self.run(Self.device("lmkd"))
        let (stall, end) = try Self.firsts(run)
        #expect((0.6...1.2).contains(end - stall), "\(end - stall)")
        #expect(run.ends.map { $0["app"] + " " + $0["cause"] } == ["small jettisoned", "hog kernel_oom"])
        let last = try #require(run.ends.last.flatMap { Double($0["time_s"]) })
        let waits = run.events.filter { $0["event"] == "stall" }.compactMap { Double($0["time_s"]) }.filter {
            $0 < last
        }
        #expect((1.9...2.2).contains(last - (waits.last ?? 0)), "\(waits) \(last)")
        // In a dry run nobody is waited for.
        let dry = try Self.run(Self.device("lmkd"), dryRun: true)
        #expect(try Self.firsts(dry).end - Self.firsts(dry).stall <= 0.001)
    }

    @Test("its decision has the points of all others, and the process that is exempt")
    func decisions() throws {
        let rows = try Self.run(Self.device("none")).decisions.filter { $0["demand"] == "kernel" }
        let first = rows.filter { $0["decision"] == rows.first?["decision"] }
        #expect(first.map { $0["app"] } == ["small", "hog", "large", "exempt"])
        #expect(first.map { $0["outcome"] } == ["chosen", "ranked", "ranked", "spared"])
        #expect(first[3]["reason"] == "its oom_score_adj is -1000" && first[3]["score"] == "")
        let scores = first.prefix(3).compactMap { Int($0["score"]) }
        #expect(scores.count == 3 && scores == scores.sorted(by: >) && scores[2] < 0)
        #expect(first.allSatisfy { $0["measure"] == "available_bytes" })
    }

    @Test("if every process is exempt, the one that waits ends")
    func nobody() throws {
        let exempt = ["large", "small"].map { "apps.\($0).oom_score_adj=-1000" }
        let run = try Self.run(Self.device("none", hog: -1_000), exempt)
        #expect(run.ends.map { $0["app"] } == ["hog"])
        #expect(run.ends[0]["cause"] == "no_room" && run.ends[0]["why"].hasSuffix("and the kernel may end no process"))
    }

    @Test("a policy that frees memory is not forestalled")
    func policyFirst() throws {
        let run = try Self.run(Self.device("lru"))
        #expect(run.ends.first?["cause"] == "jettisoned" && run.ends.first?["decision"] != "")
        #expect(run.ends.last.map { $0["app"] + $0["cause"] } == "hogkernel_oom")
    }

    @Test("without the kernel, a run is as it would be without the key")
    func requester() throws {
        let text = Self.device("none", fallback: "requester")
        let without = try Self.run(text.replacing(", fallback: requester", with: ""))
        #expect(try Self.run(text).texts == without.texts)
        #expect(without.ends.map { $0["app"] } == ["hog"] && without.ends[0]["cause"] == "no_room")
        #expect(!without.decisions.contains { $0["demand"] == "kernel" })
    }

    @Test("in a dry run of the policy, the kernel acts all the same")
    func dryRun() throws {
        let run = try Self.run(Self.device("lru"), dryRun: true)
        #expect(!run.ends.isEmpty && run.ends.allSatisfy { $0["cause"] == "kernel_oom" })
    }

    @Test("a process that was asked to end is ended by the kernel, and what it would have freed is not waited for")
    func politely() throws {
        let policy = "{ name: earlyoom, parameters: { terminate: 20%, kill: 0%, wait: 10min, grace: 10min } }"
        let slow = [
            "apps.small.background_modes=[audio]", "apps.small.costs.terminate=1h", "start.1.state=background",
            "limits.protect_audible=false",
        ]
        let run = try Self.run(Self.device(policy), slow)
        let (stall, end) = try Self.firsts(run)
        let asked = run.events.first { $0["action"] == "terminate_politely" }
        #expect(asked?["app"] == "small" && asked.flatMap { Double($0["time_s"]) } ?? 9 < stall)
        #expect(end - stall <= 0.001)
        #expect(run.ends[0]["app"] == "small" && run.ends[0]["cause"] == "kernel_oom", "\(stall) \(end)")
    }

    @Test(
        "both backends give the same tables",
        arguments: ["none", "kernel-oom", "systemd-oomd"])
    func backends(policy: String) throws {
        let text = Self.device(policy)
        let jemalloc = try Self.run(text, backend: "jemalloc")
        #expect(jemalloc.texts == (try Self.run(text).texts))
        #expect(!jemalloc.ends.isEmpty)
    }

    @Test("the policy kernel-oom waits for an allocation, and keeps the limits")
    func policy() throws {
        let text = Self.device("kernel-oom", fallback: "requester")
        let run = try Self.run(text)
        let (stall, end) = try Self.firsts(run)
        #expect(end >= stall && end - stall <= 0.001)
        #expect(run.ends.first.map { $0["app"] + $0["cause"] } == "smallvm-pageshortage")
        #expect(run.ends.first?["decision"] != "" && run.ends.first?["demand"] == "allocation")
        // What is in front is protected; the large one follows, and then the hog has waited in vain.
        #expect(run.ends.map { $0["app"] } == ["small", "large", "hog"])
        let free = try Self.run(text, ["limits.protect_foreground=false"])
        #expect(free.ends.map { $0["app"] } == ["small", "hog"])
        let own = ["policy.parameters.oom_kill_allocating_task=true", "limits.protect_foreground=false"]
        #expect(try Self.run(text, own).ends.map { $0["app"] } == ["hog"])
    }

    /// Cases from the field, in the folder of shared data beside the checkout.
    private static let field = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/field/linux")
    private static let hasField = FileManager.default.fileExists(atPath: field.path())

    @Test(
        "without swap oomd acts after 30 s of full stalls, and takes the hog, though it waits itself (case13)",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func withoutSwap() throws {
        let text = try String(contentsOf: Self.field.appending(path: "case13.yaml"), encoding: .utf8)
        let path = ProjectScenarioTests.folder.appending(path: "policies/oomd-default.yaml").path()
        func ends(_ sets: [String]) throws -> [TableRow] { try Self.run(text, sets, policy: path).ends }
        let alone = try ends([])
        #expect(alone.map { $0["app"] } == ["hog"] && alone.allSatisfy { $0["measure"] == "psi_full_avg10_ppm" })
        // The kernel behind it does not let the desktop hang for 40 s.
        let behind = try ends(["device.fallback=kernel-oom"])
        #expect(behind.map { $0["app"] } == ["hog"] && behind.allSatisfy { $0["cause"] == "kernel_oom" })
        let times = [alone, behind].map { Double($0.first?["time_s"] ?? "") ?? 0 }
        #expect(times[0] > times[1] + 30)
    }

    /// A desktop with 8 GiB. A tab in front grows by 20 MiB/s; other processes are small, or large and in the middle.
    private static func session(_ adjustments: [Int]) -> String {
        let small = zip(["grows", "spare", "sound", "second"], zip(adjustments, [400, 8, 4, 24]))
        let rest = (1...12).map { ("rest-\($0)", (0, 550)) }
        let apps = (Array(small) + rest).map { name, figures in
            let leak = name == "grows" ? ", leak: 20MiB/s" : ""
            return "  - { name: \(name), oom_score_adj: \(figures.0), "
                + "memory: { base: \(figures.1)MiB, scene: 0B\(leak), objects: { constant: 64KiB } } }"
        }
        let others = rest.map(\.0) + ["second", "sound", "spare"]
        return """
            plimsoll: 1
            name: desktop
            duration: 60s
            device: { ceiling: 8GiB, reserved: 128MiB, cores: 4 }
            policy: earlyoom
            limits: { protect_foreground: false, protect_audible: false }
            apps:
            \(apps.joined(separator: "\n"))
            start:
            \(others.map { "  - { process: \($0), state: suspended }" }.joined(separator: "\n"))
              - { process: grows, state: front }
            """
    }

    /// What a small process frees is soon used up.
    @Test("earlyoom takes small processes by their adjustments, in order, before the tab that grows")
    func adjustmentsFirst() throws {
        let adjusted = try Self.run(Self.session([67, 233, 200, 167]))
        #expect(adjusted.ends.map { $0["app"] } == ["spare", "sound", "second", "grows"])
        #expect(
            try Self.run(Self.session([67, 167, 200, 233])).ends.prefix(3).map { $0["app"] }
                == ["second", "sound", "spare"])
        #expect(try Self.run(Self.session([900, 233, 200, 167])).ends.map { $0["app"] } == ["grows"])
    }

    @Test(
        "three small processes end before the tab that grows, and it ends by itself (case01)",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func smallOnesFirst() throws {
        let text = try String(contentsOf: Self.field.appending(path: "case01.yaml"), encoding: .utf8)
        let ends = try Self.run(text).ends
        #expect(ends.map { $0["app"] } == ["spare-tab", "sound-server", "tab-two", "tab-that-grows"])
    }

    @Test(
        "a desktop whose daemon never acts loses a process within milliseconds",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func desktop() throws {
        let text = try String(contentsOf: Self.field.appending(path: "case09.yaml"), encoding: .utf8)
        // Fedora's daemon has no rule of swap.
        let run = try Self.run(text, ["device.fallback=kernel-oom", "policy.parameters.used=100%"])
        let (stall, end) = try Self.firsts(run)
        #expect(end - stall <= 0.005)
        let first = try #require(run.ends.first)
        #expect(first["cause"] == "kernel_oom", "\(run.ends.prefix(4).map { $0["app"] + " " + $0["why"] })")
        #expect(Int(first["observed"]) ?? 0 >= Int(first["threshold"]) ?? 0)
    }
}
