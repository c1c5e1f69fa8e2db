import Quantities
import Scenario

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

    /// What the user and the system do.
    private func events(_ app: String) -> [Tree] {
        func event(_ entries: (String, String)...) -> Tree {
            .record(entries.map { ($0, $0 == "launch" ? .string($1) : .plain($1)) })
        }
        let own = event(("at", self == .everyday ? "8h" : "30s"), ("launch", app))
        let modelled =
            self == .everyday
            ? event(("from", "0s"), ("to", "24h"), ("model", "everyday"))
            : event(("from", "2min"), ("to", "1h"), ("model", "commuter"))
        let games = self == .gaming ? [8, 22, 36, 50] : []
        return (self == .everyday ? [modelled, own] : [own, modelled])
            + games.map { event(("at", "\($0)min"), ("launch", "game")) }
            + [
                event(("every", "7min"), ("from", "3min"), ("push", "chat")),
                event(("every", "15min"), ("from", "10min"), ("background_refresh", "mail")),
            ]
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
    ///   - device: A device by name; it also gives the policy and the monitor.
    public func scenario(app: String, like archetype: String, device: String) -> String {
        let objects = Tree.record([("objects", .record([("constant", .plain("64KiB"))]))])
        var apps = CommonDay.fleet
        apps.insert((app, archetype), at: CommonDay.place)
        let document = Tree.record([
            ("plimsoll", .plain("1")), ("name", .plain(rawValue)), ("duration", .plain("\(duration)")),
            ("backend", .plain("accounting")), ("device", .record([("like", .plain(device))])),
            (
                "apps",
                .list(
                    apps.map {
                        .record([("name", .string($0.name)), ("like", .plain($0.archetype)), ("memory", objects)])
                    })
            ),
            ("user", .list(events(app))),
        ])
        return "# \(rawValue): \(meaning).\n" + document.denseYAML
    }
}
