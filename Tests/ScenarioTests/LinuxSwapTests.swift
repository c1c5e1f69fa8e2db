import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import TestSupport
import Testing

@testable import Scenario
@testable import Simulation

/// Linux's swap (`device.swap`), and what making room costs there (`device.reclaim`).
@Suite("Linux's swap and its stalls")
struct LinuxSwapTests {
    private struct Run {
        var decisions: [DecisionRecord] = []
        let tables: [String: [TableRow]]
        let texts: [String]
        func rows(_ table: TableSchema) -> [TableRow] { tables[table.name] ?? [] }
        var ends: [TableRow] { rows(RunTables.terminations) }
        var samples: [TableRow] { rows(RunTables.samples) }
    }

    private final class Observed { var decisions: [DecisionRecord] = [] }

    private static func plan(_ text: String, _ sets: [String] = []) throws -> RunPlan {
        try ScenarioLoader.load(text: text, file: "s.yaml", overrides: Overrides(sets: sets)).get()
    }

    private static func run(_ text: String, _ sets: [String] = [], backend: String = "accounting") throws -> Run {
        let plan = try plan(text, ["backend=\(backend)"] + sets)
        let sinks = RunSinks { _ in MemorySink() }
        let observed = Observed()
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: sinks, verify: true,
            observer: { observed.decisions.append($0) })
        _ = try simulation.run()
        var tables: [String: [TableRow]] = [:]
        for table in RunTables.known {
            tables[table.name] = TableRow.all(in: (sinks[table] as? MemorySink)?.bytes ?? [])
        }
        return Run(
            decisions: observed.decisions, tables: tables,
            texts: RunTables.known.map { (sinks[$0] as? MemorySink)?.text ?? "" })
    }

    /// A hog that leaks beside an app off screen.
    private static func phone(_ device: String, policy: String = "earlyoom") -> String {
        """
        plimsoll: 1
        name: swap
        duration: 15s
        device: { ceiling: 256MiB, reserved: 16MiB, \(device) }
        policy: \(policy)
        limits: { protect_foreground: false }
        apps:
          - name: hog
            oom_score_adj: 0
            memory: { base: 20MiB, scene: 0B, leak: 40MiB/s, objects: { constant: 64KiB } }
          - { name: idle, oom_score_adj: 0, memory: { base: 60MiB, scene: 0B } }
        start:
          - { process: idle, state: suspended }
          - { process: hog, state: front }
        """
    }

    // MARK: The keys

    @Test(
        "the compressor is zram on any device but Apple's and those with XNU, unless the scenario says otherwise",
        arguments: [
            ("{ ceiling: 1GiB, compressor: {} }", true), ("{ ceiling: 1GiB }", false),
            ("{ ceiling: 1GiB, compressor: {}, kernel: 11417 }", false),
            ("{ ceiling: 1GiB, compressor: {}, swap: { zram: false } }", false),
            ("{ like: iphone-13 }", false), ("{ like: iphone-13, kernel: none }", false),
            ("{ like: iphone-13, kernel: none, swap: { zram: true } }", true),
            ("{ like: pixel-6, compressor: {} }", true), ("{ like: pixel-6 }", false),
            ("{ like: chromebook-4gb, compressor: {} }", true),
        ])
    func zram(device: String, isZram: Bool) throws {
        let plan = try Self.plan("plimsoll: 1\nname: d\nduration: 1s\ndevice: \(device)\napps: [{ name: a }]\n")
        #expect(plan.device.isZram == isZram && plan.device.hasSwap == isZram)
        #expect(plan.device.reclaimsLikeLinux == isZram)
        let all = plan.device.compressor.map { plan.device.ceiling * $0.input } ?? .zero
        #expect(plan.device.swapTotal == (isZram ? all : .zero))
        // zram's own figures are the default where the compressor is zram.
        if isZram, plan.device.isZramByDefault { #expect(plan.device.compressor?.keepFree == nil) }
        let again = try Self.plan(EffectiveScenario.yaml(of: plan))
        #expect(again == plan)
    }

    @Test("an effective scenario states swap where Linux's keys matter, and nothing of it on an Apple device")
    func effective() throws {
        func text(_ device: String) throws -> String {
            EffectiveScenario.yaml(
                of: try Self.plan("plimsoll: 1\nname: d\nduration: 1s\ndevice: \(device)\napps: [{ name: a }]\n"))
        }
        let linux = try text("{ ceiling: 1GiB, compressor: {} }")
        #expect(linux.contains("zram: true") && linux.contains("reclaim: linux") && linux.contains("disk: 0B"))
        for device in ["{ like: iphone-13 }", "{ ceiling: 1GiB }"] {
            #expect(!(try text(device)).contains("swap:"))
        }
    }

    @Test("swap counts zram's size and the disk's; a disk alone makes the compressor a zswap")
    func total() throws {
        func total(_ swap: String) throws -> ByteCount {
            try Self.plan(Self.phone("compressor: { input: 25% }, swap: \(swap)")).device.swapTotal
        }
        #expect(try total("{}") == .mebibytes(64))
        #expect(try total("{ disk: 100MiB }") == .mebibytes(164))
        #expect(try total("{ zram: false, disk: 100MiB }") == .mebibytes(100))
        #expect(try total("{ zram: false }") == .zero)
        let scaled = try Self.plan(Self.phone("compressor: { input: 25% }, swap: { disk: 100MiB }")).scaled(
            by: .percent(50))
        #expect(scaled.device.swapTotal == .mebibytes(82))
    }

    @Test("the watermarks are those of Linux 6.12")
    func watermarks() throws {
        func sizes(_ ceiling: ByteCount) -> [ByteCount] {
            let rules = KswapdRules(Device(ceiling: ceiling))
            return [rules.reserve, rules.begins, rules.ends]
        }
        // 8 GiB: the square root of 16 x 8,388,608 KiB is 11,585; a thousandth of RAM is 8,589,934 bytes.
        let least = ByteCount.kibibytes(11_585)
        #expect(sizes(.gibibytes(8)) == [least, least + ByteCount(8_589_934), least + ByteCount(17_179_868)])
        #expect(sizes(.mebibytes(256)) == [.kibibytes(2_048), .kibibytes(2_560), .kibibytes(3_072)])
        var device = Device(ceiling: .mebibytes(256))
        device.swap.extraFree = .mebibytes(10)
        let rules = KswapdRules(device)
        #expect([rules.reserve, rules.begins] == [.kibibytes(2_048), .kibibytes(12_800)])
        #expect(rules.ends == .kibibytes(13_312))
    }

    /// The table of costs for each page of 4 KiB, in microseconds, on Linux 6.18: out, and in at the median.
    @Test(
        "what a page costs in zram is within 30 % of the measurements",
        arguments: [
            ("zero", 2.9, 3.3, true), ("head 1.0", 5.7, 4.8, false), ("head 2.0", 4.9, 4.7, false),
            ("head 2.7", 4.9, 4.7, false), ("head 4.0", 4.5, 4.6, false), ("lz4, head 2.0", 5.3, 5.2, false),
        ])
    func costs(contents: String, out: Double, back: Double, isRepeated: Bool) {
        let (zram, size) = (CompressorSettings.zram, ByteCount.mebibytes(40))
        let repeated = isRepeated ? size : .zero
        func perPage(_ time: TimeSpan) -> Double { Double(time.microseconds) / Double(size.bytes / 4_096) }
        #expect(abs(perPage(zram.compressTime(size, repeated: repeated)) / out - 1) <= 0.3, "\(contents)")
        #expect(abs(perPage(zram.decompressTime(size, repeated: repeated)) / back - 1) <= 0.3, "\(contents)")
    }

    // MARK: Runs

    /// Free swap, as a share, when a policy first had a victim.
    private static func firstLeft(_ run: Run) throws -> Double {
        let first = try #require(run.decisions.first { $0.chosen != nil })
        let measures = first.snapshot.measures
        return Double(measures.swapFree.bytes) / Double(max(1, measures.swapTotal.bytes))
    }

    @Test("earlyoom waits until swap is nearly used up, and the compressor of another system is no swap for it")
    func earlyOOM() throws {
        let run = try Self.run(Self.phone("compressor: { input: 50% }"))
        let left = try Self.firstLeft(run)
        #expect(left <= 0.10 && left >= 0.04, "\(left)")
        let first = try #require(run.decisions.first { $0.chosen != nil }?.snapshot)
        let swapped = first.processes.reduce(ByteCount.zero) { $0 + $1.swapped }
        #expect(swapped == first.measures.swapTotal - first.measures.swapFree && swapped > .mebibytes(100))
        #expect(first.processes.allSatisfy { $0.residentSize + $0.swapped == $0.footprint })
        let apple = try Self.run(Self.phone("compressor: { input: 50% }, swap: { zram: false }, reclaim: linux"))
        let other = try #require(apple.decisions.first { $0.chosen != nil }?.snapshot)
        #expect(other.measures.swapTotal == .zero && other.now < first.now)
        #expect(other.processes.allSatisfy { $0.swapped == .zero })
    }

    @Test("systemd-oomd ends one process for swap that is used up, and waits while that one is taken apart")
    func oomd() throws {
        let text = Self.phone("compressor: { input: 50% }, reclaim_rate: 64MiB/s", policy: "systemd-oomd")
        let run = try Self.run(text)
        // What is idle has most in swap. The hog is next once it has used up swap again.
        #expect(run.ends.map { $0["app"] } == ["idle", "hog"])
        let times = run.ends.compactMap { Double($0["time_s"]) }
        #expect(times.count == 2 && times[1] - times[0] > 1)
        let first = try #require(run.decisions.first { $0.chosen != nil })
        #expect(first.decision.evidence?.measure == "swap_used_bytes")
        // What is looked at while the victim is taken apart still counts as used up.
        #expect(run.decisions.contains { $0.snapshot.measures.returningSwap > .zero && $0.chosen == nil })
    }

    @Test(
        "a disk takes what zram has no room for, page by page, and both backends agree", arguments: [true, false],
        SwapSettings.DiskTakes.allCases)
    func disk(zram: Bool, takes: SwapSettings.DiskTakes) throws {
        let device = "compressor: { input: 15% }, swap: { zram: \(zram), disk: 80MiB, disk_takes: \(takes) }"
        let text = Self.phone(device, policy: "none")
        let run = try Self.run(text)
        let real = try Self.run(text, backend: "jemalloc")
        #expect(run.texts == real.texts)
        let slow = try Self.run(text, ["device.swap.write_rate=2MiB/s"])
        #expect(slow.texts != run.texts)
        // The hog lives longer than without the disk.
        func firstEnd(_ run: Run) -> Double { run.ends.first.flatMap { Double($0["time_s"]) } ?? 15 }
        let without = try Self.run(Self.phone("compressor: { input: 15% }", policy: "none"))
        #expect(firstEnd(without) < firstEnd(run), "\(firstEnd(without)) \(firstEnd(run))")
    }

    /// Two apps are suspended one after the other, and a third needs the memory of both. Then the first comes back.
    @Test("a disk of lower priority has the newer pages, writeback the older ones", arguments: [true, false])
    func priority(isOld: Bool) throws {
        let takes = isOld ? "oldest" : "newest"
        let text = """
            plimsoll: 1
            name: priority
            duration: 60s
            device:
              ceiling: 256MiB
              reserved: 16MiB
              compressor: { input: 25% }
              swap: { disk: 200MiB, disk_takes: \(takes), read_rate: 20MiB/s }
            policy: none
            apps:
              - { name: first, memory: { base: 60MiB, scene: 0B, touch: 60MiB/s, hot: 100% } }
              - { name: second, memory: { base: 60MiB, scene: 0B, touch: 60MiB/s, hot: 100% } }
              - { name: third, memory: { base: 210MiB, scene: 0B } }
            user:
              - { at: 0s, launch: first }
              - { at: 5s, launch: second }
              - { at: 10s, launch: third }
              - { at: 45s, switch: \(isOld ? "first" : "second") }
            """
        let run = try Self.run(text)
        // What is on the slow disk is what is waited for.
        let back = try #require(run.rows(RunTables.launches).last)
        let other = try Self.run(text, ["device.swap.disk_takes=\(isOld ? "newest" : "oldest")"])
        let elsewhere = try #require(other.rows(RunTables.launches).last)
        let waited = try #require(Double(back["latency_ms"]))
        let less = try #require(Double(elsewhere["latency_ms"]))
        #expect(waited > less, "\(waited) ms, and \(less) ms with the other pages on the disk")
    }

    @Test("what Android freezes is compressed whole, unless it is small or swap is short")
    func compaction() throws {
        func compressed(_ base: String, _ swap: String, _ time: Double) throws -> ByteCount {
            let text = """
                plimsoll: 1
                name: compaction
                duration: 30s
                device:
                  ceiling: 512MiB
                  reserved: 16MiB
                  compressor: { input: 20% }
                  swap: { \(swap) }
                limits: { background_time: 1s }
                policy: none
                apps:
                  - { name: large, memory: { base: \(base), scene: 0B } }
                  - { name: other, memory: { base: 20MiB, scene: 0B } }
                user:
                  - { at: 0s, launch: large }
                  - { at: 5s, launch: other }
                """
            let row = try Self.run(text).rows(RunTables.pages).first { Double($0["time_s"]) ?? 0 >= time }
            return ByteCount(try #require(row.flatMap { Int($0["compressed_bytes"]) }))
        }
        #expect(try compressed("60MiB", "", 29) == .zero)
        #expect(try compressed("60MiB", "compact_after: 10s", 12) == .zero)
        #expect(try compressed("60MiB", "compact_after: 10s", 25) > .mebibytes(58))
        #expect(try compressed("8MiB", "compact_after: 10s", 25) == .zero)
        // 102 MiB of swap, of which 80 % are used at most.
        let most = try compressed("150MiB", "compact_after: 10s", 29)
        #expect(most > .mebibytes(75) && most < .mebibytes(90), "\(most)")
    }

    @Test("lmkd compares free memory with the kernel's watermarks")
    func lmkd() throws {
        let policy = "{ name: lmkd, parameters: { low_watermark_alone: true } }"
        let run = try Self.run(Self.phone("compressor: { input: 50% }", policy: policy))
        let first = try #require(run.decisions.first { $0.chosen != nil })
        #expect(first.snapshot.measures.watermarks?.low == .kibibytes(2_560))
        #expect(first.snapshot.available < .kibibytes(2_560) || first.snapshot.measures.fullLost >= .milliseconds(700))
        // Elsewhere they are the policy's parameters: 3 % of 256 MiB.
        let other = try Self.run(
            Self.phone("compressor: { input: 50%, keep_free: 1% }, swap: { zram: false }", policy: policy))
        let earlier = try #require(other.decisions.first { $0.chosen != nil })
        #expect(earlier.snapshot.measures.watermarks == nil)
        #expect(earlier.snapshot.available < .mebibytes(256) * .percent(3))
    }

    @Test("rules about swap hold where there is swap")
    func rules() throws {
        let policy = "{ rules: [{ name: soft, when: [available < 8%, swap_free < 12%], action: terminate }] }"
        let run = try Self.run(Self.phone("compressor: { input: 50% }", policy: policy))
        let left = try Self.firstLeft(run)
        #expect(left < 0.12)
        let most = "{ rules: [{ name: m, when: swap_used > 80%, order: most_swapped, action: terminate }] }"
        let swapped = try Self.run(Self.phone("compressor: { input: 50% }", policy: most))
        #expect(swapped.ends.first?["why"].contains("in swap") == true, "\(swapped.ends.first?["why"] ?? "")")
    }

    /// An app of 100 MiB is suspended, goes to zram while another takes its room, and comes back.
    private static func back(_ device: String) -> String {
        """
        plimsoll: 1
        name: back
        duration: 40s
        device: { ceiling: 256MiB, reserved: 16MiB, compressor: { input: 100%, keep_free: 50% }, \(device) }
        policy: none
        apps:
          - { name: large, memory: { base: 100MiB, scene: 0B, touch: 60MiB/s, hot: 100% } }
          - { name: other, memory: { base: 100MiB, scene: 0B } }
        user:
          - { at: 0s, launch: large }
          - { at: 10s, launch: other }
          - { at: 25s, switch: large }
        """
    }

    @Test("pages that come back from zram are a stall on Linux, and none elsewhere")
    func comingBack() throws {
        func most(_ device: String) throws -> Double {
            let samples = try Self.run(Self.back(device)).samples
            return samples.filter { Double($0["time_s"]) ?? 0 >= 25 }.compactMap { Double($0["psi_some_avg10"]) }.max()
                ?? 0
        }
        let linux = try most("reclaim: linux")
        let background = try most("reclaim: background")
        #expect(linux > 0.005 && background < linux / 4, "\(linux), in the background \(background)")
    }

    /// Linux 6.18, a memory group at its limit, for which no kswapd works: 1.2 to 1.6 GiB/s before it, 140 MiB/s
    /// beyond. A fill of 3 s is a stall for 2.8 to 3.0 s.
    @Test(
        "a fill beyond the limit is as slow as it was measured, and nearly all of it is a stall",
        arguments: [(10, 263.0), (20, 157), (40, 87)])
    func fill(searchTime: Int, expected: Double) throws {
        let text = """
            plimsoll: 1
            name: fill
            duration: 5s
            device:
              ceiling: 256MiB
              reserved: 16MiB
              fill_rate: 1300MiB/s
              compressor: { input: 400%, threads: 0 }
              swap: { search_time: \(searchTime)us }
            policy: none
            apps:
              - name: filler
                memory: { base: 100MiB, scene: 0B, objects: { constant: 64KiB } }
                deferred: { work: 10ms, memory: 900MiB }
            user:
              - { at: 0s, launch: filler }
            """
        let run = try Self.run(text)
        let pages = run.rows(RunTables.pages)
        func compressed(_ time: Double) -> Double {
            let row = pages.first { Double($0["time_s"]) ?? 0 >= time }
            return row.flatMap { Double($0["compressed_bytes"]) }.map { $0 / 1_048_576 } ?? 0
        }
        let rate = compressed(3.5) - compressed(2.5)
        #expect(abs(rate / expected - 1) < 0.05, "\(rate) MiB/s")
        #expect(searchTime != 20 || (98...182).contains(rate))
        let some = run.samples.last.flatMap { Double($0["psi_some_avg10"]) } ?? 0
        // Two updates of 2 s: a quarter of the first, and nearly all of the second.
        #expect(some > 0.2, "\(some)")
    }

    @Test("without kswapd, only Linux's processes make room themselves")
    func noThread() {
        let text = Self.phone("compressor: { threads: 0 }, swap: { zram: false }")
        #expect(throws: (any Error).self) { try Self.plan(text) }
        #expect(throws: Never.self) { try Self.plan(Self.phone("compressor: { threads: 0 }")) }
    }

    // MARK: Cases from the field

    private static let shared = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/field")
    private static let hasField = FileManager.default.fileExists(atPath: shared.path())

    private static func field(_ path: String) throws -> String {
        try String(contentsOf: shared.appending(path: path), encoding: .utf8)
    }

    @Test(
        "earlyoom acts at a tenth of swap left, not before (earlyoom issue 71)",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func case04() throws {
        let run = try Self.run(Self.field("linux/case04.yaml"), ["duration=12s"])
        let left = try Self.firstLeft(run)
        #expect((0.05...0.10).contains(left), "\(left)")
        #expect(run.ends.first?["app"] == "membomb")
    }

    @Test(
        "systemd-oomd's rule of swap fires (systemd issue 25853)",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func case06() throws {
        let run = try Self.run(Self.field("linux/case06.yaml"), ["duration=60s"])
        #expect(run.ends.first?["why"].hasPrefix("has most in swap") == true, "\(run.ends.first?["why"] ?? "")")
        #expect(try Self.firstLeft(run) < 0.10)
    }

    /// Who ended, by whom, and when.
    private static func ends(_ run: Run) -> [(app: String, cause: String, at: Double)] {
        run.ends.map { ($0["app"], $0["cause"], Double($0["time_s"]) ?? -1) }
    }

    @Test(
        "lmkd takes a full stall for one event a second, and looks on only for what comes after a kill (case11)",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"),
        arguments: ["case11", "case11b"], [13, 14, 15])
    func case11(file: String, version: Int) throws {
        let sets = ["duration=6s", "policy.parameters.version=\(version)"]
        let ends = Self.ends(try Self.run(Self.field("linux/\(file).yaml"), sets))
        // The stall ends the service, the next one whoever is largest. While the memory of that one comes back, free
        // memory is below the min watermark after the kill: one more goes. The launcher and the driver stay.
        #expect(ends.map(\.app) == ["services", "new-app", "wellbeing"], "\(ends)")
        guard ends.count == 3 else { return }
        #expect(ends[1].at - ends[0].at >= 1, "one stall a second")
        #expect((0.09...0.2).contains(ends[2].at - ends[1].at), "it waits for 100 ms")
    }

    @Test(
        "a vendor's pressure_after_kill_min_score spares what has no higher score (case11)",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func case11Vendor() throws {
        let sets = ["duration=6s", "policy.parameters.pressure_after_kill_min_score=201"]
        let ends = Self.ends(try Self.run(Self.field("linux/case11.yaml"), sets))
        #expect(ends.map(\.app) == ["services", "new-app"], "\(ends)")
    }

    @Test(
        "lmkd ends nobody at a floor that finds nobody, and then the previous app by a full stall",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func frontDies() throws {
        for sets in [[], ["policy.parameters.version=14"]] {
            let run = try Self.run(Self.field("originals/lmkd14-front-dies.yaml"), ["duration=25s"] + sets)
            #expect(Self.ends(run).map { "\($0.app) \($0.cause)" } == ["prev jettisoned"])
        }
        // On a Pixel the cached ones go first, the one with the highest score before the largest, then previous, then
        // the service. The app in front wants more than the phone has: the kernel ends it when nobody else is left.
        let pixel = try Self.run(Self.field("originals/pixel-front-dies.yaml"), ["scale=3%", "duration=60s"])
        let ends = Self.ends(pixel)
        let lmkds = ["c950", "c905", "prev", "svc"].map { "\($0) jettisoned" }
        #expect(ends.map { "\($0.app) \($0.cause)" } == lmkds + ["front kernel_oom"], "\(ends)")
    }

    @Test(
        "nohang's rule of swap becomes true",
        .enabled(if: hasField, "data: the shared cases are not beside the checkout"))
    func swapRule() throws {
        let policy = try Self.field("policies/p-swap.yaml").split(separator: "\n").filter { !$0.hasPrefix("plimsoll") }
        let text = try Self.field("linux/case04.yaml").replacing(
            "policy: earlyoom", with: "policy:\n" + policy.map { "  \($0)" }.joined(separator: "\n"))
        let run = try Self.run(text, ["duration=12s"])
        #expect(try Self.firstLeft(run) < 0.12)
        #expect(run.decisions.first { $0.chosen != nil }?.decision.ranking.first?.reason.contains("soft") == true)
    }
}
