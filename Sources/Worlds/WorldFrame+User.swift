import Lifecycle
import Quantities
import Scenario
import Workload

// The actions of the user and the system.
extension WorldFrame {
    func user(_ apps: [DrawnApp], _ parts: [DrawnPart]) -> [Tree] {
        user(apps) + parts.flatMap { $0.events(self) } + pairs(apps) + prewarmings(apps) + requests(apps)
            + resets()
    }

    private func user(_ apps: [DrawnApp]) -> [Tree] {
        var draw = Draw(seed, "user")
        let seconds = Int(duration.microseconds / 1_000_000)
        let count = min(220, max(8, seconds / draw.number(1, 6)))
        var events: [Tree] = []
        while events.count < count {
            guard let first = event(&draw, apps, at: draw.number(0, seconds * 1_000), on: nil) else { continue }
            events.append(first.tree)
            // A second event soon after on the same app catches the app in transition.
            var last = first
            while draw.chance(25), events.count < count {
                let at = last.at + draw.magnitude(1, draw.pick([60, 1_500]))
                guard at < seconds * 1_000, let next = event(&draw, apps, at: at, on: first.app) else { break }
                events.append(next.tree)
                last = next
            }
        }
        for _ in 0..<draw.number(0, 3) {
            if let repeated = repetition(&draw, apps, until: seconds) { events.append(repeated) }
        }
        if draw.chance(12) { events.append(person(&draw, until: seconds)) }
        return events
    }

    private struct Event {
        let tree: Tree
        /// The time in milliseconds.
        let at: Int
        let app: DrawnApp?
    }

    private func event(_ draw: inout Draw, _ apps: [DrawnApp], at: Int, on app: DrawnApp?) -> Event? {
        // The minimum of two draws makes the first apps the most popular.
        let target = app ?? apps[min(draw.number(0, apps.count - 1), draw.number(0, apps.count - 1))]
        guard let action = action(&draw, on: target) else { return nil }
        let time = Tree.plain("\(TimeSpan.milliseconds(Int64(at)))")
        return Event(tree: .record([("at", time)] + action), at: at, app: target)
    }

    /// The keys of a random action, or nil if the app does not support it.
    private func action(_ draw: inout Draw, on app: DrawnApp) -> [(String, Tree)]? {
        let weights = [
            "launch": 14, "switch": 6, "home": 4, "quit": 3, "lock": 2, "open_scene": 3, "close_scene": 3,
            "show_on_display": 2,
        ]
        let ofOthers = DrawnPart.actions + WorldFrame.actionsOfScreen
        let ofApps = ActionForm.all.filter { !ofOthers.contains($0.key) }
        let form = draw.pick(ofApps.map { (weights[$0.key] ?? 1, $0) })
        if form.key == "open_scene" && !(app.scenes.support && app.scenes.multiple) { return nil }
        if form.key == "show_on_display" && app.scenes.support && !app.scenes.multiple { return nil }
        if let reason = LaunchReason.allCases.first(where: { $0.actionName == form.key }), !app.supports(reason) {
            return nil
        }
        let payload: Tree =
            switch form.payload {
            case .app: .plain(app.name)
            case .nothing: .plain("true")
            case .time: draw.time(.milliseconds(1), .seconds(50))
            case .choice(let names): .plain(draw.pick(names))
            }
        guard let extraKey = form.extraKey, form.needsExtra || draw.chance(50) else { return [(form.key, payload)] }
        let extra = form.extraIsTime ? draw.time(.microseconds(1), .seconds(70)) : .plain("\(draw.number(1, 4))")
        return [(form.key, payload), (extraKey, extra)]
    }

    private func repetition(_ draw: inout Draw, _ apps: [DrawnApp], until seconds: Int) -> Tree? {
        guard let action = action(&draw, on: draw.pick(apps)) else { return nil }
        var entry: [(String, Tree)] = [("every", draw.time(.seconds(2), .minutes(3)))]
        let from = draw.number(0, seconds / 2)
        if draw.chance(70) { entry.append(("from", .plain("\(TimeSpan.seconds(Int64(from)))"))) }
        if draw.chance(50) { entry.append(("to", .plain("\(TimeSpan.seconds(Int64(draw.number(from, seconds))))"))) }
        return .record(entry + action)
    }

    private func person(_ draw: inout Draw, until seconds: Int) -> Tree {
        let from = draw.number(0, seconds - 10)
        var entry: [(String, Tree)] = []
        if draw.chance(80) { entry.append(("from", .plain("\(TimeSpan.seconds(Int64(from)))"))) }
        if draw.chance(50) {
            entry.append(("to", .plain("\(TimeSpan.seconds(Int64(draw.number(from + 5, seconds))))")))
        }
        return .record(entry + [("model", .plain(draw.pick(UserModel.allCases).rawValue))])
    }
}

extension TimeSpan {
    fileprivate static func microseconds(_ count: Int64) -> TimeSpan { TimeSpan(microseconds: count) }
}
