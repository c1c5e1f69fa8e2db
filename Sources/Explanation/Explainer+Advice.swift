import Quantities
import Scenario
import Simulation

// Finds the changes that save a process, and their prices. Each change is tried in a run of its own.
extension Explainer {
    /// A change with which the process outlives its recorded end by at least `survival`, followed to the end of the
    /// run.
    struct Advice {
        let change: Change
        let fate: Fate
        let price: AdvicePrice
    }

    /// The advice on how to save the process.
    struct Counsel {
        /// The changes that save it, those with the lowest price first.
        let advices: [Advice]
        /// What was tried in vain, in words.
        let failures: [String]
        /// The fate of the process if the app is protected by name; nil if that was not tried.
        let fateIfProtected: Fate?
    }

    /// The changes that save the process, followed to the end of the run and compared with the run without them.
    ///
    /// Only values on certain steps are tried, so a smaller change may also be enough. All runs use the accounting
    /// backend. Only changes that also save the process on the run's own backend are named.
    func counsel(for termination: Termination) throws -> Counsel {
        var quests = quests(for: termination)
        var trials: [Trial] = []
        while true {
            let wanted = quests.map(\.wanted)
            let tried = try self.trials(wanted.flatMap { $0 }, of: termination)
            guard !tried.isEmpty else { break }
            var rest = tried[...]
            for index in quests.indices where !wanted[index].isEmpty {
                quests[index].learn(rest.prefix(wanted[index].count).map(\.outcome))
                rest = rest.dropFirst(wanted[index].count)
            }
            trials += tried
        }
        var advices = try ordered(advices(of: quests, termination))
        advices = try best(advices).filter { try isConfirmed(termination, with: $0.change) }
        let protected = trials.last { $0.change.kind == .protection }
        return Counsel(
            advices: advices, failures: quests.compactMap(\.failure),
            fateIfProtected: protected.map { $0.isConfirmable(advices) ? .stays : $0.fate })
    }

    /// One change in a run of its own.
    private struct Trial {
        let change: Change
        let fate: Fate
        let outcome: Outcome

        func isConfirmable(_ advices: [Advice]) -> Bool {
            outcome.isSaved && !advices.contains { $0.change.kind == .protection }
        }
    }

    private func trials(_ changes: [Change], of termination: Termination) throws -> [Trial] {
        let next = try nextTap(after: termination)
        let asked = changes.map { change -> (change: Change, question: Question?) in
            var question = question(about: termination)
            // A change of a size must save the process up to the next tap on the app; the run need not go on after
            // that.
            if !change.isFollowed { (question.fatal, question.enough) = (next, next) }
            return (change, question)
        }
        return try zip(asked, replays(asked)).map { asked, replay in
            guard let question = asked.question else { preconditionFailure("a trial without a question") }
            let fate = question.fate(in: replay.lives)
            let isSaved = question.isSaved(fate)
            let isFree = isSaved && replay.isWhole ? try price(of: replay, termination).isFree : false
            return Trial(change: asked.change, fate: fate, outcome: Outcome(isSaved: isSaved, isFree: isFree))
        }
    }

    /// The instant of the next tap on the app, or one after the end of the run.
    private func nextTap(after termination: Termination) throws -> Instant {
        try course().taps(on: termination.app).first { $0 >= termination.at } ?? .never
    }

    /// The found changes, each followed to the end of the run.
    private func advices(of quests: [any Quest], _ termination: Termination) throws -> [Advice] {
        let found = quests.flatMap(\.found)
        let question = question(about: termination)
        return try zip(found, replays(found.map { ($0, nil) })).map { change, replay in
            Advice(
                change: change, fate: question.fate(in: replay.lives), price: try price(of: replay, termination))
        }
    }

    private func price(of replay: Replay, _ termination: Termination) throws -> AdvicePrice {
        AdvicePrice(saving: termination.pid, without: try course(), with: replay.course)
    }

    /// Orders the changes. First come those that save the process for good and make the run no worse, then those that
    /// only delay its end and make the run no worse, then the others; within each group by price, then by kind.
    private func ordered(_ found: [Advice]) -> [Advice] {
        found.enumerated().sorted { a, b in
            let (first, second) = (a.element.price, b.element.price)
            if first.isFair != second.isFair { return first.isFair }
            if first.isWorse != second.isWorse { return second.isWorse }
            if first.toll != second.toll { return first.toll < second.toll }
            return (a.element.change.kind, a.offset) < (b.element.change.kind, b.offset)
        }.map(\.element)
    }

    /// Keeps the best change of the policy's numbers, and all changes of other kinds. If a change saves the process
    /// for good and makes the run no worse, those that do not save it for good are left out, except protection by
    /// name, whose price is always shown.
    private func best(_ advices: [Advice]) -> [Advice] {
        let isFair = advices.contains { $0.price.isFair }
        var hasNumber = false
        return advices.filter { advice in
            guard advice.price.isSaved || !isFair || advice.change.kind == .protection else { return false }
            guard advice.change.kind == .policy else { return true }
            defer { hasNumber = true }
            return !hasNumber
        }
    }
}

extension Change {
    /// Whether its trial goes on to the end of the run.
    fileprivate var isFollowed: Bool {
        switch kind {
        case .policy, .monitor, .protection: true
        case .limit, .behaviour, .size, .device: false
        }
    }
}
