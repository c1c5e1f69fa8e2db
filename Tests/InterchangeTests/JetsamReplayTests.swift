import Foundation
import Pressure
import Quantities
import Scenario
import Simulation
import Testing

@testable import Interchange

/// Row A32 of jetsam's behaviours in Policies.md. The expected order comes from the report's own list, not from the
/// import.
@Suite("JetsamEvent reports replayed")
struct JetsamReplayTests {
    private struct Victim: Hashable {
        var name: String
        var band: Int
    }

    /// All apps that are not in front, sorted by band and then by the report's order.
    private static func expected(_ report: JetsamReport) -> [Victim] {
        let kinds = JetsamRoles(report).kinds
        let all = zip(report.processes, report.standings).enumerated().compactMap { place, pair in
            kinds[place] == nil ? pair.1.map { (place: place, name: pair.0.name, band: $0.band) } : nil
        }
        return all.filter { $0.band != .foreground }.sorted { ($0.band, $0.place) < ($1.band, $1.place) }
            .map { Victim(name: $0.name, band: $0.band.number) }
    }

    /// Runs the imported scenario as its last line advises: from the report's state on, the app in front takes more and
    /// more memory, up to all of it.
    private static func replay(_ text: String) throws -> (event: JetsamEventImport, ended: [Victim]) {
        let event = try JetsamEventImport(Array(text.utf8), file: "report.ips")
        let lines = event.scenario.split(separator: "\n")
        let advice = try #require(lines.last?.wholeMatch(of: /# --set '(.*)'/)?.1, "\(lines.last ?? "")")
        var plan = try ScenarioLoader.load(
            text: event.scenario, file: "imported.yaml", overrides: Overrides(sets: [String(advice)])
        ).get()
        plan.backend = .accounting
        // Without other candidates a device also ends apps that play audio; by default this device does not.
        plan.limits.protectAudible = false
        let front = try #require(event.front)
        let output = try TraceFixture.play(plan)
        let exits = output.events("exit").map(\.reason)
        let names = output.events.filter { $0["event"] == "exit" }.map { $0["app"] }
        let state = Double(event.stateAt.microseconds) / 1_000_000
        #expect(output.events("exit").allSatisfy { (Double($0.time) ?? 0) > state })
        var ended: [Victim] = []
        for (name, reason) in zip(names, exits) where name != front.name {
            let app = try #require(event.apps.first { $0.name == name })
            let band = try #require(reason.firstMatch(of: /, band ([0-9]+)/).flatMap { Int($0.1) })
            ended.append(Victim(name: app.process.name, band: band))
        }
        return (event, ended)
    }

    @Test("A32: replay of a JetsamEvent report: victims die in the report's order, band by band")
    func a32() throws {
        let (_, ended) = try Self.replay(JetsamFixture.report(JetsamFixture.modern))
        #expect(
            ended == [
                Victim(name: "Notes", band: 0), Victim(name: "Game of Life", band: 0), Victim(name: "Chat", band: 0),
                Victim(name: "Maps", band: 40), Victim(name: "Radio", band: 120),
            ])
    }

    @Test("A32: without bands, and with today's bands in a list that is not sorted by them")
    func others() throws {
        let old = JetsamFixture.report(JetsamFixture.old, system: "iPhone OS 10.1.1 (14B100)", pageSize: 4_096)
        let (event, ended) = try Self.replay(old)
        #expect(ended == Self.expected(event.report))
        let today = JetsamFixture.report(JetsamFixture.today, system: "iPhone OS 17.2 (21C62)")
        // Of two processes in front, the second runs behind the first here.
        let behind = Victim(name: "Browser", band: 40)
        let (event2, ended2) = try Self.replay(today)
        #expect(ended2 == Self.expected(event2.report) + [behind])
    }

    @Test("A32: another order in the report is another order of ends")
    func reversed() throws {
        let band = JetsamFixture.modern.filter { $0.band == 0 }
        let rest = JetsamFixture.modern.filter { $0.band != 0 }
        let (_, ended) = try Self.replay(JetsamFixture.report(band.reversed() + rest))
        #expect(ended.prefix(3).map(\.name) == ["Game of Life", "Notes", "Chat"])
    }

    @Test(
        "A32: victims of a real report die in its order",
        .enabled(if: !RealReports.files.isEmpty, "data: the shared reports are not beside the checkout"),
        arguments: RealReports.files)
    func real(file: URL) throws {
        let (event, ended) = try Self.replay(try String(contentsOf: file, encoding: .utf8))
        #expect(ended == Self.expected(event.report))
        // In this report the apps are already sorted by band.
        let standings = zip(event.report.processes, zip(event.report.standings, JetsamRoles(event.report).kinds))
        #expect(ended.map(\.name) == standings.filter { $0.1.1 == nil && $0.1.0 != .front }.map(\.0.name))
    }
}
