import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

/// Explains a run's terminations from its plan alone. The same plan gives the same run, and so every snapshot that the
/// policy saw.
public struct Explainer {
    /// The plan of the explained run.
    public let plan: RunPlan
    /// The path of the plan's scenario, for commands that work as printed.
    let scenario: String
    private let player: Player
    private let workforce: any Workforce
    private let progress: @Sendable (Step) -> Void
    private let witness: (DecisionRecord) -> Bool
    private let lastEvent: Int
    private let memo = Memo()

    /// The user interrupted the explanation.
    public struct Interrupted: Error {}

    /// - Parameters:
    ///   - scenario: The file of the plan. Changes name paths of rules as in the run's own scenario.
    ///   - traces: The traces that the plan's apps play.
    ///   - lastEvent: The number of queue events that the run had handled when it was ended from outside.
    ///   - workforce: Plays runs with changes on the accounting backend, perhaps several at once. The answer does not
    ///     depend on it.
    ///   - isInterrupted: Called at every sample; true ends the current step with `Interrupted`.
    ///   - progress: Receives the current step, to show progress.
    ///   - witness: Receives every decision of the repeated run, to compare it with the record. Returns false if the
    ///     recorded run ended before this decision; then nothing from this decision on is explained.
    public init(
        plan: RunPlan, scenario: String, traces: any TraceLibrary = NoTraces(), lastEvent: Int = .max,
        workforce: any Workforce = OneByOne(), isInterrupted: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (Step) -> Void = { _ in },
        witness: @escaping (DecisionRecord) -> Bool = { _ in true }
    ) {
        self.plan = plan
        self.scenario = scenario
        player = Player(traces: traces, isInterrupted: isInterrupted)
        self.workforce = workforce
        self.lastEvent = lastEvent
        self.progress = progress
        self.witness = witness
    }

    /// The current step of an explanation.
    public enum Step: Sendable {
        /// The run is repeated and has come to this instant.
        case repeating(Instant, of: Instant)
        /// Changes are tried in runs of their own. The values: how many runs are done or under way, how far the first
        /// run under way has come, and when it ends.
        case trying(Int, Instant, of: Instant)
    }

    /// Runs that were played for one termination and may serve another.
    private final class Memo {
        /// The key is the arguments of `--set`; it is empty for the run without a change.
        var replays: [[String]: Replay] = [:]
        var tried = 0
    }

    /// An end by the system: by order of the policy, by the monitor's setting to end suspended apps first, or by a rule
    /// that no policy decides about.
    public struct Termination: Sendable {
        /// The app's name.
        public let app: String
        /// The process that ended.
        public let pid: ProcessID
        /// The instant of the decision, or of an end without one.
        public let at: Instant
        /// When the ended process began.
        let since: Instant
        let cause: Cause

        enum Cause: Sendable {
            case decision(DecisionRecord)
            case rule(RunTally.TerminationFact, explanation: String)
        }

        var record: DecisionRecord? {
            guard case .decision(let record) = cause else { return nil }
            return record
        }
    }

    /// The fate of a process in another run.
    public enum Fate: Hashable, Sendable {
        /// The process is alive at the instant of its recorded end and at the end of the run.
        case stays
        /// The process also ends in this run, earlier or later, for this reason and with this explanation.
        case ends(Instant, reason: String, explanation: String)
        /// The app has no process at that instant.
        case isAbsent
    }

    /// A trial ends early if the process ends within this time after its recorded end.
    public static let survival = TimeSpan.seconds(10)

    // MARK: The run again

    /// What the repeated run did.
    public struct History {
        /// The ends that the system caused, in the order of time.
        public var terminations: [Termination] = []
        /// The ends for other reasons, each with its reason, app and instant: the user closed the app, or it crashed.
        public var otherEnds: [(reason: String, app: String, at: Instant)] = []
    }

    /// The ends that the system caused, in the order of time; only those of `app` if given, and at most `most`.
    public func terminations(of app: String? = nil, most: Int = .max) throws -> [Termination] {
        try history(of: app, most: most).terminations
    }

    /// The run's ends; only those of `app` if given, and at most `most` that the system caused.
    public func history(of app: String? = nil, most: Int = .max) throws -> History {
        var decided: [Termination] = []
        var lives = ProcessLives()
        var ordered: Set<ProcessID> = []
        // A run that was killed came only this far.
        var over: Instant?
        func byRule(_ tally: RunTally) -> [RunTally.TerminationFact] {
            tally.terminations.filter {
                !ordered.contains($0.pid) && (app == nil || $0.app == app) && $0.at < over ?? .never
            }
        }
        let (course, isWhole) = try player.play(
            plan, sampled: { progress(.repeating($0, of: .zero + plan.duration)) },
            isDecided: { run, _ in
                over != nil || run.handled >= lastEvent || decided.count + byRule(run.tally).count >= most
            },
            observer: { record in
                if over == nil, !witness(record) { over = record.snapshot.now }
                // An app that was asked to end and then ended at once counts as one termination.
                guard over == nil, let termination = Explainer.termination(record),
                    ordered.insert(termination.pid).inserted
                else { return }
                if app == nil || termination.app == app { decided.append(termination) }
            }, watcher: { lives.take($0) })
        if isWhole && plan.backend == .accounting {
            memo.replays[[]] = Replay(course: course, lives: lives, reached: nil)
        }
        let others = byRule(course.tally).map { termination($0, lives) }
        let all = (decided + others).enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        return History(
            terminations: Array(all.map(\.element).prefix(most)),
            otherEnds: lives.ended.filter { ended, end in
                !Explainer.isBySystem(end.reason) && (app == nil || ended == app) && end.at < over ?? .never
            }.map { ($0.end.reason, $0.app, $0.end.at) })
    }

    private static func termination(_ record: DecisionRecord) -> Termination? {
        guard let chosen = record.chosen else { return nil }
        let action = record.decision.ranking[chosen].action
        guard action.isTermination,
            let victim = record.snapshot.process(action.target)
        else { return nil }
        return Termination(
            app: victim.name, pid: victim.pid, at: record.snapshot.now, since: victim.launchedAt,
            cause: .decision(record))
    }

    private func termination(_ fact: RunTally.TerminationFact, _ lives: ProcessLives) -> Termination {
        let life = lives.of(fact.app).last { $0.end?.at == fact.at }
        return Termination(
            app: fact.app, pid: fact.pid, at: fact.at, since: life?.since ?? .zero,
            cause: .rule(fact, explanation: life?.end?.explanation ?? ""))
    }

    /// Whether an exit reason says that the system ended the process.
    static func isBySystem(_ reason: String) -> Bool { ExitReason(rawValue: reason)?.isBySystem ?? false }

    // MARK: Other runs

    /// The course of the whole run, repeated on the accounting backend.
    func course() throws -> RunCourse {
        try replays([(Change(.policy, "", [], plan), nil)])[0].course
    }

    /// The fate of the process in a run with the change, and the course of that run. The run goes on to the end of the
    /// scenario only if the process is still alive `survival` after its recorded end.
    func trial(of termination: Termination, with change: Change) throws -> (fate: Fate, course: RunCourse) {
        let question = question(about: termination)
        let replay = try replays([(change, question)])[0]
        return (question.fate(in: replay.lives), replay.course)
    }

    /// The question whether the process outlives its recorded end by `survival`.
    func question(about termination: Termination) -> Question {
        Question(
            app: termination.app, since: termination.since, at: termination.at,
            fatal: termination.at + Explainer.survival, enough: .never)
    }

    /// The runs with these changes, each played as far as its question demands, or to its end without one.
    func replays(_ wanted: [(change: Change, question: Question?)]) throws -> [Replay] {
        var missing: [[String]: (plan: RunPlan, question: Question?)] = [:]
        var order: [[String]] = []
        for (change, question) in wanted where !isKnown(change, question) {
            if missing[change.assignments] == nil { order.append(change.assignments) }
            let plan = change.plan.onAccounting
            // Two different questions concern the same run, so it is played to its end.
            let isAsked = missing[change.assignments].map { $0.question == question } ?? true
            missing[change.assignments] = (plan, isAsked ? question : nil)
        }
        memo.tried += order.count
        let (player, progress, tried) = (player, progress, memo.tried)
        let works = order.enumerated().compactMap { index, key -> (@Sendable () -> Result<Replay, any Error>)? in
            guard let (plan, question) = missing[key] else { return nil }
            return {
                Result {
                    try player.replay(plan, about: question) { now in
                        if index == 0 { progress(.trying(tried, now, of: .zero + plan.duration)) }
                    }
                }
            }
        }
        for (key, result) in zip(order, workforce.all(works)) { memo.replays[key] = try result.get() }
        return wanted.compactMap { memo.replays[$0.change.assignments] }
    }

    private func isKnown(_ change: Change, _ question: Question?) -> Bool {
        guard let replay = memo.replays[change.assignments] else { return false }
        return question.map { $0.isAnswered(by: replay) } ?? replay.isWhole
    }

    /// Whether the process also outlives its recorded end on the run's own backend.
    func isConfirmed(_ termination: Termination, with change: Change) throws -> Bool {
        guard plan.backend != .accounting else { return true }
        var question = question(about: termination)
        question.enough = question.fatal
        do {
            return question.isSaved(question.fate(in: try player.replay(change.plan, about: question).lives))
        } catch is DeviceMemoryFailure where change.kind == .device {
            // The host has no room for the larger device, so the command would be refused.
            return false
        }
    }

    /// Whether the changed policy would spare this process at the moment of the decision.
    func turns(_ change: PolicyChange, _ record: DecisionRecord, victim: ProcessID) -> Bool {
        guard let policy = PolicyCatalogue.make(change.settings) else { return false }
        let ranking = policy.decide(record.snapshot).ranking
        let chosen = ranking.first { record.guardrails.refusal(of: $0.action, in: record.snapshot) == nil }
        return !(chosen.map { $0.action.isTermination && $0.action.target == victim } ?? false)
    }
}
