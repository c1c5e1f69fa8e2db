import Lifecycle
import Quantities
import Scenario
import Workload

/// A random process that is no app, with what its events must know about it.
struct DrawnPart {
    let name: String
    let kind: ProcessKind
    let tree: Tree
    let playsTrace: Bool

    /// The actions that concern only such processes.
    static let actions = ["demand", "present", "hold_assertion", "release_assertion"]

    init(_ index: Int, _ frame: WorldFrame, _ apps: [DrawnApp]) {
        var draw = Draw(frame.seed, "process \(index)")
        name = "process\(index)"
        kind = draw.pick(ProcessKind.allCases.map { ($0 == .daemon ? 6 : 1, $0) })
        var part = Record(path: "processes[]")
        part.put("name", .plain(name))
        part.put("kind", .plain(kind.rawValue))
        let host = apps[min(draw.number(0, apps.count - 1), draw.number(0, apps.count - 1))].name
        switch kind.family {
        case .helper: part.put("of", .plain(host))
        case .extension: part.put("of", .plain(draw.chance(70) ? host : "none"))
        case .daemon:
            if draw.chance(70) { part.put("band", .plain("\(draw.pick([0, 5, 20, 40, 80, 100, 180]))")) }
            part.put(["entitled": 20, "assertion_time": 30], &draw)
        }
        if kind.family != .helper {
            part.put(["keeps_alive": 30, "idle_exit": 40], &draw)
        }
        let profile = AppProfile.part(kind)
        let memory = DrawnMemory(&draw, profile, of: name, frame)
        part.put("memory", memory.record)
        part.put("costs", DrawnApp.costs(&draw))
        part.put("background", DrawnApp.background(&draw, isTiny: memory.isTiny))
        part.put("warnings", DrawnApp.discipline(&draw, of: "processes[].warnings", isCareless: false))
        let held = memory.base * frame.scale
        var limits = DrawnApp.limits(&draw, profile, base: held)
        let known = frame.preset?.extensionLimits.first { [kind] in $0.kind == kind }?.limit.value
        if limits.isEmpty, let limit = known ?? kind.limit, limit <= held {
            // With the limit of its kind it could not start.
            for key in ["active", "inactive", "active_fatal"] { limits.put(key, Tree.plain("none")) }
        }
        part.put("limits", limits)
        playsTrace = memory.playsTrace
        part.put(["cpu": 20], &draw)
        if draw.chance(15) { part.put("oom_score_adj", DrawnApp.adjustment(&draw)) }
        tree = part.tree
    }

    /// What happens to the process.
    func events(_ frame: WorldFrame) -> [Tree] {
        var draw = Draw(frame.seed, "events of \(name)")
        let seconds = Int(frame.duration.microseconds / 1_000_000)
        return (0..<draw.number(0, min(12, 2 + seconds / 10))).compactMap { _ in
            let at = ("at", Tree.plain("\(TimeSpan.milliseconds(Int64(draw.number(0, seconds * 1_000))))"))
            return action(&draw).map { .record([at] + $0) }
        }
    }

    private func action(_ draw: inout Draw) -> [(String, Tree)]? {
        var keys = [(1, "crash"), (1, "terminate")]
        if kind.isWoken(for: .demand) { keys.append((8, "demand")) }
        if kind.isWoken(for: .remoteNotification) { keys.append((6, "push")) }
        if kind.isWoken(for: .backgroundFetch) { keys.append((6, "background_refresh")) }
        if kind.isPresented { keys.append((8, "present")) }
        if kind.family == .daemon { keys += [(4, "hold_assertion"), (3, "release_assertion")] }
        let key = draw.pick(keys)
        let target = (key, Tree.plain(name))
        switch key {
        case "present": return [target, ("for", draw.time(TimeSpan(microseconds: 1), .seconds(60)))]
        case "hold_assertion": return [target, ("band", .plain("\(draw.pick([0, 5, 30, 80, 100, 120]))"))]
        case "demand", "push", "background_refresh":
            return draw.chance(60) ? [target, ("for", draw.time(TimeSpan(microseconds: 1), .seconds(60)))] : [target]
        default: return [target]
        }
    }
}

extension WorldFrame {
    /// Processes that are no apps, in one world of three.
    func parts(_ apps: [DrawnApp]) -> [DrawnPart] {
        var draw = Draw(seed, "processes")
        guard draw.chance(35) else { return [] }
        let count = draw.pick([(80, draw.number(1, 10)), (20, draw.number(11, 40))])
        return (0..<count).map { DrawnPart($0, self, apps) }
    }

    /// What is alive when the run begins, in one world of three.
    func start(_ apps: [DrawnApp], _ parts: [DrawnPart]) -> [Tree] {
        var draw = Draw(seed, "start")
        guard draw.chance(35) else { return [] }
        var entries: [Tree] = []
        var left = ByteCount((ceiling - reserved).bytes * 3 / 4)
        var compressible = compressorInput
        let front = draw.chance(50) ? draw.pick(apps).name : nil
        var names = apps.map { app in
            (
                name: app.name, isSeveral: app.scenes.support && app.scenes.multiple,
                plain: plainSize(app.tree, app.profile)
            )
        }
        names += parts.map { ($0.name, false, plainSize($0.tree, AppProfile.part($0.kind))) }
        draw.shuffle(&names)
        var ahead = Draw(seed, "start prewarmed")
        for (name, isSeveral, plain) in names where draw.chance(40) || name == front {
            let drawn = draw.bytes(.kibibytes(256), .mebibytes(24))
            let isPlain = draw.chance(10) && plain <= left
            let size = isPlain ? plain : drawn
            guard size <= left else { break }
            left -= size
            let isFront = name == front
            var state = isFront ? "front" : draw.pick([(4, "suspended"), (1, "background")])
            if !isFront && ahead.chance(15) && apps.contains(where: { $0.name == name }) { state = "prewarmed" }
            let isPrewarmed = state == "prewarmed"
            var entry = Record()
            entry.put("process", .plain(name))
            if state != "suspended" || draw.chance(60) { entry.put("state", .plain(state)) }
            entry.put("footprint", .plain(isPlain ? "none" : "\(size)"))
            if compressible > .zero && !isPlain && draw.chance(50) {
                let compressed = draw.bytes(.zero, min(size, compressible))
                compressible = compressible - compressed
                entry.put("compressed", .plain("\(compressed)"))
            }
            let idle = draw.span(.zero, .minutes(20))
            if draw.chance(80) {
                entry.put("idle", .plain("\(idle)"))
                entry.put("age", .plain("\(idle + draw.span(.minutes(5), .hours(5)))"))
            }
            if draw.chance(20) {
                let band = draw.pick([0, 20, 30, 40, 80, 100, 120])
                entry.put("band", .plain(draw.chance(10) ? "none" : "\(isPrewarmed ? 0 : band)"))
            }
            if isSeveral && draw.chance(60) {
                let scenes = draw.number(1, 3)
                if !isPrewarmed { entry.put("scenes", .plain("\(scenes)")) }
            }
            if draw.chance(20) {
                let times = (0..<draw.number(1, 10)).map { _ in draw.time(.zero, .minutes(1)) }
                entry.put("relaunched_after", .list(times))
            }
            entries.append(entry.tree)
        }
        return entries
    }

    /// What it holds with up to three scenes, if the scenario does not say, on the device of the document.
    private func plainSize(_ tree: Tree, _ profile: AppProfile) -> ByteCount {
        func size(_ key: String, _ standard: ByteCount) -> ByteCount {
            tree["memory"]?[key]?.text.flatMap { try? ByteCount(parsing: $0) } ?? standard
        }
        let base = size("base", profile.memory.base)
        let held = size("footprint", base) + size("scene", profile.memory.scene) * 3
        // Small objects take more than they ask for: one byte takes eight.
        let growth: Ratio = tree["memory"]?["objects"] == nil ? .percent(125) : .percent(800)
        return held * scale * growth
    }
}
