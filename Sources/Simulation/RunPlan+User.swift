import Quantities
import Workload

extension RunPlan {
    /// The user's events with every model replaced by what its person does, decided by the run's seed. The order of the
    /// apps is their popularity.
    var expandedUser: [UserEvent] {
        var events: [UserEvent] = []
        for (index, event) in user.enumerated() {
            guard case .model(let model, let end) = event.action else {
                events.append(event)
                continue
            }
            let deeds = model.deeds(from: event.at, until: end, apps: apps.count, seed: seed, stream: "user/\(index)")
            var opened = Array(repeating: false, count: apps.count)
            events += deeds.map { UserEvent(at: $0.at, action: action($0.kind, opened: &opened)) }
        }
        return events
    }

    /// An app that the person has not had yet is tapped, another one comes from the switcher.
    private func action(_ deed: UserDeed.Kind, opened: inout [Bool]) -> UserAction {
        switch deed {
        case .putAway: return .home
        case .open(let rank), .change(let rank):
            let wasOpened = opened[rank]
            opened[rank] = true
            return wasOpened ? .switchTo(AppID(rank)) : .launch(AppID(rank))
        }
    }
}
