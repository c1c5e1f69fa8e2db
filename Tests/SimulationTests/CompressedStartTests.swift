import Memory
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// Processes that begin with a part of them compressed. `runToEnd` checks every invariant at every sample.
@Suite("a run that begins with compressed pages", .serialized)
struct CompressedStartTests {
    /// Three suspended apps of 30 MiB on a phone of 64 MiB.
    private func plan(
        compressed: Int = 22, backend: MemoryBackend = .accounting, seconds: Int64 = 4, policy: String = "none",
        user: [(Double, UserAction)] = []
    ) -> RunPlan {
        let apps = ["a", "b", "c"].map { name in testApp(name) { $0.memory.base = .mebibytes(20) } }
        return testPlan(apps, ceiling: .mebibytes(64), seconds: seconds, policy: policy, user: user) {
            $0.backend = backend
            $0.device.compressor = CompressorSettings()
            $0.start = (0..<3).map { place in
                var entry = StartedProcess(AppID(place))
                entry.footprint = .mebibytes(30)
                entry.compressed = .mebibytes(compressed)
                return entry
            }
        }
    }

    @Test("they fit although their footprints do not, and it takes no time")
    func fits() throws {
        let run = try runToEnd(plan())
        let first = try #require(run.pageRows.first)
        #expect(first["time_s"] == "0" && first.integer("compressed_bytes") == 66 << 20)
        let resident = try #require(first.integer("resident_bytes"))
        // Size classes fill pages as they like.
        #expect(abs(resident - (24 << 20)) < 1 << 20, "\(resident)")
        for column in ["newly_compressed_bytes", "refaulted_bytes", "compress_ms", "decompress_ms"] {
            #expect(first[column] == "0", "\(column)")
        }
        #expect(run.eventRows.allSatisfy { $0.event != "stall" && $0.event != "exit" })
        let footprints = TableRow.all(in: run.apps).prefix(3).compactMap { $0.integer("footprint_bytes") }
        #expect(footprints.count == 3 && footprints.allSatisfy { abs($0 - (30 << 20)) < 1 << 18 }, "\(footprints)")
    }

    @Test("all tables are the same on both backends")
    func backends() throws {
        let visits: [(Double, UserAction)] = [(1, .launch(AppID(1))), (3, .launch(AppID(2)))]
        let counted = try runToEnd(plan(seconds: 8, user: visits))
        let real = try runToEnd(plan(backend: .jemalloc, seconds: 8, user: visits))
        #expect(counted.pages == real.pages && counted.launches == real.launches && counted.events == real.events)
    }

    @Test("an app whose pages are compressed pays for them when it comes back")
    func resume() throws {
        let visit: [(Double, UserAction)] = [(1, .launch(AppID(0)))]
        let packed = try #require(try runToEnd(plan(user: visit)).launchRows.first)
        #expect(packed["resumed_from"] == "compressed")
        var loose = plan(compressed: 0, user: visit)
        loose.device.ceiling = .mebibytes(256)
        let whole = try #require(try runToEnd(loose).launchRows.first)
        #expect(whole["resumed_from"] != "compressed")
        #expect((packed.number("fill_ms") ?? 0) > (whole.number("fill_ms") ?? 0))
    }

    /// What a run says that does not begin, because its start does not fit; nil: it begins.
    private func refusal(_ plan: RunPlan) throws -> StartRefusal? {
        do {
            _ = try runToEnd(plan)
            return nil
        } catch RunFailure.start(let refusal) {
            return refusal
        }
    }

    @Test("what finds no room, compressed or not, ends the run before it begins", arguments: [12, 0])
    func noRoom(compressed: Int) throws {
        var plan = plan()
        (plan.device.ceiling, plan.device.reserved) = (.mebibytes(16), .mebibytes(12))
        plan.start = [plan.start[1]]
        (plan.start[0].footprint, plan.start[0].compressed) = (.mebibytes(12), .mebibytes(compressed))
        let told = try #require(try refusal(plan))
        #expect(told.entry == 0 && told.complaint.hasPrefix("the start of 'b' does not fit: "), "\(told)")
        // There is room for it without the rest of the reserve.
        plan.device.reserved = compressed > 0 ? .mebibytes(8) : .mebibytes(2)
        #expect(try refusal(plan) == nil)
    }

    @Test("room for less than a piece of 4 MiB is enough, if compressing makes room for the next")
    func little() throws {
        var plan = plan()
        (plan.device.ceiling, plan.device.reserved) = (.mebibytes(16), .mebibytes(12))
        plan.start = [plan.start[0]]
        (plan.start[0].footprint, plan.start[0].compressed) = (.mebibytes(5), .mebibytes(5))
        let first = try #require(try runToEnd(plan).pageRows.first)
        #expect(abs((first.integer("compressed_bytes") ?? 0) - (5 << 20)) < 1 << 18)
    }

    @Test("a pool that is too small for what is to be compressed ends the run before it begins, and is named")
    func smallPool() throws {
        var plan = plan()
        plan.device.compressor?.pool = .percent(10)
        let told = try #require(try refusal(plan))
        #expect(told.complaint.contains("are compressed; the compressor's pool holds"), "\(told)")
        #expect(told.complaint.contains("of 6.4 MiB at most (device.compressor.pool)"), "\(told)")
    }

    @Test("without limits there is no compressor: what is compressed at the start is there uncompressed")
    func unbounded() throws {
        #expect(try refusal(plan(policy: "unbounded")) == nil)
    }

    @Test("objects that take eight times what they ask for do not hinder a start that fits")
    func tinyObjects() throws {
        var plan = plan(compressed: 0)
        plan.device.ceiling = .mebibytes(16)
        plan.apps[0].memory.objects = .constant(ByteCount(1))
        plan.start = [plan.start[0]]
        plan.start[0].footprint = .mebibytes(4)
        let run = try runToEnd(plan)
        let held = TableRow.all(in: run.apps).first?.integer("footprint_bytes") ?? 0
        #expect(abs(held - (4 << 20)) < 1 << 16, "\(held)")
    }

    @Test("a quarter of the device begins with a quarter of it")
    func scaled() throws {
        var quarter = plan()
        quarter.device.scale = .percent(25)
        quarter.device.ceiling = .mebibytes(16)
        quarter.device.reserved = .mebibytes(1)
        for place in 0..<3 {
            quarter.start[place].footprint = .kibibytes(7_680)
            quarter.start[place].compressed = .kibibytes(5_632)
        }
        let first = try #require(try runToEnd(quarter).pageRows.first)
        let compressed = try #require(first.integer("compressed_bytes"))
        #expect(abs(compressed * 4 - (66 << 20)) < 1 << 20, "\(compressed)")
    }
}
