import Lifecycle
import Plan
import Quantities
import Simulation
import Workload

extension RunOutput {
    /// What an app received and what was kept of it, in order: callbacks, snapshots, events off screen and process
    /// states.
    func story(of app: String, from start: Double = 0) -> [String] {
        eventRows.compactMap { row in
            guard row.app == app, (Double(row.time) ?? 0) >= start else { return nil }
            switch row.event {
            case "callback": return row.detail
            case "snapshot": return "snapshot"
            case "background_event": return "event \(row.detail)"
            case "process_state": return "-> \(row.detail)"
            case "exit": return "exit \(row.detail)"
            default: return nil
            }
        }
    }

    /// The callbacks from an instant on.
    func callbacks(of app: String, from start: Double) -> [String] {
        eventRows.filter { $0.event == "callback" && $0.app == app && (Double($0.time) ?? 0) >= start }.map(\.detail)
    }

    func notifications(of app: String, from start: Double = 0) -> [String] {
        eventRows.filter { $0.event == "notification" && $0.app == app && (Double($0.time) ?? 0) >= start }.map(
            \.detail)
    }

    /// An app's rows of one kind.
    func rows(_ event: String, of app: String) -> [EventRow] {
        eventRows.filter { $0.event == event && $0.app == app }
    }
}

let willFinish = "application(_:willFinishLaunchingWithOptions:)"
let didFinish = "application(_:didFinishLaunchingWithOptions:)"
let didDiscard = "application(_:didDiscardSceneSessions:)"
let configuration = "application(_:configurationForConnecting:options:)"
let willConnect = "scene(_:willConnectTo:options:)"
let restoration = "stateRestorationActivity(for:)"
let restoreState = "scene(_:restoreInteractionStateWith:)"

/// Plays a life-cycle run: no pressure, the accounting backend.
func live(
    _ apps: [AppProfile], seconds: Int64 = 120, _ user: [(Double, UserAction)],
    _ change: (inout RunPlan) -> Void = { _ in }
) throws -> RunOutput {
    try runToEnd(
        testPlan(apps, ceiling: .mebibytes(512), seconds: seconds, policy: "none", user: user) { plan in
            plan.backend = .accounting
            change(&plan)
        })
}
