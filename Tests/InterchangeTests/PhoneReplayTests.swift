import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import TestSupport
import Testing

@testable import Interchange

/// Whole reports on their device: the state at time zero with the compressor, and what a replay shows.
@Suite("whole JetsamEvent reports on their device")
struct PhoneReplayTests {
    private static func phone(_ report: SyntheticReport) throws -> JetsamPhoneImport {
        try JetsamPhoneImport(report.bytes, file: "report.ips")
    }

    private static func replay(_ report: SyntheticReport) throws -> ReplayOutcome {
        try JetsamReplay(phone(report)).play()
    }

    /// The first row of `pages.csv`: the state at time zero.
    private static func start(_ scenario: String) throws -> (row: TableRow, plan: RunPlan) {
        var plan = try JetsamEventTests.load(scenario)
        (plan.backend, plan.duration) = (.accounting, .milliseconds(1))
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: plan.makeDevice(), sinks: sinks, verify: true).run()
        let text = try #require((sinks[RunTables.pages] as? MemorySink)?.text)
        return (try #require(TableRow.all(in: text).first), plan)
    }

    // MARK: The state

    /// Each size within 5 % of the report, and no more memory than the report has.
    private static func compare(_ bytes: [UInt8], poolWithin percent: Double = 5) throws {
        let phone = try JetsamPhoneImport(bytes, file: "report.ips")
        let (row, plan) = try start(phone.scenario)
        let (pages, size) = (phone.report.pages, Double(phone.report.pageSize))
        func expect(_ column: String, _ wanted: Int, within percent: Double = 5) throws {
            let (held, wanted) = (try #require(row.number(column)), Double(wanted) * size)
            #expect(abs(held - wanted) * 100 <= wanted * percent, "\(column): \(held), \(wanted) in the report")
        }
        try expect("resident_bytes", pages.anonymous)
        try expect("compressed_bytes", pages.uncompressed)
        try expect("pool_bytes", pages.compressor, within: percent)
        try expect("free_bytes", pages.available, within: 20)
        #expect(plan.device.ceiling == ByteCount(pages.all * phone.report.pageSize), "a raised ceiling")
    }

    @Test("resident, compressed and compressor sizes at time zero are the report's, under its own ceiling")
    func state() throws {
        try Self.compare(SyntheticReport.mixture.bytes)
        var guessed = SyntheticReport.mixture
        guessed.hasCounts = false
        try Self.compare(guessed.bytes)
    }

    @Test(
        "a real report with its counts by process: each size within 5 %, no raised ceiling",
        .enabled(if: RealReports.files.contains { $0.lastPathComponent.contains("14.2") }, "data: no such report"))
    func realState() throws {
        let file = try #require(RealReports.files.first { $0.lastPathComponent.contains("14.2") })
        try Self.compare(Array(Data(contentsOf: file)))
        let phone = try JetsamPhoneImport(path: file.path())
        #expect(phone.device.preset?.name == "iphone-11")
        let resident = phone.members.reduce(ByteCount.zero) { $0 + $1.footprint - $1.compressed }
        let told = phone.report.processes.reduce(0) { $0 + ($1.own?.resident ?? 0) } * phone.report.pageSize
        #expect(abs(resident.bytes - told) * 100 <= told)
    }

    @Test(
        "a real report without counts: the sums hold, and the pool within 8 %",
        .enabled(if: RealReports.files.contains { $0.lastPathComponent.contains("10.1") }, "data: no such report"))
    func realGuess() throws {
        let file = try #require(RealReports.files.first { $0.lastPathComponent.contains("10.1") })
        try Self.compare(Array(Data(contentsOf: file)), poolWithin: 8)
        let phone = try JetsamPhoneImport(path: file.path())
        #expect(phone.device.preset == nil && phone.scenario.contains("A guess: first what no process shows"))
    }

    @Test("each process has the report's resident and compressed pages; what is in no count is compressed, too")
    func shares() throws {
        var report = SyntheticReport.mixture
        // 2 MiB of a daemon are in neither count, and the report's sum has room for them.
        report.processes[1].wired = 2
        let phone = try Self.phone(report)
        for (member, process) in zip(phone.members, report.processes) {
            let resident = min(process.resident, process.footprint)
            #expect((member.footprint - member.compressed).bytes / 16_384 == report.pages(resident), "\(member.name)")
        }
        #expect(phone.unshown == .mebibytes(1_698))
        #expect(phone.scenario.contains("2.0 MiB of footprints are in no count"))
        // No room: it is wired memory, and stays in memory here.
        report.unshown = 0
        let full = try Self.phone(report)
        #expect(full.unshown == .zero && full.members[1].compressed == .mebibytes(1))
    }

    @Test("a report without counts: the sum is spread over idle and suspended processes, then over all others")
    func spread() throws {
        let report = SyntheticReport.shortage
        let phone = try Self.phone(report)
        let sum = phone.members.reduce(phone.unshown) { $0 + $1.compressed }
        #expect(abs(sum.bytes - report.compressed * 16_384) < 200 * 16_384)
        for member in phone.members.prefix(75) {
            let left = (member.footprint - member.compressed).bytes
            #expect(left * 1_000 <= member.footprint.bytes * 26 + 16_384_000, "\(member.name)")
        }
        #expect(phone.members.filter { $0.process.name.hasPrefix("workd") }.allSatisfy { $0.compressed < $0.footprint })
    }

    @Test("the product names the preset if the pages are its; any other device has the report's pages alone")
    func presets() throws {
        #expect(try Self.phone(.shortage).device.preset?.name == "iphone-11")
        #expect(try Self.phone(.mixture).scenario.contains("device: { like: iphone-14, ceiling: "))
        var other = SyntheticReport.mixture
        other.product = "iPhone12,1"
        let small = try Self.phone(other)
        #expect(small.device.preset == nil && small.scenario.contains("page: 16KiB, compressor: { keep_free: "))
        other.product = "iPhone99,1"
        #expect(try Self.phone(other).device.preset == nil)
        // Without a compressor's figures, footprints count in full and the ceiling is raised.
        other.product = "iPhone14,7"
        other.hasCompressor = false
        other.wired += 1_900
        let plain = try Self.phone(other)
        #expect(plain.device.preset?.name == "iphone-14" && plain.unshown == .zero)
        #expect(plain.scenario.contains("like: iphone-14, compressor: off"))
        #expect(try JetsamEventTests.load(plain.scenario).device.compressor == nil)
    }

    @Test("a report with next to nothing available: its state is reached under every check, and replayed")
    func nothingAvailable() throws {
        for counts in [true, false] {
            var report = SyntheticReport.mixture
            (report.free, report.fileBacked, report.hasCounts) = (0, 0, counts)
            let phone = try Self.phone(report)
            #expect(phone.scenario.contains("8.0 MiB more are available, so that there is room to make the processes"))
            _ = try Self.start(phone.scenario)
            #expect(try JetsamReplay(phone).play().ended > 0)
        }
    }

    @Test("bands that a report lacks: the list is cut where the fewest processes stand on the wrong side")
    func cut() throws {
        var report = SyntheticReport.shortage
        #expect(try JetsamReport(report.bytes, file: "r.ips").idleCount == 75)
        // An idle daemon among those that work, as iOS has them, is no reason to count the others as idle.
        report.processes[90].states = ["daemon", "idle"]
        let phone = try Self.phone(report)
        #expect(phone.report.idleCount == 75 && phone.members[80].band == 30 && phone.members[74].band == 0)
    }

    // MARK: Replays

    @Test("63 victims, most of them daemons, end in the report's order, for its reason, and nobody else before")
    func manyVictims() throws {
        let outcome = try Self.replay(.shortage)
        #expect(outcome.victims.count == 63 && outcome.ended == 63 && outcome.inOrder == 63)
        #expect(outcome.others.isEmpty, "\(outcome.others)")
        #expect(outcome.victims.allSatisfy { $0.isSame == true && !$0.isAssumed })
        #expect(outcome.victims.map { $0.end?.place } == (1...63).map { $0 })
        let last = try #require(outcome.text.split(separator: "\n").last)
        #expect(
            last == "victims 63, ended 63, in the report's order 63, for the report's reason 63 of 63 graded; others "
                + "before the last victim 0")
    }

    @Test("a process that the report spares, but that jetsam has before a victim, is named: the grade can fail")
    func survivor() throws {
        var report = SyntheticReport.shortage
        report.processes[5].reason = nil
        report.processes[40].reason = nil
        let outcome = try Self.replay(report)
        #expect(outcome.others.map(\.name) == ["idled5", "App40"])
        #expect(outcome.victims.count == 61 && outcome.inOrder == 61)
        #expect(outcome.text.contains("ended before the last victim, but not in the report: 2\n"))
    }

    @Test("victims in several bands end in the order of the report's times; assumed limits are told and not graded")
    func severalBands() throws {
        let outcome = try Self.replay(.mixture)
        let names = ["oldd", "fatd", "com.apple.WebKit.WebContent", "ageingd"] + (0..<20).map { "idled\($0)" }
        #expect(outcome.victims.map(\.name) == names && outcome.inOrder == 24 && outcome.others.isEmpty)
        #expect(outcome.victims.filter(\.isAssumed).map(\.name) == Array(names[1...3]))
        for victim in outcome.victims {
            #expect(victim.end?.reason == victim.reason, "\(victim.name)")
            #expect(victim.isSame == (victim.isAssumed ? nil : true))
        }
        #expect(outcome.text.contains("not graded"))
        #expect(outcome.assumptions.contains { $0.contains("highwater: 'ageingd'") })
        #expect(outcome.assumptions.contains { $0.contains("'fatd', 'com.apple.WebKit.WebContent'") })
        #expect(outcome.text.contains("launched after the report's moment, so not replayed: 1\n  lated (idle-exit)\n"))
    }

    // MARK: Reasons

    private typealias Grade = ReplayOutcome.ReasonGrade

    /// A grade as one line.
    private static func words(_ grade: Grade) -> String {
        let others = grade.others.map { ", \($0.count) \($0.reason)" }.joined()
        let same = grade.same.map { "\($0)" } ?? "-"
        return "\(grade.reason): \(grade.ended) of \(grade.victims), \(same) the same\(others)"
    }

    /// The phone of `shortage`, whose victims from this place on have the reason `proc-thrashing`.
    private static func thrashing(from first: Int) -> SyntheticReport {
        var report = SyntheticReport.shortage
        for place in first..<63 { report.processes[place].reason = "proc-thrashing" }
        return report
    }

    @Test("59 of 63 victims by proc-thrashing: jetsam ends by rounds, and the assumption behind it is told")
    func thrashing() throws {
        let outcome = try Self.replay(Self.thrashing(from: 4))
        #expect(outcome.ended == 63 && outcome.inOrder == 63 && outcome.others.isEmpty)
        #expect(
            outcome.grades.map(Self.words) == [
                "vm-pageshortage: 4 of 4, 0 the same, 4 proc-thrashing", "proc-thrashing: 59 of 59, 59 the same",
            ])
        #expect(outcome.counts.contains("for the report's reason 59 of 63 graded"))
        #expect(outcome.text.contains("\nvm-pageshortage  4        4      0         4 proc-thrashing\n"))
        #expect(outcome.assumptions.contains { $0.contains("most reasons are proc-thrashing") })
    }

    @Test("a few victims by proc-thrashing: nothing is assumed, and these reasons are another")
    func fewThrashing() throws {
        let report = Self.thrashing(from: 60)
        #expect(!JetsamReplay(try Self.phone(report)).scenario.contains("relaunched_after"))
        let outcome = try Self.replay(report)
        #expect(
            outcome.grades.map(Self.words) == [
                "vm-pageshortage: 60 of 60, 60 the same", "proc-thrashing: 3 of 3, 0 the same, 3 vm-pageshortage",
            ])
        #expect(!outcome.assumptions.contains { $0.contains("proc-thrashing") })
    }

    @Test("reasons whose limits are assumed have no grade, and those of several bands each have their own")
    func grades() throws {
        let outcome = try Self.replay(.mixture)
        #expect(
            outcome.grades.map(Self.words) == [
                "long-idle-exit: 1 of 1, 1 the same", "per-process-limit: 2 of 2, - the same",
                "highwater: 1 of 1, - the same", "idle-exit: 20 of 20, 20 the same",
            ])
        #expect(outcome.text.contains("\nhighwater          1        1      not graded\n"))
    }

    @Test("the words of old systems stand for today's causes, and other words for themselves")
    func oldWords() {
        for cause in KillCause.allCases { #expect(KillCause.causes(named: cause.rawValue) == [cause]) }
        let rows = [
            ("vm-thrashing", "proc-thrashing", true), ("vm-thrashing", "vm-compressor-thrashing", true),
            ("vm-thrashing", "vm-pageshortage", false), ("proc-thrashing", "vm-compressor-thrashing", false),
            ("diagnostic", "disk-space-shortage", false), ("a-new-reason", "a-new-reason", true),
        ]
        for (word, reason, isSame) in rows {
            #expect(KillCause.word(word, standsFor: reason) == isSame, "\(word), \(reason)")
        }
    }

    @Test("a replay's memory is managed by the report's kernel, a state's by Plimsoll's own rules, neither has files")
    func kernel() throws {
        for (report, kernel) in [(SyntheticReport.shortage, "8792"), (SyntheticReport.mixture, "11417")] {
            let phone = try Self.phone(report)
            let replay = JetsamReplay(phone).scenario
            let devices = try [replay, phone.scenario].map { try JetsamEventTests.load($0).device }
            #expect(devices.map { $0.kernel?.rawValue } == [kernel, nil] && !replay.contains("keep_free"))
            #expect(devices.allSatisfy { $0.freezer == nil && $0.fileCache == nil && $0.systemPageable == .zero })
        }
        var plain = SyntheticReport.mixture
        plain.hasCompressor = false
        #expect(try JetsamEventTests.load(JetsamReplay(Self.phone(plain)).scenario).device.kernel == nil)
    }

    // MARK: Other replays

    @Test("in another order of the report they end in another order")
    func reversed() throws {
        var report = SyntheticReport.shortage
        report.processes.replaceSubrange(0..<75, with: report.processes[0..<63].reversed() + report.processes[63..<75])
        let outcome = try Self.replay(report)
        #expect(outcome.victims.first?.name == "idled62" && outcome.victims.first?.end?.place == 1)
        #expect(outcome.inOrder == 63 && outcome.others.isEmpty)
    }

    @Test("without victims, without an app in front, with reasons that nobody knows: a replay all the same")
    func oddities() throws {
        var report = SyntheticReport.shortage
        for place in report.processes.indices { report.processes[place].reason = nil }
        let none = try Self.replay(report)
        #expect(none.victims.isEmpty && none.text.contains("The report names no process that jetsam ended."))
        #expect(none.counts.hasPrefix("victims 0, ended 0"))
        report.processes[0].reason = "a-new-reason"
        report.processes[1].reason = "vm-compressor-space-shortage"
        report.processes.removeAll { $0.states == ["frontmost"] }
        let odd = try Self.replay(report)
        #expect(odd.ended == 2 && odd.others.isEmpty && odd.victims.map(\.isSame) == [false, false])
        #expect(odd.phone.front == nil)
    }

    @Test("the app in front ends by the limit that its reason shows")
    func frontVictim() throws {
        var report = SyntheticReport.mixture
        for place in report.processes.indices { report.processes[place].reason = nil }
        let place = try #require(report.processes.firstIndex { $0.name == "Game" })
        report.processes[place].reason = "per-process-limit"
        let outcome = try Self.replay(report)
        #expect(outcome.victims.map { $0.end?.reason } == ["per-process-limit"] && outcome.others.isEmpty)
    }

    @Test("a replay is the same every time, and the scenario that it writes is the one that it plays")
    func again() throws {
        let replay = JetsamReplay(try Self.phone(.mixture))
        let (first, second) = (try replay.play(), try replay.play())
        #expect(first.text == second.text && first.victims == second.victims)
        let plan = try JetsamEventTests.load(replay.scenario)
        #expect(plan.apps.contains { $0.name == "memory demand" } && plan.limits.protectForeground == false)
        #expect(throws: JetsamReplay.Interrupted.self) { try replay.play(isInterrupted: { true }) }
    }

    @Test(
        "real reports: every victim ends, and nobody else before the last",
        .enabled(if: !RealReports.files.isEmpty, "data: the shared reports are not beside the checkout"),
        arguments: RealReports.files)
    func real(file: URL) throws {
        let outcome = try JetsamReplay(JetsamPhoneImport(path: file.path())).play()
        #expect(!outcome.victims.isEmpty && outcome.ended == outcome.victims.count)
        #expect(outcome.others.isEmpty && outcome.inOrder == outcome.victims.count)
    }

    @Test("whatever the bytes are: a replay's scenario that is valid, or one line", arguments: 0..<4 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        let report = seed < 2 ? SyntheticReport.shortage : SyntheticReport.mixture
        var random = SeededGenerator(seed: seed, stream: "mutations")
        let (read, refused) = try Mutations.tally(of: report.bytes, count: 40, &random) { bytes throws(ScenarioFault) in
            JetsamReplay(try JetsamPhoneImport(bytes, file: "r.ips")).scenario
        }
        #expect(read + refused == 40 && refused > 5)
    }
}
