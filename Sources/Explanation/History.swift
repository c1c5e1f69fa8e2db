import Lifecycle
import Metrics
import Plan
import Quantities
import Scenario
import Simulation

extension Explainer {
    /// What the repeated run did.
    public struct History {
        /// The ends that the system caused, in the order of time.
        public var terminations: [Termination] = []
        /// The ends for other reasons, in the order of time: the user closed the app, or it crashed.
        public var otherEnds: [OtherEnd] = []
    }

    /// An end that the system did not cause.
    public struct OtherEnd: Sendable {
        /// Why it ended, in MetricKit's words.
        public let reason: String
        /// The app's name.
        public let app: String
        /// When it ended.
        public let at: Instant
        /// Whether it crashed because the scenario has it crash by itself (`crashes_after`).
        public let isFault: Bool

        /// Why it ended, for people.
        public var words: String {
            reason + (isFault ? ", crashed by itself as the scenario has it (crashes_after)" : "")
        }
    }

    /// The ends that the system caused, in the order of time; only those of `app` if given, and at most `most`.
    public func terminations(of app: String? = nil, most: Int = .max) throws -> [Termination] {
        try history(of: app, most: most).terminations
    }

    /// Whether an exit reason says that the system ended the process.
    static func isBySystem(_ reason: String) -> Bool { ExitReason(rawValue: reason)?.isBySystem ?? false }
}

/// Collects the ends of a run while it is repeated.
final class Watch {
    private let app: String?
    private let most: Int
    private let witness: (DecisionRecord) -> Bool
    private var decided: [Explainer.Termination] = []
    private var ordered: Set<ProcessID> = []
    private var byRule: [RunTally.TerminationFact] = []
    private var counted = 0
    var lives: ProcessLives
    /// A run that was killed came only this far.
    private(set) var over: Instant?
    /// Whether all ends that were asked for have come.
    private(set) var hasAll = false

    /// - Parameters:
    ///   - plan: The plan of the run.
    ///   - app: The only app whose ends count; nil for all.
    ///   - most: After this number of ends by the system nothing is collected.
    ///   - witness: Receives every decision until then; false ends the history.
    init(_ plan: RunPlan, app: String?, most: Int, witness: @escaping (DecisionRecord) -> Bool) {
        (self.app, self.most, self.witness) = (app, most, witness)
        lives = ProcessLives(startingWith: plan)
    }

    /// Takes a decision of the repeated run.
    func take(_ record: DecisionRecord) {
        guard over == nil, !hasAll else { return }
        guard witness(record) else {
            over = record.snapshot.now
            return
        }
        // An app that was asked to end and then ended at once counts as one termination.
        for termination in Watch.terminations(record) where ordered.insert(termination.pid).inserted {
            if app == nil || termination.app == app { decided.append(termination) }
        }
    }

    /// Looks at the ends so far.
    func look(_ tally: RunTally) {
        guard !hasAll, tally.terminations.count > counted || decided.count >= most else { return }
        for fact in tally.terminations[counted...] where app == nil || fact.app == app {
            if !ordered.contains(fact.pid), fact.at < over ?? .never { byRule.append(fact) }
        }
        counted = tally.terminations.count
        hasAll = decided.count + byRule.count >= most
    }

    func history(_ tally: RunTally) -> Explainer.History {
        let all = (decided + byRule.map(termination)).enumerated().sorted {
            ($0.element.at, $0.offset) < ($1.element.at, $1.offset)
        }.map(\.element).prefix(most)
        return Explainer.History(
            terminations: all.map { termination in
                var termination = termination
                termination.fact = tally.terminations.first { $0.pid == termination.pid }
                return termination
            },
            otherEnds: lives.ended.filter { ended, end in
                !Explainer.isBySystem(end.reason) && (app == nil || ended == app) && end.at < over ?? .never
            }.map {
                Explainer.OtherEnd(
                    reason: $0.end.reason, app: $0.app, at: $0.end.at,
                    isFault: $0.end.isFault)
            })
    }

    /// The ends that the decision leads to: several, if a control group ends.
    private static func terminations(_ record: DecisionRecord) -> [Explainer.Termination] {
        guard let chosen = record.chosen, !record.isByKernel else { return [] }
        return record.snapshot.victims(of: record.decision.ranking[chosen]).map { victim in
            Explainer.Termination(
                app: victim.name, pid: victim.pid, at: record.snapshot.now, since: victim.launchedAt,
                cause: .decision(record))
        }
    }

    private func termination(_ fact: RunTally.TerminationFact) -> Explainer.Termination {
        let life = lives.of(fact.app).last { $0.end?.at == fact.at }
        return Explainer.Termination(
            app: fact.app, pid: fact.pid, at: fact.at, since: life?.since ?? .zero,
            cause: .rule(fact, explanation: life?.end?.explanation ?? ""))
    }
}

extension RunPlan {
    /// Whether the run's tables are the same on the accounting backend. Only LZ4 compresses real contents, which that
    /// backend lacks.
    package var isTheSameOnAccounting: Bool { backend == .accounting || device.compressor?.codec != .lz4 }
}
