import Lifecycle
import Quantities
import Reclaim
import Scenario
import Workload

/// A random app, with what its events must know about it.
struct DrawnApp {
    let name: String
    let tree: Tree
    let profile: AppProfile
    /// As written, including what the app takes from its archetype.
    let modes: [BackgroundMode]
    let features: [AppFeature]
    let scenes: SceneSupport
    let playsTrace: Bool

    /// Whether a launch for this reason is possible.
    func supports(_ reason: LaunchReason) -> Bool {
        switch reason.requirement {
        case .nothing: true
        case .mode(let mode): modes.contains(mode)
        case .feature(let feature): features.contains(feature)
        }
    }

    init(_ index: Int, _ frame: WorldFrame) {
        var draw = Draw(frame.seed, "app \(index)")
        let name = "app\(index)"
        let archetype = draw.pick(Archetype.all)
        var app = Record(path: "apps[]")
        app.put("name", .plain(name))
        let isNamed = draw.chance(75)
        if isNamed { app.put("like", .plain(archetype.name)) }
        let profile = isNamed ? archetype.profile : Archetype.plain.profile
        var (scenes, modes, features) = (profile.scenes, profile.backgroundModes, profile.features)
        if draw.chance(50) {
            scenes = SceneSupport(support: draw.chance(75), multiple: draw.chance(60))
            app.put(
                "scenes",
                .record([("support", .plain("\(scenes.support)")), ("multiple", .plain("\(scenes.multiple)"))]))
        }
        if draw.chance(60) {
            modes =
                draw.some(of: BackgroundMode.allCases.filter { !$0.keepsRunning }, 40)
                + draw.some(of: BackgroundMode.allCases.filter(\.keepsRunning), 15)
            app.put("background_modes", .list(modes.map { .plain($0.rawValue) }))
        }
        let memory = DrawnMemory(&draw, profile, of: name, frame)
        app.put("memory", memory.record)
        app.put("costs", DrawnApp.costs(&draw))
        app.put("background", DrawnApp.background(&draw, isTiny: memory.isTiny))
        app.put("warnings", DrawnApp.discipline(&draw, of: "apps[].warnings", isCareless: false))
        app.put("disconnect", DrawnApp.discipline(&draw, of: "apps[].disconnect", isCareless: frame.isSluggish))
        app.put("limits", DrawnApp.limits(&draw, profile, base: memory.base * frame.scale))
        if draw.chance(45) {
            features = draw.some(of: AppFeature.allCases, 65)
            app.put("features", .list(features.map { .plain($0.rawValue) }))
        }
        if draw.chance(12) {
            app.put(
                "deferred",
                .record([
                    ("work", draw.time(.zero, .seconds(10))), ("memory", draw.size(.zero, memory.most)),
                ]))
        }
        app.put(["cpu": 10], &draw)
        if draw.chance(frame.isSluggish ? 80 : 25) {
            let observed = draw.some(of: AppNotification.allCases, frame.isSluggish ? 40 : 12)
            app.put("observers", .list(observed.map { observer(of: $0, &draw) }))
        }
        if draw.chance(30) { app.put("spread", DrawnApp.spread(&draw)) }
        if draw.chance(15) { app.put("oom_score_adj", DrawnApp.adjustment(&draw)) }
        (self.name, self.profile, tree, playsTrace) = (name, profile, app.tree, memory.playsTrace)
        (self.modes, self.features, self.scenes) = (modes, features, scenes)
        func observer(of notification: AppNotification, _ draw: inout Draw) -> Tree {
            var observer = Record()
            observer.put("of", .plain(notification.rawValue))
            if draw.chance(70) {
                observer.put("cost", draw.time(frame.isSluggish ? .milliseconds(30) : .zero, .seconds(2)))
            }
            if draw.chance(50) { observer.put("frees", draw.share()) }
            return observer.tree
        }
    }

    static func adjustment(_ draw: inout Draw) -> Tree {
        if draw.chance(10) { return .plain("none") }
        return .plain("\(draw.chance(25) ? LinuxScore.exempt : draw.number(-999, 1_000))")
    }

    /// Costs are mostly short, but in a few apps one of them is so long that the watchdog reacts.
    static func costs(_ draw: inout Draw) -> Record {
        let keys = CostName.allCases.filter { $0 != .deferredWork }.map(\.rawValue)
        var costs = Record()
        guard draw.chance(50) else { return costs }
        let slow = draw.chance(15) ? draw.pick(keys) : nil
        for key in keys where key == slow || draw.chance(25) {
            costs.put(key, key == slow ? draw.time(.seconds(4), .seconds(40)) : draw.time(.zero, .milliseconds(800)))
        }
        return costs
    }

    private static func spread(_ draw: inout Draw) -> Tree {
        let sigma = draw.share()
        if draw.chance(50) { return sigma }
        var spread = Record()
        if draw.chance(70) { spread.put("sigma", sigma) }
        if draw.chance(70) {
            spread.put("except", .list(draw.some(of: CostName.allCases, 30).map { .plain($0.rawValue) }))
        }
        return spread.tree
    }

    static func background(_ draw: inout Draw, isTiny: Bool) -> Record {
        var background = Record(path: "apps[].background")
        guard isTiny || draw.chance(70) else { return background }
        background.put(["frees": 25, "reloads": 25, "ignores": 25, "work": 40, "delay": 15], &draw)
        if isTiny || draw.chance(30) {
            background.put("snapshot", draw.size(.zero, isTiny ? .kibibytes(256) : .mebibytes(12)))
        }
        if draw.chance(35) {
            background.put("task", draw.chance(15) ? .plain("none") : draw.time(.zero, .minutes(1)))
        }
        background.put(["leaks_task": 20, "event_work": 25, "modes_last": 25], &draw)
        // The system ends an app that uses more than four fifths of a core for a minute.
        if draw.chance(25) { background.put("cpu", draw.chance(60) ? draw.share(82, 100) : draw.share()) }
        if draw.chance(15) {
            background.put(draw.chance(85) ? "holds_file_lock" : "holds_protected_file", draw.flag(80))
        }
        return background
    }

    static func discipline(_ draw: inout Draw, of path: String, isCareless: Bool) -> Record {
        var discipline = Record(path: path)
        guard isCareless || draw.chance(50) else { return discipline }
        if isCareless && draw.chance(70) {
            discipline.put("frees", .plain("0%"))
        } else {
            discipline.put(["frees": 70], &draw)
        }
        discipline.put(["delay": 50, "ignores": 40], &draw)
        return discipline
    }

    /// - Parameter base: The app's base memory on this device; a fatal limit is higher.
    static func limits(_ draw: inout Draw, _ profile: AppProfile, base: ByteCount) -> Record {
        var limits = Record()
        guard draw.chance(25) else { return limits }
        let least = ByteCount(max(base.bytes, 1 << 20) * 5 / 4)
        func limit(_ draw: inout Draw) -> ByteCount { ByteCount(least.bytes * draw.number(100, 300) / 100) }
        let active = draw.chance(85) ? limit(&draw) : nil
        let inactive = draw.chance(60) ? limit(&draw) : nil
        limits.put("active", .plain(active.map { "\($0)" } ?? "none"))
        limits.put("inactive", .plain(inactive.map { "\($0)" } ?? "none"))
        if draw.chance(60) { limits.put("fatal", draw.flag()) }
        if draw.chance(25) {
            limits.put("active_fatal", active == nil || draw.chance(20) ? .plain("none") : draw.flag())
        }
        if draw.chance(25) {
            limits.put("inactive_fatal", inactive == nil || draw.chance(20) ? .plain("none") : draw.flag())
        }
        return limits
    }
}
