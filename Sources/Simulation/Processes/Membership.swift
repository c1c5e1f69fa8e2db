import Plan
import Quantities
import Reclaim
import Workload

/// A process's place in a group (a coalition): an app with its helpers and its extensions.
struct Membership {
    /// The group's number, from its app; nil: the process stands alone, as daemons do.
    var group: Int?
    var role = GroupRole.undefined
    /// The number of its control group of Linux; nil: it is in none.
    var controlGroup: Int?
    /// Of an app: its helpers, in the order of the scenario.
    var helpers: [AppID] = []

    /// The memberships of the plan's apps and other processes, by their numbers.
    static func all(of plan: RunPlan) -> [Membership] {
        let apps = plan.apps
        var all = plan.controlGroupOfEach.map { Membership(controlGroup: $0) }
        for (index, app) in apps.enumerated() {
            guard let part = app.part, let host = part.host, host.index < apps.count else { continue }
            all[host.index].group = host.index
            all[host.index].role = .leader
            all[index].group = host.index
            switch part.kind.family {
            case .helper:
                all[index].role = .helper
                all[host.index].helpers.append(AppID(index))
            case .extension: all[index].role = .extension
            case .daemon: break
            }
        }
        return all
    }
}
