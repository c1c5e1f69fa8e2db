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
        compressed: Int = 22, backend: MemoryBackend = .accounting, seconds: Int64 = 4,
        user: [(Double, UserAction)] = []
    ) -> RunPlan {
        let apps = ["a", "b", "c"].map { name in testApp(name) { $0.memory.base = .mebibytes(20) } }
        return testPlan(apps, ceiling: .mebibytes(64), seconds: seconds, policy: "none", user: user) {
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
