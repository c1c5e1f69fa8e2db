import Foundation
import Metrics
import Quantities
import Reclaim
import Simulation
import Testing
import Workload

@testable import Scenario

/// The listings on the page about extending are `ShortestStraw.swift`, `Radio.swift` and `Reopenings.swift`, which are
/// compiled here.
@Suite("the page on extending")
struct ExtendingTests {
    private static let page = ProjectScenarioTests.folder.deletingLastPathComponent()
        .appending(path: "Sources/Simulation/Simulation.docc/Extending.md")

    /// The code of a file without the imports that only the test target needs.
    private static func code(_ file: String) throws -> String {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let text = try String(contentsOf: folder.appending(path: "\(file).swift"), encoding: .utf8)
        let lines = text.components(separatedBy: "\n").filter { line in
            !line.hasPrefix("@testable import ") && line != "import Reclaim"
        }
        return lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }

    @Test("the page's listings are the code that is compiled")
    func listings() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let listings = page.components(separatedBy: "   ```swift\n").dropFirst().map { part in
            part.components(separatedBy: "   ```")[0].components(separatedBy: "\n").map { line in
                line.hasPrefix("   ") ? String(line.dropFirst(3)) : line
            }.joined(separator: "\n").trimmingCharacters(in: .newlines)
        }
        #expect(try listings == ["ShortestStraw", "Radio", "Reopenings"].map(Self.code))
    }

    @Test("an archetype and a metric of one's own are like those of the lists")
    func others() throws {
        #expect(Archetype.radio.profile.like == "radio" && Archetype.radio.profile.backgroundModes == [.audio])
        let (tally, _) = try Self.run(seed: 1)
        let value = try #require(SummaryMetric.reopenings.first).value(tally)
        #expect(value == .count(tally.launches.count - Set(tally.launches.map(\.app)).count))
    }

    // MARK: Lots

    private static func run(seed: UInt64) throws -> (tally: RunTally, records: [DecisionRecord]) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h"]
        let text = """
            plimsoll: 1
            name: lots
            seed: \(seed)
            duration: 45s
            backend: accounting
            device: { ceiling: 400MiB, reserved: 20MiB }
            policy: none
            apps: [\(names.map { "{ name: \($0) }" }.joined(separator: ", "))]
            user: [\(names.enumerated().map { "{ at: \($0 * 5)s, launch: \($1) }" }.joined(separator: ", "))]
            """
        let plan = try ScenarioLoader.load(text: text, file: "lots.yaml").get()
        var records: [DecisionRecord] = []
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(), sinks: RunSinks { _ in MemorySink() }, policy: ShortestStraw(),
            observer: { records.append($0) })
        _ = try simulation.run()
        return (simulation.tally, records)
    }

    private static func lots(_ records: [DecisionRecord]) -> [[Int64]] {
        records.map { $0.decision.ranking.map(\.score) }
    }

    @Test("a policy that draws lots draws the same in the same run, and others with another seed")
    func lots() throws {
        let (first, again, other) = try (Self.run(seed: 1), Self.run(seed: 1), Self.run(seed: 2))
        #expect(first.records.contains { $0.decision.ranking.count > 1 })
        #expect(Self.lots(first.records) == Self.lots(again.records))
        #expect(Self.lots(first.records) != Self.lots(other.records))
        #expect(Set(first.records.map(\.snapshot.seed)).count > 1, "the same lots at every instant")
    }

    @Test("asked again about a moment it draws the lots of that moment, and names those that it spared")
    func again() throws {
        let (_, records) = try Self.run(seed: 1)
        let acts = records.filter { !$0.decision.ranking.isEmpty }
        #expect(!acts.isEmpty)
        for record in acts {
            #expect(ShortestStraw().decide(record.snapshot) == record.decision)
            let named = Set(record.decision.ranking.map(\.action.target) + record.decision.spared.map(\.pid))
            #expect(named == Set(record.snapshot.processes.map(\.pid)))
        }
    }
}
