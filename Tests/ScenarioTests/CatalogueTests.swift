import Quantities
import Scenario
import Simulation
import Testing

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

    @Test("a cold launch takes about 1.2 s, a hot one at most 75 ms", arguments: Archetype.all.map(\.name))
    func launches(name: String) throws {
        let costs = try #require(Archetype.named(name)).profile.costs
        let hot = costs.enterForeground + costs.activate
        let cold = costs.process + costs.launch + costs.connect + hot
        #expect(hot >= .milliseconds(50) && hot <= .milliseconds(75))
        #expect(cold <= .seconds(2))
    }
}
