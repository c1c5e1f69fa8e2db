import Memory
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// What a scale model rounds: a part is never larger than the sum it belongs to.
@Suite("parts and sums at odd scales", .serialized)
struct PartsOfSumsTests {
    private static let scales = [37_000, 100_000, 333_333, 999_999, 1_000_000, 1_700_001, 4_000_000].map {
        Ratio(partsPerMillion: $0)
    }

    @Test("of pages of files that a sample has gained, no more came back than were read", arguments: scales)
    func pages(scale: Ratio) {
        var generator = SeededGenerator(seed: 5, stream: "sums")
        var before = SupplyFigures(scale: scale)
        for _ in 0..<2_000 {
            var now = before
            let read = Int(generator.below(300))
            now.read += read
            now.refaulted += Int(generator.below(UInt64(read + 1)))
            let (all, back) = (now.gained(now.read - before.read), now.gained(now.refaulted - before.refaulted))
            #expect(back <= all && all == ByteCount(read * 4_096) * scale)
            before = now
        }
    }

    /// Two apps with files and full caches take turns on a phone that is too small for both.
    private func plan(_ scale: Ratio) -> RunPlan {
        let apps = ["a", "b"].map { name in
            testApp(name) {
                $0.memory.base = .mebibytes(20)
                $0.memory.cache = CacheProfile(size: .mebibytes(30), rate: .init(bytesPerSecond: 20 << 20))
                $0.memory.files = FileProfile(size: .mebibytes(50), rate: .init(bytesPerSecond: 8 << 20))
            }
        }
        let turns = (0..<10).map { (Double($0) * 4, UserAction.launch(AppID($0 % 2))) }
        return testPlan(apps, ceiling: .mebibytes(96) * scale, seconds: 42, policy: "none", user: turns) {
            $0.backend = .accounting
            $0.device.reserved = .mebibytes(4) * scale
            $0.device.scale = scale
            $0.device.compressor = CompressorSettings()
            $0.device.fileCache = FileCacheSettings()
        }
    }

    @Test("the rows of a run keep every part within its sum", arguments: scales)
    func rows(scale: Ratio) throws {
        let run = try runToEnd(plan(scale))
        let pairs = [
            ("file_refaulted_bytes", "file_read_bytes"), ("stored_bytes", "pool_bytes"),
            ("repeated_bytes", "compressed_bytes"), ("resumed_bytes", "refaulted_bytes"),
        ]
        for row in run.pageRows {
            for (part, sum) in pairs {
                #expect((row.integer(part) ?? 0) <= (row.integer(sum) ?? -1), "\(part) at \(row["time_s"])")
            }
        }
        for row in TableRow.all(in: run.apps) {
            #expect((row.integer("cache_bytes") ?? 0) <= (row.integer("requested_bytes") ?? -1), "\(row)")
        }
        #expect(run.pageRows.contains { ($0.integer("file_refaulted_bytes") ?? 0) > 0 })
        #expect(run.pageRows.contains { ($0.integer("stored_bytes") ?? 0) > 0 })
    }
}
