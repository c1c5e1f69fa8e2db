import Foundation
import Plan
import Quantities
import Scenario
import Simulation
import Testing
import Workload

@testable import Interchange

@Suite("usage traces as scenarios")
struct AppUsageTests {
    static let neutral = """
        timestamp,user,app,event
        1516082465,ann,WhatsApp,opened
        1516082495,ann,WhatsApp,closed
        1516082496,ann,"Notes, quick",opened
        1516082500,bob,Clock,opened
        1516082520,ann,"Notes, quick",closed
        1516083120.5,ann,WhatsApp,opened
        1516083140,ann,WhatsApp,closed

        """

    static let lsapp = [
        "user_id\tsession_id\ttimestamp\tapp_name\tevent_type",
        "0\t1\t2018-01-16 06:01:05\tMinesweeper Classic (Mines)\tOpened",
        "0\t1\t2018-01-16 06:01:10\tMinesweeper Classic (Mines)\tUser Interaction",
        "0\t1\t2018-01-16 06:02:05\tYouTube\tUser Interaction",
        "0\t1\t2018-01-16 06:02:05\tMinesweeper Classic (Mines)\tClosed",
        "0\t1\t2018-01-16 07:02:05\tYouTube\tClosed",
        "0\t2\t2018-01-16 09:00:00\tChrome\tOpened", "0\t3\t2018-01-16 09:30:00\tChrome\tOpened",
        "0\t3\t2018-01-16 09:30:20\tChrome\tBroken",
    ].joined(separator: "\r\n")

    private func read(_ text: String, user: String? = nil, idle: TimeSpan? = nil) throws -> AppUsageImport {
        try AppUsageImport(Array(text.utf8), file: "usage.csv", user: user, longestIdle: idle)
    }

    @Test("what is not UTF-8 is refused where it begins, in a usage trace and in a report")
    func notUTF8() {
        let trace = Array("timestamp,user,app,event\n1,ann,Ch".utf8) + [0xff] + Array("t,opened\n".utf8)
        #expect(throws: ScenarioFault.self) { try AppUsageImport(trace, file: "u.csv", user: nil, longestIdle: nil) }
        do throws(ScenarioFault) {
            _ = try AppUsageImport(trace, file: "u.csv", user: nil, longestIdle: nil)
        } catch {
            #expect(error.description == "u.csv:2:9: error: this is not UTF-8; a usage trace is UTF-8 text")
        }
        do throws(ScenarioFault) {
            _ = try JetsamEventImport(Array("{\"os_version\": \"".utf8) + [0xc3, 0x28], file: "r.ips")
        } catch {
            #expect(error.description == "r.ips:1:17: error: this is not UTF-8; a JetsamEvent report is UTF-8 text")
        }
    }

    private func plan(_ text: String) throws -> RunPlan {
        var plan = try ScenarioLoader.load(text: text, file: "s.yaml").get()
        plan.backend = .accounting
        return plan
    }

    /// The user's actions in the form of the scenario file.
    private func deeds(_ usage: AppUsageImport) -> [String] {
        usage.scenario.split(separator: "\n").filter { $0.hasPrefix("  - { at: ") }.map { String($0.dropFirst(10)) }
    }

    @Test("the neutral form: launches, switches and ways home of the chosen user, from the first event on")
    func neutralForm() throws {
        let usage = try read(Self.neutral, user: "ann")
        #expect(usage.apps.map(\.name) == ["WhatsApp", "Notes- quick"])
        #expect(usage.apps.map(\.like) == ["messaging", "plain"])
        #expect(
            deeds(usage) == [
                "0s, launch: \"WhatsApp\" }", "31s, launch: \"Notes- quick\" }", "55s, home: true }",
                "655500ms, switch: \"WhatsApp\" }", "675s, home: true }",
            ])
        #expect(usage.duration == .seconds(735))
        #expect(usage.summary.contains("\nlaunches      2\n"))
    }

    @Test("LSApp's form: who interacts is in front, silence ends a session, a film does not")
    func lsappForm() throws {
        let usage = try read(Self.lsapp)
        #expect(usage.apps.map(\.like) == ["big-game", "video", "browser"])
        #expect(
            deeds(usage) == [
                "0s, launch: \"Minesweeper Classic -Mines-\" }", "1min, launch: \"YouTube\" }", "61min, home: true }",
                "10735s, launch: \"Chrome\" }", "11035s, home: true }", "12535s, switch: \"Chrome\" }",
                "12555s, home: true }",
            ])
        #expect(usage.passedOver == 1)
    }

    @Test("idle times are kept, or shortened; time in front is not")
    func idle() throws {
        let usage = try read(Self.lsapp, idle: .minutes(10))
        #expect(
            deeds(usage).suffix(5) == [
                "61min, home: true }", "71min, launch: \"Chrome\" }", "76min, home: true }",
                "86min, switch: \"Chrome\" }", "5180s, home: true }",
            ])
        #expect(usage.shortened == .seconds(10_735 - 71 * 60) + .minutes(15))
        #expect(usage.scenario.contains("# Idle times were shortened, by 7375.0 s in all."))
    }

    @Test("the run's launches are the trace's, at its times")
    func plays() throws {
        let usage = try read(Self.neutral, user: "ann")
        var plan = try plan(usage.scenario)
        plan.monitor.interval = .seconds(1)
        let output = try TraceFixture.play(plan)
        let taps = output.events.filter { $0["event"] == "user" }.map { "\($0["time_s"]) \($0["detail"]) \($0["app"])" }
        #expect(
            taps == [
                "0 launch WhatsApp", "31 launch Notes- quick", "55 home ", "655.5 switch WhatsApp", "675 home ",
            ])
        #expect(output.events.filter { $0["event"] == "refused" }.isEmpty)
    }

    @Test("no deed of a random trace is refused, and its deeds are in order", arguments: 0..<4 as Range<UInt64>)
    func random(seed: UInt64) throws {
        let usage = try read(AppUsageTests.trace(seed: seed, count: 60), user: "u1", idle: .minutes(1))
        #expect(zip(usage.deeds, usage.deeds.dropFirst()).allSatisfy { $0.at <= $1.at })
        var plan = try plan(usage.scenario)
        plan.monitor.interval = .seconds(10)
        let output = try TraceFixture.play(plan)
        // In particular, no tap on the app that is already in front is refused.
        #expect(output.events.filter { $0["event"] == "refused" }.isEmpty)
        #expect(output.events.filter { $0["event"] == "user" }.count == usage.deeds.count)
    }

    @Test("two hundred random traces: nobody is tapped who is in front, nor launched twice")
    func sense() throws {
        for seed in 0..<200 as Range<UInt64> {
            let usage = try read(AppUsageTests.trace(seed: seed, count: 200), user: "u1", idle: .minutes(1))
            var front: Int?
            var launched = 0
            for deed in usage.deeds {
                switch deed.kind {
                case .home:
                    front = nil
                case .launch(let app):
                    #expect(app == launched, "seed \(seed)")
                    launched += 1
                    front = app
                case .switchTo(let app):
                    #expect(app < launched && app != front, "seed \(seed)")
                    front = app
                }
            }
        }
    }

    private static func trace(seed: UInt64, count: Int) -> String {
        var random = SeededGenerator(seed: seed, stream: "usage")
        var now = 1_600_000_000
        var lines = ["timestamp\tuser\tapp\tevent"]
        for _ in 0..<count {
            now += random.chance(.percent(5)) ? random.number(in: 300...4_000) : random.number(in: 0...20)
            let event = ["Opened", "Closed", "User Interaction", "Broken"][random.number(in: 0...3)]
            lines.append("\(now)\tu\(random.number(in: 1...2))\tapp \(random.number(in: 1...6))\t\(event)")
        }
        return lines.joined(separator: "\n")
    }

    @Test("times: seconds, milliseconds, microseconds, dates with and without a zone")
    func times() {
        var calendar = UniversalCalendar()
        let second = Instant(microseconds: 1_516_082_465_000_000)
        for text in [
            "1516082465", "1516082465000", "1516082465000000", "1516082465.0", "2018-01-16 06:01:05",
            "2018-01-16T06:01:05Z", "2018-01-16T07:01:05.000+01:00", "2018-01-16 00:01:05 -0600",
        ] {
            #expect(Timestamp.instant(text, &calendar) == second, "\(text)")
        }
        #expect(Timestamp.instant("2018-01-16 06:01:05.25", &calendar) == second + .milliseconds(250))
        #expect(Timestamp.instant("1970-01-01 00:00:00", &calendar) == .zero)
        #expect(Timestamp.instant("2000-03-01 00:00:00", &calendar) == Instant(microseconds: 951_868_800_000_000))
        #expect(Timestamp.instant("2024-02-29 00:00:00", &calendar) == Instant(microseconds: 1_709_164_800_000_000))
        for text in [
            "", "now", "-5", "1.2.3", "2023-02-29 00:00:00", "2018-13-01 00:00:00", "2018-01-16", "2018-01-16 24:00:00",
            "2018-01-16 06:01:05+", "99999999999999999999", "1516082465.", "2018-01-16 06:01:05.",
            "2018-01-16x06:01:05",
        ] {
            #expect(Timestamp.instant(text, &calendar) == nil, "\(text)")
        }
    }

    @Test("every word of the table is one that a name can have, and every archetype is there")
    func table() {
        for entry in KnownApps.table {
            #expect(Archetype.named(entry.archetype) != nil, "\(entry.archetype)")
            for word in entry.words {
                #expect(word == word.lowercased() && word.allSatisfy { $0.isLetter || $0.isNumber }, "\(word)")
                let first = KnownApps.table.first { $0.words.contains(word) }?.archetype
                #expect(first == entry.archetype, "\(word) is \(first ?? "") first")
            }
        }
        #expect(KnownApps.archetype(of: "com.facebook.orca") == "messaging")
        #expect(KnownApps.archetype(of: "Google Docs") == "document-editor")
        #expect(KnownApps.archetype(of: "Rechner") == "plain")
    }

    @Test(
        "a broken trace is refused in one line that says where",
        arguments: [
            ("", "usage.csv:1:1: error: the file is empty; expected a line that names the columns"),
            ("time,user\n1,2", "usage.csv:1:1: error: no column 'timestamp'; expected a line that names the columns"),
            (
                "timestamp,user,app,event,app\n1,a,b,opened,c",
                "usage.csv:1:26: error: column 'app' is there twice, and it is unclear which one counts"
            ),
            (
                "timestamp,user,User_ID,app,event\n1,a,b,c,opened",
                "usage.csv:1:16: error: columns 'user' and 'user_id' mean the same, and it is unclear which one counts"
            ),
            ("timestamp,user,app,event\n", "usage.csv:2:1: error: the trace holds no event"),
            ("timestamp,user,app,event\n1,a,b", "usage.csv:2:1: error: this line has 3 cells; expected 4, with commas"),
            (
                "timestamp,user,app,event\n\n1,a,b,won",
                "usage.csv:3:7: error: 'won' is no event; expected opened, closed"
            ),
            (
                "timestamp,user,app,event\n1h,a,b,opened",
                "usage.csv:2:1: error: '1h' is no time; expected seconds since"
            ),
            ("timestamp,user,app,event\n1,ä,,opened", "usage.csv:2:5: error: the app's name is missing"),
            ("timestamp,user,app,event\n1,a,\"b,opened", "usage.csv:2:5: error: this quote is not closed on its line"),
            (
                "timestamp,user,app,event\n1,a,\"b\"c,opened",
                "usage.csv:2:8: error: expected ',' after the closing quote"
            ),
            ("timestamp,user,app,event\n1,a,b,closed", "usage.csv:1:1: error: user a never opens an app"),
            (
                "timestamp,user,app,event\n1,a,b,opened\n99999999,a,c,opened",
                "usage.csv:1:1: error: the events span 1158 days; at most 999, which --longest-idle may help with"
            ),
            (AppUsageTests.neutral, "usage.csv:1:1: error: the trace holds 2 users; choose one with --user: ann, bob"),
        ])
    func faults(text: String, message: String) {
        do {
            _ = try read(text)
            Issue.record("it was accepted")
        } catch {
            #expect("\(error)".hasPrefix(message))
            #expect(!"\(error)".contains("\n"))
        }
    }

    @Test("a user whom the trace does not have is refused with those that it has")
    func unknownUser() {
        do {
            _ = try read(Self.neutral, user: "cat")
            Issue.record("it was accepted")
        } catch {
            #expect("\(error)" == "--user cat: error: the trace has no such user; it has ann, bob")
        }
    }

    @Test("whatever the bytes are: a scenario that is valid, or one line", arguments: 0..<4 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        let bytes = Array((seed % 2 == 0 ? Self.lsapp : Self.neutral.replacing("bob", with: "ann")).utf8)
        var random = SeededGenerator(seed: seed, stream: "mutations")
        let (read, refused) = try Mutations.tally(of: bytes, count: 200, &random) { bytes throws(ScenarioFault) in
            try AppUsageImport(bytes, file: "u.csv", user: nil, longestIdle: .minutes(5)).scenario
        }
        #expect(read > 10 && refused > 50)
    }
}
