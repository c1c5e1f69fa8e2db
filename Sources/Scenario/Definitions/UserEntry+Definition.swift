import Plan
import Quantities
import Workload

/// The times of an entry's events, as written.
struct EventTiming: Sendable {
    var at: TimeSpan?
    var every: TimeSpan?
    var from: TimeSpan?
    var to: TimeSpan?

    /// The most events that one entry may stand for.
    static let mostRepetitions = 100_000

    static let definition = Definition(
        base: EventTiming(),
        fields: [
            Field("at", \.at, Codec.quantity().given, "When it happens."),
            Field(
                "every", \.every, Codec.quantity(from: .milliseconds(1)).given,
                "The event happens again and again; this is the time from one to the next."),
            Field(
                "from", \.from, Codec.quantity().given,
                "With `every`: the first time. With `model`: the beginning. By default the start of the run."),
            Field(
                "to", \.to, Codec.quantity().given,
                "With `every`: the latest time. With `model`: the end. By default the end of the run."),
        ])
}

extension Codec where Value: Sendable {
    /// An optional value.
    fileprivate var given: Codec<Value?> {
        Codec<Value?>(
            expected: expected, decode: { tree, _, decoding in decode(tree, nil, decoding).map { .some($0) } },
            encode: { value, encoding in value.map { encode($0, encoding) } ?? .plain("null") },
            schema: { _ in schema(nil) })
    }
}

extension UserEntry {
    /// The number of events that the entry stands for. For a modelled user it is unknown until the events are drawn.
    var eventCount: Int {
        switch self {
        case .repeated(_, let repetition): repetition.count
        case .once, .model: 1
        }
    }
}

extension Codec where Value == UserEntry {
    /// One entry of the list. With `every` or `model` it stands for several events.
    static var userEntry: Codec {
        let expected = "an event such as '{ at: 40s, launch: maps }'"
        return Codec(
            expected: expected,
            decode: { tree, _, decoding in
                guard let entries = tree.entries else {
                    decoding.faultHere(tree.origin, "expected \(expected), not \(tree.summary)")
                    return nil
                }
                decoding.refuseUnknownKeys(in: entries, valid: EntryShape.keys)
                return tree[EntryShape.model] == nil
                    ? EntryShape.timed(tree, entries, decoding) : EntryShape.person(tree, entries, decoding)
            },
            encode: { entry, encoding in EntryShape.tree(of: entry, encoding) }, schema: { _ in EntryShape.schema })
    }
}

/// The parts of an entry's codec.
private enum EntryShape {
    private static let actions = ActionKind.all.map(\.key)

    /// The key of a seeded person, which has `from` and `to` instead of `at`.
    static let model = "model"

    private static let models = Codec<UserModel>.choice("model", "models")

    static let keys: [String] = {
        var keys = EventTiming.definition.keys + actions + [model]
        for case let extra? in ActionKind.all.map(\.extraKey) where !keys.contains(extra) { keys.append(extra) }
        return keys
    }()

    private static func action(of tree: Tree, _ entries: [Tree.Entry], _ decoding: Decoding) -> UserAction? {
        let named = entries.filter { actions.contains($0.key) }
        let list = actions.joined(separator: ", ")
        guard let entry = named.first, let kind = ActionKind.all.first(where: { $0.key == entry.key }) else {
            // An unknown key is probably a misspelt action and is reported as an unknown key.
            if entries.allSatisfy({ keys.contains($0.key) }) {
                decoding.faultHere(tree.origin, "this event does nothing; expected one of \(list)")
            }
            return nil
        }
        if named.count > 1 {
            decoding.faultHere(
                named[1].keyOrigin,
                "an event does one thing, not both '\(entry.key)' and '\(named[1].key)'; write two events")
            return nil
        }
        for other in entries
        where other.key != kind.extraKey && !actions.contains(other.key)
            && ActionKind.all.contains(where: { $0.extraKey == other.key })
        {
            decoding.faultHere(other.keyOrigin, "'\(other.key)' has no meaning for '\(kind.key)'")
        }
        return kind.decode(tree, entry.value, decoding)
    }

    /// One event or a repeated one. Returns nil after reporting a fault.
    static func timed(_ tree: Tree, _ entries: [Tree.Entry], _ decoding: Decoding) -> UserEntry? {
        let action = action(of: tree, entries, decoding)
        let timing = timing(of: tree, decoding)
        if tree["every"] != nil {
            guard let repetition = repetition(timing, tree, decoding), let action else { return nil }
            return .repeated(action, repetition)
        }
        guard let at = instant(timing, tree, decoding), let action else { return nil }
        return .once(action, at: at)
    }

    private static func timing(of tree: Tree, _ decoding: Decoding) -> EventTiming {
        var timing = EventTiming()
        for field in EventTiming.definition.fields {
            guard let value = tree[field.key] else { continue }
            decoding.within(field.key) { field.decode(value, &timing, decoding) }
        }
        return timing
    }

    private static func instant(_ timing: EventTiming, _ tree: Tree, _ decoding: Decoding) -> Instant? {
        for key in ["from", "to"] where tree[key] != nil {
            guard !tree.hasMergeKey else { return nil }
            decoding.faultHere(tree.origin(ofKey: key), "'\(key)' needs 'every'; a single event has 'at'")
            return nil
        }
        guard tree["at"] != nil else {
            guard !tree.hasMergeKey else { return nil }
            decoding.faultHere(tree.origin, "an event needs a time: 'at', or 'every' with 'from' and 'to'")
            return nil
        }
        return timing.at.flatMap { withinRun($0, "at", tree, decoding) }
    }

    private static func repetition(_ timing: EventTiming, _ tree: Tree, _ decoding: Decoding) -> Repetition? {
        guard tree["at"] == nil else {
            decoding.faultHere(tree.origin(ofKey: "at"), "an event has 'at' or 'every', not both")
            return nil
        }
        guard let every = timing.every, let (from, to) = range(timing, tree, decoding) else { return nil }
        guard from <= to else {
            decoding.faultHere(beginning(of: tree), "'from', \(from), is later than 'to', \(to)")
            return nil
        }
        let repetition = Repetition(every: every, from: Instant.zero + from, to: Instant.zero + to)
        guard repetition.count <= EventTiming.mostRepetitions else {
            decoding.faultHere(
                tree["every"]?.origin ?? tree.origin,
                "this stands for \(repetition.count) events; at most \(EventTiming.mostRepetitions)")
            return nil
        }
        return withinRun(to, "to", tree, decoding).map { _ in repetition }
    }

    /// A seeded person. Returns nil after reporting a fault.
    static func person(_ tree: Tree, _ entries: [Tree.Entry], _ decoding: Decoding) -> UserEntry? {
        let allowed = ["from", "to", model]
        for entry in entries where keys.contains(entry.key) && !allowed.contains(entry.key) {
            decoding.faultHere(entry.keyOrigin, "'\(entry.key)' has no meaning for '\(model)'")
            return nil
        }
        let timing = timing(of: tree, decoding)
        let person = tree[model].flatMap { value in
            decoding.within(model) { models.decode(value, nil, decoding) }
        }
        guard let person, let (from, to) = range(timing, tree, decoding) else { return nil }
        guard from < to else {
            let end = tree["to"] == nil ? "the run's end" : "'to'"
            decoding.faultHere(beginning(of: tree), "'from', \(from), is not before \(end), \(to)")
            return nil
        }
        return withinRun(to, "to", tree, decoding).map { .model(person, from: Instant.zero + from, until: $0) }
    }

    /// The origin of `from`, or else of `to`, or else of the entry.
    private static func beginning(of tree: Tree) -> Origin { (tree["from"] ?? tree["to"] ?? tree).origin }

    /// The entry's time range, by default the whole run. Returns nil if a bound is faulty and reported.
    private static func range(
        _ timing: EventTiming, _ tree: Tree, _ decoding: Decoding
    ) -> (from: TimeSpan, to: TimeSpan)? {
        let isSound = (timing.from != nil) == (tree["from"] != nil) && (timing.to != nil) == (tree["to"] != nil)
        guard isSound, let to = timing.to ?? decoding.duration else { return nil }
        let from = timing.from ?? .zero
        // A `to` that the text lacks gets no diagnostic.
        if tree["to"] == nil, withinRun(from, "from", tree, decoding) == nil { return nil }
        return (from, to)
    }

    /// The time at the key. Returns nil after reporting that it is later than the end of the run.
    private static func withinRun(
        _ time: TimeSpan, _ key: String, _ tree: Tree, _ decoding: Decoding
    ) -> Instant? {
        if let duration = decoding.duration, time > duration {
            decoding.within(key) {
                decoding.faultHere(
                    tree[key]?.origin ?? tree.origin, "\(time) is beyond the run's duration of \(duration)")
            }
            return nil
        }
        return Instant.zero + time
    }

    static func tree(of entry: UserEntry, _ encoding: Encoding) -> Tree {
        func time(_ instant: Instant) -> Tree { .plain((instant - Instant.zero).description) }
        return switch entry {
        case .once(let action, let at): .record([("at", time(at))] + keys(of: action, encoding))
        case .repeated(let action, let repetition):
            .record(
                [
                    ("every", .plain(repetition.every.description)), ("from", time(repetition.from)),
                    ("to", time(repetition.to)),
                ] + keys(of: action, encoding))
        case .model(let person, let from, let end):
            .record([("from", time(from)), ("to", time(end)), (model, models.encode(person, encoding))])
        }
    }

    private static func keys(of action: UserAction, _ encoding: Encoding) -> [(String, Tree)] {
        // Iterating over the elements would copy each of them.
        for index in ActionKind.all.indices {
            if let entries = ActionKind.all[index].encode(action, encoding) { return entries }
        }
        preconditionFailure("no key writes \(action)")
    }

    static var schema: JSON {
        var properties: [JSON.Member] = EventTiming.definition.fields.map {
            JSON.Member(key: $0.key, value: $0.schema(nil))
        }
        for member in ActionKind.all.flatMap({ $0.schema() })
        where !properties.contains(where: { $0.key == member.key }) {
            properties.append(member)
        }
        properties.append(
            JSON.Member(
                key: model,
                value: models.schema(nil).adding([
                    "description": .string(
                        "A simulated person uses the phone between `from` and `to`, as the seed decides.")
                ])))
        return .object([
            "type": .string("object"), "properties": .object(properties), "additionalProperties": .bool(false),
            "allOf": .array([
                .object(["oneOf": .array([required(["at"]), required(["every"]), required([model])])]),
                .object([
                    "oneOf": .array(ActionKind.all.map { required($0.requiredKeys) } + [required([model])])
                ]),
            ]),
        ])
    }

    private static func required(_ keys: [String]) -> JSON { .object(["required": .strings(keys)]) }
}
