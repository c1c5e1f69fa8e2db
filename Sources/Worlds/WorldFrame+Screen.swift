import Lifecycle
import Quantities
import Scenario

// Two apps side by side, the end of the last window, and prewarmed processes. Each draws from a stream of its own.
extension WorldFrame {
    /// The actions of apps that `WorldFrame.user` leaves to this file.
    static let actionsOfScreen = ["beside", "prewarm"]

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

    /// The share of its base that a prewarmed process holds; nil: the default.
    var prewarmedBase: Tree? {
        var draw = Draw(seed, "prewarmed base")
        return draw.chance(25) ? draw.share() : nil
    }

    /// What becomes of an app whose last window the user closes; nil: the default.
    var lastWindow: Tree? {
        var draw = Draw(seed, "last window")
        return draw.chance(25) ? .plain(draw.pick(LastWindow.allCases).rawValue) : nil
    }

    private func time(_ milliseconds: Int) -> Tree { .plain("\(TimeSpan.milliseconds(Int64(milliseconds)))") }
}
