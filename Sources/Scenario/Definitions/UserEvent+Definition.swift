import Quantities
import Simulation
import Workload

/// One thing that a user event may do: its key, its payload, and the way to and from the typed action. A new action is
/// one more entry of `all`.
struct ActionKind: Sendable {
    let key: String
    let help: String
    /// A second key that the action needs, such as `for`.
    let extraKey: String?
    /// The action may do without the second key.
    let extraIsOptional: Bool
    /// Gets the event's mapping, and the payload's tree within it.
    let decode: @Sendable (Tree, Tree, Decoding) -> UserAction?
    /// The event's keys beside its time; nil: this is another action.
    let encode: @Sendable (UserAction, Encoding) -> [(String, Tree)]?
    /// The schemas of the key and of the extra key.
    let schema: @Sendable () -> [JSON.Member]

    static let all: [ActionKind] =
        [
            ActionKind(
                "launch", .app, "A tap on the app's icon.", { .launch($0) },
                {
                    guard case .launch(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "switch", .app, "Back to an app, or to it for the first time.", { .switchTo($0) },
                {
                    guard case .switchTo(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "home", .nothing, "To the home screen.", { .home },
                {
                    guard case .home = $0 else { return nil }
                    return ()
                }),
            ActionKind(
                "open_scene", .app, "A further scene of an app that supports several.", { .openScene($0) },
                {
                    guard case .openScene(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "close_scene", .app, "The app's most recent scene is closed.", { .closeScene($0) },
                {
                    guard case .closeScene(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "quit", .app,
                "Swiped away in the switcher, running or not: its scenes' sessions go, and no push launches it before "
                    + "the user does.",
                { .quit($0) },
                {
                    guard case .quit(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "interrupt", .choice("interruption", "interruptions"),
                "The foreground app is inactive while it lasts, and whoever is launched meanwhile waits to be active; "
                    + "the switcher ends sooner if the user chooses an app or goes home.",
                extra: "for", .someTime, "How long the interruption lasts.", { .interrupt($0, lasting: $1) },
                {
                    guard case .interrupt(let interruption, let time) = $0 else { return nil }
                    return (interruption, time)
                }),
            ActionKind(
                "lock", .someTime, "The device locks, and unlocks after the time.", { .lock(lasting: $0) },
                {
                    guard case .lock(let time) = $0 else { return nil }
                    return time
                }),
        ] + systemActions

    var requiredKeys: [String] {
        guard let extraKey, !extraIsOptional else { return [key] }
        return [key, extraKey]
    }

    /// An action with one payload.
    init<Payload>(
        _ key: String, _ codec: Codec<Payload>, _ help: String, _ wrap: @escaping @Sendable (Payload) -> UserAction,
        _ unwrap: @escaping @Sendable (UserAction) -> Payload?
    ) {
        self.key = key
        self.help = help
        extraKey = nil
        extraIsOptional = false
        decode = { _, payload, decoding in decoding.within(key) { codec.decode(payload, nil, decoding).map(wrap) } }
        encode = { action, encoding in unwrap(action).map { [(key, codec.encode($0, encoding))] } }
        schema = { [JSON.Member(key: key, value: codec.schema(nil).adding(["description": .string(help)]))] }
    }

    /// An action with a payload and a second key.
    init<Payload, Extra>(
        _ key: String, _ codec: Codec<Payload>, _ help: String, extra extraKey: String, _ extraCodec: Codec<Extra>,
        _ extraHelp: String, _ wrap: @escaping @Sendable (Payload, Extra) -> UserAction,
        _ unwrap: @escaping @Sendable (UserAction) -> (Payload, Extra)?
    ) {
        self.key = key
        self.help = help
        self.extraKey = extraKey
        extraIsOptional = false
        decode = { event, payload, decoding in
            let first = decoding.within(key) { codec.decode(payload, nil, decoding) }
            guard let extra = event[extraKey] else {
                decoding.missing(extraKey, in: event, expected: extraCodec.expected)
                return nil
            }
            let second = decoding.within(extraKey) { extraCodec.decode(extra, nil, decoding) }
            guard let first, let second else { return nil }
            return wrap(first, second)
        }
        encode = { action, encoding in
            unwrap(action).map { [(key, codec.encode($0, encoding)), (extraKey, extraCodec.encode($1, encoding))] }
        }
        schema = {
            [
                JSON.Member(key: key, value: codec.schema(nil).adding(["description": .string(help)])),
                JSON.Member(key: extraKey, value: extraCodec.schema(nil).adding(["description": .string(extraHelp)])),
            ]
        }
    }
}

extension ActionKind {
    /// An action with a payload and a second key that may be missing.
    init<Payload, Extra>(
        _ key: String, _ codec: Codec<Payload>, _ help: String, optional extraKey: String, _ extraCodec: Codec<Extra>,
        _ extraHelp: String, _ wrap: @escaping @Sendable (Payload, Extra?) -> UserAction,
        _ unwrap: @escaping @Sendable (UserAction) -> (Payload, Extra?)?
    ) {
        self.key = key
        self.help = help
        self.extraKey = extraKey
        extraIsOptional = true
        decode = { event, payload, decoding in
            let first = decoding.within(key) { codec.decode(payload, nil, decoding) }
            guard let extra = event[extraKey] else { return first.map { wrap($0, nil) } }
            let second = decoding.within(extraKey) { extraCodec.decode(extra, nil, decoding) }
            guard let first, let second else { return nil }
            return wrap(first, second)
        }
        encode = { action, encoding in
            unwrap(action).map { payload, extra in
                let entry = [(key, codec.encode(payload, encoding))]
                return entry + (extra.map { [(extraKey, extraCodec.encode($0, encoding))] } ?? [])
            }
        }
        schema = {
            [
                JSON.Member(key: key, value: codec.schema(nil).adding(["description": .string(help)])),
                JSON.Member(key: extraKey, value: extraCodec.schema(nil).adding(["description": .string(extraHelp)])),
            ]
        }
    }
}

extension Codec where Value == Void {
    /// No payload: `true`, or nothing at all.
    static var nothing: Codec {
        Codec(
            expected: "true, or nothing",
            decode: { tree, _, decoding in
                if tree.isNull || tree.text == "true" { return () }
                decoding.faultHere(tree.origin, "expected true, or nothing, not \(tree.summary)")
                return nil
            },
            encode: { _, _ in .plain("true") },
            schema: { _ in .object(["enum": .array([.bool(true), .string("true"), .null])]) })
    }
}

extension Codec where Value == TimeSpan {
    static var someTime: Codec { .quantity(from: TimeSpan(microseconds: 1)) }
}

/// When an event happens: once, or again and again.
struct EventTiming: Sendable {
    var at: TimeSpan?
    var every: TimeSpan?
    var from: TimeSpan?
    var to: TimeSpan?

    /// So many events may one entry stand for.
    static let mostRepetitions: Int64 = 100_000

    static let definition = Definition(
        base: EventTiming(),
        fields: [
            Field("at", \.at, Codec.quantity().given, "When it happens."),
            Field("every", \.every, Codec.quantity(from: .milliseconds(1)).given, "Again and again, at this distance."),
            Field(
                "from", \.from, Codec.quantity().given,
                "With `every`: the first time; with `model`: the beginning; the start if not given."),
            Field(
                "to", \.to, Codec.quantity().given,
                "With `every` and `model`: not later than this; the end if not given."),
        ])
}

extension Codec where Value: Sendable {
    /// A value that may be missing altogether.
    fileprivate var given: Codec<Value?> {
        Codec<Value?>(
            expected: expected, decode: { tree, _, decoding in decode(tree, nil, decoding).map { .some($0) } },
            encode: { value, encoding in value.map { encode($0, encoding) } ?? .plain("null") },
            schema: { _ in schema(nil) })
    }
}

extension Codec where Value == [UserEvent] {
    /// The list of events; an entry with `every` stands for several.
    static var userEvents: Codec {
        let list = Codec<UserEvent>.list(of: .userEventGroup, called: "events")
        return Codec(
            expected: list.expected,
            decode: { tree, _, decoding in list.decode(tree, nil, decoding).map { $0.flatMap { $0 } } },
            encode: { events, encoding in list.encode(events.map { [$0] }, encoding) },
            schema: { _ in list.schema(nil) })
    }

    /// One entry of the list.
    private static var userEventGroup: Codec {
        Codec(
            expected: "an event such as '{ at: 40s, launch: maps }'",
            decode: { tree, _, decoding in
                guard let entries = tree.entries else {
                    decoding.faultHere(
                        tree.origin, "expected an event such as '{ at: 40s, launch: maps }', not \(tree.summary)")
                    return nil
                }
                decoding.refuseUnknownKeys(in: entries, valid: EventShape.keys)
                if tree[EventShape.model] != nil {
                    return EventShape.modelEvent(of: tree, entries, decoding).map { [$0] }
                }
                let action = EventShape.action(of: tree, entries, decoding)
                guard let instants = EventShape.instants(of: tree, decoding), let action else { return nil }
                return instants.map { UserEvent(at: $0, action: action) }
            },
            encode: { events, encoding in EventShape.tree(of: events, encoding) }, schema: { _ in EventShape.schema })
    }
}

/// The parts of an event's codec.
private enum EventShape {
    private static let actions = ActionKind.all.map(\.key)

    /// The key of a seeded person; it has `from` and `to` instead of an instant.
    static let model = "model"

    private static let models = Codec<UserModel>.choice("model", "models")

    static let keys: [String] = {
        var keys = EventTiming.definition.keys + actions + [model]
        for case let extra? in ActionKind.all.map(\.extraKey) where !keys.contains(extra) { keys.append(extra) }
        return keys
    }()

    static func action(of tree: Tree, _ entries: [Tree.Entry], _ decoding: Decoding) -> UserAction? {
        let named = entries.filter { actions.contains($0.key) }
        let list = actions.joined(separator: ", ")
        guard let entry = named.first, let kind = ActionKind.all.first(where: { $0.key == entry.key }) else {
            // An unknown key is probably the action, and is reported as such.
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

    /// The instants of an event; nil: the fault is reported.
    static func instants(of tree: Tree, _ decoding: Decoding) -> [Instant]? {
        var timing = EventTiming()
        for field in EventTiming.definition.fields {
            guard let value = tree[field.key] else { continue }
            decoding.within(field.key) { field.decode(value, &timing, decoding) }
        }
        if tree["every"] != nil { return repeated(timing, tree, decoding) }
        for key in ["from", "to"] where tree[key] != nil {
            decoding.faultHere(tree.origin, "'\(key)' needs 'every'; a single event has 'at'")
            return nil
        }
        guard tree["at"] != nil else {
            decoding.faultHere(tree.origin, "an event needs a time: 'at', or 'every' with 'from' and 'to'")
            return nil
        }
        guard let at = timing.at else { return nil }
        return checked([at], "at", tree, decoding)
    }

    private static func repeated(_ timing: EventTiming, _ tree: Tree, _ decoding: Decoding) -> [Instant]? {
        guard tree["at"] == nil else {
            decoding.faultHere(tree.origin, "an event has 'at' or 'every', not both")
            return nil
        }
        let isComplete = (timing.from != nil) == (tree["from"] != nil) && (timing.to != nil) == (tree["to"] != nil)
        guard let every = timing.every, isComplete, let end = timing.to ?? decoding.duration else { return nil }
        let from = timing.from ?? .zero
        guard from <= end else {
            decoding.faultHere(tree.origin, "'from', \(from), is later than 'to', \(end)")
            return nil
        }
        let count = (end - from).microseconds / every.microseconds + 1
        guard count <= EventTiming.mostRepetitions else {
            decoding.faultHere(
                tree.origin, "this stands for \(count) events; at most \(EventTiming.mostRepetitions)")
            return nil
        }
        if timing.to != nil, checked([end], "to", tree, decoding) == nil { return nil }
        return checked((0..<count).map { from + every * $0 }, "from", tree, decoding)
    }

    /// The event that stands for a seeded person; nil: the fault is reported.
    static func modelEvent(of tree: Tree, _ entries: [Tree.Entry], _ decoding: Decoding) -> UserEvent? {
        let allowed = ["from", "to", model]
        for entry in entries where keys.contains(entry.key) && !allowed.contains(entry.key) {
            decoding.faultHere(entry.keyOrigin, "'\(entry.key)' has no meaning for '\(model)'")
            return nil
        }
        var timing = EventTiming()
        for field in EventTiming.definition.fields {
            guard let value = tree[field.key] else { continue }
            decoding.within(field.key) { field.decode(value, &timing, decoding) }
        }
        let isComplete = (timing.from != nil) == (tree["from"] != nil) && (timing.to != nil) == (tree["to"] != nil)
        let person = tree[model].flatMap { value in
            decoding.within(model) { models.decode(value, nil, decoding) }
        }
        guard let person, isComplete, let end = timing.to ?? decoding.duration else { return nil }
        let from = timing.from ?? .zero
        guard from < end else {
            decoding.faultHere(tree.origin, "'from', \(from), is not before 'to', \(end)")
            return nil
        }
        guard let until = checked([end], "to", tree, decoding)?.first else { return nil }
        return UserEvent(at: Instant.zero + from, action: .model(person, until: until))
    }

    private static func checked(
        _ times: [TimeSpan], _ key: String, _ tree: Tree, _ decoding: Decoding
    ) -> [Instant]? {
        if let duration = decoding.duration, let late = times.first(where: { $0 > duration }) {
            decoding.within(key) {
                decoding.faultHere(
                    tree[key]?.origin ?? tree.origin, "\(late) is beyond the run's duration of \(duration)")
            }
            return nil
        }
        return times.map { Instant(microseconds: $0.microseconds) }
    }

    static func tree(of events: [UserEvent], _ encoding: Encoding) -> Tree {
        precondition(events.count == 1, "\(events.count) events are written one by one")
        let time = TimeSpan(microseconds: events[0].at.microseconds).description
        if case .model(let person, let until) = events[0].action {
            return .record([
                ("from", .plain(time)), ("to", .plain((until - Instant.zero).description)),
                (model, models.encode(person, encoding)),
            ])
        }
        // A loop over the kinds would copy each of them.
        for index in ActionKind.all.indices {
            if let entries = ActionKind.all[index].encode(events[0].action, encoding) {
                return .record([("at", .plain(time))] + entries)
            }
        }
        preconditionFailure("no key writes \(events[0].action)")
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
                    "description": .string("A seeded person uses the phone, from `from` to `to`.")
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
