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
    }

    /// The advice on how to save the process.
    struct Counsel {
        /// The changes that save it, those with the lowest price first.
        let advices: [Advice]
        /// What was tried in vain, in words.
        let failures: [String]
        /// The kinds of all changes that were tried.
        let tried: Set<Change.Kind>
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
        var advices = ordered(try advices(findings.found, termination))
        advices = try best(advices).filter { try isConfirmed(termination, with: $0.change) }
        let isNamed = advices.contains { $0.change.kind == .protection }
        return Counsel(
            advices: advices, failures: findings.failures, tried: findings.tried,
            fateIfProtected: findings.protection.map { $0.outcome.isSaved && !isNamed ? .stays : $0.fate })
    }

    /// The found changes, each followed to the end of the run.
    private func advices(_ found: [Change], _ termination: Termination) throws -> [Advice] {
        let question = question(about: termination)
        return try found.map { change in
            let replay = try runs.played(change, nil)
            return Advice(
                change: change, fate: question.fate(in: replay.lives), price: try price(of: replay, termination))
        }
    }

    func price(of replay: Replay, _ termination: Termination) throws -> AdvicePrice {
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
