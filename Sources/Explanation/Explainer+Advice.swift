import Quantities
import Reclaim
import Scenario
import Simulation

// Finds a change that saves a process, and its price. Each change is tried in a run of its own.
extension Explainer {
    /// A change that keeps the process alive.
    enum Way: Hashable {
        /// A change of one number of the policy.
        case number(PolicyChange)
        /// The setting `monitor.end_suspended_first=false`.
        case warnedFirst
        /// A policy that may not touch the app.
        case protected
    }

    /// A change with which the process outlives its recorded end by at least `survival`, followed to the end of the
    /// run.
    struct Advice {
        let way: Way
        let fate: Fate
        let price: AdvicePrice
    }

    /// The advice on how to save the process.
    enum Counsel {
        /// - hasOthers: Other changes also keep the process alive and cost at least as much.
        case advice(Advice, hasOthers: Bool)
        /// No tried change keeps the process alive. The fate is that of the process if the app is protected; `stays`
        /// means that protection works only on the accounting backend.
        case hopeless(Fate)
    }

    static let warnedFirst = "monitor.end_suspended_first=false"

    /// The most changes that keep the process alive and are compared by cost.
    private static let compared = 3

    /// The most further changes that are tried once a change with a cost is found.
    private static let further = 4

    /// The change that costs least in the whole run, among the tried changes that keep the process alive for a while.
    ///
    /// Tries changes of one number that alter the decision, nearest first, until one costs nothing or a few are found.
    /// Tries protecting the app when none of them is worth its price. Values lie on the steps of `ParameterSteps`, so a
    /// smaller change may also be enough. All runs use the accounting backend; the recommended change is also tried on
    /// the run's own backend.
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

    /// Sorts changes that save the process without making the run worse first, then by cost, then by the order of the
    /// trials.
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

    /// The nearest steps of every number that alter the decision, and a few beyond, nearest first; the distance is a
    /// share of the number.
    func changesOfDecision(_ termination: Termination) -> [PolicyChange] {
        let turning = PolicyChange.all(of: plan).filter { turns($0, termination.record, victim: termination.pid) }
        let ordered = turning.enumerated().sorted {
            ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset)
        }
        // A few for each number: a small change that alters one decision may not be enough for later ones.
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

    /// The change as an option for a command line, quoted where a shell needs it.
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
