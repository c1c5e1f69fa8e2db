import Lifecycle
import Quantities
import Scenario

// Two apps side by side, and the end of the last window. Each draws from a stream of its own.
extension WorldFrame {
    /// The actions of apps that `WorldFrame.user` leaves to this file.
    static let actionsOfScreen = ["beside"]

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

    /// What becomes of an app whose last window the user closes; nil: the default.
    var lastWindow: Tree? {
        var draw = Draw(seed, "last window")
        return draw.chance(25) ? .plain(draw.pick(LastWindow.allCases).rawValue) : nil
    }

    private func time(_ milliseconds: Int) -> Tree { .plain("\(TimeSpan.milliseconds(Int64(milliseconds)))") }
}
