import Foundation
import Memory
import Metrics
import Plan
import Quantities
import Simulation
import TestSupport
import Testing

@testable import Scenario

@Suite("one evening on devices by name", .serialized)
struct EveningOnDevicesTests {
    /// What is left of an evening.
    struct Evening: Sendable {
        let device: String
        let ceiling: ByteCount
        /// The apps that live at the end of the run.
        let alive: Int
        let terminations, ofReaper: Int
        let summary, appSummary: String
        /// What came of the scenario's expectations.
        let claims: [ExpectationResult]

        /// One column of `summary.csv`; for an app or another process, of `app_summary.csv`.
        func figure(_ column: String, of app: String? = nil) throws -> Double {
            let rows = (app == nil ? summary : appSummary).split(separator: "\n")
                .map { $0.split(separator: ",", omittingEmptySubsequences: false) }
            let place = try #require(rows[0].firstIndex { $0 == column })
            let name = rows[0].firstIndex { $0 == "app" }
            let row = try #require(app == nil ? rows[1] : rows.first { $0[name ?? 0] == app ?? "" })
            return try #require(Double(row[place]))
        }
    }

    private static func run(_ plan: RunPlan, verify: Bool = false) throws -> Evening {
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in MemorySink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: verify)
        _ = try simulation.run()
        func text(_ sink: any ByteSink) -> String { (sink as? MemorySink)?.text ?? "" }
        let apps = Set(plan.apps.filter { $0.part == nil }.map(\.name))
        let rows = text(sinks[RunTables.apps]).split(separator: "\n").reversed().map { $0.split(separator: ",") }
        let last = rows.first?[0]
        let reaped = simulation.kills.cells.filter { $0.cause == .longIdleExit }.reduce(0) { $0 + $1.count }
        return Evening(
            device: plan.device.like ?? "", ceiling: plan.device.ceiling,
            alive: rows.prefix { $0[0] == last }.count { apps.contains(String($0[1])) },
            terminations: simulation.tally.terminations.count, ofReaper: reaped,
            summary: text(sinks[RunTables.summary]), appSummary: text(sinks[RunTables.appSummary]),
            claims: simulation.tally.results(of: plan.expectations))
    }

    /// Two tests look at the evenings without compressors.
    private static let evenings = Memo<[String], Evening>()

    private static func evening(on device: String, compressor: String = "off") throws -> Evening {
        let path = ProjectScenarioTests.folder.appending(path: "evening-on-iphone.yaml").path()
        // At full scale it takes half the time.
        let sets = [
            "device.like=\(device)", "device.compressor=\(compressor)", "scale=100%", "expect=[]", "metrics.apps=all",
        ]
        return try evenings.value(of: sets) {
            try run(try ScenarioLoader.load(path: path, overrides: Overrides(sets: sets, backend: .accounting)).get())
        }
    }

    /// The iPhones of the presets, by their RAM.
    private static var phones: [DevicePreset] {
        DevicePreset.all.filter { $0.name.hasPrefix("iphone") }
            .sorted { ($0.ceiling.value, $0.name) < ($1.ceiling.value, $1.name) }
    }

    /// Without compressors more RAM keeps more apps alive on the phones of the presets, without an exception. The
    /// reaper, which only the kernel of iOS 18.4 has, ends apps earlier: a 13 (3700 MiB) ends eight more than an 11
    /// (3844 MiB), although it is the newer phone. On every phone chat-notify ends, by its own limit.
    @Test("more RAM never keeps fewer apps alive")
    func moreMemory() throws {
        let evenings = try Self.phones.map { try Self.evening(on: $0.name) }
        #expect(evenings.count == 7)
        for (small, large) in zip(evenings, evenings.dropFirst()) {
            #expect(small.ceiling < large.ceiling)
            #expect(small.alive <= large.alive, "\(small.device) \(small.alive), \(large.device) \(large.alive)")
            #expect(small.terminations >= large.terminations, "\(small.device), \(large.device)")
        }
        for evening in evenings { #expect(try evening.figure("terminations", of: "chat-notify") == 1) }
        #expect(evenings.map(\.terminations) == [18, 12, 12, 11, 3, 1, 1])
        #expect(evenings.map(\.ofReaper) == [0, 0, 0, 10, 0, 0, 0])
        #expect(evenings.map(\.alive) == [8, 11, 11, 12, 13, 13, 13])
    }

    /// With their compressors and kernels, no phone launches more apps cold than without, but small phones end more
    /// processes: after ten minutes in which the level was not normal the kernel ends everything in band 0, one process
    /// each half second, which hardly anybody feels. A 13 ends five through the reaper, which only the kernel of
    /// iOS 18.4 has; its freezer is off in this evening.
    @Test("a compressor never makes more launches cold")
    func compressor() throws {
        let pairs = try Self.phones.map { phone in
            try (off: Self.evening(on: phone.name), on: Self.evening(on: phone.name, compressor: "{}"))
        }
        for (off, on) in pairs {
            #expect(try on.figure("launches_cold") <= off.figure("launches_cold"), "\(on.device)")
            #expect(try on.figure("terminations_perceived") <= off.figure("terminations_perceived"), "\(on.device)")
        }
        #expect(pairs.map(\.on.terminations) == [18, 16, 18, 6, 1, 1, 1])
        #expect(pairs.map(\.on.ofReaper) == [0, 0, 0, 5, 0, 0, 0])
    }

    /// The scenario's first comment says what would have saved the feed and the browser.
    @Test("the feed and the browser live if the user swipes the game away when the game is over")
    func quitting() throws {
        let path = ProjectScenarioTests.folder.appending(path: "evening-on-iphone.yaml").path()
        let sets = ["user.34.at=15min40s", "expect=[]"]
        let evening = try Self.run(
            try ScenarioLoader.load(path: path, overrides: Overrides(sets: sets, backend: .accounting)).get())
        for app in ["feed", "browser", "game"] { #expect(try evening.figure("terminations", of: app) == 0, "\(app)") }
        #expect(try evening.figure("launches_cold", of: "feed") == 1)
    }

    @Test("every device runs at a quarter of its size", arguments: DevicePreset.all.map(\.name))
    func scaled(device: String) throws {
        let text = """
            plimsoll: 1
            name: scaled
            duration: 40s
            backend: accounting
            device: { like: \(device) }
            scale: 25%
            apps: [ { name: game, like: big-game }, { name: mail, like: mail } ]
            user: [ { at: 0s, launch: game }, { at: 20s, launch: mail } ]
            """
        let evening = try Self.run(try Samples.load(text).get(), verify: true)
        #expect(evening.alive == 2 && evening.terminations == 0)
    }

    @Test("the scenarios of the evening hold what they expect", arguments: ["iphone", "ipad", "pixel", "chromebook"])
    func expectations(device: String) throws {
        let path = ProjectScenarioTests.folder.appending(path: "evening-on-\(device).yaml").path()
        let plan = try ScenarioLoader.load(path: path, overrides: Overrides(backend: .accounting)).get()
        for claim in try Self.run(plan).claims {
            #expect(claim.holds, "\(claim.expectation): \(claim.observed)")
        }
    }
}
