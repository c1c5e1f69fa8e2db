import Plan
import Quantities

/// One kind of user action: its key, its payload, and the conversions to and from the typed action. To add an action,
/// add an entry to `all`.
struct ActionKind: Sendable {
    let key: String
    let help: String
    /// A second key that the action needs, such as `for`.
    let extraKey: String?
    /// Whether the second key may be missing.
    let extraIsOptional: Bool
    /// Receives the event's mapping and the payload's tree within it.
    let decode: @Sendable (Tree, Tree, Decoding) -> UserAction?
    /// Returns the event's keys besides its time, or nil for another action.
    let encode: @Sendable (UserAction, Encoding) -> [(String, Tree)]?
    /// The schemas of the key and of the extra key.
    let schema: @Sendable () -> [JSON.Member]

    /// The help for `for` beside any action: the schema of an event describes the key once.
    static let forHelp =
        "With `interrupt`, `present`, `download`, `live_activity` and `picture_in_picture` (required): how long it "
        + "lasts. With `push`, `location`, `bluetooth`, `background_refresh`, `processing`, `voip_call` and `demand`: "
        + "how long the app works on it, by default its `background.event_work`. Except for `processing` and "
        + "`voip_call`, `limits.background_time` is the maximum."

    private static let sceneHelp =
        "With `show_scene` and `hide_scene`: the number of the scene within its app, as in events.csv."

    static let all: [ActionKind] =
        [
            ActionKind(
                "launch", .app, "The user taps the app's icon.", { .launch($0) },
                {
                    guard case .launch(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "switch", .app, "The user switches to the app, or launches it.", { .switchTo($0) },
                {
                    guard case .switchTo(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "home", .nothing, "The user goes to the home screen.", { .home },
                {
                    guard case .home = $0 else { return nil }
                    return ()
                }),
            ActionKind(
                "beside", .app,
                "The user places the app beside the one in front, as on an iPad: both are active. It replaces an app "
                    + "that is there already. A tap on a third app replaces both; `home` and `lock` send both away.",
                { .beside($0) },
                {
                    guard case .beside(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "open_scene", .app, "The user opens another scene of an app that supports several.", { .openScene($0) },
                {
                    guard case .openScene(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "close_scene", .app, "The user closes the app's most recent scene.", { .closeScene($0) },
                {
                    guard case .closeScene(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "show_scene", .app, "The user brings one of the app's scenes to the front.", extra: "scene",
                .sceneNumber, sceneHelp, { .showScene($0, $1) },
                {
                    guard case .showScene(let app, let scene) = $0 else { return nil }
                    return (app, scene)
                }),
            ActionKind(
                "hide_scene", .app, "The user puts away the app's scene in front.", extra: "scene", .sceneNumber,
                sceneHelp, { .hideScene($0, $1) },
                {
                    guard case .hideScene(let app, let scene) = $0 else { return nil }
                    return (app, scene)
                }),
            ActionKind(
                "quit", .app,
                "The user swipes the app away in the switcher, whether it runs or not. Its scene sessions are "
                    + "discarded, and no push launches the app until the user has launched it.",
                { .quit($0) },
                {
                    guard case .quit(let app) = $0 else { return nil }
                    return app
                }),
            ActionKind(
                "interrupt", .choice("interruption", "interruptions"),
                "The foreground app is inactive during the interruption. An app that is launched meanwhile "
                    + "becomes active afterwards. The switcher ends sooner if the user chooses an app or goes home.",
                extra: "for", .someTime, forHelp, { .interrupt($0, lasting: $1) },
                {
                    guard case .interrupt(let interruption, let time) = $0 else { return nil }
                    return (interruption, time)
                }),
            ActionKind(
                "lock", .someTime, "The device locks, and unlocks after this time.", { .lock(lasting: $0) },
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
    /// An action with a payload and an optional second key.
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
    /// No payload: `true`, or an empty value.
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

extension Codec where Value == SceneID {
    /// A scene by its number within its app.
    static var sceneNumber: Codec { Codec<Int>.count(1...1_000).mapped({ SceneID($0) }, { $0.number }) }
}

extension Codec where Value == TimeSpan {
    static var someTime: Codec { .quantity(from: TimeSpan(microseconds: 1)) }
}
