import Quantities
import Reclaim
import Scenario
import Simulation

// What would have saved a process, and what that costs: each change is tried in a run of its own.
extension Explainer {
    /// A change that keeps the process alive.
    enum Way: Hashable {
        /// One number of the policy.
        case number(PolicyChange)
        /// `monitor.end_suspended_first=false`.
        case warnedFirst
        /// The policy may not touch the app.
        case protected
    }

    /// A change that lets the process outlive its recorded end by `survival` at least, followed to the end of the run.
    struct Advice {
        let way: Way
        let fate: Fate
        let price: AdvicePrice
    }

    /// What can be said to somebody who wants the process saved.
    enum Counsel {
        /// - hasOthers: Other changes keep the process alive, too, and cost no less.
        case advice(Advice, hasOthers: Bool)
        /// Nothing that was tried keeps it alive; this becomes of it if the app is protected. `stays`: but only on the
        /// accounting backend.
        case hopeless(Fate)
    }

    static let warnedFirst = "monitor.end_suspended_first=false"

    /// So many changes that keep the process alive are compared by what they cost.
    private static let compared = 3

    /// So many more changes are tried when one has been found that costs something.
    private static let further = 4

    /// Of the changes that are tried and keep the process alive for a while, the one that costs least in the whole run.
    ///
    /// Changes of one number that turn the decision are tried, near ones first, until one costs nothing or a few are
    /// found; protecting the app is tried when none of them is worth its price. Values lie on the steps of
    /// `ParameterSteps`, so a smaller change may do, too. All of it is done on the accounting backend; the change that
    /// is named is tried on the run's own, too.
    func counsel(for termination: Termination) throws -> Counsel {
        let found = try ordered(candidates(for: termination))
        for advice in found where advice.price.isFair {
            if try isConfirmed(termination, in: plan(advice.way, termination)) {
                return .advice(advice, hasOthers: found.count > 1)
            }
        }
        let other = plan(.protected, termination)
        let trial = try trial(of: termination, in: other)
        guard outlives(termination, trial.fate) else {
            for advice in found where try isConfirmed(termination, in: plan(advice.way, termination)) {
                return .advice(advice, hasOthers: found.count > 1)
            }
            return .hopeless(trial.fate)
        }
        let all = ordered(found + [try advice(.protected, termination, trial)])
        for advice in all where try isConfirmed(termination, in: plan(advice.way, termination)) {
            return .advice(advice, hasOthers: all.count > 1)
        }
        return .hopeless(.stays)
    }

    /// Those that save it without making the run worse first; then the one that costs least, then the one that was
    /// tried first.
    private func ordered(_ found: [Advice]) -> [Advice] {
        found.enumerated().sorted { a, b in
            let (first, second) = (a.element.price, b.element.price)
            if first.isFair != second.isFair { return first.isFair }
            if first.with != second.with { return first.with < second.with }
            if first.isSaved != second.isSaved { return first.isSaved }
            return a.offset < b.offset
        }.map(\.element)
    }

    private func candidates(for termination: Termination) throws -> [Advice] {
        let isByMonitor = termination.record.decision.isByMonitor
        let ways = isByMonitor ? [Way.warnedFirst] : changesOfDecision(termination).map { .number($0) }
        var found: [Advice] = []
        var tried = 0
        for (index, way) in ways.enumerated() {
            tell(.trying(index + 1, of: ways.count))
            let trial = try trial(of: termination, in: plan(way, termination))
            tried += found.isEmpty ? 0 : 1
            if outlives(termination, trial.fate) {
                found.append(try advice(way, termination, trial))
                if found.last?.price.isFree == true { break }
            }
            if found.count == Explainer.compared || tried == Explainer.further { break }
        }
        return found
    }

    private func advice(
        _ way: Way, _ termination: Termination, _ trial: (fate: Fate, course: RunCourse)
    ) throws -> Advice {
        let price = AdvicePrice(saving: termination.pid, without: try course(), with: trial.course)
        return Advice(way: way, fate: trial.fate, price: price)
    }

    /// Every number's nearest steps that turn the decision, and a few beyond, the nearest first, as a share of the
    /// number.
    func changesOfDecision(_ termination: Termination) -> [PolicyChange] {
        let turning = PolicyChange.all(of: plan).filter { turns($0, termination.record, victim: termination.pid) }
        let ordered = turning.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }
        // A few of each: a small change that turns one decision may not be enough for those after it.
        var seen: [String: Int] = [:]
        return ordered.map(\.element).filter { change in
            seen[change.name, default: 0] += 1
            return [1, 2, 4, 8, 16, 32].contains(seen[change.name, default: 0])
        }
    }

    /// The plan with the change.
    func plan(_ way: Way, _ termination: Termination) -> RunPlan {
        var other = plan
        switch way {
        case .number(let change): other.policy = change.settings
        case .warnedFirst: other.monitor.endSuspendedFirst = false
        case .protected:
            other.limits.protected += plan.apps.indices.filter { plan.apps[$0].name == termination.app }
                .map { AppID($0) }
        }
        return other
    }

    /// The change for a command line, quoted where a shell needs it.
    func option(_ way: Way, _ termination: Termination) -> String {
        switch way {
        case .number(let change): return change.option
        case .warnedFirst: return "--set \(Explainer.warnedFirst)"
        case .protected:
            let names = plan.limits.protected.map { plan.apps[$0.index].name } + [termination.app]
            return "--set " + ShellWord.quoted("limits.protected=[\(names.joined(separator: ", "))]")
        }
    }
}
