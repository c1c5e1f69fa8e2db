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
            // Files, the inactive ones of them, what is neither wired nor compressed, whether the compressor is low on
            // space, what is taken, how much of files at most before anything else.
            Taken(900, 900, 2_800, .files, 491), Taken(900, 600, 2_800, .files, 301), Taken(900, 450, 2_800, .files, 1),
            Taken(900, 449, 2_800, .processes), Taken(450, 450, 2_800, .files, 41), Taken(450, 225, 2_800, .files, 1),
            Taken(405, 405, 2_800, .both), Taken(405, 200, 2_800, .processes), Taken(420, 420, 3_500, .processes),
            Taken(399, 399, 2_800, .processes), Taken(300, 150, 2_800, isLow: true, .both),
            Taken(0, 0, 2_800, isLow: true, .processes), Taken(500, 500, 2_800, isLow: true, .files, 91),
        ])
    func sources(row: Taken) {
        let rules = rules(.gibibytes(4))
        let (files, inactive) = (ByteCount.mebibytes(row.files), ByteCount.mebibytes(row.inactive))
        let pageable = ByteCount.mebibytes(row.pageable)
        let source = rules.source(files: files, inactive: inactive, pageable: pageable, isLowOnSpace: row.isLow)
        #expect(source == row.source)
        let first = rules.filesFirst(
            files: files, inactive: inactive, pageable: pageable, isLowOnSpace: row.isLow)
        #expect(Int((Double(first.bytes) / 1_048_576).rounded(.up)) == row.first)
    }

    /// What is taken in a situation; sizes in MiB.
    struct Taken: CustomTestStringConvertible, Sendable {
        let files, inactive, pageable: Int
        let isLow: Bool
        let source: PageoutRules.Source
        let first: Int
        var testDescription: String { "\(files) MiB of files, \(inactive) inactive, in \(pageable)" }

        init(
            _ files: Int, _ inactive: Int, _ pageable: Int, isLow: Bool = false, _ source: PageoutRules.Source,
            _ first: Int = 0
        ) {
            (self.files, self.inactive, self.pageable) = (files, inactive, pageable)
            (self.isLow, self.source, self.first) = (isLow, source, first)
        }
    }

    /// vm_pageout.c:2928-2990. In MiB: what is active of files and of processes.
    @Test("half of all pages become inactive, of files and of processes in proportion")
    func queues() {
        func count(_ queues: inout PageQueues, _ files: Int, used: Int = 0, _ processes: Int) {
            queues.count(files: .mebibytes(files), used: .mebibytes(used), processes: .mebibytes(processes))
        }
        var queues = PageQueues(files: .mebibytes(400), processes: .mebibytes(1_000))
        func active() -> [Int] { [queues.activeFiles, queues.activeProcesses].map { $0.bytes >> 20 } }
        #expect(active() == [200, 500])
        // What is new is active, and so is what is used; nothing can be more active than all.
        count(&queues, 400, 1_200)
        #expect(active() == [200, 700])
        queues.balance()
        #expect(active() == [177, 622] && queues.inactiveFiles > .mebibytes(222))
        queues.balance()
        #expect(active() == [177, 622])
        count(&queues, 400, used: 900, 1_200)
        #expect(active() == [400, 622] && queues.inactiveFiles == .zero)
        // What goes was inactive, as far as there is any.
        count(&queues, 300, 100)
        #expect(active() == [300, 100])
        // Pages come back: they are active, and half of all are made inactive again.
        count(&queues, 350, 100)
        queues.balance()
        #expect(active() == [175, 50])
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

    @Test("files and processes lose pages side by side while half of the files are inactive, and files come back")
    func sideBySide() throws {
        /// Pages of files at the first sample since which pages were compressed, and at the end.
        func files(_ rate: Int) throws -> (first: ByteCount, last: ByteCount) {
            var plan = plan()
            plan.device.fileCache = FileCacheSettings()
            plan.device.fileCache?.system = .mebibytes(90)
            plan.device.fileCache?.systemReadRate = ByteRate(bytesPerSecond: rate << 20)
            let rows = try runToEnd(plan).pageRows
            let first = try #require(rows.first { $0["newly_compressed_bytes"] != "0" })
            let sizes = [first, try #require(rows.last)].map { ByteCount(Int($0["file_backed_bytes"]) ?? 0) }
            return (sizes[0], sizes[1])
        }
        let (slow, fast) = (try files(0), try files(16))
        // More than a tenth of the RAM is left of the files when processes begin to give pages.
        #expect(slow.first > .mebibytes(32) && slow.first < .mebibytes(90))
        #expect(fast.last > slow.last)
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
