import Lifecycle
import Plan
import Pressure
import Quantities
import Workload

/// Checks that compare several values of a scenario. A check runs only when every value it compares is itself free of
/// faults, so one mistake gives one diagnostic.
struct CrossChecks {
    let plan: RunPlan
    let tree: Tree
    let decoding: Decoding

    func run() {
        checkMonitor()
        checkDevice()
        checkCompressibility()
        checkApps()
        PartChecks(plan: plan, tree: tree, decoding: decoding).run()
        checkActions()
    }

    /// The origin of the deepest part of the path that exists in the text.
    private func origin(_ path: String...) -> Origin { origin(path) }

    private func origin(_ path: [String]) -> Origin {
        var here = tree
        for step in path {
            guard let next = here[step] else { break }
            here = next
        }
        return here.origin
    }

    private func checkMonitor() {
        guard decoding.isSound("monitor") else { return }
        let monitor = plan.monitor
        let rises = monitor.measure.risesWithPressure
        // Shares compare in the same way on every device, so any ceiling will do if the scenario's own is faulty.
        let ceiling = plan.device.ceiling >= .mebibytes(1) ? plan.device.ceiling : .gibibytes(1)
        func isBeyond(_ a: Threshold, _ b: Threshold) -> Bool {
            let (x, y) = (a.bytes(of: ceiling), b.bytes(of: ceiling))
            return rises ? x < y : x > y
        }
        for (name, level) in [("warning", monitor.warning), ("critical", monitor.critical)] {
            let isSame = level.leave.bytes(of: ceiling) == level.enter.bytes(of: ceiling)
            // Equal thresholds for entering and leaving make a level flicker, except with a debounce or the per-process
            // measure.
            if isBeyond(level.leave, level.enter) { continue }
            if isSame && (monitor.debounce > .zero || monitor.measure == .process) { continue }
            complain(of: name, level, rises)
        }
        if !isBeyond(monitor.warning.enter, monitor.critical.enter) {
            decoding.fault(
                origin("monitor", "critical", "enter"),
                "monitor.critical.enter: \(monitor.critical.enter) must be \(rises ? "above" : "below") the warning "
                    + "level's, \(monitor.warning.enter)")
        }
    }

    private func complain(of name: String, _ level: LevelThresholds, _ rises: Bool) {
        decoding.fault(
            origin("monitor", name, "leave"),
            "monitor.\(name): it is entered \(rises ? "above" : "below") \(level.enter) and must be left "
                + "\(rises ? "below a smaller" : "above a larger") share, not \(level.leave)")
    }

    private func checkDevice() {
        guard decoding.isSound("device", "like"), decoding.isSound("device", "ceiling"),
            decoding.isSound("device", "reserved"), decoding.isSound("device", "scale")
        else { return }
        let ofSystem = [
            "compressor", "kernel", "swap", "reclaim", "wired", "system_pageable", "system_compressed", "freezer",
        ]
        let isSound = ofSystem.allSatisfy { decoding.isSound("device", $0) }
        if let fault = plan.device.fault ?? (isSound ? plan.device.faultOfSystem : nil) {
            let path = ["device"] + fault.key.split(separator: ".").map(String.init)
            decoding.fault(origin(path), "device.\(fault.key): \(fault.message)")
        } else if plan.device.compressor?.codec == .lz4, plan.backend == .accounting, decoding.isSound("backend") {
            decoding.fault(
                origin("device", "compressor", "codec"),
                "device.compressor.codec: lz4 compresses real contents, which the backend accounting lacks; use "
                    + "backend jemalloc or codec model")
        }
    }

    private func checkCompressibility() {
        guard let elements = tree["apps"]?.elements, elements.count == plan.apps.count else { return }
        for (app, element) in zip(plan.apps, elements) {
            let contents = app.memory.compressibility
            guard contents.repeated.partsPerMillion + contents.incompressible.partsPerMillion > 1_000_000 else {
                continue
            }
            decoding.fault(
                element["memory"]?["compressibility"]?.origin ?? element.origin,
                "apps.\(app.name).memory.compressibility: \(contents.repeated) of repeated and "
                    + "\(contents.incompressible) of incompressible pages are together more than 100%")
        }
    }

    private func checkApps() {
        guard let elements = tree["apps"]?.elements, elements.count == plan.ownApps.count else { return }
        let room = plan.device.ceiling - plan.device.reserved
        let knowsRoom =
            decoding.isSound("device", "like") && decoding.isSound("device", "ceiling")
            && decoding.isSound("device", "reserved")
        // A missing or invalid name is reported elsewhere.
        for (index, (app, element)) in zip(plan.ownApps, elements).enumerated() where !app.name.isEmpty {
            if let first = decoding.appIndex[app.name], first != index {
                decoding.fault(
                    element["name"]?.origin ?? element.origin,
                    "app name '\(app.name)' is used twice; first at \(place(elements[first]["name"]))")
                continue
            }
            guard decoding.isSound("apps", app.name, "like") else { continue }
            checkFatal(of: app, element)
            guard decoding.isSound("apps", app.name, "memory") else { continue }
            let memory = element["memory"]
            let stated = memory?["footprint"] ?? memory?["base"]
            if knowsRoom, room > .zero, app.memory.stated * plan.device.scale > room {
                decoding.fault(
                    stated?.origin ?? element["like"]?.origin ?? element.origin,
                    "apps.\(app.name): it can never launch, because its \(statedSize(of: app)) is larger "
                        + "than the \(room) that the device has for apps")
            }
            checkLimits(of: app, element)
        }
    }

    /// Settings for a limit that the app does not have would be ignored.
    private func checkFatal(of app: AppProfile, _ element: Tree) {
        guard decoding.isSound("apps", app.name, "limits") else { return }
        let (limits, tree) = (app.limits, element["limits"])
        func check(_ kind: String, _ limit: ByteCount?, isFatal: Bool?, _ advice: String) {
            guard isFatal != nil, limit == nil else { return }
            decoding.fault(
                tree?["\(kind)_fatal"]?.origin ?? tree?[kind]?.origin ?? tree?.origin ?? element.origin,
                "apps.\(app.name): limits.\(kind)_fatal has no effect: limits.\(kind) is none" + advice)
        }
        check("active", limits.active, isFatal: limits.activeFatal, "")
        let advice = limits.active == nil ? "" : " and the active limit applies at all times"
        check("inactive", limits.inactive, isFatal: limits.inactiveFatal, advice)
    }

    private func checkLimits(of app: AppProfile, _ element: Tree) {
        guard decoding.isSound("apps", app.name, "limits"), let limit = fatalLimit(of: app),
            app.memory.stated * plan.device.scale >= limit
        else { return }
        let limits = element["limits"]
        decoding.fault(
            limits?["active"]?.origin ?? limits?.origin ?? element["memory"]?["footprint"]?.origin
                ?? element["memory"]?["base"]?.origin ?? element.origin,
            "apps.\(app.name): it can never launch, because its \(statedSize(of: app)) reaches its fatal limit of "
                + "\(limit)")
    }

    /// The limit that ends the app in front: its own, or the device's for apps without one.
    private func fatalLimit(of app: AppProfile) -> ByteCount? {
        guard let own = app.limits.active else {
            guard decoding.isSound("device", "app_limit"), decoding.isSound("device", "entitled_limit") else {
                return nil
            }
            return plan.device.limit(ofEntitled: app.isEntitled)?.bytes
        }
        return app.limits.isActiveFatal ? own : nil
    }

    /// The app's base, or its footprint, at this device's scale.
    private func statedSize(of app: AppProfile) -> String {
        let (scale, size) = (plan.device.scale, app.memory.stated)
        let name = app.memory.footprint == nil ? "base" : "footprint"
        return "\(name) of " + (scale == .one ? "\(size)" : "\(size * scale) (\(size) at scale \(scale))")
    }

    /// Checks that each action's app has what the action needs: several scenes, a background mode, a feature.
    private func checkActions() {
        for (index, event) in (tree["user"]?.elements ?? []).enumerated() {
            for key in ["open_scene", "show_on_display"] { checkScenes(event, index, key) }
            for reason in LaunchReason.allCases where reason != .userTap {
                checkSupport(event, index, reason.actionName, reason.requirement)
            }
            for task in [LaunchReason.backgroundFetch, .processing] {
                checkSupport(event, index, task.submissionName, task.requirement)
            }
            checkSupport(event, index, "picture_in_picture", .mode(.audio))
        }
    }

    /// The app that the event's key names, or nil if the app or its `setting` is faulty.
    private func app(_ event: Tree, _ key: String, judgedBy setting: String) -> AppProfile? {
        guard let name = event[key]?.text, let app = decoding.appIndex[name], plan.apps.indices.contains(app),
            plan.apps[app].name == name, decoding.isSound("apps", name, setting), decoding.isSound("apps", name, "like")
        else { return nil }
        return plan.apps[app]
    }

    /// A second scene needs an app that supports several; a second display shows a second scene, or a window of an app
    /// without scenes.
    private func checkScenes(_ event: Tree, _ index: Int, _ key: String) {
        guard let app = app(event, key, judgedBy: "scenes"), let origin = event[key]?.origin, app.part == nil
        else { return }
        if app.scenes.support ? app.scenes.multiple : key == "show_on_display" { return }
        decoding.fault(
            origin,
            "user.\(index).\(key): app '\(app.name)' does not support multiple scenes; "
                + "set its 'scenes: { support: true, multiple: true }'")
    }

    /// The system does this only with an app that has declared what it needs.
    private func checkSupport(_ event: Tree, _ index: Int, _ key: String, _ requirement: LaunchRequirement) {
        let setting: String
        let needed: String
        switch requirement {
        case .nothing: return
        case .mode(let mode): (setting, needed) = ("background_modes", mode.rawValue)
        case .feature(let feature): (setting, needed) = ("features", feature.rawValue)
        }
        guard let app = app(event, key, judgedBy: setting), let origin = event[key]?.origin, app.part == nil,
            !app.declares(requirement)
        else { return }
        decoding.fault(
            origin,
            "user.\(index).\(key): app '\(app.name)' has not declared '\(needed)'; add it to its '\(setting)'")
    }

    private func place(_ tree: Tree?) -> String {
        switch tree?.origin {
        case .text(let line, let column), .file(_, let line, let column): "\(line):\(column)"
        case .option(let option): option
        case nil: "another place"
        }
    }
}
