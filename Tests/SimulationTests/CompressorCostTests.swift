import Lifecycle
import Memory
import Plan
import Quantities
import TestSupport
import Testing
import Workload

@testable import Simulation

/// What compressing and bringing back costs on the cores.
@Suite("the cost of compressing")
struct CompressorCostTests {
    /// A row of a measurement on a Linux 6.18 host with zram: microseconds per page of 4 KiB, out as CPU time, in as
    /// the median latency of the fault.
    struct Row: Sendable {
        let codec: String
        let contents: String
        let out, back: Double

        var isWord: Bool { contents == "zero" }
    }

    static let rows = [
        Row(codec: "lzo-rle", contents: "zero", out: 2.9, back: 3.3),
        Row(codec: "lzo-rle", contents: "head 1.0", out: 5.7, back: 4.8),
        Row(codec: "lzo-rle", contents: "head 2.0", out: 4.9, back: 4.7),
        Row(codec: "lzo-rle", contents: "head 2.7", out: 4.9, back: 4.7),
        Row(codec: "lzo-rle", contents: "head 4.0", out: 4.5, back: 4.6),
        Row(codec: "lzo-rle", contents: "mix 0.2", out: 9.4, back: 6.3),
        Row(codec: "lz4", contents: "zero", out: 4.1, back: 4.2),
        Row(codec: "lz4", contents: "head 1.0", out: 5.3, back: 4.8),
        Row(codec: "lz4", contents: "head 2.0", out: 5.3, back: 5.2),
        Row(codec: "lz4", contents: "head 2.7", out: 7.0, back: 6.1),
        Row(codec: "lz4", contents: "head 4.0", out: 6.6, back: 5.8),
        Row(codec: "lz4", contents: "mix 0.2", out: 11.5, back: 7.0),
    ]

    /// The settings for that host: a page costs 3 us out and 3.3 us in; LZ4 or LZO 2 us for a head and 7 us for a mix
    /// of words, and 2 us in.
    static func settings(for contents: String) -> CompressorSettings {
        func rate(_ microseconds: Double) -> ByteRate { ByteRate(bytesPerSecond: Int(4_096e6 / microseconds)) }
        var settings = CompressorSettings()
        settings.pageOutRate = rate(3)
        settings.pageInRate = rate(3.3)
        settings.compressRate = rate(contents.hasPrefix("mix") ? 7 : 2)
        settings.decompressRate = rate(2)
        return settings
    }

    @Test(
        "five figures, which are fitted to a host, give each row of its table within 30 %: the form of the model holds",
        arguments: rows)
    func form(row: Row) {
        let settings = Self.settings(for: row.contents)
        let bytes = ByteCount(4_096 * 1_000)
        let repeated = row.isWord ? bytes : .zero
        let out = Double(settings.compressTime(bytes, repeated: repeated).microseconds) / 1_000
        let back = Double(settings.decompressTime(bytes, repeated: repeated).microseconds) / 1_000
        #expect(abs(out / row.out - 1) <= 0.3, "out \(out) us in place of \(row.out)")
        #expect(abs(back / row.back - 1) <= 0.3, "in \(back) us in place of \(row.back)")
    }

    @Test("without the part per page the same rows are not all within 30 %: the part is needed")
    func partIsNeeded() {
        let ofMix = Self.rows.filter { $0.contents.hasPrefix("mix") }.map(\.out)
        let others = Self.rows.filter { !$0.contents.hasPrefix("mix") }
        // A single time for all contents but the mix, in steps of 10 ns.
        let fits = (0...1_000).contains { step in others.allSatisfy { abs(Double(step) / 100 / $0.out - 1) <= 0.3 } }
        #expect(!fits && ofMix.count == 2)
    }

    @Test("a time per page is added to the codec's, in proportion to the pages, and only if it is given")
    func sums() {
        var settings = CompressorSettings()
        settings.compressRate = ByteRate(bytesPerSecond: 4_096_000)
        settings.decompressRate = ByteRate(bytesPerSecond: 8_192_000)
        let (bytes, half) = (ByteCount(4_096_000), ByteCount(2_048_000))
        #expect(settings.compressTime(bytes, repeated: half) == .seconds(1))
        #expect(settings.decompressTime(bytes, repeated: bytes) == .milliseconds(500))
        settings.pageOutRate = ByteRate(bytesPerSecond: 40_960_000)
        settings.pageInRate = ByteRate(bytesPerSecond: 40_960_000)
        #expect(settings.compressTime(bytes, repeated: .zero) == .milliseconds(1_100))
        #expect(settings.compressTime(bytes, repeated: half) == .milliseconds(600))
        #expect(settings.compressTime(bytes, repeated: bytes) == .milliseconds(100))
        #expect(settings.decompressTime(bytes, repeated: half) == .milliseconds(350))
    }

    /// Six apps of 12 MiB and more on a phone for four of them; all pages are of one kind.
    private func run(_ kind: Compressibility, _ settings: CompressorSettings) throws -> RunOutput {
        let apps = ["a", "b", "c", "d", "e", "f"].map { name in
            testApp(name) {
                $0.memory.base = .mebibytes(10)
                $0.memory.compressibility = kind
            }
        }
        let visits = (0..<12).map { (Double($0) * 6, UserAction.launch(AppID($0 % 6))) }
        return try runToEnd(
            testPlan(apps, seconds: 75, policy: "none", user: visits) { $0.device.compressor = settings })
    }

    private func sum(_ column: String, of run: RunOutput) -> Double {
        run.pageRows.compactMap { $0.number(column) }.reduce(0, +)
    }

    @Test("in a run, pages of one repeated word cost the time per page, other pages the codec's time too")
    func inARun() throws {
        var settings = CompressorSettings()
        settings.pageOutRate = ByteRate(bytesPerSecond: 200 << 20)
        settings.pageInRate = ByteRate(bytesPerSecond: 400 << 20)
        settings.compressRate = ByteRate(bytesPerSecond: 100 << 20)
        settings.decompressRate = ByteRate(bytesPerSecond: 100 << 20)
        for (repeated, out, back) in [(100, 5.0, 2.5), (0, 15.0, 12.5)] as [(Int64, Double, Double)] {
            let kind = Compressibility(ratio: .percent(300), repeated: .percent(repeated), incompressible: .zero)
            let run = try run(kind, settings)
            // Milliseconds for a MiB. Of other pages the pool gets full, and batches find no room, but take their time.
            let compressed = sum("compress_ms", of: run) / (sum("newly_compressed_bytes", of: run) / 1_048_576)
            let decompressed = sum("decompress_ms", of: run) / (sum("refaulted_bytes", of: run) / 1_048_576)
            #expect(compressed >= out * 0.99, "\(compressed) ms in place of \(out)")
            #expect(repeated == 0 || compressed <= out * 1.15, "\(compressed) ms in place of \(out)")
            #expect(decompressed >= back * 0.9 && decompressed <= back * 1.05, "\(decompressed) ms in place of \(back)")
        }
    }
}
