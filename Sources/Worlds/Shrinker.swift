import Quantities
import Scenario

/// Makes a document smaller while it still fails in the same way: removes whole apps and events, then keys, then
/// simplifies values. The caller decides what counts as failing.
package struct Shrinker {
    package private(set) var document: Tree
    /// The number of tests left.
    private var questions: Int
    private let fails: (Tree) -> Bool

    /// - Parameters:
    ///   - questions: The most times that it may test a smaller document.
    ///   - fails: Whether a document fails in the same way as the first one.
    package init(_ document: Tree, questions: Int, fails: @escaping (Tree) -> Bool) {
        self.document = document
        self.questions = questions
        self.fails = fails
    }

    /// Shrinks until nothing more can be removed.
    package mutating func shrink() {
        var before: Tree
        repeat {
            before = document
            shorten()
            removeElements(at: ["user"])
            removeApps()
            removeKeys()
            removeFromLists()
            simplifyValues()
            nameAppsBriefly()
        } while document != before && questions > 0
    }

    /// Keeps the candidate if it fails, and returns whether it does.
    private mutating func keep(_ candidate: Tree) -> Bool {
        guard questions > 0, candidate != document else { return false }
        questions -= 1
        guard fails(candidate) else { return false }
        document = candidate
        return true
    }

    // MARK: Time

    /// Ends the run earlier and removes what would happen after that.
    private mutating func shorten() {
        for share in [10, 25, 50, 75, 90] as [Int64] {
            guard let duration = document["duration"]?.text.flatMap({ try? TimeSpan(parsing: $0) }) else { return }
            let seconds = max(1, duration.microseconds * share / 100 / 1_000_000)
            if TimeSpan.seconds(seconds) < duration, keep(document.ending(after: .seconds(seconds))) {
                return shorten()
            }
        }
    }

    // MARK: Lists

    /// Removes elements of a list, at first many at once: Zeller and Hildebrandt, "Simplifying and isolating
    /// failure-inducing input" (2002).
    private mutating func removeElements(at path: [String]) {
        guard var count = document.at(path)?.elements?.count, count > 0 else { return }
        var size = count
        while size > 0 {
            var start = count - size
            while start > -size {
                let range = max(0, start)..<min(count, start + size)
                if keep(document.changing(path) { $0.removing(range) }) { count -= range.count }
                start -= size
            }
            size /= 2
        }
    }

    private mutating func removeFromLists() {
        for path in document.paths where document.at(path)?.elements != nil && path != ["apps"] {
            removeElements(at: path)
        }
    }

    /// Removes other processes and then apps, each together with what refers to it; one app stays.
    private mutating func removeApps() {
        for list in ["processes", "apps"] {
            let least = list == "apps" ? 1 : 0
            var size = document.names(in: list).count
            while size > 0 {
                var names = document.names(in: list)
                while !names.isEmpty {
                    let some = Array(names.suffix(size))
                    names.removeLast(some.count)
                    if some.count + least <= document.names(in: list).count { _ = keep(document.without(some)) }
                }
                size /= 2
            }
        }
    }

    // MARK: Keys and values

    /// Removes keys, outer ones first, because inner ones go with them.
    private mutating func removeKeys() {
        for path in document.paths where document.at(path) != nil {
            guard let key = path.last, Int(key) == nil else { continue }
            _ = keep(document.changing(Array(path.dropLast())) { $0.removing(key) })
        }
    }

    private mutating func simplifyValues() {
        for path in document.paths {
            guard let value = document.at(path) else { continue }
            // A longer run is not simpler, even if its duration is rounder.
            for plainer in value.plainer where path != ["duration"] && keep(document.changing(path) { _ in plainer }) {
                break
            }
        }
    }

    private mutating func nameAppsBriefly() {
        let letters = "abcdefghijklmnopqrstuvwxyz".map { String($0) }
        guard document.appNames.count <= letters.count else { return }
        for (index, name) in document.appNames.enumerated() where name != letters[index] {
            _ = keep(document.renaming(name, to: letters[index]))
        }
        _ = keep(document.changing(["name"]) { _ in .plain("w") })
    }
}

// The steps of a path are keys or indices of lists.
extension Tree {
    var appNames: [String] { names(in: "apps") }

    /// The names of the apps, or of the `processes`.
    func names(in list: String) -> [String] { (self[list]?.elements ?? []).compactMap { $0["name"]?.text } }

    func at(_ path: [String]) -> Tree? {
        path.reduce(self) { tree, step in
            guard let elements = tree?.elements else { return tree?[step] }
            return Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        }
    }

    /// The paths of all values, outer ones before inner ones.
    var paths: [[String]] {
        var found: [[String]] = []
        var level: [([String], Tree)] = [([], self)]
        while !level.isEmpty {
            var next: [([String], Tree)] = []
            for (path, tree) in level {
                if !path.isEmpty { found.append(path) }
                for entry in tree.entries ?? [] { next.append((path + [entry.key], entry.value)) }
                for (index, element) in (tree.elements ?? []).enumerated() {
                    next.append((path + ["\(index)"], element))
                }
            }
            level = next
        }
        return found
    }

    func changing(_ path: [String], _ change: (Tree) -> Tree) -> Tree {
        guard let step = path.first else { return change(self) }
        let rest = Array(path.dropFirst())
        if let elements, let index = Int(step) {
            return .list(elements.enumerated().map { $0 == index ? $1.changing(rest, change) : $1 })
        }
        return .record((entries ?? []).map { ($0.key, $0.key == step ? $0.value.changing(rest, change) : $0.value) })
    }

    func removing(_ range: Range<Int>) -> Tree {
        var kept = elements ?? []
        kept.removeSubrange(range)
        return .list(kept)
    }

    func removing(_ key: String) -> Tree {
        .record((entries ?? []).filter { $0.key != key }.map { ($0.key, $0.value) })
    }

    /// The document without these apps and processes, what belongs to them, and everything that refers to them: events,
    /// entries of the start, and names in lists.
    func without(_ names: [String]) -> Tree {
        let parts = self["processes"]?.elements ?? []
        let gone = names + parts.filter { names.contains($0["of"]?.text ?? "") }.compactMap { $0["name"]?.text }
        func isGone(_ element: Tree, _ key: String) -> Bool {
            switch key {
            case "user": (element.entries ?? []).contains { gone.contains($0.value.text ?? "") }
            case "apps", "processes": gone.contains((element["name"] ?? element).text ?? "")
            case "start": gone.contains(element["process"]?.text ?? "")
            default: gone.contains(element.text ?? "")
            }
        }
        func cleaned(_ tree: Tree, _ key: String) -> Tree {
            if let elements = tree.elements {
                return .list(elements.filter { !isGone($0, key) }.map { cleaned($0, "") })
            }
            guard let entries = tree.entries else { return tree }
            return .record(entries.map { ($0.key, cleaned($0.value, $0.key)) })
        }
        var document = cleaned(self, "").changing(["control_groups"]) { groups in
            .list((groups.elements ?? []).filter { $0["processes"]?.elements?.isEmpty == false })
        }
        for list in ["start", "processes", "control_groups"] where document[list]?.elements?.isEmpty == true {
            document = document.removing(list)
        }
        return document
    }

    /// The document with this duration, without the events after it.
    package func ending(after duration: TimeSpan) -> Tree {
        func isLater(_ event: Tree, _ key: String) -> Bool {
            guard let time = event[key]?.text.flatMap({ try? TimeSpan(parsing: $0) }) else { return false }
            return time > duration
        }
        let text = Tree.plain("\(duration)")
        return changing(["duration"]) { _ in text }.changing(["user"]) { user in
            let kept = (user.elements ?? []).filter { !isLater($0, "at") && !isLater($0, "from") }
            return .list(kept.map { isLater($0, "to") ? $0.changing(["to"]) { _ in text } : $0 })
        }
    }

    func renaming(_ name: String, to other: String) -> Tree {
        if text == name { return .plain(other) }
        if let elements { return .list(elements.map { $0.renaming(name, to: other) }) }
        guard let entries else { return self }
        return .record(entries.map { ($0.key, $0.value.renaming(name, to: other)) })
    }

    /// Simpler values, the simplest first.
    fileprivate var plainer: [Tree] {
        if let entries {
            // A mapping with only a name becomes the name; a repeated event becomes a single one.
            if entries.count == 1, entries[0].key == "name" { return [entries[0].value] }
            if self["every"] != nil {
                let rest = entries.filter { !["every", "from", "to"].contains($0.key) }.map { ($0.key, $0.value) }
                return [.record([("at", self["from"] ?? .plain("0s"))] + rest)]
            }
            for key in ["all", "any"] where entries.count == 1 {
                if let parts = entries[0].value.elements, entries[0].key == key, parts.count == 1 { return [parts[0]] }
            }
            return []
        }
        guard let text else { return [] }
        if let time = try? TimeSpan(parsing: text) {
            return Tree.rounder(time.microseconds).map { .plain("\(TimeSpan(microseconds: $0))") }
        }
        if let size = try? ByteCount(parsing: text) { return Tree.rounder(size).map { .plain("\($0)") } }
        if let rate = try? ByteRate(parsing: text) {
            return Tree.rounder(ByteCount(rate.bytesPerSecond)).map { .plain("\($0)/s") }
        }
        if let number = Int(text), number > 1 { return [.plain("1")] }
        if text.hasSuffix("%"), text != "0%", text != "100%" { return [.plain("0%"), .plain("100%")] }
        return []
    }

    /// Zero first, then round times near the value.
    private static func rounder(_ microseconds: Int64) -> [Int64] {
        guard microseconds > 0 else { return [] }
        let units: [Int64] = [60_000_000, 10_000_000, 1_000_000, 100_000, 1_000]
        return [0]
            + units.flatMap { unit -> [Int64] in
                let down = microseconds / unit * unit
                return [down, down + unit].filter { $0 > 0 && microseconds % unit != 0 }
            }
    }

    private static func rounder(_ size: ByteCount) -> [ByteCount] {
        ([100 << 20, 10 << 20, 1 << 20, 1 << 10] as [Int]).flatMap { unit -> [ByteCount] in
            let down = size.bytes / unit * unit
            return [down, down + unit].filter { $0 > 0 && size.bytes % unit != 0 }.map { (bytes: Int) in
                ByteCount(bytes)
            }
        }
    }
}
