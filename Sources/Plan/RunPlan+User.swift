import Quantities
import Workload

/// Something that the user or the system does at an instant.
public struct UserEvent: Hashable, Sendable {
    /// The instant.
    public var at: Instant
    /// What is done.
    public var action: UserAction
}

extension RunPlan {
    /// The events that the user's entries stand for, entry by entry. The run's seed decides what modelled users do;
    /// the apps' order is their popularity, the most popular first.
    public var expandedUser: [UserEvent] {
        var events: [UserEvent] = []
        // Each modelled user draws from a stream of its own, named by the number of events declared before it. A
        // modelled user counts as one event, and a repetition as all its events. So writing a repetition out in full
        // changes no modelled user.
        var declared = 0
        for entry in user {
            switch entry {
            case .once(let action, let at):
                events.append(UserEvent(at: at, action: action))
                declared += 1
            case .repeated(let action, let repetition):
                events += repetition.instants.map { UserEvent(at: $0, action: action) }
                declared += repetition.count
            case .model(let model, let from, let end):
                events += self.events(of: model, from: from, until: end, stream: "user/\(declared)")
                declared += 1
            }
        }
        return events
    }

    private func events(of model: UserModel, from: Instant, until end: Instant, stream: String) -> [UserEvent] {
        let deeds = model.deeds(from: from, until: end, apps: ownApps.count, seed: seed, stream: stream)
        var opened = Array(repeating: false, count: apps.count)
        return deeds.map { UserEvent(at: $0.at, action: action($0.kind, opened: &opened)) }
    }

    /// The user taps an app that was not opened yet; later the user picks it in the switcher.
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
