import Foundation
import Lifecycle
import Metrics
import Plan
import Quantities
import Scenario
import Simulation
import Testing

@testable import RunFolders

@Suite("what continuous integration reads")
struct CheckReportTests {
    private let report = CheckReport(
        "evening",
        [
            .init("music survives", file: "a, b.yaml", line: 7, .passed, "observed 1"),
            .init("launch_latency_p95_ms < 900", file: "a, b.yaml", line: 8, .failed, "observed 1 200 & 3 %"),
            .init("\"mail\" survives\non", file: nil, .undecided, "60 to 98 %"),
            .init("the scenario is valid", file: "a, b.yaml", line: 2, .faulty, "unknown key 'nam'"),
        ])

    @Test("JUnit XML has a suite with a case for each claim, and every sign of a name comes through")
    func junit() {
        #expect(
            report.junit == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites name="plimsoll" tests="4" failures="1" errors="1" skipped="1">
                  <testsuite name="evening" tests="4" failures="1" errors="1" skipped="1">
                    <testcase name="music survives" classname="evening" file="a, b.yaml" line="7">
                      <system-out>observed 1</system-out>
                    </testcase>
                    <testcase name="launch_latency_p95_ms &lt; 900" classname="evening" file="a, b.yaml" line="8">
                      <failure message="observed 1 200 &amp; 3 %"/>
                    </testcase>
                    <testcase name="&quot;mail&quot; survives\\non" classname="evening">
                      <skipped message="60 to 98 %"/>
                    </testcase>
                    <testcase name="the scenario is valid" classname="evening" file="a, b.yaml" line="2">
                      <error message="unknown key 'nam'"/>
                    </testcase>
                  </testsuite>
                </testsuites>

                """)
        #expect(report.hasFailed)
    }

    @Test("GitHub gets an error for what failed and a warning for what is undecided, with place and title")
    func annotations() {
        #expect(
            report.annotations == [
                "::error file=a%2C b.yaml,line=8,title=evening::launch_latency_p95_ms < 900: observed 1 200 & 3 %25",
                #"::warning title=evening::"mail" survives\non: 60 to 98 %25"#,
                "::error file=a%2C b.yaml,line=2,title=evening::the scenario is valid: unknown key 'nam'",
            ])
    }

    @Test("a report without a failed case fails nothing, and annotates nothing")
    func passed() {
        let passed = CheckReport("evening", [.init("music survives", file: nil, .passed, "observed 1")])
        #expect(!passed.hasFailed && passed.annotations.isEmpty)
        #expect(passed.junit.contains("tests=\"1\" failures=\"0\""))
    }

    @Test("an earlier report is replaced; no other file, no scenario and no folder is")
    func files() throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(path: name).path() }
        try report.write(to: path("junit.xml"), keeping: [], besides: nil)
        try CheckReport("other", []).write(to: path("junit.xml"), keeping: [], besides: nil)
        #expect(try Program.text(folder.appending(path: "junit.xml")).contains("name=\"other\""))
        for name in ["mine.xml", "scenario.yaml"] { try Data("mine".utf8).write(to: URL(filePath: path(name))) }
        for name in ["mine.xml", "scenario.yaml", "none/junit.xml", ""] {
            #expect(throws: Failure.self, "\(name)") {
                try report.write(to: path(name), keeping: [path("scenario.yaml")], besides: path("run"))
            }
        }
        for name in ["mine.xml", "scenario.yaml"] {
            #expect(try Program.text(folder.appending(path: name)) == "mine")
        }
        // The folder that the command makes may not exist yet.
        try CheckReport.check(path("run/junit.xml"), keeping: [path("scenario.yaml")], besides: path("run"))
    }
}

@Suite("commands as checks", .serialized)
struct CheckCommandTests {
    /// The tiny scenario with a claim that fails and one that holds, in its last lines.
    private func within(_ body: (URL) throws -> Void) throws {
        try Experiments.within { folder in
            let text = Experiments.tiny + "\nexpect:\n  - a.terminations == 9\n  - warnings >= 0\n"
            try Data(text.utf8).write(to: folder.appending(path: "claims.yaml"))
            try body(folder)
        }
    }

    @Test("a run names the line of a claim that failed: in its summary, to GitHub and in the XML")
    func run() throws {
        try within { folder in
            let line = Experiments.tiny.split(separator: "\n", omittingEmptySubsequences: false).count + 2
            let words = ["run", "claims.yaml", "--out", "r", "--junit", "r/junit.xml", "--github"]
            let result = try Program.run(words, in: folder)
            #expect(result.status == 99)
            #expect(result.out.contains("✗ a.terminations == 9 (observed 1), claims.yaml:\(line)\n"), "\(result.out)")
            #expect(result.out.contains("✓ warnings >= 0\n"))
            let annotation = "::error file=claims.yaml,line=\(line),title=tiny::a.terminations == 9: observed 1\n"
            #expect(result.error.contains(annotation), "\(result.error)")
            let xml = try Program.text(folder.appending(path: "r/junit.xml"))
            #expect(xml.contains("file=\"claims.yaml\" line=\"\(line)\"") && xml.contains("failures=\"1\""))
            #expect(!xml.contains(" time="), "the same run has the same bytes")
            let taken = try Program.run(["run", "tiny.yaml", "--out", "s", "--junit", "tiny.yaml"], in: folder)
            #expect(taken.status == 73 && taken.error.contains("would be overwritten"), "\(taken.error)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "s").path()))
        }
    }

    @Test("input that cannot be run is an error in the XML and for GitHub, in place of what an earlier run found")
    func faulty() throws {
        try within { folder in
            func check(_ file: String, _ more: String...) throws -> (said: String, xml: String) {
                let words = ["run", file, "--dry-run", "--junit", "junit.xml", "--github"] + more
                let result = try Program.run(words, in: folder)
                return (result.error, try Program.text(folder.appending(path: "junit.xml")))
            }
            #expect(try check("tiny.yaml").xml.contains("errors=\"0\""))
            let text = try Program.text(folder.appending(path: "tiny.yaml")).replacing("\nname:", with: "\nnam:")
            try Data(text.utf8).write(to: folder.appending(path: "bad.yaml"))
            let bad = try check("bad.yaml")
            #expect(bad.said.contains("::error file=bad.yaml,line=") && bad.said.contains("title=run::"), "\(bad.said)")
            #expect(bad.xml.contains("name=\"the scenario is valid\"") && bad.xml.contains("<error "), "\(bad.xml)")
            let none = try check("none.yaml")
            #expect(none.xml.contains("name=\"the scenario can be read\""), "\(none.xml)")
            let taken = try check("tiny.yaml", "--out", "tiny.yaml")
            #expect(taken.xml.contains("name=\"the command ends well\""), "\(taken.xml)")
        }
    }

    @Test("the app of a claim that failed is the one to ask about")
    func asked() throws {
        try within { folder in
            let ends = "[terminations >= 9, b survives]"
            let result = try Program.run(
                ["run", "tiny.yaml", "--out", "r", "--policy", "none", "--set", "device.ceiling=64MiB"]
                    + ["--set", "expect=\(ends)"], in: folder)
            let rows = try Experiments.rows(folder.appending(path: "r/terminations.csv"))
            try #require(Set(rows.compactMap { $0["app"] }).contains("b"), "\(rows)")
            #expect(result.out.contains("explain r --app b\n"), "\(result.out)")
        }
    }

    @Test("a victim has a line with the time, the cause and what the user lost")
    func victims() throws {
        try within { folder in
            let result = try Program.run(["run", "tiny.yaml", "--out", "r"], in: folder)
            let rows = try Experiments.rows(folder.appending(path: "r/terminations.csv"))
            #expect(!rows.isEmpty && rows.count <= 8)
            for row in rows {
                let second = Int(Double(row["time_s"] ?? "") ?? -1)
                let clock = String(format: "%d:%02d", second / 60, second % 60)
                #expect(result.out.contains("\n                \(clock) \(row["app"] ?? ""): "), "\(result.out)")
            }
        }
    }

    @Test("a comparison fails if a policy is shown to be worse, and passes the other way round")
    func compare() throws {
        try within { folder in
            let options = ["--seeds", "1..2", "--metric", "terminations", "--quiet", "--github"]
            func compare(_ first: String, _ second: String, _ name: String) throws -> Program.Result {
                try Program.run(
                    ["compare", "tiny.yaml", "--policy", first, "--policy", second, "--out", name]
                        + ["--junit", "\(name).xml"] + options, in: folder)
            }
            let (there, back) = (try compare("unbounded", "lru", "there"), try compare("lru", "unbounded", "back"))
            #expect(there.status == 99 && there.error.contains("::error file=tiny.yaml,"), "\(there.error)")
            #expect(back.status == 0 && !back.error.contains("::error"), "\(back.error)")
            let xml = try Program.text(folder.appending(path: "there.xml"))
            #expect(xml.contains("lru is no worse than unbounded on terminations, tiny"), "\(xml)")
        }
    }

    @Test("a survival that is asked for and not there is status 99 for a check, and 0 without one")
    func survive() throws {
        try within { folder in
            let words = ["survive", "tiny.yaml", "--app", "a", "--seeds", "1..8", "--share-only", "--quiet"]
            let plain = try Program.run(words + ["--out", "plain"], in: folder)
            let check = try Program.run(words + ["--out", "check", "--junit", "survive.xml"], in: folder)
            #expect(plain.status == 0 && check.status == 99, "\(plain.error)\(check.error)")
            let xml = try Program.text(folder.appending(path: "survive.xml"))
            #expect(xml.contains(" survives in 90% of the runs") && xml.contains("<failure message=\"No: "), "\(xml)")
        }
    }
}

@Suite("the victims in a run's summary")
struct VictimLinesTests {
    private typealias Fact = RunTally.TerminationFact

    private let plan: RunPlan

    init() throws { plan = try ScenarioLoader.load(path: Program.scenario("headline")).get() }

    private func end(_ app: String, at second: Int64, wanted: TimeSpan? = nil, front: Bool = false) -> Fact {
        var course = RunTally.TerminationCourse()
        // No word is taken from the sentence.
        (course.explanation, course.decision) = ("a sentence; of two; parts", 1)
        (course.demand, course.level, course.cause) = ("pressure", "critical", "jettisoned")
        (course.measure, course.observed, course.threshold) = ("uncompressed_ppm", 299_883, 350_000)
        course.standing = "idle longest"
        var end = Fact(
            app: app, pid: ProcessID(1), at: Instant(microseconds: second * 1_000_000), reason: .memoryPressure,
            wasForeground: front, wasPerceived: wanted != nil, footprint: .zero, course: course)
        end.wantedAfter = wanted
        end.tell(in: plan)
        return end
    }

    @Test("each says when, which, why, and what the user lost")
    func words() throws {
        let ends = [
            end("mail", at: 75, wanted: .seconds(60)), end("game", at: 3_700), end("chat", at: 80, front: true),
            end("feed", at: 81, wanted: .minutes(20)),
        ]
        let why = "memory was critical: 29.9% not compressed, below 30%; idle longest"
        #expect(
            VictimLines(ends: ends, table: nil).lines.map(\.text) == [
                "1:15 mail: \(why); wanted 1 min 0.0 s later", "1:01:40 game: \(why); not missed",
                "1:20 chat: \(why); it was on screen", "1:21 feed: \(why); wanted 20 min 0.0 s later",
            ])
    }

    @Test("of more than eight, those that the user felt have lines, in the order of time, and the rest is counted")
    func most() throws {
        let ends = (0..<12).map { end("app\($0)", at: Int64($0), wanted: $0 == 11 ? .seconds(5) : nil) }
        let lines = VictimLines(ends: ends, table: "terminations.csv").lines
        #expect(lines.count == 9 && lines[6].text.contains("app6") && lines[7].text.contains("app11"))
        #expect(lines[7].isFelt && lines[8].text == "and 4 more: terminations.csv")
    }

    @Test("the cause is made of the figures of the row, with the sizes of the phone")
    func causes() throws {
        func cause(_ change: (inout Fact) -> Void) -> String {
            var fact = end("a", at: 9)
            (fact.course.demand, fact.course.level) = (nil, nil)
            (fact.course.reading, fact.course.standing) = (nil, nil)
            change(&fact)
            fact.tell(in: plan)
            return fact.cause
        }
        func measured(_ measure: String, _ observed: Int64, _ threshold: Int64) -> (inout Fact) -> Void {
            { ($0.course.measure, $0.course.observed, $0.course.threshold) = (measure, observed, threshold) }
        }
        let limit = cause {
            measured("footprint_bytes", 3_076 << 10, 3 << 20)(&$0)
            ($0.reason, $0.course.cause) = (.memoryResourceLimit, "per-process-limit")
        }
        #expect(limit == "over its own limit of 24 MiB", "the model has an eighth of the phone's size")
        func background(_ excess: Int64) -> String {
            cause {
                measured("background_processes", 10 + excess, 10)(&$0)
                $0.course.demand = "background_processes"
            }
        }
        #expect(background(1) == "one background process too many")
        #expect(background(12) == "12 background processes too many")
        let held = cause {
            measured("background_memory_bytes", 9 << 20, 8 << 20)(&$0)
            $0.course.demand = "background_memory"
        }
        #expect(held == "memory off screen above its limit of 64 MiB")
        let idle = cause {
            measured("available_bytes", 5 << 20, 6 << 20)(&$0)
            $0.course.cause = "idle-exit"
        }
        #expect(idle == "below 48 MiB available")
        let other = cause {
            $0.beneficiary = RunTally.Beneficiary(app: "game", need: .allocation, stage: .front)
            $0.course.cause = "vm-pageshortage"
        }
        #expect(other == "an allocation of game found no room (vm-pageshortage)")
        #expect(cause { ($0.course.cause, $0.course.measure) = ("no_room", nil) } == "its own allocation found no room")
        #expect(cause { ($0.reason, $0.course.cause) = (.appWatchdog, nil) } == "took too long (watchdog)")
        let swept = cause {
            measured("available_bytes", 7 << 20, 6 << 20)(&$0)
            $0.course.cause = "long-idle-exit"
        }
        #expect(swept == "a sweep that began below 48 MiB")
        let warned = cause { ($0.course.demand, $0.course.level) = ("pressure", "warning") }
        #expect(warned == "pressure was at warning: 29.9% not compressed, below 50%")
    }

    @Test("what made it the one is what the policy says, or else where it was, if others would have done as well")
    func standing() {
        func standing(_ change: (inout Fact) -> Void) -> String? {
            var fact = end("a", at: 9)
            (fact.course.standing, fact.course.idle) = (nil, .seconds(75))
            change(&fact)
            fact.tell(in: plan)
            return fact.course.standing
        }
        #expect(standing { $0.course.standing = "holds most" } == "holds most")
        #expect(standing { $0.course.state = .suspended } == "idle for 1 min 15.0 s")
        #expect(standing { $0.course.state = .background } == "off screen for 1 min 15.0 s")
        #expect(standing { ($0.wasForeground, $0.course.idle) = (true, .zero) } == "in front")
        #expect(standing { ($0.reason, $0.course.demand) = (.memoryResourceLimit, nil) } == nil)
    }

    @Test("the first line names device and scale, where there are any")
    func place() throws {
        var device = try ScenarioLoader.load(path: Program.scenario("headline")).get().device
        #expect(RunReport.place(of: device) == " on an iPhone 13, at 12.5%")
        (device.name, device.scale) = ("Pixel 6", .one)
        #expect(RunReport.place(of: device) == " on a Pixel 6")
        device.name = nil
        #expect(RunReport.place(of: device).isEmpty)
    }
}
