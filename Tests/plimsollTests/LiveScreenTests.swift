import Foundation
import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

@testable import plimsoll

@Suite("the live view")
struct LiveScreenTests {
    private let plan = RunPlan(
        name: "a scenario with quite a long name, longer than most", seed: 1, duration: .minutes(30),
        device: Device(ceiling: .mebibytes(1024), reserved: .mebibytes(160)), monitor: .ios,
        policy: PolicySettings(name: "ladder"), limits: Limits(), apps: [], user: [])

    private func screen(
        _ columns: Int, _ rows: Int, apps: Int, level: PressureLevel = .normal, colour: Bool = false
    ) -> LiveScreen {
        let processes = (0..<apps).map { index in
            ProcessGlance(
                app: index == 1 ? "\u{1B}[2Jevil\n地図" : "app\(index)", pid: ProcessID(index + 1), phase: .suspended,
                band: 0, footprint: .mebibytes(10 + index), age: .seconds(90), idle: .seconds(60))
        }
        let glance = RunGlance(
            now: Instant(microseconds: 90_000_000), ceiling: plan.device.ceiling, resident: .mebibytes(900),
            reserved: plan.device.reserved, available: .mebibytes(124), level: level, launches: 12, warnings: 3,
            terminations: 1, processes: processes)
        let log = (0..<30).map {
            RunEvent(
                at: Instant(microseconds: Int64($0) * 1_000_000), kind: .exit, app: "app\($0)",
                detail: "memoryPressure", reason: String(repeating: "a long reason ", count: 20))
        }
        return LiveScreen(
            plan: plan, glance: glance, log: log, speed: "10x", size: ScreenSize(columns: columns, rows: rows),
            usesColour: colour, usesBlocks: true)
    }

    @Test(
        "it has as many lines as the screen has rows, and none is wider",
        arguments: [(80, 24), (200, 50), (40, 12), (20, 8), (10, 3)], [0, 3, 200])
    func fits(size: (Int, Int), apps: Int) {
        let lines = screen(size.0, size.1, apps: apps).lines
        #expect(lines.count == size.1)
        for line in lines { #expect(LiveScreen.columns(of: line) <= size.0, "\(line)") }
    }

    @Test("a dry run is called one")
    func dryRun() {
        var dry = screen(80, 24, apps: 3)
        #expect(!dry.lines[0].contains("dry run"))
        dry.isDryRun = true
        #expect(dry.lines[0].contains("dry run of "), "\(dry.lines[0])")
    }

    @Test("apps come by footprint, and those without room are counted")
    func order() {
        let lines = screen(80, 24, apps: 40).lines
        #expect(lines[5].hasPrefix("app39 ") && lines[6].hasPrefix("app38 "))
        #expect(lines.contains { $0.contains("more hold") })
    }

    @Test("state, band, footprint, age and idle time of an app are shown, and the last event with its reason")
    func facts() {
        let text = screen(120, 24, apps: 1).lines.joined(separator: "\n")
        for wanted in ["suspended", "10.0 MiB", "1:30", "1:00", "ended app29 (memoryPressure): a long reason"] {
            #expect(text.contains(wanted), "\(wanted)")
        }
    }

    @Test("a name cannot steer the terminal")
    func hostileNames() {
        let text = screen(80, 24, apps: 2).lines.joined()
        #expect(!text.unicodeScalars.contains { $0.value < 32 })
        #expect(text.contains("?[2Jevil?地図"))
    }

    @Test("colours come only when they are wanted, and do not change the text")
    func colours() {
        let plain = screen(80, 24, apps: 3, level: .critical).lines
        let painted = screen(80, 24, apps: 3, level: .critical, colour: true).lines
        #expect(painted.joined().contains("\u{1B}[31mCRITICAL"))
        let stripped = painted.map { $0.replacing(/\u{1B}\[[0-9]*m/, with: "") }
        #expect(stripped == plain)
    }

    @Test("the thresholds stand where the bar reaches them")
    func marks() {
        let lines = screen(102, 24, apps: 0).lines
        // The bar has a hundred columns: the warning is at 15 % available, critical at 5 %.
        let marks = Array(lines[2])
        #expect(marks[86] == "W" && marks[96] == "C")
        #expect(lines[1].filter { $0 == "█" || $0 == "▒" }.count == 87)
    }

    @Test("without a terminal it says plain lines, and the CSV is the same")
    func plainLines() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let scenario = Program.scenario("quickstart")
        let watched = try Program.run(["run", scenario, "--live", "--out", "a", "--trace", "t.json"], in: folder)
        #expect(watched.status == 0)
        #expect(watched.error.contains("pressure warning:") && !watched.error.contains("\u{1B}"))
        #expect(try Program.run(["run", scenario, "--quiet", "--out", "b"], in: folder).status == 0)
        for table in RunTables.all {
            let one = try Data(contentsOf: folder.appending(path: "a/\(table.file)"))
            let other = try Data(contentsOf: folder.appending(path: "b/\(table.file)"))
            #expect(one == other, "\(table.file)")
        }
        let trace = try Data(contentsOf: folder.appending(path: "t.json"))
        #expect(try JSONSerialization.jsonObject(with: trace) is [String: Any])
    }

    @Test("a trace that cannot be written is refused before the run")
    func traceRefused() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments = ["run", Program.scenario("quickstart"), "--quiet", "--out", "a", "--trace"]
        #expect(try Program.run(arguments + ["no/such/folder/t.json"], in: folder).status == 73)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "a").path()))
    }

    @Test("a trace may lie in the run's own folder, but not on one of its files")
    func traceInside() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments = ["run", Program.scenario("quickstart"), "--quiet", "--out", "a", "--trace"]
        #expect(try Program.run(arguments + ["a/samples.csv"], in: folder).status == 73)
        #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "a").path()))
        #expect(try Program.run(arguments + ["./a/trace.json"], in: folder).status == 0)
        #expect(FileManager.default.fileExists(atPath: folder.appending(path: "a/trace.json").path()))
    }
}
