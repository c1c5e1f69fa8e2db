import Quantities
import Workload

/// What the user or the system does at an instant.
struct UserEvent: Hashable, Sendable {
    var at: Instant
    var action: UserAction
}

extension RunPlan {
    /// The events that the user's entries stand for, entry by entry. What persons do is decided by the run's seed; the
    /// order of the apps is their popularity.
    var expandedUser: [UserEvent] {
        var events: [UserEvent] = []
        // Persons draw from streams of their own, named by how many events are declared before them: a person counts as
        // one, and a repetition as its events, so that written out it changes nobody.
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
        let deeds = model.deeds(from: from, until: end, apps: apps.count, seed: seed, stream: stream)
        var opened = Array(repeating: false, count: apps.count)
        return deeds.map { UserEvent(at: $0.at, action: action($0.kind, opened: &opened)) }
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
