import Lifecycle
import Memory
import Pressure
import Quantities
import Reclaim

// What is asked of the policy, if anything is.
extension Simulation {
    /// Why the policy is asked.
    struct Question {
        var demand: ReclaimDemand
        var level: PressureLevel
        var threshold = ByteCount.zero
        var reading: PressureReading?
    }

    /// A waiting allocation first, then pressure, then the limits. Nil: all is well.
    func currentQuestion() -> Question? {
        if !waiters.isEmpty, let process = waiters.lazy.compactMap({ self.process($0) }).first {
            return Question(
                demand: .allocation(by: process.pid, wanted: process.wanted), level: max(monitor.level, .warning),
                threshold: process.wanted)
        }
        if let question = pressureQuestion() ?? limitQuestion() { return question }
        guard needs.contains(.everySample) else { return nil }
        if isPolicyContent {
            // A question would have brought them up to date.
            for reference in notedProcesses() { if let process = process(reference) { followBand(of: process) } }
            if auditsEverySample { checkContent() }
            return nil
        }
        return Question(demand: .nothing, level: monitor.level)
    }

    /// What is missing before the monitor's level is left; nil: nothing, though the level may hold on for a while.
    func pressureQuestion() -> Question? {
        guard monitor.level > .normal, let demand = monitor.demand(observation()) else { return nil }
        return Question(
            demand: .pressure(deficit: demand.deficit), level: demand.level, threshold: demand.threshold,
            reading: demand.reading)
    }

    /// So much is available that the policy need not be asked.
    private var isPolicyContent: Bool {
        guard let enough = contentAbove, monitor.level == .normal, reclaim.history.notNormalSince == nil else {
            return false
        }
        return memory.available >= enough
    }

    /// What the policy says of itself is so: with `--verify`.
    private func checkContent() {
        let decision = policy.decide(snapshot(Question(demand: .nothing, level: monitor.level)))
        guard case .content = decision.standstill, decision.ranking.isEmpty, decision.nextLook == nil else {
            return fail("\(plan.policy.title) was to be content, but answers \(decision)")
        }
    }

    func limitQuestion() -> Question? {
        let limits = plan.limits
        // With fewer processes than the limit, or less memory in all, nobody needs to be counted.
        if let most = limits.backgroundProcesses, live.count > most {
            let count = live.count(where: \.countsInBackground)
            if count > most {
                return Question(demand: .backgroundProcesses(excess: count - most), level: monitor.level)
            }
        }
        guard let most = limits.backgroundMemory else { return nil }
        let books = memory.books
        guard books.resident - books.reserved > most else { return nil }
        let held = live.lazy.filter(\.countsInBackground).reduce(ByteCount.zero) {
            $0 + memory.books(of: $1.slot).footprint
        }
        guard held > most else { return nil }
        return Question(demand: .backgroundMemory(excess: held - most), level: monitor.level, threshold: most)
    }
}

extension LiveProcess {
    /// In memory, not in front of the user, and not on its way out: what is ending answers a limit by itself.
    fileprivate var countsInBackground: Bool { (phase == .background || phase == .suspended) && quitReason == nil }
}
