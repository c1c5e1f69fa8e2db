import Foundation
import Lifecycle
import Pressure
import Quantities
import Reclaim
import Scenario
import Simulation
import Testing

@testable import Interchange

/// Whole reports as the state in which a run begins.
@Suite("JetsamEvent reports with every process")
struct JetsamPhoneTests {
    /// A process as a report shows it.
    private struct Shown: Hashable {
        var name: String
        var pages: Int
        var band: Int
        var states: [String]
    }

    /// The state of the plan's start, as the report that a kill at that moment would write.
    private static func reportAtStart(_ scenario: String) throws -> (report: KillReport, text: [UInt8]) {
        var plan = try JetsamEventTests.load(scenario)
        plan.backend = .accounting
        plan.duration = .milliseconds(500)
        // Everything is a victim from the first moment on.
        plan.policy = PolicySettings(
            name: "jetsam", parameters: [.init(name: "critical", value: .ratio(.one))])
        plan.limits.protectAudible = false
        let output = try JetsamExportFixture.play(plan)
        return (try #require(output.reports.first), try #require(output.texts.first))
    }

    private static func shown(_ text: [UInt8]) throws -> [Shown] {
        let report = try JetsamReport(text, file: "report.ips")
        return report.processes.map {
            Shown(name: $0.name, pages: $0.pages, band: $0.priority ?? -1, states: $0.states)
        }
    }

    /// Compares the state at the start with the report itself.
    private static func compare(_ bytes: [UInt8], ordersForeground: Bool = true) throws {
        let phone = try JetsamPhoneImport(bytes, file: "report.ips")
        let report = try reportAtStart(phone.scenario).report
        #expect(report.at == .zero)
        let processes = report.processes.filter { $0.state.name != phone.unshownName }
        let expected = phone.members.sorted { ($0.band, $1.idle) < ($1.band, $0.idle) }
        let bands = processes.map(\.state.band.number)
        #expect(bands == expected.map(\.band))
        for (place, process) in processes.enumerated() where bands[place] != JetsamBand.foreground.number {
            #expect(process.state.name == expected[place].name)
        }
        for process in processes {
            let member = try #require(phone.members.first { $0.name == process.state.name })
            let (held, wanted) = (process.state.footprint.bytes, member.process.pages * phone.report.pageSize)
            #expect(abs(held - wanted) * 100 <= wanted, "\(member.name): \(held), \(wanted) in the report")
            if let band = phone.report.band(of: member.process) {
                #expect(process.state.band == band, "\(member.name)")
            }
        }
        #expect(processes.count == phone.report.processes.count)
    }

    @Test("order, bands and footprints at time zero are the report's")
    func standing() throws {
        try Self.compare(Array(JetsamFixture.report(JetsamFixture.modern).utf8))
        try Self.compare(
            Array(JetsamFixture.report(JetsamFixture.old, system: "iPhone OS 10.1.1 (14B100)", pageSize: 4_096).utf8))
        try Self.compare(Array(JetsamFixture.report(JetsamFixture.today, system: "iPhone OS 17.2 (21C62)").utf8))
    }

    @Test("what each process is: apps, a helper of its coalition's app, daemons")
    func kinds() throws {
        let phone = try JetsamPhoneImport(Array(JetsamFixture.report(JetsamFixture.modern).utf8), file: "report.ips")
        let kinds = Dictionary(grouping: phone.members, by: \.kind).mapValues { $0.map(\.name) }
        #expect(kinds[nil] == ["Notes", "Game of Life", "Maps", "Chat", "Browser", "Radio"])
        #expect(kinds[.webContent] == ["com.apple.WebKit.WebContent 2"])
        #expect(phone.members.first { $0.kind == .webContent }?.host == "Browser")
        #expect(kinds[.daemon]?.contains("SpringBoard") == true)
        #expect(phone.front?.name == "Browser")
        let lines = phone.digest.text.split(separator: "\n")
        #expect(
            lines == [
                "report  report.ips, iPhone12,1, iPhone OS 14.2 (18B5061e), 13 processes",
                "front   Browser; 6 apps: Notes, Game of Life, Maps, Chat, Browser, Radio",
                "others  1 helper, 1 extension, 5 daemons", lines[3],
                "ended   Game of Life: the system was short of free memory (vm-pageshortage); highd: above the "
                    + "process's own soft limit (highwater)",
            ])
        #expect(lines[3].hasPrefix("memory  ") && lines[3].hasSuffix(" were available"))
    }

    @Test("export, import and export again: the same processes in the same order, bands, states and pages")
    func again() throws {
        let first = try Self.reportAtStart(
            try JetsamPhoneImport(Array(JetsamFixture.report(JetsamFixture.modern).utf8), file: "report.ips").scenario
        ).text
        let second = try Self.reportAtStart(try JetsamPhoneImport(first, file: "first.ips").scenario).text
        #expect(try Self.shown(first) == Self.shown(second))
        #expect(try Self.shown(first).contains { $0.states == ["daemon", "idle"] })
    }

    /// Real reports, where there are any beside the project.
    @Test(
        "real reports: order, bands and footprints at time zero are the report's",
        .enabled(if: !RealReports.files.isEmpty, "data: the shared reports are not beside the checkout"),
        arguments: RealReports.files)
    func realReport(file: URL) throws {
        try Self.compare(Array(Data(contentsOf: file)))
    }

    @Test("a report without an app is refused in one line")
    func empty() throws {
        let text = JetsamFixture.report([JetsamFixture.Entry("widgetd", 300, 0, "daemon idle")])
        #expect(throws: ScenarioFault.self) { try JetsamPhoneImport(Array(text.utf8), file: "report.ips") }
    }
}
