import Foundation
import Lifecycle
import Memory
import Metrics
import Plan
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

    /// The screen after a sample at `seconds`, with a run that stands still.
    private func paused(at seconds: Double, _ columns: Int, _ rows: Int) -> [String] {
        var still = screen(columns, rows, apps: 3)
        still.isPaused = true
        var glance = still.glance
        glance.now = Instant(microseconds: Int64(seconds * 1_000_000))
        return LiveScreen(
            plan: still.plan, glance: glance, log: still.log, speed: "paused", size: still.size, usesColour: false,
            usesBlocks: true, isPaused: true
        ).lines
    }

    @Test(
        "every step is seen: the clock of a run that stands still has tenths",
        arguments: [(30, 8), (80, 24), (200, 50)])
    func stepping(size: (Int, Int)) {
        let titles = [90.0, 90.5, 91].map { paused(at: $0, size.0, size.1)[0] }
        #expect(titles[0].contains("1:30.0 of 30:00") && titles[1].contains("1:30.5") && titles[2].contains("1:31.0"))
        #expect(screen(size.0, size.1, apps: 3).lines[0].contains("1:30 of 30:00"))
        let keys = paused(at: 90, size.0, size.1)[size.1 - 1]
        #expect(keys.hasPrefix("space continue  s step") && keys.contains("q"))
        for line in paused(at: 90, size.0, size.1) { #expect(LiveScreen.columns(of: line) <= size.0) }
    }

    @Test("the clock has as many decimals as tell two samples apart")
    func decimals() {
        let spans = [(1_000_000, 1), (500_000, 1), (100_000, 1), (250_000, 2), (50_000, 2), (1_000, 3), (1, 3)]
        for (microseconds, digits) in spans {
            #expect(LiveScreen.decimals(of: TimeSpan(microseconds: Int64(microseconds))) == digits)
        }
    }

    @Test("a legend says what the signs of the bar mean, as far as there is room")
    func legend() {
        let wide = screen(200, 50, apps: 3).lines[2]
        #expect(wide.contains("▒ system  █ apps  · free  W warning  C critical  ] ceiling 1.0 GiB"))
        #expect(screen(80, 24, apps: 3).lines[2].contains("▒ system  █ apps  · free  W warning  C critical"))
        #expect(Array(screen(30, 8, apps: 3).lines[2]).contains("W"))
        var plain = screen(80, 24, apps: 3)
        plain = LiveScreen(
            plan: plain.plan, glance: plain.glance, log: [], speed: "10x", size: plain.size, usesColour: false,
            usesBlocks: false)
        #expect(plain.lines[2].contains("= system  # apps  . free"))
    }

    @Test("on a device with a compressor the pool has a sign of its own, and bars tell resident and compressed apart")
    func compressed() {
        var device = Device(ceiling: .mebibytes(1_000), reserved: .mebibytes(200))
        device.compressor = CompressorSettings()
        let plan = RunPlan(
            name: "compressed", seed: 1, duration: .minutes(30), device: device, monitor: .ios,
            policy: PolicySettings(name: "jetsam"), limits: Limits(), apps: [], user: [])
        let app = ProcessGlance(
            app: "mail", pid: ProcessID(1), phase: .suspended, band: 0, footprint: .mebibytes(800),
            compressed: .mebibytes(600), age: .seconds(90), idle: .seconds(60))
        let glance = RunGlance(
            now: .zero, ceiling: device.ceiling, resident: .mebibytes(700), reserved: device.reserved,
            available: .mebibytes(300), compressed: .mebibytes(600), pool: .mebibytes(300), level: .normal,
            processes: [app])
        func lines(blocks: Bool) -> [String] {
            LiveScreen(
                plan: plan, glance: glance, log: [], speed: "10x", size: ScreenSize(columns: 102, rows: 24),
                usesColour: false, usesBlocks: blocks
            ).lines
        }
        let (blocks, signs) = (lines(blocks: true), lines(blocks: false))
        func bar(_ parts: (String, Int)...) -> String { parts.map { String(repeating: $0, count: $1) }.joined() }
        #expect(blocks[1] == "[" + bar(("▒", 20), ("▓", 30), ("█", 20), ("·", 30)) + "]")
        #expect(signs[1] == "[" + bar(("=", 20), ("%", 30), ("#", 20), (".", 30)) + "]")
        #expect(blocks[2].contains("▒ system  ▓ compressor  █ apps  · free"))
        #expect(blocks[3].contains("300.0 MiB (30.0%) free  600.0 MiB compressed"))
        let (resident, compressed) = (blocks[6].count { $0 == "▪" }, blocks[6].count { $0 == "▫" })
        #expect(resident * 3 == compressed && resident >= 5, "\(blocks[6])")
        #expect(signs[6].count { $0 == "-" } == compressed)
        #expect(blocks[5].hasSuffix("▪ RAM ▫ compressed") && signs[5].hasSuffix("# RAM - compressed"))
    }

    @Test("the wall time that is left stands beside the speed, where there is room")
    func timeLeft() {
        var screen = screen(100, 24, apps: 3)
        screen.left = .seconds(171)
        #expect(screen.lines[0].hasSuffix("1:30 of 30:00  10x, 2:51 to go"))
        var narrow = self.screen(40, 24, apps: 3)
        narrow.left = .seconds(171)
        #expect(narrow.lines[0].hasSuffix("1:30 of 30:00  10x"))
    }

    @Test("a line says how many cores were busy, how much work waited, and whether the user waited for it")
    func cores() {
        func line(_ cores: CoreGlance, columns: Int = 80, colour: Bool = false) -> String {
            let screen = screen(columns, 24, apps: 3)
            var glance = screen.glance
            glance.cores = cores
            return LiveScreen(
                plan: screen.plan, glance: glance, log: [], speed: "10x", size: screen.size, usesColour: colour,
                usesBlocks: true
            ).lines[4].trimmingCharacters(in: .whitespaces)
        }
        #expect(line(CoreGlance(count: 1)) == "0.0 of 1 core busy  no work waits")
        let unseen = CoreGlance(count: 4, working: .percent(250), waiting: .percent(1))
        #expect(line(unseen) == "2.5 of 4 cores busy  0.1 pieces of work wait")
        let urgent = CoreGlance(count: 2, working: .percent(200), waiting: .percent(600), waitingOnScreen: .percent(90))
        #expect(line(urgent) == "2.0 of 2 cores busy  6.0 pieces of work wait, 0.9 of them on screen")
        #expect(LiveScreen.columns(of: line(urgent, columns: 30)) <= 30)
        #expect(line(urgent, colour: true).hasPrefix("\u{1B}[") && !line(unseen, colour: true).contains("\u{1B}"))
    }

    @Test("at eighty columns the figures are whole, and actions have words")
    func narrow() {
        let figures = screen(80, 24, apps: 3).lines[3]
        #expect(figures.hasSuffix("12 launched  3 warned  1 ended"), "\(figures)")
        let event = RunEvent(
            at: Instant(microseconds: 5_000_000), kind: .action, app: "mail", detail: "disconnect_scene",
            reason: "its scene is off screen")
        #expect(LiveScreen.line(for: event) == "0:05  disconnected a scene of mail: its scene is off screen")
        for action in ReclaimAction.Kind.allCases {
            let event = RunEvent(at: .zero, kind: .action, app: "mail", detail: action.rawValue, reason: nil)
            #expect(LiveScreen.line(for: event).contains("mail"), "\(action)")
        }
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
        #expect(lines[6].hasPrefix("app39 ") && lines[7].hasPrefix("app38 "))
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
        #expect(watched.error.hasPrefix("quickstart: policy ladder, seed 1, 1:00 of virtual time\n"))
        #expect(watched.error.contains(" MiB available, critical until "))
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
