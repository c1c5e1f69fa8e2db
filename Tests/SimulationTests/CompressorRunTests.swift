import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// Whole runs on a device with a compressor. `runToEnd` checks every invariant at every sample.
@Suite("a device with a compressor", .serialized)
struct CompressorRunTests {
    /// Six apps of 12 MiB and more, one after another and again, on a phone for four of them.
    private func plan(
        _ settings: CompressorSettings? = CompressorSettings(), backend: MemoryBackend = .accounting,
        policy: String = "ladder", contents: Compressibility = .typical
    ) -> RunPlan {
        let apps = ["a", "b", "c", "d", "e", "f"].map { name in
            testApp(name) {
                $0.memory.base = .mebibytes(10)
                $0.memory.touch = ByteRate(bytesPerSecond: 2 << 20)
                $0.memory.read = ByteRate(bytesPerSecond: 1 << 20)
                $0.memory.compressibility = contents
            }
        }
        let visits = (0..<12).map { (Double($0) * 6, UserAction.launch(AppID($0 % 6))) }
        return testPlan(apps, ceiling: .mebibytes(64), seconds: 75, policy: policy, user: visits) {
            $0.backend = backend
            $0.device.compressor = settings
        }
    }

    @Test("all tables are the same on both backends", arguments: ["ladder", "jetsam", "none"])
    func backends(policy: String) throws {
        let counted = try runToEnd(plan(policy: policy))
        let real = try runToEnd(plan(backend: .jemalloc, policy: policy))
        #expect(counted.pages == real.pages && counted.launches == real.launches)
        #expect(counted.events == real.events && counted.decisions == real.decisions)
        #expect(counted.pageRows.contains { $0["newly_compressed_bytes"] != "0" })
        #expect(policy != "none" || counted.pageRows.contains { $0["refaulted_bytes"] != "0" })
    }

    /// Compresses real contents.
    private func real(_ contents: PageRecipe, _ codec: CompressionCodec = .lz4) -> CompressorSettings {
        var settings = CompressorSettings()
        settings.codec = codec
        settings.contents = contents
        return settings
    }

    /// The contents are made so that LZ4 gives the sizes that the model draws; so nothing may differ, and everything
    /// that comes back is checked.
    @Test("with heads of random bytes LZ4 leaves all tables as they are", arguments: ["ladder", "jetsam", "none"])
    func reallyCompressed(policy: String) throws {
        let drawn = try runToEnd(plan(policy: policy))
        let run = try runToEnd(plan(real(.head), backend: .jemalloc, policy: policy))
        #expect(drawn.pages == run.pages && drawn.launches == run.launches)
        #expect(drawn.events == run.events && drawn.decisions == run.decisions)
        #expect(run.pageRows.contains { $0["newly_compressed_bytes"] != "0" })
        #expect(policy != "none" || run.pageRows.contains { $0["refaulted_bytes"] != "0" })
    }

    @Test("with a mix of words LZ4 decides the sizes, and a run repeats them")
    func mixOfWords() throws {
        let drawn = try runToEnd(plan())
        let runs = try [1, 2].map { _ in try runToEnd(plan(real(.words), backend: .jemalloc)) }
        #expect(runs[0].tables == runs[1].tables)
        #expect(runs[0].pages != drawn.pages)
        #expect(runs[0].pageRows.contains { $0["newly_compressed_bytes"] != "0" })
    }

    @Test("on the accounting backend the same plan draws the sizes")
    func onAccounting() throws {
        let plan = plan(real(.words), backend: .jemalloc)
        #expect(plan.onAccounting == self.plan(real(.words, .model)))
    }

    /// The same apps on a model of the phone at a quarter of its size.
    private func quarter(_ backend: MemoryBackend) -> RunPlan {
        var plan = plan(backend: backend)
        let scale = Ratio.percent(25)
        plan.device.scale = scale
        plan.device.ceiling = plan.device.ceiling * scale
        plan.device.reserved = plan.device.reserved * scale
        plan.device.reclaimRate = ByteRate(bytesPerSecond: plan.device.reclaimRate.bytesPerSecond / 4)
        plan.device.compressor?.compressRate = ByteRate(bytesPerSecond: 1 << 29)
        plan.device.compressor?.decompressRate = ByteRate(bytesPerSecond: 1 << 30)
        return plan
    }

    @Test("a quarter of the device does the same to the same processes, on both backends")
    func scaled() throws {
        let (counted, real) = (try runToEnd(quarter(.accounting)), try runToEnd(quarter(.jemalloc)))
        #expect(counted.pages == real.pages && counted.launches == real.launches)
        #expect(counted.events == real.events && counted.decisions == real.decisions)
        let whole = try runToEnd(plan())
        func story(_ run: RunOutput) -> [String] {
            run.launchRows.map { "\($0["app"]) \($0["kind"]) \($0["resumed_from"])" }
        }
        #expect(story(counted) == story(whole))
        let (most, share) = (Self.most(whole), Self.most(counted))
        #expect(most > 0 && abs(share * 4 - most) * 20 < most, "\(most) bytes, \(share) in a quarter")
    }

    /// The most bytes that were compressed at a sample.
    private static func most(_ run: RunOutput) -> Int {
        run.pageRows.compactMap { Int($0["compressed_bytes"]) }.max() ?? 0
    }

    @Test("it saves processes, and what does not compress saves none")
    func saves() throws {
        let without = try runToEnd(plan(nil))
        let with = try runToEnd(plan())
        let raw = Compressibility(ratio: .one, repeated: .zero, incompressible: .one)
        let useless = try runToEnd(plan(contents: raw))
        #expect(without.pages.isEmpty)
        #expect(without.tally.terminations.count > with.tally.terminations.count)
        #expect(useless.tally.terminations.count >= without.tally.terminations.count)
    }

    @Test("a resume of a compressed app takes longer, and its row says why")
    func resumes() throws {
        var slow = CompressorSettings()
        slow.decompressRate = ByteRate(bytesPerSecond: 64 << 20)
        let fast = try runToEnd(plan(policy: "none"))
        let late = try runToEnd(plan(slow, policy: "none"))
        let (rows, others) = (fast.launchRows, late.launchRows)
        let compressed = rows.filter { $0["resumed_from"] == "compressed" }
        #expect(!compressed.isEmpty && compressed.allSatisfy { $0["kind"] != "cold" })
        let total = { (rows: [TableRow]) in rows.compactMap { Double($0["fill_ms"]) }.reduce(0, +) }
        #expect(total(others) > total(rows))
    }

    @Test("its time is counted as the system's work")
    func time() throws {
        let run = try runToEnd(plan())
        let ordered = run.pageRows.compactMap { Double($0["compress_ms"]) }.reduce(0, +)
        #expect(ordered > 0)
        let counted = run.tally.cpu.purposes[CPUPurpose.reclaim.rawValue]
        #expect(counted >= TimeSpan(microseconds: Int64(ordered * 900)))
    }

    @Test("a limit of the pool or of the input is kept")
    func limits() throws {
        var small = CompressorSettings()
        small.pool = .percent(5)
        let pool = try runToEnd(plan(small))
        let most = ByteCount.mebibytes(64) * .percent(5)
        #expect(pool.pageRows.allSatisfy { Int($0["pool_bytes"]) ?? .max <= most.bytes })
        #expect(pool.pageRows.contains { $0["is_full"] == "true" })
        var few = CompressorSettings()
        few.input = .percent(10)
        let input = try runToEnd(plan(few))
        #expect(
            input.pageRows.allSatisfy {
                (Int($0["compressed_bytes"]) ?? .max) - (Int($0["repeated_bytes"]) ?? 0)
                    <= (ByteCount.mebibytes(64) * .percent(10)).bytes
            })
    }
}
