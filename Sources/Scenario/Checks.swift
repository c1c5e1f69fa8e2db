import Quantities
import Simulation
import Workload

/// What no single value can tell: the claims that hold between values. Each speaks only when the values it compares are
/// themselves without fault, so that one mistake gives one diagnostic.
struct CrossChecks {
    let plan: RunPlan
    let tree: Tree
    let decoding: Decoding

    func run() {
        checkMonitor()
        checkDevice()
        checkApps()
        checkScenes()
    }

    /// The origin of the deepest piece of the path that the text has.
    private func origin(_ path: String...) -> Origin {
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
        for (name, level) in [("warning", monitor.warning), ("critical", monitor.critical)]
        where level.leave <= level.enter {
            decoding.fault(
                origin("monitor", name, "leave"),
                "monitor.\(name): it is entered below \(level.enter) and must be left above a larger share, "
                    + "not \(level.leave)")
        }
        if monitor.critical.enter >= monitor.warning.enter {
            decoding.fault(
                origin("monitor", "critical", "enter"),
                "monitor.critical.enter: \(monitor.critical.enter) must be below the warning level's, "
                    + "\(monitor.warning.enter)")
        }
    }

    private func checkDevice() {
        guard decoding.isSound("device", "ceiling"), decoding.isSound("device", "reserved") else { return }
        let device = plan.device
        if device.reserved >= device.ceiling {
            decoding.fault(
                origin("device", "reserved"),
                "device.reserved: \(device.reserved) must be less than the ceiling, \(device.ceiling)")
        }
    }

    private func checkApps() {
        guard let elements = tree["apps"]?.elements, elements.count == plan.apps.count else { return }
        let room = plan.device.ceiling - plan.device.reserved
        let knowsRoom = decoding.isSound("device", "ceiling") && decoding.isSound("device", "reserved")
        for (index, (app, element)) in zip(plan.apps, elements).enumerated() {
            if let first = decoding.appIndex[app.name], first != index {
                decoding.fault(
                    element["name"]?.origin ?? element.origin,
                    "app name '\(app.name)' is used twice; first at \(place(elements[first]["name"]))")
                continue
            }
            guard decoding.isSound("apps", app.name, "memory"), decoding.isSound("apps", app.name, "like") else {
                continue
            }
            let base = element["memory"]?["base"]?.origin ?? element["like"]?.origin ?? element.origin
            if knowsRoom, room > .zero, app.memory.base > room {
                decoding.fault(
                    base,
                    "apps.\(app.name): it can never launch, for its base of \(app.memory.base) is larger than the "
                        + "\(room) that the device has for apps")
            }
            checkLimits(of: app, element)
        }
    }

    private func checkLimits(of app: AppProfile, _ element: Tree) {
        guard decoding.isSound("apps", app.name, "limits"), app.limits.fatal, let limit = app.limits.active,
            app.memory.base >= limit
        else { return }
        let limits = element["limits"]
        decoding.fault(
            limits?["active"]?.origin ?? limits?.origin ?? element["memory"]?["base"]?.origin ?? element.origin,
            "apps.\(app.name): it can never launch, for its base of \(app.memory.base) reaches its fatal limit of "
                + "\(limit)")
    }

    /// A second scene needs an app that supports several.
    private func checkScenes() {
        for (index, event) in (tree["user"]?.elements ?? []).enumerated() {
            guard let scene = event["open_scene"], let name = scene.text, let app = decoding.appIndex[name],
                plan.apps.indices.contains(app), plan.apps[app].name == name,
                decoding.isSound("apps", name, "scenes"), decoding.isSound("apps", name, "like")
            else { continue }
            let scenes = plan.apps[app].scenes
            guard !scenes.support || !scenes.multiple else { continue }
            decoding.fault(
                scene.origin,
                "user.\(index).open_scene: app '\(name)' does not support multiple scenes; "
                    + "set its 'scenes: { support: true, multiple: true }'")
        }
    }

    private func place(_ tree: Tree?) -> String {
        switch tree?.origin {
        case .text(let line, let column): "\(line):\(column)"
        case .option(let option): option
        case nil: "another place"
        }
    }
}
