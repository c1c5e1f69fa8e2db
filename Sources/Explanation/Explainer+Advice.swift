import Quantities
import Scenario
import Simulation

// Finds the changes that save a process, and their prices. Each change is tried in a run of its own.
extension Explainer {
    /// A change with which the process outlives its recorded end by at least `survival`, followed to the end of the
    /// run.
    struct Advice {
        let change: Change
        let fate: ProcessFate
        let price: AdvicePrice
        /// Whether a claim of the scenario fails in the run with the change, such as that the process ends.
        let breaksClaims: Bool

        /// Whether it saves the process for good, and not by chance.
        var isLasting: Bool { price.isSaved && !change.isByChance }
    }

    /// The advice on how to save the process.
    struct Counsel {
        /// The changes that save it, those with the lowest price first.
        let advices: [Advice]
        /// What was tried in vain, in words.
        let failures: [String]
        /// The kinds of all changes that were tried.
        let tried: Set<Change.Kind>
        /// How many pairs of changes were tried.
        let pairs: Int
        /// The fate of the process if the app is protected by name; nil if that was not tried.
        let fateIfProtected: ProcessFate?
    }

    /// The changes that save the process, followed to the end of the run and compared with the run without them.
    func counsel(for termination: Termination) throws -> Counsel {
        var found: Counsel?
        try counsel(for: [termination]) { _, counsel in found = counsel }
        guard let found else { preconditionFailure("an investigation without a result") }
        return found
    }

    /// Finds the counsel for each termination, and gives them in their order, each as soon as it is found.
    ///
    /// Only values on certain steps are tried, so a smaller change may also be enough. All runs use the accounting
    /// backend. Only changes that also save the process on the run's own backend are named.
    func counsel(for terminations: [Termination], found: (Int, Counsel) throws -> Void) throws {
        // The other backend plays one run at a time, and none beside it.
        let groups = plan.isTheSameOnAccounting ? [terminations] : terminations.map { [$0] }
        var done = 0
        for group in groups {
            let first = done
            try Investigation(self, group).run { index, findings in
                try found(first + index, counsel(findings, group[index]))
            }
            done += group.count
        }
    }

    private func counsel(_ findings: Findings, _ termination: Termination) throws -> Counsel {
        let singles = ordered(try singles(findings.found, termination))
        let pairs = pairs(of: singles)
        let together = try advices(pairs, termination).filter(\.isLasting)
        var advices = ordered(singles + ordered(together).prefix(Explainer.pairsNamed))
        advices = try best(advices).filter { try isConfirmed(termination, with: $0.change) }
        let isNamed = advices.contains { $0.change.kind == .protection }
        return Counsel(
            advices: advices, failures: findings.failures, tried: findings.tried, pairs: pairs.count,
            fateIfProtected: findings.protection.map { $0.outcome.isSaved && !isNamed ? .stays : $0.fate })
    }

    /// Advice of one change each. Changes that only delay the end cost a whole run each: the longest delays are
    /// followed if no other change saves the process.
    private func singles(_ found: [Change], _ termination: Termination) throws -> [Advice] {
        let saving = try advices(found.filter { $0.delay == nil }, termination)
        guard !saving.contains(where: isOwnRescue) else { return saving }
        let delays = found.compactMap(\.delay).sorted(by: >).prefix(Explainer.paired)
        return saving + (try advices(found.filter { $0.delay.map(delays.contains) ?? false }, termination))
    }

    private func isOwnRescue(_ advice: Advice) -> Bool {
        advice.isLasting && !Explainer.inNobodysHands.contains(advice.change.kind)
    }

    /// The found changes, each followed to the end of the run.
    private func advices(_ found: [Change], _ termination: Termination) throws -> [Advice] {
        let question = question(about: termination)
        return try found.enumerated().map { index, change in
            for next in found[index...] where runs.hasFreeHand {
                if runs.replay(next, nil) == nil, !runs.isUnderWay(next) { runs.begin(next, []) }
            }
            let replay = try runs.played(change, nil)
            return Advice(
                change: change, fate: question.fate(in: replay.lives), price: try price(of: replay, termination),
                breaksClaims: breaksClaims(replay))
        }
    }

    /// Whether a claim of the scenario fails in this run.
    func breaksClaims(_ replay: Replay) -> Bool {
        replay.course.tally.results(of: plan.expectations).contains { !$0.holds }
    }

    // MARK: Pairs

    /// Kinds of changes that neither the app nor the user can make on a phone.
    private static let inNobodysHands: [Change.Kind] = [.policy, .monitor, .protection]
    /// So many changes are paired: those that delay the end longest.
    private static let paired = 3
    /// So many pairs that save the process are named.
    private static let pairsNamed = 2

    /// Pairs of the changes that delay the end longest, at most three: each costs a whole run. None if one change alone
    /// saves the process, other than protection by name, which is in nobody's hands on a phone.
    private func pairs(of singles: [Advice]) -> [Change] {
        let own = singles.filter { !Explainer.inNobodysHands.contains($0.change.kind) }
        guard !own.contains(where: isOwnRescue) else { return [] }
        let delaying = own.compactMap { advice -> (change: Change, until: Instant)? in
            guard case .ends(let at, _, _) = advice.fate else { return nil }
            return (advice.change, at)
        }
        let best = delaying.enumerated().sorted { ($1.element.until, $0.offset) < ($0.element.until, $1.offset) }
            .prefix(Explainer.paired).map(\.element.change)
        return best.indices.flatMap { first in
            best[(first + 1)...].compactMap { Change(best[first], with: $0, of: plan) }
        }
    }

    func price(of replay: Replay, _ termination: Termination) throws -> AdvicePrice {
        AdvicePrice(saving: termination.pid, without: try course(), with: replay.course)
    }

    /// Orders the changes. First come those that save the process for good, and not by chance; within these and the
    /// others those that make the run no worse; within each group by price, then by kind.
    private func ordered(_ found: [Advice]) -> [Advice] {
        found.enumerated().sorted { a, b in
            let (first, second) = (a.element.price, b.element.price)
            if a.element.isLasting != b.element.isLasting { return a.element.isLasting }
            if first.isFair != second.isFair { return first.isFair }
            if first.isWorse != second.isWorse { return second.isWorse }
            if first.toll != second.toll { return first.toll < second.toll }
            return (a.element.change.kind, a.offset) < (b.element.change.kind, b.offset)
        }.map(\.element)
    }

    /// Keeps the best change of the policy's numbers, and all changes of other kinds. If one change alone saves the
    /// process for good and makes the run no worse, those that do not save it for good are left out, except protection
    /// by name, whose price is always shown.
    private func best(_ advices: [Advice]) -> [Advice] {
        let isFair = advices.contains { $0.price.isFair && $0.isLasting && $0.change.parts.isEmpty }
        var hasNumber = false
        return advices.filter { advice in
            guard advice.isLasting || !isFair || advice.change.kind == .protection else { return false }
            guard advice.change.kind == .policy else { return true }
            defer { hasNumber = true }
            return !hasNumber
        }
    }
}
