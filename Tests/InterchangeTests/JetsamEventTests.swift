import Foundation
import Plan
import Quantities
import Scenario
import Simulation
import Testing

@testable import Interchange

@Suite("JetsamEvent reports as scenarios")
struct JetsamEventTests {
    static func load(_ text: String) throws -> RunPlan {
        var plan = try ScenarioLoader.load(text: text, file: "imported.yaml").get()
        plan.backend = .accounting
        return plan
    }

    /// Checks that at the stated instant every process has the state and footprint of the report, and none has ended.
    static func checkState(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let event = try JetsamEventImport(Array(text.utf8), file: "report.ips")
        let plan = try load(event.scenario)
        let output = try TraceFixture.play(plan)
        let instant = Instant(microseconds: event.stateAt.microseconds).secondsText
        let rows = output.apps.filter { $0["time_s"] == instant }
        #expect(rows.map { $0["app"] } == event.apps.map(\.name), sourceLocation: sourceLocation)
        #expect(rows.map { $0["band"] } == event.apps.map { "\($0.band)" }, sourceLocation: sourceLocation)
        for (row, app) in zip(rows, event.apps) {
            let held = ([app.process] + app.helpers).reduce(0) { $0 + $1.pages } * event.report.pageSize
            #expect(row["footprint_bytes"] == "\(held)", "\(app.name)", sourceLocation: sourceLocation)
        }
        #expect(output.tally.terminations.isEmpty, sourceLocation: sourceLocation)
        let sample = try #require(output.samples.first { $0["time_s"] == instant }, sourceLocation: sourceLocation)
        let available = try #require(sample.number("available_bytes"))
        let meant =
            Double((plan.device.ceiling - plan.device.reserved).bytes)
            - Double(event.apps.reduce(0) { $0 + $1.footprint.bytes })
        let ceiling = Double(plan.device.ceiling.bytes)
        #expect(abs(available - meant) / ceiling < 0.02, sourceLocation: sourceLocation)
        try checkKills(event, plan, output, sourceLocation)
    }

    /// Checks the kills when an app needs nearly all memory: jetsam ends apps in band 0 first, in the order of the
    /// report.
    private static func checkKills(
        _ event: JetsamEventImport, _ plan: RunPlan, _ output: TraceFixture.Output, _ sourceLocation: SourceLocation
    ) throws {
        let suspended = event.apps.filter { $0.standing == .suspended }
        let held = suspended.reduce(ByteCount.zero) { $0 + $1.footprint }
        let all = event.apps.reduce(ByteCount.zero) { $0 + $1.footprint }
        let flood = plan.device.ceiling - plan.device.reserved - all + held
        let text = event.scenario
            .replacing("\nuser:\n", with: "\n  - { name: flood, memory: { base: \(flood), scene: 0B } }\nuser:\n")
        let more = "  - { at: \(event.stateAt + .seconds(1)), launch: flood }\n"
        let run = try TraceFixture.play(try load(text + more))
        let ended = run.events.filter { $0["event"] == "exit" }.map { $0["app"] }
        #expect(ended.count >= suspended.count, sourceLocation: sourceLocation)
        #expect(Array(ended.prefix(suspended.count)) == suspended.map(\.name), sourceLocation: sourceLocation)
    }

    @Test("bands, order of kills, footprints and what is available are the report's")
    func states() throws {
        try Self.checkState(JetsamFixture.report(JetsamFixture.modern))
        try Self.checkState(
            JetsamFixture.report(
                JetsamFixture.old, system: "iPhone OS 10.1.1 (14B100)", pageSize: 4_096,
                pages: (84_873, 6_172, 25_796, 53_872)))
        try Self.checkState(JetsamFixture.report(JetsamFixture.today, system: "iPhone OS 17.2 (21C62)"))
    }

    @Test("a report whose device had nothing left, and one whose apps were compressed, come to their state as well")
    func shortage() throws {
        let short = JetsamFixture.report(JetsamFixture.modern, pages: (1_000, 200, 300, 9_000))
        try Self.checkState(short)
        let event = try JetsamEventImport(Array(short.utf8), file: "report.ips")
        #expect(event.device.spared > .zero && event.device.added > .zero && event.device.widened == .zero)
        #expect(event.scenario.contains("--set device.reserved=\(event.device.reserved + event.device.spared)\n"))
        // Apps that leave too little available memory need a larger device.
        let full = JetsamFixture.report(JetsamFixture.modern, pages: (5_000, 100, 0, 500))
        try Self.checkState(full)
        #expect(try JetsamEventImport(Array(full.utf8), file: "report.ips").device.widened > .zero)
    }

    @Test("many apps: the launches take longer than the time after which jetsam ends long idle apps")
    func many() throws {
        let entries = (0..<130).map { JetsamFixture.Entry("app \($0)", 100 + $0, 0, "suspended") }
        try Self.checkState(JetsamFixture.report(entries, pages: (60_000, 9_000, 6_000, 9_000)))
    }

    @Test("who is an app, where it stood, and what became of several in front")
    func standings() throws {
        let event = try JetsamEventImport(Array(JetsamFixture.report(JetsamFixture.modern).utf8), file: "r.ips")
        #expect(
            event.apps.map(\.name) == ["Notes", "Game of Life", "Chat", "Maps", "Radio", "Browser"])
        #expect(event.apps.map(\.band) == [0, 0, 0, 40, 120, 100])
        #expect(event.apps.last?.helpers.map(\.pages) == [2_000])
        #expect(
            event.scenario.contains("# jetsam ended Game of Life (pid 303): vm-pageshortage; it held 62.5 MiB, and is"))
        #expect(
            event.scenario.contains("# jetsam ended highd (pid 304): highwater; it held 7.1 MiB, and is reserved"))

        let today = try JetsamEventImport(
            Array(JetsamFixture.report(JetsamFixture.today, system: "iPhone OS 17.2 (21C62)").utf8), file: "r.ips")
        // Two processes are in front without a common coalition: here the first is in front, and the other runs behind
        // it.
        #expect(today.apps.map(\.name) == ["Notes", "Chat", "Sports", "Maps", "Browser", "Split"])
        #expect(today.apps.map(\.band) == [0, 0, 30, 40, 40, 100])
    }

    @Test("the scale of the bands is told by the system's version, else by the bands themselves")
    func scales() throws {
        func bands(_ entries: [JetsamFixture.Entry], _ system: String?) throws -> [Int] {
            try JetsamEventImport(Array(JetsamFixture.report(entries, system: system).utf8), file: "r.ips").apps
                .map(\.band)
        }
        let audio = [JetsamFixture.Entry("a", 100, 12, "background"), JetsamFixture.Entry("b", 100, 21, "daemon")]
        #expect(try bands(audio, "iPhone OS 15.8 (19H370)") == [120])
        #expect(try bands(audio, "iPhone OS 16.0 (20A362)") == [30])
        #expect(try bands(audio, nil) == [120])
        #expect(try bands(audio + [JetsamFixture.Entry("c", 100, 190, "daemon")], nil) == [30])
    }

    @Test("names become valid and unique")
    func names() throws {
        let recorded = [
            "微信", "Mail", "Mail", "Mail 2", "9gag", "", "a\\\"b\\\\c: #", String(repeating: "x", count: 90),
            String(repeating: "x", count: 64), String(repeating: "9", count: 70),
        ]
        let entries = recorded.map { JetsamFixture.Entry($0, 100, 0, "suspended") }
        let event = try JetsamEventImport(Array(JetsamFixture.report(entries).utf8), file: "r.ips")
        #expect(
            event.apps.map(\.name) == [
                "app", "Mail", "Mail 2", "Mail 2 2", "app 9gag", "app 2", "a-b-c- -",
                String(repeating: "x", count: 64), String(repeating: "x", count: 56) + " 2",
                "app " + String(repeating: "9", count: 60),
            ])
        #expect(try Self.load(event.scenario).apps.map(\.name) == event.apps.map(\.name))
    }

    @Test("a report without its header is read, an empty list of states is no app, nobody in front is the home screen")
    func oddities() throws {
        let entries = [JetsamFixture.Entry("Notes", 900, 0, "suspended"), JetsamFixture.Entry("x", 9, 3, "")]
        let text = JetsamFixture.report(entries, header: false)
        let event = try JetsamEventImport(Array(text.utf8), file: "r.ips")
        #expect(event.apps.map(\.name) == ["Notes"])
        #expect(event.scenario.contains("home: true"))
        try Self.checkState(text)
    }

    @Test(
        "a broken report is refused in one line that says where",
        arguments: [
            ("", "1:1: error: the file is empty; expected a JetsamEvent report"),
            ("[]", "1:1: error: expected a JetsamEvent report, not a list"),
            ("Incident Identifier: 5", "1:1: error: expected a JSON value, not 'I'"),
            ("{\"bug_type\":\"298\"}\n", "2:1: error: the file ends here; expected the report behind its header line"),
            ("{\"bug_type\":\"298\"}\n{\"memoryStatus\" : {}}", "2:19: error: memoryStatus lacks 'pageSize'; expected"),
            ("{\"bug_type\":\"298\"}\n{\n\"a\" 5}", "3:5: error: expected ':' after the key, not '5'"),
            ("{\"bug_type\":\"298\"}\n{\"a\":\"b", "2:6: error: the file ends within this string"),
            ("{\"a\":1e}", "1:6: error: '1e' is not a number"),
        ])
    func faults(text: String, message: String) {
        expect("r.ips:" + message, of: text)
    }

    @Test(
        "a file of another kind or of another device is refused in one line that names it and says what to take",
        arguments: [
            (
                "{\"bug_type\":\"309\"}\n{}",
                "1:13: error: this is a crash report (bug_type 309); take a JetsamEvent report"
            ),
            (
                "{\"bug_type\":\"77\"}\n{}",
                "1:13: error: this is a report of another kind (bug_type 77); take a JetsamEvent"
            ),
            (
                "\nIncident Identifier: 0\nCrashReporter Key: 0\nOS Version: iPhone OS 7.0.4\n\nFree pages:  922\n",
                "2:1: error: this is a JetsamEvent report as text, as iOS 9 and earlier wrote it; take a report"
            ),
            (
                "Incident Identifier: 0\nCrashReporter Key: 0\nProcess: a\n",
                "1:1: error: this is a crash report as text;"
            ),
            (
                "{\"timeStampBegin\": \"0\", \"applicationExitMetrics\": {}}",
                "1:1: error: this is a MetricKit payload, which counts the exits of one app and shows no processes;"
            ),
            ("[{\"applicationExitMetrics\": {}}]", "1:1: error: this is a MetricKit payload"),
            (
                "{\"bug_type\":\"298\",\"os_version\":\"macOS 26.5\"}\n{\"processes\": []}",
                "1:32: error: this is a JetsamEvent report of a Mac (macOS 26.5); take one of an iPhone or iPad"
            ),
            (
                "{\"bug_type\":\"298\",\"os_version\":\"Apple TVOS 18.6\"}\n{\"product\": \"AudioAccessory1,1\"}",
                "2:13: error: this is a JetsamEvent report of a HomePod (AudioAccessory1,1, Apple TVOS 18.6); take one"
            ),
            (
                "{\"product\": \"Watch7,1\", \"processes\": []}",
                "1:13: error: this is a JetsamEvent report of an Apple Watch"
            ),
            (
                "{\"build\": \"Apple TVOS 18.6\", \"processes\": []}",
                "1:11: error: this is a JetsamEvent report of an Apple TV"
            ),
        ])
    func foreign(text: String, message: String) {
        expect("r.ips:" + message, of: text)
    }

    @Test("a broken figure is refused where it stands")
    func figures() {
        let whole = JetsamFixture.report(JetsamFixture.modern)
        expect(
            "r.ips:8:16: error: pageSize: expected a whole number from 1024 to 65536, not 0",
            of:
                whole
                .replacing("\"pageSize\" : 16384", with: "\"pageSize\" : 0"))
        expect(
            "error: wired: expected a whole number from 0 to 2097152, not -1",
            of:
                whole
                .replacing("\"wired\" : 9000", with: "\"wired\" : -1"))
        expect(
            "error: memoryPages lacks 'free'; expected a whole number",
            of:
                whole
                .replacing("\"free\" :", with: "\"fre\" :"))
        expect(
            "error: rpages: expected a whole number from 0 to 2097152, not \"many\"",
            of:
                whole
                .replacing("\"rpages\" : 900", with: "\"rpages\" : \"many\""))
        expect(
            "error: process 2 lacks 'name'; expected a text",
            of:
                whole
                .replacing("\"name\" : \"Notes\"", with: "\"nam\" : 1"))
        expect(
            "error: no app among 1 process; expected some that are frontmost",
            of:
                JetsamFixture
                .report([JetsamFixture.Entry("d", 9, 0, "daemon idle")]))
        expect(
            "a device has from 1MiB to 32GiB", of: whole.replacing("\"active\" : 20000", with: "\"active\" : 2097152"))
        let huge = (0..<3).map { JetsamFixture.Entry("a\($0)", 1_000_000, 0, "suspended") }
        expect("error: the apps would need a device of 5", of: JetsamFixture.report(huge))
    }

    private func expect(_ message: String, of text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        do {
            _ = try JetsamEventImport(Array(text.utf8), file: "r.ips")
            Issue.record("it was accepted", sourceLocation: sourceLocation)
        } catch {
            #expect("\(error)".contains(message), sourceLocation: sourceLocation)
            #expect(!"\(error)".contains("\n"), sourceLocation: sourceLocation)
        }
    }

    @Test("whatever the bytes are: a scenario that is valid, or one line", arguments: 0..<6 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        let text = [JetsamFixture.modern, JetsamFixture.old, JetsamFixture.today][Int(seed % 3)]
        let bytes = Array(JetsamFixture.report(text, system: seed < 3 ? "iPhone OS 12" : nil).utf8)
        var random = SeededGenerator(seed: seed, stream: "mutations")
        let (read, refused) = try Mutations.tally(of: bytes, count: 80, &random) { bytes throws(ScenarioFault) in
            try JetsamEventImport(bytes, file: "r.ips").scenario
        }
        #expect(read > 5 && refused > 25)
    }
}

/// Complete reports from real devices, if available: in the folder of shared data beside the checkout, or in the folder
/// that `PLIMSOLL_JETSAM` names. They are not part of the project.
enum RealReports {
    static let files: [URL] = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "shared/data/jetsam")
        let named = ProcessInfo.processInfo.environment["PLIMSOLL_JETSAM"].map { URL(filePath: $0) }
        let all = try? FileManager.default.contentsOfDirectory(at: named ?? folder, includingPropertiesForKeys: nil)
        return (all ?? []).filter { $0.pathExtension == "ips" }.sorted { $0.path() < $1.path() }
    }()
}

extension JetsamEventTests {
    @Test(
        "a real report comes to its state",
        .enabled(if: !RealReports.files.isEmpty, "data: the shared reports are not beside the checkout"),
        arguments: RealReports.files)
    func real(file: URL) throws {
        try Self.checkState(try String(contentsOf: file, encoding: .utf8))
    }
}
