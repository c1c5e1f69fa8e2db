import Quantities
import Reclaim
import Scenario

/// Rules with parameters in place of some of their numbers, and products in place of some orders.
struct DrawnParameters {
    private var draw: Draw
    /// What the rules refer to.
    private(set) var declared = Record()
    private var count = 0

    init(_ draw: Draw) { self.draw = draw }

    /// The rule, changed in some places.
    mutating func rule(_ tree: Tree) -> Tree {
        .record(
            (tree.entries ?? []).map { entry in
                switch entry.key {
                case "when", "until", "who": (entry.key, condition(entry.value))
                case "order": (entry.key, order(entry.value))
                case "take": (entry.key, amount(entry.value))
                case "cool_down": (entry.key, reference(entry.value.text, "0s..1h").map { .string($0) } ?? entry.value)
                default: (entry.key, entry.value)
                }
            })
    }

    /// Declares a parameter with this value, sometimes, and says how a rule refers to it.
    private mutating func reference(_ value: String?, _ range: String, percent: Int64 = 25) -> String? {
        guard let value, draw.chance(percent) else { return nil }
        let name = "p\(count)"
        count += 1
        var parameter = Record()
        parameter.put("default", .plain(value))
        parameter.put("range", .plain(range))
        if draw.chance(30) {
            // An end of the range in its place.
            let ends = range.split(separator: ".", omittingEmptySubsequences: true)
            parameter.put("value", .plain(draw.pick([String(ends[0]), String(ends[ends.count - 1]), "default"])))
        }
        if draw.chance(10) { parameter.put("meaning", .string("drawn")) }
        declared.put(name, parameter.tree)
        return "$\(name)"
    }

    private mutating func condition(_ tree: Tree) -> Tree {
        if let elements = tree.elements { return .list(elements.map { condition($0) }) }
        if let entries = tree.entries { return .record(entries.map { ($0.key, condition($0.value)) }) }
        return tree.text.map { .string(claim($0)) } ?? tree
    }

    private mutating func claim(_ text: String) -> String {
        var words = text.split(separator: " ").map(String.init)
        guard words.count >= 3 else { return text }
        let kind = SystemMeasure(rawValue: words[0])?.kind ?? ProcessFeature(rawValue: words[0])?.kind
        let range: String? =
            switch kind {
            case .memory: words[2].hasSuffix("%") ? "0%..100%" : "0B..1GiB"
            case .share: "0%..100%"
            case .time: "0s..1h"
            case .count: words[0] == "oom_score" ? "-1000..1000" : "0..100"
            case .ladder, .choice, .name, nil: nil
            }
        if let range, let name = reference(words[2], range) { words[2] = name }
        if words.count == 5, let name = reference(words[4], "0s..10s") { words[4] = name }
        return words.joined(separator: " ")
    }

    private mutating func amount(_ tree: Tree) -> Tree {
        guard let text = tree.text, text != "none" else { return tree }
        let range = text.hasSuffix("%") ? "1%..100%" : text.hasSuffix("B") ? "1B..1GiB" : "1..9"
        return reference(text, range).map { .string($0) } ?? tree
    }

    private mutating func order(_ tree: Tree) -> Tree {
        guard let tiers = tree.elements else { return single(tree) }
        return .list(
            tiers.map { tier in
                .record(
                    (tier.entries ?? []).map { entry in
                        // Orders within tiers are rare, so most keep their word.
                        (entry.key, entry.key == "by" ? single(entry.value, percent: 5) : condition(entry.value))
                    })
            })
    }

    private mutating func single(_ tree: Tree, percent: Int64 = 25) -> Tree {
        guard let weights = tree.entries else { return draw.chance(percent) ? .string(term()) : tree }
        var changed = weights.map { entry in
            (entry.key, reference(entry.value.text, "-10..10").map { Tree.string($0) } ?? entry.value)
        }
        if draw.chance(30) { changed.append((term(), .plain("\(draw.number(1, 9)).5"))) }
        return .record(changed)
    }

    private mutating func term() -> String {
        let features = ProcessFeature.allCases.filter(\.isNumber).map(\.rawValue)
        let more = (0..<draw.number(1, 3)).map { _ in " \(draw.pick(["*", "/"])) \(draw.pick(features))" }
        return draw.chance(20) ? "1 / " + draw.pick(features) : draw.pick(features) + more.joined()
    }
}
