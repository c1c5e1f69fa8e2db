import Quantities
import Scenario

/// What a change of a world leaves as it is. Two runs that differ by the change are compared, so no table needs to be
/// known beforehand.
///
/// More memory is not better as such: it lets apps live longer, and whatever an app does then may cost another one.
/// What holds is said at `ample`.
package enum Relation: String, CaseIterable, Sendable {
    /// Other names, in the reverse order of the alphabet, stand in the tables where the former ones stood. No decision
    /// depends on a name, nor on the order of names.
    case renaming = "renamed apps"
    /// After two minutes in which nothing runs, everything is as it is after one, a minute later.
    case shift = "a later start"
    /// Where memory is never short, no policy does anything: the run is that of `none`, and twice the memory changes
    /// nothing.
    case ample = "ample memory"
    /// An app of the scenario that never runs changes nothing for the others.
    case idleApp = "an app that never runs"

    /// The pair of worlds that the relation compares; nil if it claims nothing about this world.
    package func pair(of world: World) -> RelatedWorlds? {
        guard let plain = world.forRelations() else { return nil }
        let pair: RelatedWorlds? =
            switch self {
            case .renaming: plain.renamed()
            case .shift: plain.shifted()
            case .ample: plain.ample()
            case .idleApp: plain.withIdleApp()
            }
        return world.options.breaksRelations ? pair?.broken : pair
    }
}

/// Two worlds whose tables must be the same but for what their relation changes.
package struct RelatedWorlds {
    package let relation: Relation
    package let first: World
    package let second: World
    /// The names of the first world with those of the second.
    var names: [(first: String, second: String)] = []

    /// How much later everything is in a later start.
    static let delay = TimeSpan.minutes(1)
    /// The app that never runs.
    static let idleApp = "idle-app"

    /// A planted breach: in the second world the launches of apps take another time.
    fileprivate var broken: RelatedWorlds {
        var world = second
        for index in (second.document["apps"]?.elements ?? []).indices {
            let path = ["apps", "\(index)", "costs", "launch"]
            let time = second.document.at(path)?.text == "7ms" ? "70ms" : "7ms"
            world.document = world.document.putting(.plain(time), at: path)
        }
        return RelatedWorlds(relation: relation, first: first, second: world, names: names)
    }
}

extension World {
    /// The world's first apps for two minutes on the accounting backend, without what says nothing about a relation.
    fileprivate func forRelations() -> World? {
        var world = self
        world.options.backend = .accounting
        (world.options.writesTimeline, world.options.writesReports) = (false, false)
        world.document = document.small(apps: 12, longest: .minutes(2))
            .changing(["device", "compressor"]) { $0.removing("codec").removing("contents") }
        guard case .success = world.reading else { return nil }
        return world
    }

    // MARK: Names

    fileprivate func renamed() -> RelatedWorlds {
        var (first, second) = (self, self)
        first.document = document.withoutDraws
        let all = document.appNames + document.names(in: "processes")
        // The first name of the alphabet becomes the last one.
        let ranks = all.sorted().enumerated().map { ($0.element, 999 - $0.offset) }
        let names = ranks.map { (first: $0.0, second: "zq\($0.1)q") }
        second.document = first.document.replacingNames(names)
        second.policyFile = policyFile?.replacingNames(names)
        return RelatedWorlds(relation: .renaming, first: first, second: second, names: names)
    }

    // MARK: Time

    /// Nil if something happens by the clock, not by what happened before: what runs from the beginning, or looks at
    /// times that depend on each other.
    fileprivate func shifted() -> RelatedWorlds? {
        let policy = policyFile ?? document["policy"]
        // Until an app has two uses, the mean time between them is that since the run began.
        guard policy?.isOrNames("earlyoom") != true, policy?.mentions("use_gap") != true else { return nil }
        var (first, second) = (self, self)
        first.document = document.removing("start").changing(["monitor"]) { $0.removing("missed") }
            .putting(.plain("500ms"), at: ["monitor", "interval"])
            .changing(["processes"]) { .list(($0.elements ?? []).map { $0.removing("keeps_alive") }) }
        // The system's files are in memory from the beginning, and age from then on.
        if document["device"]?["like"] != nil || document["device"]?["file_cache"]?["system"] != nil {
            first.document = first.document.putting(.plain("off"), at: ["device", "file_cache"])
        }
        // Conditions that hold for a while from the beginning hold in both when the first app runs.
        second.document = first.document.later(by: RelatedWorlds.delay * 2)
        first.document = first.document.later(by: RelatedWorlds.delay)
        return RelatedWorlds(relation: .shift, first: first, second: second)
    }

    // MARK: Memory

    /// Nil if the world's policy has rules, which may act on whatever they claim. Others have their defaults: a
    /// parameter may call all of the RAM too little.
    fileprivate func ample() -> RelatedWorlds? {
        let policy = policyFile ?? document["policy"]
        guard policy?["rules"] == nil else { return nil }
        var (first, second) = (self, self)
        first.policyFile = nil
        first.document = document.putting(.plain(policy?.text ?? policy?["name"]?.text ?? "ladder"), at: ["policy"])
        for key in ["limits", "monitor", "scale"] { first.document = first.document.removing(key) }
        first.options.scale = nil
        // Without what looks at a share of the RAM, however much is free.
        let kept = [
            "reserved", "cores", "fill_rate", "reclaim_rate", "termination_time", "dirty_decay", "page", "app_limit",
        ]
        first.document = first.document.small(apps: 6, longest: .minutes(2)).withoutDraws
            .changing(["device"]) { device in
                .record((device.entries ?? []).filter { kept.contains($0.key) }.map { ($0.key, $0.value) })
            }
            .changing(["start"]) { .list(($0.elements ?? []).map { $0.removing("compressed") }) }
        second.document = first.document.putting(.plain("32GiB"), at: ["device", "ceiling"])
            .putting(.plain("none"), at: ["policy"])
        second.options = first.options
        second.policyFile = nil
        first.document = first.document.putting(.plain("16GiB"), at: ["device", "ceiling"])
        return RelatedWorlds(relation: .ample, first: first, second: second)
    }

    // MARK: Apps

    /// Nil if the number of apps decides what the user does.
    fileprivate func withIdleApp() -> RelatedWorlds? {
        guard !(document["user"]?.elements ?? []).contains(where: { $0["model"] != nil }) else { return nil }
        var second = self
        let memory = Tree.record([("base", .plain("64KiB")), ("scene", .plain("0B"))])
        let idle = Tree.record([("name", .plain(RelatedWorlds.idleApp)), ("memory", memory)])
        second.document = document.changing(["apps"]) { .list([idle] + ($0.elements ?? [])) }
        return RelatedWorlds(relation: .idleApp, first: self, second: second)
    }
}

extension Tree {
    /// Whether it is the policy with this name, or names it.
    fileprivate func isOrNames(_ policy: String) -> Bool { (text ?? self["name"]?.text) == policy }

    /// Whether a key or a text has the word.
    fileprivate func mentions(_ word: String) -> Bool {
        if let text { return text.contains(word) }
        if let elements { return elements.contains { $0.mentions(word) } }
        return entries?.contains { $0.key == word || $0.value.mentions(word) } ?? false
    }

    /// The document without what apps draw by lot: each draws from a stream with its name.
    fileprivate var withoutDraws: Tree {
        var document = self
        for list in ["apps", "processes"] {
            for index in (self[list]?.elements ?? []).indices {
                document = document.changing([list, "\(index)"]) { $0.withoutDraws(isApp: list == "apps") }
            }
        }
        return document
    }

    private func withoutDraws(isApp: Bool) -> Tree {
        var app = removing("crashes_after").removing("hangs_after")
            .putting(.record([("constant", .plain("4KiB"))]), at: ["memory", "objects"])
        if isApp { app = app.putting(.plain("0%"), at: ["spread"]) }
        for key in ["background", "warnings"] + (isApp ? ["disconnect"] : []) {
            let share = self[key]?["ignores"]?.text.flatMap { try? Ratio(parsing: $0) } ?? .zero
            app = app.putting(.plain(share > .percent(50) ? "100%" : "0%"), at: [key, "ignores"])
        }
        return app
    }

    /// The document with other names wherever a text has one of them as a word.
    fileprivate func replacingNames(_ names: [(first: String, second: String)]) -> Tree {
        if let text {
            let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
                names.first { $0.first == word }?.second ?? String(word)
            }
            let replaced = words.joined(separator: " ")
            return replaced == text ? self : words.count > 1 ? .string(replaced) : .plain(replaced)
        }
        if let elements { return .list(elements.map { $0.replacingNames(names) }) }
        guard let entries else { return self }
        return .record(entries.map { ($0.key, $0.value.replacingNames(names)) })
    }

    /// The document with this much time before its first event.
    fileprivate func later(by delay: TimeSpan) -> Tree {
        func later(_ tree: Tree, _ key: String) -> Tree {
            tree.changing([key]) { value in
                value.text.flatMap { try? TimeSpan(parsing: $0) }.map { .plain("\($0 + delay)") } ?? value
            }
        }
        func event(_ tree: Tree) -> Tree {
            guard tree["at"] == nil else { return later(tree, "at") }
            let isOpen = tree["from"] == nil
            return later(later(isOpen ? tree.putting(.plain("0s"), at: ["from"]) : tree, "from"), "to")
        }
        return later(self, "duration")
            .changing(["user"]) { .list(($0.elements ?? []).map(event)) }
            .changing(["device", "wired"]) { .list(($0.elements ?? []).map { later($0, "at") }) }
    }
}
