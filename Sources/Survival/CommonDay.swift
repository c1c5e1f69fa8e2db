import Lifecycle
import Quantities
import Scenario
import Workload

/// A named day of a user, for a question without a scenario: which apps the phone has, and what the user does.
///
/// The fleet is the same on every day: thirteen other apps of the catalogue, from chat to a large game, in the order of
/// their popularity; the app of the question is the fifth most popular. The user opens it at a fixed instant, so every
/// run has it. All else is `UserModel`'s, by the seed. Objects have 64 KiB, which makes runs four times as fast and
/// changes footprints by less than 1 %. The fleet and the days are our own choice.
///
/// A question about a process that is no app has the fleet alone, and the process works as is usual for its kind.
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

    /// An event, from its keys with their values.
    static func event(_ entries: [(String, String)]) -> Tree {
        let names = ["launch", "push", "background_refresh", "present", "demand"]
        return .record(entries.map { ($0, names.contains($0) ? .string($1) : .plain($1)) })
    }

    /// What the user and the system do.
    ///
    /// - Parameter own: What they do with the app or the process of the question.
    private func events(_ own: [Tree]) -> [Tree] {
        func event(_ entries: (String, String)...) -> Tree { CommonDay.event(entries) }
        let person = self == .everyday ? modelled(from: "0s", to: "24h") : modelled(from: "2min", to: "1h")
        let games = self == .gaming ? [8, 22, 36, 50] : []
        return (self == .everyday ? [person] + own : own + [person])
            + games.map { event(("at", "\($0)min"), ("launch", "game")) }
            + [CommonDay.pushes(to: "chat"), CommonDay.refreshes(of: "mail")]
    }

    /// What the user does between two times, as the seed decides.
    func modelled(from begin: String, to end: String) -> Tree {
        CommonDay.event([("from", begin), ("to", end), ("model", self == .everyday ? "everyday" : "commuter")])
    }

    /// The pushes that an app gets.
    static func pushes(to app: String) -> Tree {
        event([("every", "7min"), ("from", "3min"), ("push", app)])
    }

    /// The refreshes in the background that an app gets.
    static func refreshes(of app: String) -> Tree {
        event([("every", "15min"), ("from", "10min"), ("background_refresh", app)])
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
        var apps = CommonDay.fleet
        apps.insert((app, archetype), at: CommonDay.place)
        return scenario(apps, [], [launch(app)], device)
    }

    private func launch(_ app: String) -> Tree {
        CommonDay.event([("at", self == .everyday ? "8h" : "30s"), ("launch", app)])
    }

    /// The scenario of the day with a process that is no app, beside the fleet.
    ///
    /// - Parameters:
    ///   - process: The process's name. It must not be the name of one of the fleet.
    ///   - kind: The kind of process.
    ///   - device: A device by name; it also gives the policy and the monitor.
    public func scenario(process: String, kind: ProcessKind, device: String) -> String {
        let use = kind.use
        var entries: [(String, Tree)] = [("name", .string(process)), ("kind", .plain(kind.rawValue))]
        if let host = use.host { entries.append(("of", .string(host))) }
        if use.stays { entries.append(("idle_exit", .plain("none"))) }
        entries.append(("memory", CommonDay.objects))
        let events = use.action.map { key, every, span in
            CommonDay.event(
                [("every", every), ("from", "20s"), (key, process)] + (span.map { [("for", $0)] } ?? []))
        }
        return scenario(CommonDay.fleet, [.record(entries)], [events ?? launch(use.host ?? "")], device)
    }

    /// An app of the day, under its name.
    static func app(_ name: String, like archetype: String) -> Tree {
        .record([("name", .string(name)), ("like", .plain(archetype)), ("memory", objects)])
    }

    private static let objects = Tree.record([("objects", .record([("constant", .plain("64KiB"))]))])

    private func scenario(
        _ apps: [(name: String, archetype: String)], _ processes: [Tree], _ own: [Tree], _ device: String
    ) -> String {
        let document = Tree.record(
            [
                ("plimsoll", .plain("1")), ("name", .plain(rawValue)), ("duration", .plain("\(duration)")),
                ("backend", .plain("accounting")), ("device", .record([("like", .plain(device))])),
                ("apps", .list(apps.map { CommonDay.app($0.name, like: $0.archetype) })),
            ] + (processes.isEmpty ? [] : [("processes", .list(processes))]) + [("user", .list(events(own)))])
        return "# \(rawValue): \(meaning).\n" + document.denseYAML
    }
}

/// How a process that is no app works on a common day. Our own choice.
private struct ProcessUse {
    /// The app that it belongs to, where that is one of the fleet.
    var host: String?
    /// What the user or the system does with it, how often, and for how long; nil for a helper, which goes along with
    /// its app, so the user opens that.
    var action: (key: String, every: String, lasting: String?)?
    /// Whether it stays between two uses; other extensions end when they are idle for long.
    var stays = false
}

extension ProcessKind {
    /// How such a process works on a common day.
    fileprivate var use: ProcessUse {
        switch self {
        case .helper, .webContent, .networking: ProcessUse(host: "browser")
        case .keyboard: ProcessUse(action: ("present", "2min", "40s"))
        case .share, .action: ProcessUse(host: "feed", action: ("present", "10min", "20s"))
        case .notificationService, .messageFilter, .appPush: ProcessUse(host: "chat", action: ("push", "7min", nil))
        case .widget: ProcessUse(host: "weather", action: ("background_refresh", "15min", nil))
        case .packetTunnel, .appProxy, .dnsProxy, .filterControl, .filterData:
            ProcessUse(action: ("demand", "1min", "20s"), stays: true)
        case .broadcastUpload, .otherExtension: ProcessUse(action: ("demand", "10min", "30s"))
        case .daemon: ProcessUse(action: ("demand", "5min", nil))
        }
    }
}
