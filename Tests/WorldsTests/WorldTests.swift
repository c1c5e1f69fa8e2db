import Quantities
import Testing

@testable import Scenario
@testable import Worlds

@Suite("random worlds")
struct WorldTests {
    @Test("the loader accepts every one, and the policy of every policy file", arguments: 0..<10)
    func valid(block: UInt64) {
        // The soak of `Scripts/test --all` loads four hundred worlds before it runs them.
        for seed in block * 10..<block * 10 + 10 {
            let world = World(seed: seed)
            let overrides = Overrides(scale: world.options.scale)
            if case .failure(let fault) = ScenarioLoader.load(
                text: world.document.denseYAML, file: "world-\(seed)", overrides: overrides)
            {
                Issue.record("seed \(seed): \(fault)")
            }
        }
    }

    @Test("the same seed gives the same world, another seed another one")
    func same() {
        for seed in 0..<40 as Range<UInt64> {
            #expect(World(seed: seed).document == World(seed: seed).document)
            #expect(World(seed: seed).document != World(seed: seed + 1).document)
        }
    }

    @Test("in some worlds jetsam goes by rounds, in others its reaper sweeps, with what lives when the run begins")
    func restless() {
        var (rounds, sweeps) = (0, 0)
        for seed in 76...100 as ClosedRange<UInt64> {
            let world = World(seed: seed, backend: .accounting)
            guard let parameters = world.document["policy"]?["parameters"],
                let start = world.document["start"]?.elements, start.allSatisfy({ $0["relaunched_after"] != nil })
            else { continue }
            if parameters["critical"]?.text == "100%", parameters["aggressive_candidates"] != nil { rounds += 1 }
            if parameters["reaper"]?.text == "100%", parameters["reaper_rest"] != nil { sweeps += 1 }
            if case .failure(let fault) = world.reading { Issue.record("seed \(seed): \(fault)") }
        }
        #expect(rounds > 0 && sweeps > 0, "\(rounds) by rounds, \(sweeps) sweep")
    }

    @Test("at the edges a world is another one that the loader accepts, and the same for the same seed")
    func edges() {
        var changed = 0
        #expect(World(seed: 1).atTheEdges().document == World(seed: 1).atTheEdges().document)
        // Scripts/soak --far reads each before it runs it.
        for seed in 1..<4 as Range<UInt64> {
            let world = World(seed: seed).atTheEdges()
            if world.document != World(seed: seed).document { changed += 1 }
            if case .failure(let fault) = world.reading { Issue.record("seed \(seed): \(fault)") }
        }
        #expect(changed >= 2, "\(changed) of 3 worlds were edited")
    }

    @Test("edits reach a full start, a tight pool, a large device, an odd duration and the ends of ranges")
    func edits() {
        let document = World(seed: 4, backend: .accounting).document.removing("backend")
        var kinds: Set<String> = []
        for first in 0..<12 {
            for second in 0..<40 {
                var choices = [first, second, second / 2, second / 3, second]
                let edited = document.edited { bound in (choices.popLast() ?? 1) % max(1, bound) }
                if edited == document { continue }
                if edited["device"]?["ceiling"] != document["device"]?["ceiling"] { kinds.insert("ceiling") }
                if edited["device"]?["compressor"]?["pool"]?.text != nil { kinds.insert("pool") }
                if edited["duration"] != document["duration"] { kinds.insert("duration") }
                if edited["start"] != document["start"] { kinds.insert("start") }
                if edited["apps"] != document["apps"] { kinds.insert("apps") }
            }
        }
        #expect(kinds.isSuperset(of: ["ceiling", "pool", "duration", "apps"]), "\(kinds.sorted())")
    }

    @Test("a key whose field says how often it is drawn needs no code, and leaves the rest of the world as it is")
    func drawnAlone() throws {
        let key = FormatKey(
            record: "apps[].memory", name: "new", drawn: .numbers(1, 9), chance: 50, none: nil, isUnscaled: false)
        let old = World(seed: 7).document
        var new = old.extended(by: [key], 7)
        #expect(new == old.extended(by: [key], 7) && old == old.extended(by: [], 7))
        let apps = try #require(new["apps"]?.elements)
        let values = Set(apps.compactMap { $0["memory"]?["new"]?.text })
        #expect(values.count > 1 && values.isSubset(of: (1...9).map { "\($0)" }))
        #expect(apps.contains { $0["memory"] != nil && $0["memory"]?["new"] == nil })
        for index in apps.indices { new = new.changing(["apps", "\(index)", "memory"]) { $0.removing("new") } }
        #expect(new == old)
    }

    /// Today five hundred worlds cover every word. An addition to a catalogue changes all worlds, and a rare word may
    /// then need a few more.
    @Test("together they say every word of the format: keys, named values, parameters, claims, actions")
    func vocabulary() {
        var occurrences = Occurrences()
        for seed in 0..<2_000 as Range<UInt64> {
            occurrences.add(Vocabulary.words(of: World(seed: seed)))
            if seed >= 499 && seed % 100 == 99 && occurrences.rare(Vocabulary.all, below: 1).isEmpty { break }
        }
        for (word, _) in occurrences.rare(Vocabulary.all, below: 1) { Issue.record("no world has '\(word)'") }
        for (word, count) in occurrences.rare(Vocabulary.actions, below: 5) {
            Issue.record("only \(count) worlds have '\(word)'")
        }
    }
}
