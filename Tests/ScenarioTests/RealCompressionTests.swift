import Foundation
import Memory
import Metrics
import Quantities
import Simulation
import TestSupport
import Testing

@testable import Scenario

/// Runs in which LZ4 compresses real contents, beside runs in which the sizes are drawn.
@Suite("drawn sizes and real compression", .serialized)
struct RealCompressionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let scenario: String
        let contents: String
        /// The ratio of all apps; nil for the scenario's own.
        var ratio: String?
        /// The runs' ceilings; nil for the scenario's own. One run decides too seldom to tell 95 % from 90 %.
        var ceilings: [String?] = [nil]

        var testDescription: String { "\(scenario), \(contents)\(ratio.map { ", \($0)" } ?? "")" }
    }

    /// With a head, LZ4 gives the drawn sizes by construction; with a mix of words it decides them. A mix cannot have
    /// the ratio of 2.96 that apps have without a ratio of their own.
    static let cases = [
        Case(scenario: "compressor-or-kill", contents: "head", ceilings: ["900MiB"]),
        Case(scenario: "video-does-not-compress", contents: "head"),
        Case(
            scenario: "compressor-or-kill", contents: "words", ratio: "160%",
            ceilings: ["1024MiB", "900MiB", "800MiB"]),
    ]

    private struct Run {
        let pools: [Int]
        let chosen: [[String]]

        /// The processes that decisions end, in order.
        var victims: [[String]] { chosen.filter { $0[0] == "terminate" } }
    }

    private func run(_ some: Case, _ codec: String, _ ceiling: String?) throws -> Run {
        let path = ProjectScenarioTests.folder.appending(path: "\(some.scenario).yaml").path()
        var sets = ["device.compressor.codec=\(codec)", "device.compressor.contents=\(some.contents)", "expect=[]"]
        if let ceiling { sets.append("device.ceiling=\(ceiling)") }
        let plain = try ScenarioLoader.load(path: path).get()
        if let ratio = some.ratio {
            sets += plain.apps.map { "apps.\($0.name).memory.compressibility.ratio=\(ratio)" }
        }
        // Drawn sizes are the same on either backend; contents are real memory.
        let backend = codec == "model" ? MemoryBackend.accounting : .jemalloc
        let plan = try ScenarioLoader.load(path: path, overrides: Overrides(sets: sets, backend: backend)).get()
        let sinks = RunSinks { _ in MemorySink() }
        _ = try Simulation(plan, memory: try plan.makeDevice(), sinks: sinks).run()
        func rows(_ sink: any ByteSink) -> [TableRow] { TableRow.all(in: (sink as? MemorySink)?.text ?? "") }
        return Run(
            pools: rows(sinks[RunTables.pages]).compactMap { $0.integer("pool_bytes") },
            chosen: rows(sinks[RunTables.decisions]).filter { $0["chosen"] == "true" }.map { $0.texts("action", "app") }
        )
    }

    /// How many elements two lists have in common in the same order.
    private func common(_ a: [[String]], _ b: [[String]]) -> Int {
        var lengths = [Int](repeating: 0, count: b.count + 1)
        for element in a {
            var diagonal = 0
            for index in b.indices {
                let longer = b[index] == element ? diagonal + 1 : max(lengths[index], lengths[index + 1])
                diagonal = lengths[index + 1]
                lengths[index + 1] = longer
            }
        }
        return lengths[b.count]
    }

    @Test(
        "the pool differs by at most 5 %, and 95 % of the decisions that end a process end the same one",
        arguments: cases)
    func agree(some: Case) throws {
        var (differences, alike, all) = ([Double](), 0, 0)
        for ceiling in some.ceilings {
            let (drawn, real) = (try run(some, "model", ceiling), try run(some, "lz4", ceiling))
            let pairs = zip(drawn.pools, real.pools).filter { $0.0 >= 16 << 20 }
            try #require(pairs.count > 1_000)
            differences += pairs.map { abs(Double($1) / Double($0) - 1) }
            alike += common(drawn.victims, real.victims)
            all += max(drawn.victims.count, real.victims.count)
            if some.contents == "head" { #expect(drawn.chosen == real.chosen && drawn.pools == real.pools) }
        }
        let mean = differences.reduce(0, +) / Double(differences.count)
        #expect(mean <= 0.05, "\(mean)")
        #expect(all > 1 && alike * 100 >= all * 95, "\(alike) of \(all) victims")
    }
}
