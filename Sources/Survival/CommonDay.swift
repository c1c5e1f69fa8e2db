import Quantities

/// A named day of a user, for a question without a scenario: which apps the phone has, and what the user does.
///
/// The fleet is the same on every day: thirteen other apps of the catalogue, from chat to a large game, in the order of
/// their popularity; the app of the question is the fifth most popular. The user opens it at a fixed instant, so every
/// run has it. All else is `UserModel`'s, by the seed. Objects have 64 KiB, which makes runs four times as fast and
/// changes footprints by less than 1 %. The fleet and the days are our own choice.
public enum CommonDay: String, CaseIterable, Sendable {
    case commuter
    case gaming
    case everyday

    /// One line for people.
    public var meaning: String {
        switch self {
        case .commuter: "an hour of sessions, one after the other, some minutes apart; the app is opened at 30 s"
        case .gaming: "the same hour with a large game for some minutes, four times; the app is opened at 30 s"
        case .everyday: "24 hours from midnight with 17 sessions on average; the app is opened at 8 h"
        }
    }

    /// The length of the day.
    public var duration: TimeSpan { self == .everyday ? .hours(24) : .hours(1) }

    private var user: [String] {
        let events = [
            "  - { every: 7min, from: 3min, push: chat }",
            "  - { every: 15min, from: 10min, background_refresh: mail }",
        ]
        return switch self {
        case .commuter:
            ["  - { at: 30s, launch: \"APP\" }", "  - { from: 2min, to: 1h, model: commuter }"] + events
        case .gaming:
            ["  - { at: 30s, launch: \"APP\" }", "  - { from: 2min, to: 1h, model: commuter }"]
                + [8, 22, 36, 50].map { "  - { at: \($0)min, launch: game }" } + events
        case .everyday:
            ["  - { from: 0s, to: 24h, model: everyday }", "  - { at: 8h, launch: \"APP\" }"] + events
        }
    }

    /// The other apps, the most popular first: name and archetype.
    public static let fleet: [(name: String, archetype: String)] = [
        ("chat", "messaging"), ("feed", "social-feed"), ("browser", "browser"), ("mail", "mail"), ("music", "music"),
        ("video", "video"), ("maps", "navigation"), ("camera", "camera"), ("weather", "weather"), ("game", "big-game"),
        ("shop", "shopping"), ("podcasts", "podcast"), ("notes", "document-editor"),
    ]

    /// The app's name if the question gives none: its archetype's, unless one of the fleet has that name.
    public static func name(ofAppLike archetype: String) -> String {
        fleet.contains { $0.name == archetype } ? "my-\(archetype)" : archetype
    }

    /// The place of the app among all apps, from 0.
    public static let place = 4

    /// The scenario of the day.
    ///
    /// - Parameters:
    ///   - app: The app's name. It must not be the name of one of the fleet.
    ///   - archetype: The kind of app.
    ///   - device: The value of the key `device`; a device by name also gives the policy and the monitor.
    public func scenario(app: String, like archetype: String, device: String) -> String {
        var apps = CommonDay.fleet.map { "  - { name: \($0.name), like: \($0.archetype), memory: MEMORY }" }
        apps.insert("  - { name: \"\(app)\", like: \(archetype), memory: MEMORY }", at: CommonDay.place)
        let lines =
            [
                "# \(rawValue): \(meaning).", "plimsoll: 1", "name: \(rawValue)", "duration: \(duration)",
                "backend: accounting", "device: \(device)", "apps:",
            ] + apps + ["user:"] + user
        return lines.map { line in
            line.replacing("MEMORY", with: "{ objects: { constant: 64KiB } }").replacing("\"APP\"", with: "\"\(app)\"")
        }.joined(separator: "\n") + "\n"
    }
}
