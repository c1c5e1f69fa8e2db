import Foundation
import Plan
import Quantities
import Scenario
import Simulation
import Testing

@testable import Interchange

@Suite("prewarmed apps in JetsamEvent reports")
struct JetsamPrewarmingTests {
    typealias Entry = JetsamFixture.Entry

    private static func report(
        pages: Int = 100, most: Int = 102, time: String = "0.011", states: String = "suspended", band: Int? = 0
    ) -> [Entry] {
        let figures = "\"lifetimeMax\" : \(most), \"cpuTime\" : \(time), \"age\" : 78944742173,"
        return [
            Entry("Notes", pages, band, states, figures), Entry("Mail", 4_000, 0, "suspended"),
            Entry("SpringBoard", 5_000, 160, "active", "\"age\" : 79372295207,"),
        ]
    }

    private static func phone(_ entries: [Entry], _ system: String) throws -> JetsamPhoneImport {
        try JetsamPhoneImport(Array(JetsamFixture.report(entries, system: system).utf8), file: "report.ips")
    }

    private static func state(
        _ entries: [Entry], _ system: String = "iPhone OS 18.5 (22F76)"
    ) throws -> StartedProcess.State? {
        try phone(entries, system).members.first { $0.name == "Notes" }?.state
    }

    @Test("few pages and next to no CPU: prewarmed; more of either, another state or an old system: not")
    func rule() throws {
        #expect(try Self.state(Self.report()) == .prewarmed)
        #expect(try Self.state(Self.report(pages: 16, most: 22, time: "0.0168")) == .prewarmed)
        #expect(try Self.state(Self.report(pages: 256, most: 256, time: "0.050")) == .prewarmed)
        #expect(try Self.state(Self.report(pages: 257, most: 257)) == .suspended)
        #expect(try Self.state(Self.report(most: 900)) == .suspended)
        #expect(try Self.state(Self.report(time: "0.051")) == .suspended)
        #expect(try Self.state(Self.report(time: "3.4")) == .suspended)
        // Tools that do not measure it write zero.
        #expect(try Self.state(Self.report(time: "0")) == .suspended)
        #expect(try Self.state(Self.report(time: "\"none\"")) == .suspended)
        #expect(try Self.state(Self.report(states: "background", band: 30)) == .background)
        #expect(try Self.state(Self.report(), "iPhone OS 14.8 (18H17)") == .suspended)
        #expect(try Self.state(Self.report(), "iPhone OS 15.0 (19A346)") == .prewarmed)
    }

    @Test("a launch from there is cold, one of a suspended app hot; the footprint at time zero is the report's")
    func launches() throws {
        let phone = try Self.phone(Self.report(), "iPhone OS 18.5 (22F76)")
        let user = "user:\n  - { at: 5s, launch: Notes }\n  - { at: 20s, launch: Mail }\n"
        var plan = try JetsamEventTests.load(phone.scenario + user)
        plan.duration = .seconds(40)
        let output = try TraceFixture.play(plan)
        let first = try #require(output.apps.first { $0["app"] == "Notes" })
        #expect(first["state"] == "prewarmed" && first["band"] == "0")
        #expect(first["footprint_bytes"] == "\(100 * 16_384)")
        #expect(output.launches.map { $0["kind"] } == ["cold", "hot"])
        #expect(output.launches.first?["resumed_from"] == "prewarmed")
    }

    @Test("with the apps alone, too: it is prewarmed and not launched")
    func appsOnly() throws {
        let text = JetsamFixture.report(Self.report(), system: "iPhone OS 18.5 (22F76)")
        let event = try JetsamEventImport(Array(text.utf8), file: "report.ips")
        #expect(event.scenario.contains("prewarm: \"Notes\"") && event.scenario.contains("prewarmed_base: 100%"))
        let plan = try JetsamEventTests.load(event.scenario)
        let output = try TraceFixture.play(plan)
        let instant = Instant(microseconds: event.stateAt.microseconds).secondsText
        let row = try #require(output.apps.first { $0["time_s"] == instant && $0["app"] == "Notes" })
        #expect(row["state"] == "prewarmed" && row["footprint_bytes"] == "\(100 * 16_384)")
    }
}
