import Explanation
import Metrics
import Plan
import Quantities
import Scenario
import Testing

@testable import Survival

@Suite("how much the answer of survive hangs on guesses")
struct GuessedSurvivalTests {
    /// A device with a compressor: some of its figures are guesses.
    private static let guessed = """
        plimsoll: 1
        name: guessed
        duration: 2min
        device: { ceiling: 448MiB, reserved: 64MiB, compressor: {}, swap: { zram: false } }
        policy: jetsam
        apps:
          - { name: mine, like: plain, memory: { base: 150MiB, objects: { constant: 64KiB } } }
          - { name: game, like: plain, memory: { base: 150MiB, objects: { constant: 64KiB } } }
        user:
          - { at: 1s, launch: mine }
          - { at: 40s, launch: game }
        """

    private static func question(seeds: Int, _ sets: [String] = []) throws -> Question {
        let plan = try ScenarioLoader.load(
            text: guessed, file: "test.yaml", overrides: Overrides(sets: sets, backend: .accounting)
        ).get()
        return Question(plan: plan, app: 0, seeds: (1...UInt64(seeds)).map { $0 }, share: .percent(90))
    }

    private static let alive = Fate(processes: 1)

    private static let ended = Fate(
        processes: 1, isWhole: false,
        ends: [.init(at: 1_000_000, reason: "memoryPressure", wasForeground: false)])

    /// The runs of one guess end the app, all others do not.
    private func deciding(seeds: Int) throws -> GuessedSurvival {
        var guessed = GuessedSurvival(try Self.question(seeds: seeds))
        let requests = guessed.requests(own: [Fate](repeating: Self.alive, count: seeds))
        guessed.take(requests.map { $0.entry == Study.mostSettings ? Self.ended : Self.alive })
        return guessed
    }

    @Test("the fate of an app that the system ends does not live")
    func fates() {
        #expect(Self.alive.lives == true && Self.ended.lives == false)
    }

    @Test("each other value runs under the first ten seeds, each draw under one, and no run is asked for twice")
    func requests() throws {
        for seeds in [1, 3, 60] {
            let question = try Self.question(seeds: seeds)
            var guessed = GuessedSurvival(question)
            #expect(guessed.guesses.count >= 3)
            let requests = guessed.requests(own: [Fate](repeating: Self.alive, count: seeds))
            let others = guessed.guesses.reduce(0) { $0 + $1.values.count { !$0.isOwn } }
            #expect(requests.count == others * min(10, seeds) + 40 && requests.count == guessed.count)
            #expect(requests.allSatisfy { $0.untilEnd && $0.app == 0 && $0.plan.seed == question.seeds[$0.seed] })
            // The ledger has a place for each, behind those of the study.
            let places = Set(requests.map { $0.entry * seeds + $0.seed })
            #expect(places.count == requests.count)
            let first = Study.mostSettings
            #expect(requests.allSatisfy { (first..<first + GuessedSurvival.mostSettings).contains($0.entry) })
            #expect(requests.suffix(40).map(\.seed) == (0..<40).map { $0 % seeds })
            // Alone, a guess differs from the question's plan; the same question asks for the same runs.
            var own = question.plan
            for request in requests.dropLast(40) {
                own.seed = request.plan.seed
                #expect(request.plan != own)
            }
            var again = GuessedSurvival(question)
            let repeated = again.requests(own: [Fate](repeating: Self.alive, count: seeds))
            #expect(repeated.map(\.plan) == requests.map(\.plan))
        }
    }

    @Test("only a guess whose values differ is said to decide; the others are named")
    func words() throws {
        let guessed = try deciding(seeds: 4)
        let said = guessed.sentences
        try #require(said.count == 3)
        let usual = "and in 4 of 4 runs as the device is assumed."
        #expect(said[0] == "It survives in 40 of 40 draws of all guesses together, \(usual)")
        let titles = guessed.guesses.map(\.title)
        #expect(said[1].hasPrefix("What decides by itself, in 4 runs each: \(titles[0]) ("), "\(said[1])")
        #expect(said[1].contains(": 0 of 4") && said[1].contains(": 4 of 4 as assumed"), "\(said[1])")
        let rest = titles.dropFirst().joined(separator: ", ")
        #expect(said[2] == "These do not matter within their ranges: \(rest).")
        #expect(titles.dropFirst().allSatisfy { !said[1].contains($0) })
    }

    @Test("where nothing decides, where nothing is a guess and where the app never comes, a sentence or none says so")
    func nothing() throws {
        var same = GuessedSurvival(try Self.question(seeds: 2))
        same.take(same.requests(own: [Self.alive, Self.alive]).map { _ in Self.alive })
        #expect(same.sentences.count == 2 && same.sentences[1].hasPrefix("No guess by itself matters"))
        var plain = GuessedSurvival(try Self.question(seeds: 2, ["device.compressor=off"]))
        #expect(plain.guesses.isEmpty && plain.count == 0)
        #expect(plain.requests(own: [Self.alive, Self.alive]).isEmpty)
        #expect(plain.sentences.count == 1 && plain.sentences[0].hasPrefix("The answer hangs on no guess"))
        var absent = GuessedSurvival(try Self.question(seeds: 2))
        #expect(absent.requests(own: [Fate(), Fate()]).isEmpty && absent.sentences.isEmpty && absent.runs == 0)
    }

    @Test("the table has a row per value of a guess, the scenario's own among them, and one per draw")
    func table() throws {
        let guessed = try deciding(seeds: 3)
        let sink = MemorySink()
        let table = TableWriter(SurvivalTables.guesses, to: sink)
        guessed.write(to: table)
        table.flush()
        let values = guessed.guesses.reduce(0) { $0 + $1.values.count }
        #expect(table.failure == nil && table.rows == values + 40)
        let lines = sink.text.split(separator: "\n")
        #expect(lines.first == "guess,key,value,is_own,lives,runs")
        #expect(lines.count { $0.hasPrefix("draw,,") } == 40 && lines.last?.hasSuffix(",1,1") == true)
        #expect(lines.count { $0.hasSuffix(",0,3") } == 1)
    }
}
