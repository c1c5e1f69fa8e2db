import Foundation
import Quantities
import Scenario
import Testing

@testable import Interchange

/// OOM reports in the folder of shared data beside the checkout, if it is there.
private enum RealDumps {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    static let folder = root.deletingLastPathComponent().appending(path: "shared/data/oom")

    /// Lines of the index: the file, the rule's victim, and the printed score if it can be compared.
    static let rows: [(file: String, pid: Int, score: Int?)] = {
        guard let text = try? String(contentsOf: folder.appending(path: "index.csv"), encoding: .utf8) else {
            return []
        }
        let lines = text.split(whereSeparator: \.isNewline).map { fields(of: String($0)) }
        guard let head = lines.first, let pid = head.firstIndex(of: "predicted_pid"),
            let scores = head.firstIndex(of: "score_ours_vs_printed")
        else { return [] }
        return lines.dropFirst().compactMap { row in
            guard row.count == head.count, let number = Int(row[pid]) else { return nil }
            let pair = row[scores].split(separator: "/").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
            return (row[0], number, pair.count == 2 && pair[0] == pair[1] ? pair[1] : nil)
        }
    }()

    private static func fields(of line: String) -> [String] {
        var fields = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "\"": isQuoted.toggle()
            case "," where !isQuoted: fields.append("")
            default: fields[fields.count - 1].append(character)
            }
        }
        return fields
    }
}

@Suite("a kernel's OOM reports")
struct KernelLogTests {
    private func verdict(_ text: String) throws -> KernelVerdict {
        KernelVerdict(try KernelLog(Array(text.utf8), file: "kern.log").report())
    }

    @Test("every layout of the table gives the victim of the report, and its printed score")
    func layouts() throws {
        let expected: [(String, Int, Int, Int?)] = [
            (KernelFixtures.oldest, 40, 700, 700), (KernelFixtures.group, 301, 8_040, 804),
            (KernelFixtures.middle, 701, 20_563, 803), (KernelFixtures.narrow, 811, 35_100, 585),
            (KernelFixtures.wide, 950, 24_100, nil), (KernelFixtures.newest, 70, 4_520, nil),
        ]
        for (text, pid, points, score) in expected {
            let verdict = try verdict(text)
            #expect(verdict.predicted?.pid == pid)
            #expect(verdict.predicted.flatMap(verdict.points(of:)) == points)
            #expect(verdict.agrees == true)
            #expect(verdict.report.chosen?.score == score)
            #expect(score == nil || verdict.printedScore == score)
        }
    }

    @Test("names with blanks, brackets or a leading digit are kept, and other lines are no rows")
    func names() throws {
        #expect(try verdict(KernelFixtures.narrow).report.tasks.map(\.name) == ["sshd", "db", "0anacron"])
        let wide = try verdict(KernelFixtures.wide).report
        #expect(wide.tasks.map(\.name) == ["systemd-udevd", "(sd-pam)", "Web Content"])
        #expect(wide.request?.name == "Web Content")
        #expect(wide.killed.map(\.name) == ["Web Content"])
    }

    @Test("the machine's memory is read, and the total is RAM and swap or the group's limit")
    func memory() throws {
        let wide = try verdict(KernelFixtures.wide)
        #expect(wide.total == 80_000)
        #expect(wide.report.memory.free == 1_500)
        #expect(wide.report.memory.hugeKiB == 16_384)
        #expect(wide.report.memory.zones.map(\.freeKiB) == [6_000])
        #expect(try verdict(KernelFixtures.group).total == 10_000)
        #expect(try verdict(KernelFixtures.newest).report.group.statistics["file"] == 26_000_000)
    }

    @Test("a size that cannot be is not known")
    func negative() throws {
        let text = KernelFixtures.narrow.replacing("Total swap = 40000kB", with: "Total swap = -5kB")
        let report = try verdict(text).report
        #expect(report.memory.swapTotalKiB == nil && report.memory.ram == 51_200)
    }

    @Test("a file of several reports gives each, whatever stands between them, and the last by itself")
    func several() throws {
        let text = KernelFixtures.all.joined(separator: "\nusb 1-1: new device\n")
        let log = KernelLog(Array(text.utf8), file: "kern.log")
        #expect(log.reports.map { $0.chosen?.pid } == [40, 301, 701, 811, 950, 70])
        #expect(try log.report().chosen?.pid == 70)
        #expect(try log.report(2).chosen?.pid == 301)
        #expect(throws: ScenarioFault.self) { try log.report(7) }
    }

    @Test("a report without a table says so, and one without its header is read by its columns")
    func cut() throws {
        let bare = KernelFixtures.narrow.split(separator: "\n").filter {
            !$0.contains("kernel: [  8") && !$0.contains("pid ]")
        }
        let answer = try WhyReport(Array(bare.joined(separator: "\n").utf8), file: "k")
        #expect(answer.text().contains("no table"))
        let headless = KernelFixtures.middle.split(separator: "\n").filter { !$0.contains("nr_ptes") }
        #expect(try verdict(headless.joined(separator: "\n")).predicted?.pid == 701)
    }

    @Test("a panic, a request of SysRq, and a killed thread are told")
    func variants() throws {
        let panic = KernelFixtures.wide.replacing(
            "oom-kill:", with: "Kernel panic - not syncing: Out of memory: system-wide panic_on_oom is enabled\r\n#")
        #expect(try WhyReport(Array(panic.utf8), file: "k", number: 1).text().contains("vm.panic_on_oom"))
        let asked = KernelFixtures.wide.replacing("order=0", with: "order=-1")
        #expect(try WhyReport(Array(asked.utf8), file: "k").text().contains("SysRq-f"))
        let thread = KernelFixtures.middle.replacing("Kill process 701 ", with: "Kill process 799 ")
        #expect(try verdict(thread).agrees == true)
    }

    @Test("equals die by the order of the release")
    func ties() throws {
        #expect(try verdict(KernelFixtures.wide).predicted?.pid == 950)
        let old = KernelFixtures.wide.replacing("5.15.0-91-generic", with: "4.19.0-18-amd64")
        #expect(try verdict(old).predicted?.pid == 940)
    }

    @Test("the adj that saves a victim saves it, and one more does not")
    func saving() throws {
        let verdict = try verdict(KernelFixtures.narrow)
        let victim = try #require(verdict.predicted)
        let saving = try #require(verdict.saving(victim))
        func choice(_ adjustment: Int) throws -> Int? {
            let text = KernelFixtures.narrow.replacing("5000             0 db", with: "5000 \(adjustment) db")
            return try self.verdict(text).predicted?.pid
        }
        #expect(try choice(saving.adjustment) == saving.next.pid)
        #expect(try choice(saving.adjustment + 1) == victim.pid)
    }

    @Test("an answer has at most fifteen lines, and names the constraint")
    func lines() throws {
        for text in KernelFixtures.all {
            let answer = try WhyReport(Array(text.utf8), file: "k").text()
            #expect(answer.split(separator: "\n").count <= WhyReport.mostLines)
        }
        #expect(try WhyReport(Array(KernelFixtures.group.utf8), file: "k").text().contains("/jobs"))
        #expect(throws: ScenarioFault.self) { try WhyReport(Array("nothing\n".utf8), file: "k") }
        #expect(throws: ScenarioFault.self) { try WhyReport(Array(KernelFixtures.wide.utf8), file: "k", app: "nobody") }
    }

    @Test("two thousand broken logs give an answer or one line")
    func broken() throws {
        var random = SeededGenerator(seed: 51, stream: "kernel-oom")
        for _ in 0..<2_000 {
            let text = KernelFixtures.all[random.number(in: 0...KernelFixtures.all.count - 1)]
            let bytes = Mutations.mutated(Array(text.utf8), &random)
            do {
                let log = KernelLog(bytes, file: "k")
                #expect(try WhyReport(bytes, file: "k").text().split(separator: "\n").count <= WhyReport.mostLines)
                _ = try KernelOOMImport(log, file: "k").scenario
            } catch {
                #expect("\(error)".contains(": error: ") && !"\(error)".contains("\n"))
            }
        }
    }

    @Test("a table of ten thousand processes is read")
    func large() throws {
        var lines = KernelFixtures.wide.split(separator: "\r\n").map(String.init)
        let rows = (1...10_000).map { "[\($0 + 1_000)] 1000 \($0 + 1_000) 900 \(100 + $0 % 7) 8192 0 0 p\($0)" }
        let place = try #require(lines.firstIndex { $0.contains("systemd-udevd") })
        lines.insert(contentsOf: rows, at: place)
        let verdict = try verdict(lines.joined(separator: "\n"))
        #expect(verdict.report.tasks.count == 10_003)
        #expect(verdict.predicted?.pid == 950)
    }

    @Test(
        "the rule's victim and the printed scores of real reports",
        .enabled(if: !RealDumps.rows.isEmpty, "data: the shared reports are not beside the checkout"))
    func real() throws {
        for row in RealDumps.rows {
            let log = try KernelLog(path: RealDumps.folder.appending(path: row.file).path(percentEncoded: false))
            let verdict = KernelVerdict(try log.report())
            #expect(log.reports.count == 1)
            #expect(verdict.predicted?.pid == row.pid, "\(row.file)")
            #expect(verdict.agrees == true, "\(row.file)")
            if let score = row.score { #expect(verdict.printedScore == score, "\(row.file)") }
            #expect(try !KernelOOMImport(log, file: row.file).members.isEmpty)
        }
    }

    // MARK: The replay

    private func replay(_ log: KernelLog, _ file: String) throws -> KernelReplayOutcome {
        try KernelReplay(KernelOOMImport(log, file: file)).play()
    }

    @Test("a replay ends the victim of the report, with its points", arguments: KernelFixtures.all.indices)
    func replayed(index: Int) throws {
        let outcome = try replay(KernelLog(Array(KernelFixtures.all[index].utf8), file: "k"), "k")
        let ended = try #require(outcome.ended)
        #expect(outcome.isSame == true && ended.after < .seconds(10), "\(outcome.text)")
        // The requester has grown meanwhile, and pages of small objects are not quite full.
        let reported = try #require(ended.candidate.reported)
        #expect(abs(ended.candidate.points - reported) <= max(8, reported / 50), "\(outcome.text)")
    }

    @Test(
        "a replay of real reports ends the rule's victim, and the page has the table",
        .enabled(if: !RealDumps.rows.isEmpty, "data: the shared reports are not beside the checkout"))
    func replayedReal() throws {
        let table = try WhyTable(
            paths: RealDumps.rows.map { RealDumps.folder.appending(path: $0.file).path(percentEncoded: false) })
        var rows: [String] = []
        try table.rows { rows.append($0) }
        #expect(rows.count == RealDumps.rows.count && table.count == rows.count)
        for row in rows { #expect(row.contains("| the same: "), "\(row)") }
        let page = RealDumps.root.appending(path: "Sources/plimsoll/plimsoll.docc/WhyMine.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- KernelLogTests writes from here -->\n")).upperBound
        let end = try #require(text.range(of: "<!-- to here -->")).lowerBound
        let made = WhyTable.head + "\n" + rows.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["PLIMSOLL_RECORD"] == "1" {
            try text.replacingCharacters(in: begin..<end, with: made).write(to: page, atomically: true, encoding: .utf8)
        } else {
            #expect(text[begin..<end] == made)
        }
    }
}
