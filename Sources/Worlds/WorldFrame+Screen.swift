import Lifecycle
import Quantities
import Scenario

// Two apps side by side, the end of the last window, and prewarmed processes. Each draws from a stream of its own.
extension WorldFrame {
    /// The actions of apps that `WorldFrame.user` leaves to this file.
    static let actionsOfScreen = [
        "beside", "prewarm", "submit_refresh", "submit_processing", "download", "live_activity", "picture_in_picture",
        "reset_freezer",
    ]

    /// Apps that come beside the one in front, in one world of three; some soon after each other.
    func pairs(_ apps: [DrawnApp]) -> [Tree] {
        var draw = Draw(seed, "beside")
        guard draw.chance(35) else { return [] }
        let seconds = Int(duration.microseconds / 1_000_000)
        var events: [Tree] = []
        for _ in 0..<draw.number(1, min(20, 2 + seconds / 5)) {
            var at = draw.number(0, seconds * 1_000)
            repeat {
                let app = apps[min(draw.number(0, apps.count - 1), draw.number(0, apps.count - 1))]
                events.append(.record([("at", time(at)), ("beside", .plain(app.name))]))
                at += draw.magnitude(1, 1_500)
            } while draw.chance(25) && at < seconds * 1_000
        }
        return events
    }

    /// Apps that the system prewarms, in one world of three; many are wanted or prewarmed again soon after.
    func prewarmings(_ apps: [DrawnApp]) -> [Tree] {
        var draw = Draw(seed, "prewarm")
        guard draw.chance(35) else { return [] }
        let seconds = Int(duration.microseconds / 1_000_000)
        var events: [Tree] = []
        for _ in 0..<draw.number(1, min(30, 2 + seconds / 4)) {
            let app = draw.pick(apps).name
            let at = draw.number(0, seconds * 1_000)
            events.append(.record([("at", time(at)), ("prewarm", .plain(app))]))
            let soon = at + draw.magnitude(1, 1_500)
            guard draw.chance(50), soon < seconds * 1_000 else { continue }
            let next = draw.pick([
                (4, "launch"), (2, "quit"), (2, "terminate"), (1, "crash"), (1, "close_scene"), (1, "prewarm"),
                (1, "beside"),
            ])
            events.append(.record([("at", time(soon)), (next, .plain(app))]))
        }
        return events
    }

    /// What apps ask the system to do for them off screen, in one world of three; the user often leaves soon after.
    func requests(_ apps: [DrawnApp]) -> [Tree] {
        var draw = Draw(seed, "requests")
        guard draw.chance(35) else { return [] }
        let seconds = Int(duration.microseconds / 1_000_000)
        var events: [Tree] = []
        for _ in 0..<draw.number(1, min(40, 2 + seconds / 3)) {
            let app = apps[min(draw.number(0, apps.count - 1), draw.number(0, apps.count - 1))]
            var at = draw.number(0, seconds * 1_000)
            var keys = ["download", "live_activity"]
            if app.supports(.backgroundFetch) { keys += ["submit_refresh", "submit_refresh"] }
            if app.supports(.processing) { keys += ["submit_processing", "submit_processing"] }
            if app.modes.contains(.audio) { keys += ["picture_in_picture", "picture_in_picture"] }
            if draw.chance(60) {
                events.append(.record([("at", time(at)), ("launch", .plain(app.name))]))
                at += draw.magnitude(200, 4_000)
            }
            guard at < seconds * 1_000 else { continue }
            let key = draw.pick(keys)
            var entry: [(String, Tree)] = [("at", time(at)), (key, .plain(app.name))]
            if !key.hasPrefix("submit") {
                entry.append(("for", draw.time(.milliseconds(1), .seconds(40))))
            } else if draw.chance(70) {
                entry.append(("after", draw.time(.milliseconds(1), .seconds(60))))
            }
            events.append(.record(entry))
            let soon = at + draw.magnitude(1, 3_000)
            guard draw.chance(60), soon < seconds * 1_000 else { continue }
            let next = draw.pick([(4, "home"), (2, "lock"), (1, "quit"), (1, "terminate"), (1, "restart")])
            let payload: Tree =
                switch next {
                case "home": .plain("true")
                case "lock", "restart": draw.time(.milliseconds(1), .seconds(60))
                default: .plain(app.name)
                }
            events.append(.record([("at", time(soon)), (next, payload)]))
        }
        return events
    }

    /// Resets of the freezer, in one world of ten, whether the device has a freezer or not.
    func resets() -> [Tree] {
        var draw = Draw(seed, "reset freezer")
        guard draw.chance(10) else { return [] }
        let milliseconds = Int(duration.microseconds / 1_000)
        return (0..<draw.number(1, 3)).map { _ in
            .record([("at", time(draw.number(0, milliseconds))), ("reset_freezer", .plain("true"))])
        }
    }

    private func time(_ milliseconds: Int) -> Tree { .plain("\(TimeSpan.milliseconds(Int64(milliseconds)))") }
}
