import Memory
import Plan
import Pressure
import Quantities
import Reclaim
import TestSupport
import Testing
import Workload

@testable import Simulation

/// The rules of XNU's pageout and of its measure of a thrashing compressor, in tables, and runs on a device with a
/// kernel.
@Suite("an iPhone's pageout", .serialized)
struct PageoutTests {
    // MARK: Rules

    private func rules(_ ram: ByteCount, page: DevicePage = .large, scale: Ratio = .one) -> PageoutRules {
        var device = Device(ceiling: ram * scale)
        (device.page, device.scale) = (page, scale)
        return PageoutRules(device, ceiling: device.ceiling, kernel: .xnu11417)
    }

    /// vm_pageout.c:231, 245, 252-254, 3846-3872 of xnu-11417.101.15.
    @Test(
        "it begins and ends at few free pages, whatever the RAM",
        arguments: [(1, 564, 896), (2, 892, 1_551), (4, 1_500, 2_000), (8, 1_500, 2_000)])
    func marks(ram: Int, begins: Int, ends: Int) {
        let rules = rules(.gibibytes(ram))
        #expect(rules.begins == .kibibytes(16 * begins))
        #expect(rules.ends == .kibibytes(16 * ends))
        #expect(rules.reserve == .kibibytes(16 * 228))
        let half = self.rules(.gibibytes(ram), scale: .percent(50))
        #expect(half.begins * 2 == rules.begins && half.ends * 2 == rules.ends)
    }

    /// vm_pageout.c:2187-2219, 2597-2645. A device of 4 GiB, whose critical mark is 4 %: 409.6 MiB are 2.5 times that.
    @Test(
        "files are taken alone, beside processes, or not at all",
        arguments: [
            // Files, what is neither wired nor compressed, whether the compressor is low on space, what is taken.
            (900, 2_800, false, PageoutRules.Source.files), (450, 2_800, false, .files), (405, 2_800, false, .both),
            (420, 3_500, false, .processes), (399, 2_800, false, .processes), (300, 2_800, true, .both),
            (0, 2_800, true, .processes), (500, 2_800, true, .files),
        ])
    func sources(files: Int, pageable: Int, isLow: Bool, source: PageoutRules.Source) {
        let rules = rules(.gibibytes(4))
        let found = rules.source(
            files: .mebibytes(files), pageable: .mebibytes(pageable), isLowOnSpace: isLow)
        #expect(found == source, "\(files) MiB of files in \(pageable) MiB")
    }

    // MARK: Thrashing

    /// What goes and comes in each window of 250 ms, and what that is.
    private struct Course: CustomTestStringConvertible, Sendable {
        let name: String
        /// Pages of 16 KiB per 10 ms.
        let out: Int
        let back: Int
        let age: TimeSpan
        /// Pages in the compressor.
        let held: Int
        let isThrashing: Bool
        var testDescription: String { name }

        init(_ name: String, _ out: Int, _ back: Int, _ age: TimeSpan, _ held: Int, _ isThrashing: Bool) {
            (self.name, self.out, self.back) = (name, out, back)
            (self.age, self.held, self.isThrashing) = (age, held, isThrashing)
        }
    }

    private static let courses = [
        Course("much goes and comes at once", 60, 60, .seconds(1), 20_000, true),
        Course("50 pages in 10 ms are not above 50", 60, 50, .seconds(1), 20_000, false),
        Course("too little is compressed", 19, 60, .seconds(1), 20_000, false),
        Course("what comes back is old", 60, 60, .minutes(20), 20_000, false),
        Course("older than every working set", 60, 60, .minutes(31), 1 << 30, false),
        Course("an old working set in a large pool", 60, 60, .seconds(3), 20_000, true),
        Course("the same in a small pool", 60, 60, .seconds(3), 17_000, false),
    ]

    /// vm_compressor.c:2562-2632.
    @Test("the compressor thrashes if a young working set goes and comes", arguments: courses)
    private func thrashing(course: Course) {
        let page = ByteCount.kibibytes(16)
        var sample = CompressorSample(page: page)
        var now = Instant.zero
        for _ in 0..<4 {
            now = now + .milliseconds(250)
            sample.compress(page * course.out * 25)
            sample.bringBack(page * course.back * 25, age: course.age)
            sample.look(at: now, held: page * course.held)
        }
        #expect(sample.isThrashing == course.isThrashing)
        // A quiet window ends it.
        now = now + .milliseconds(250)
        sample.look(at: now, held: page * course.held)
        #expect(!sample.isThrashing)
    }

    // MARK: Runs

    /// Apps one after another on a phone for four of them.
    private func plan(
        backend: MemoryBackend = .accounting, kernel: JetsamKernel? = .xnu11417, policy: String = "none",
        files: ByteCount = .zero, purgeable: Ratio = .zero, monitor: MonitorSettings? = nil
    ) -> RunPlan {
        let apps = (0..<6).map { index in
            testApp("app\(index)") {
                $0.memory.base = .mebibytes(60)
                $0.memory.touch = ByteRate(bytesPerSecond: 4 << 20)
                $0.memory.files.size = files
                $0.memory.cache.purgeable = purgeable
            }
        }
        let visits = (0..<12).map { (Double($0) * 6, UserAction.launch(AppID($0 % 6))) }
        return testPlan(apps, ceiling: .mebibytes(320), seconds: 75, policy: policy, user: visits) {
            $0.backend = backend
            $0.device.page = .large
            $0.device.compressor = CompressorSettings()
            $0.device.kernel = kernel
            if files > .zero { $0.device.fileCache = FileCacheSettings() }
            if let monitor { $0.monitor = monitor }
        }
    }

    @Test("all tables are the same on both backends", arguments: [ByteCount.zero, .mebibytes(20)])
    func backends(files: ByteCount) throws {
        let counted = try runToEnd(plan(files: files))
        let real = try runToEnd(plan(backend: .jemalloc, files: files))
        #expect(counted.tables == real.tables)
        #expect(counted.pageRows.contains { $0["newly_compressed_bytes"] != "0" })
    }

    private func samples(of run: RunOutput) -> [TableRow] { TableRow.all(in: run.samples) }

    @Test("nothing is compressed while free pages are many, and no share of the RAM is kept available")
    func freePages() throws {
        let few = PageoutRules(plan().device, ceiling: .mebibytes(320), kernel: .xnu11417).begins * 4
        /// At each sample since which pages were compressed: the least free memory, now and a sample before.
        func free(_ run: RunOutput) -> [ByteCount] {
            let free = samples(of: run).map { ByteCount(Int($0["available_bytes"]) ?? 0) }
            return run.pageRows.indices.dropFirst().compactMap {
                run.pageRows[$0]["newly_compressed_bytes"] == "0" ? nil : min(free[$0 - 1], free[$0])
            }
        }
        let (own, xnu) = (try free(runToEnd(plan(kernel: nil))), try free(runToEnd(plan())))
        #expect(own.contains { $0 > few } && !xnu.isEmpty)
        #expect(xnu.allSatisfy { $0 < few })
    }

    @Test("pages of files go first while there are many")
    func filesFirst() throws {
        let run = try runToEnd(plan(files: .mebibytes(20)))
        let dropped = run.pageRows.firstIndex { $0["file_dropped_bytes"] != "0" }
        let compressed = run.pageRows.firstIndex { $0["newly_compressed_bytes"] != "0" }
        #expect(try #require(dropped) <= #require(compressed))
    }

    @Test("the monitor's ratio knows what the system has compressed, and what of it is not wired")
    func systemPages() throws {
        func normal(_ change: (inout Device) -> Void) throws -> TimeSpan {
            var plan = plan(monitor: .iosRatio)
            plan.device.reserved = .mebibytes(40)
            change(&plan.device)
            return try runToEnd(plan).tally.levels.normal
        }
        let plain = try normal { _ in }
        #expect(try normal { $0.systemCompressed = .mebibytes(30) } < plain)
        #expect(try normal { $0.systemPageable = .mebibytes(40) } >= plain)
    }
}
