import Quantities
import Scenario
import Testing

@testable import Worlds

/// The runs themselves are compared by `soak --relations`.
@Suite("what a change of a world leaves as it is")
struct RelationTests {
    private let world = World(seed: 4, backend: .accounting)

    private func bytes(_ rows: String...) -> [UInt8] { Array((rows.joined(separator: "\n") + "\n").utf8) }

    @Test("the loader accepts most pairs, and the two worlds differ", arguments: Relation.allCases)
    func pairs(relation: Relation) {
        var accepted = 0
        for seed in 1...8 as ClosedRange<UInt64> {
            guard let pair = relation.pair(of: World(seed: seed)) else { continue }
            #expect(pair.first.document != pair.second.document, "seed \(seed)")
            if case .success = pair.first.reading, case .success = pair.second.reading { accepted += 1 }
        }
        #expect(accepted >= 4, "\(accepted) of 8")
    }

    @Test("new names reverse the order of the alphabet, and a cell that is another one is a difference")
    func renaming() throws {
        let pair = try #require(Relation.renaming.pair(of: world))
        let ordered = pair.names.sorted { $0.first < $1.first }
        #expect(ordered.map(\.second) == ordered.map(\.second).sorted(by: >) && ordered.count > 2)
        let (old, new) = (ordered[0].first, ordered[0].second)
        #expect(pair.second.document.appNames.contains(new) && !pair.second.document.appNames.contains(old))
        let header = "time_s,app,reason"
        let first = bytes(header, "1,\(old),for \(old)")
        #expect(pair.difference(first, bytes(header, "1,\(new),for \(new)")) == nil)
        #expect(pair.difference(first, bytes(header, "1,\(new),for \(ordered[1].second)"))?.column == "reason")
        #expect(pair.difference(first, bytes(header))?.column == "its length")
    }

    @Test("a later start moves instants, in cells and in words, and no length of time")
    func shift() throws {
        let pair = try #require(Relation.shift.pair(of: world))
        let header = "time_s,event,duration_ms,reason"
        let first = bytes(header, "2.5,exit,7,tapped at 2.25s")
        #expect(pair.difference(first, bytes(header, "62.5,exit,7,tapped at 62.25s")) == nil)
        #expect(pair.difference(first, bytes(header, "62.5,exit,8,tapped at 62.25s"))?.column == "duration_ms")
        #expect(pair.difference(first, bytes(header, "62.5,exit,7,tapped at 62.5s"))?.column == "reason")
        #expect(pair.difference(first, bytes(header, "2.5,exit,7,tapped at 2.25s"))?.column == "time_s")
        let coming = bytes(header, "2.5,exit,7,not wanted before 9.5s; at 8s: holds 12s")
        #expect(pair.difference(coming, bytes(header, "62.5,exit,7,not wanted before 69.5s; at 68s: holds 12s")) == nil)
        // Whose clock acts before the first event says nothing.
        #expect(pair.tablesOfTheClock == ["events", "decisions"])
        #expect(!RelatedWorlds.actsByTheClock(bytes("time_s,event", "60,home", "61,exit")))
        #expect(RelatedWorlds.actsByTheClock(bytes("time_s,event", "0,pressure_level", "60,home")))
    }

    @Test("ample memory compares a policy with its defaults with none, on twice the memory")
    func ample() throws {
        let pair = try #require((1...8).lazy.compactMap { Relation.ample.pair(of: World(seed: $0)) }.first)
        #expect(pair.first.document["device"]?["ceiling"]?.text == "16GiB")
        #expect(pair.second.document["device"]?["ceiling"]?.text == "32GiB")
        #expect(pair.second.document["policy"]?.text == "none" && pair.first.document["policy"]?.text != nil)
    }

    @Test("rows of the app that never runs are left out, and no others")
    func idleApp() throws {
        let pair = try #require((1...8).lazy.compactMap { Relation.idleApp.pair(of: World(seed: $0)) }.first)
        let first = bytes("app,survived", "a,1")
        #expect(pair.difference(first, bytes("app,survived", "idle-app,0", "a,1")) == nil)
        #expect(pair.difference(first, bytes("app,survived", "idle-app,0", "a,0"))?.column == "survived")
    }

    @Test("a planted breach is another time for launches in the second world alone", arguments: Relation.allCases)
    func broken(relation: Relation) throws {
        let seed = try #require((1...8).first { relation.pair(of: World(seed: $0)) != nil })
        var world = World(seed: seed)
        let plain = try #require(relation.pair(of: world))
        world.options.breaksRelations = true
        let broken = try #require(relation.pair(of: world))
        #expect(broken.first.document == plain.first.document && broken.second.document != plain.second.document)
        let last = { (pair: RelatedWorlds) in pair.second.document["apps"]?.elements?.last }
        let (app, other) = (last(plain), last(broken))
        #expect(app?["name"]?.text == other?["name"]?.text && app?["costs"]?["launch"] != other?["costs"]?["launch"])
    }
}
