import Quantities
import Scenario
import Simulation
import Testing
import Workload

@Suite("the catalogue of archetypes")
struct CatalogueTests {
    @Test("there are at least fourteen, each with its own name and summary")
    func names() {
        let names = Archetype.all.map(\.name)
        #expect(names.count >= 14)
        #expect(Set(names).count == names.count)
        #expect(Set(Archetype.all.map(\.summary)).count == names.count)
        #expect(Archetype.all.allSatisfy { $0.profile.like == $0.name && $0.profile.name.isEmpty })
    }

    @Test("each loads as it is, and comes back from the effective scenario", arguments: Archetype.all.map(\.name))
    func loads(name: String) throws {
        let text = Samples.minimal.replacing("{ name: only }", with: "{ name: only, like: \(name) }")
        let plan = try Samples.load(text.replacing("256MiB", with: "2GiB")).get()
        var profile = try #require(Archetype.named(name)).profile
        profile.name = "only"
        #expect(plan.apps == [profile])
        #expect(try Samples.load(EffectiveScenario.yaml(of: plan)).get() == plan)
    }

    @Test("what an archetype holds stays in the range of real apps", arguments: Archetype.all.map(\.name))
    func ranges(name: String) throws {
        let app = try #require(Archetype.named(name)).profile
        let memory = app.memory
        let launched = memory.base + memory.scene
        let full = max(memory.base, memory.growth.upTo) + memory.scene + memory.cache.size
        #expect(launched >= .mebibytes(10) && launched <= .mebibytes(330))
        #expect(full <= .mebibytes(830))
        if let limit = app.limits.active { #expect(full < limit) }
    }

    @Test(
        "the behaviours of memory occur in it: turnover, growing scenes, saw-teeth, bursts, leaks, reading, histograms")
    func behaviours() {
        let all = Archetype.all.map(\.profile.memory)
        #expect(all.contains { $0.cache.turnover > .zero })
        #expect(all.contains { $0.sceneGrowth.rate > .zero })
        #expect(all.contains { $0.sawTooth.size > .zero })
        #expect(all.contains { !$0.bursts.isEmpty })
        #expect(all.contains { $0.leak > .zero })
        #expect(all.contains { $0.growth.rate > .zero })
        #expect(all.count { $0.churn.rate > .zero } >= 14)
        #expect(all.count { $0.read > .zero } >= 6)
        #expect(all.contains { if case .histogram = $0.objects { true } else { false } })
    }

    @Test("the widget's objects have the quantiles and, within 4 %, the mean of the recorded trace")
    func histogram() throws {
        let sampler = SizeSampler(try #require(Archetype.named("widget")).profile.memory.objects)
        var generator = SeededGenerator(seed: 1, stream: "histogram")
        let sizes = (0..<400_000).map { _ in sampler.next(using: &generator) }.sorted()
        #expect(sizes[sizes.count / 2 - 2_000] == 44)
        #expect(sizes[sizes.count * 89 / 100] == 696)
        #expect(sizes[sizes.count * 99 / 100] == 7_116)
        #expect(sizes.last == 278_528)
        let mean = Double(sizes.reduce(0, +)) / Double(sizes.count)
        // 202,033,137 bytes is the sum for malloc, calloc, memalign and realloc.
        #expect(abs(mean / (202_033_137 / 421_234) - 1) < 0.04, "\(mean)")
    }

    @Test("a cold launch takes about 1.2 s, a hot one at most 75 ms", arguments: Archetype.all.map(\.name))
    func launches(name: String) throws {
        let costs = try #require(Archetype.named(name)).profile.costs
        let hot = costs.enterForeground + costs.activate
        let cold = costs.process + costs.launch + costs.connect + hot
        #expect(hot >= .milliseconds(50) && hot <= .milliseconds(75))
        #expect(cold <= .seconds(2))
    }
}
