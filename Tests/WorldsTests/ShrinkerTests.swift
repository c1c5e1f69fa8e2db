import Quantities
import Scenario
import Testing

@testable import Worlds

@Suite("shrinking")
struct ShrinkerTests {
    private func isValid(_ document: Tree) -> Bool {
        switch ScenarioLoader.load(text: document.denseYAML, file: "shrunk") {
        case .success: true
        case .failure: false
        }
    }

    @Test(
        "what does not matter goes: apps with their events, keys, elements of lists, and the time after",
        arguments: 1...6)
    func small(seed: UInt64) {
        let world = World(seed: seed)
        /// Fails with two apps, own objects for one of them, and one event that names one of them.
        func fails(_ document: Tree) -> Bool {
            let words = FormatKeys.used(in: document)
            return document.appNames.count >= 2 && words.contains("apps[].memory.objects")
                && words.contains("user[].launch") && isValid(document)
        }
        guard fails(world.document) else { return }
        var shrinker = Shrinker(world.document, questions: 3_000, fails: fails)
        shrinker.shrink()
        #expect(fails(shrinker.document))
        let text = shrinker.document.denseYAML
        #expect(text.split(separator: "\n").count <= 10, "\(text)")
        #expect(shrinker.document.appNames == ["a", "b"] && shrinker.document["duration"]?.text == "1s", "\(text)")
    }

    @Test("it asks no more often than it may, and an answer that is never yes leaves the document as it was")
    func questions() {
        let world = World(seed: 1)
        var asked = 0
        var shrinker = Shrinker(world.document, questions: 40) { _ in
            asked += 1
            return false
        }
        shrinker.shrink()
        #expect(asked == 40 && shrinker.document == world.document)
    }

    @Test("an app goes with its events and its name in lists; an earlier end takes what comes after it")
    func edits() throws {
        let document = Tree.record([
            ("duration", .plain("60s")), ("limits", .record([("protected", .list([.plain("b"), .plain("a")]))])),
            ("apps", .list([.record([("name", .plain("a"))]), .record([("name", .plain("b"))])])),
            (
                "user",
                .list([
                    .record([("at", .plain("1s")), ("launch", .plain("a"))]),
                    .record([("at", .plain("2s")), ("quit", .plain("b"))]),
                    .record([("at", .plain("50s")), ("home", .plain("true"))]),
                ])
            ),
        ])
        let without = document.without(["b"])
        #expect(without.appNames == ["a"] && without["user"]?.elements?.count == 2)
        #expect(without["limits"]?["protected"]?.elements?.map(\.text) == ["a"])
        let shorter = document.ending(after: .seconds(10))
        #expect(shorter["user"]?.elements?.count == 2 && shorter["duration"]?.text == "10s")
    }
}
