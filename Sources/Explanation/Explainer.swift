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
    let progress: @Sendable (Step) -> Void
    private let witness: (DecisionRecord) -> Bool
    private let lastEvent: Int
    let runs: Runs
    private let hands: Int
    private let likely: String?
    /// Whether changes of the policy's own numbers, and of the monitor's rule, are tried.
    let triesPolicy: Bool

    /// The user interrupted the explanation.
    public struct Interrupted: Error {}

    /// - Parameters:
    ///   - scenario: The file of the plan. Changes name paths of rules as in the run's own scenario.
    ///   - traces: The traces that the plan's apps play.
    ///   - lastEvent: The number of queue events that the run had handled when it was ended from outside.
    ///   - likely: The app that will probably be asked about first. Its runs may begin beside the repeated run.
    ///   - triesPolicy: Whether changes of the policy and the monitor are tried; the short form says nothing of them.
    ///   - workforce: Says how many runs on the accounting backend are played at once. The answer does not depend on
    ///     it.
    ///   - isInterrupted: Called at every sample; true ends the current step with `Interrupted`.
    ///   - progress: Receives the current step, to show progress.
    ///   - witness: Receives every decision of the repeated run, to compare it with the record. Returns false if the
    ///     recorded run ended before this decision; then nothing from this decision on is explained.
    public init(
        plan: RunPlan, scenario: String, traces: any TraceLibrary = NoTraces(), lastEvent: Int = .max,
        likely: String? = nil, triesPolicy: Bool = true, workforce: any Workforce = OneByOne(),
        isInterrupted: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (Step) -> Void = { _ in },
        witness: @escaping (DecisionRecord) -> Bool = { _ in true }
    ) {
        self.plan = plan
        self.scenario = scenario
        player = Player(traces: traces, isInterrupted: isInterrupted)
        hands = workforce.hands
        runs = Runs(player, hands: workforce.hands)
        self.likely = likely
        self.triesPolicy = triesPolicy
        self.lastEvent = lastEvent
        self.progress = progress
        self.witness = witness
    }

    /// The current step of an explanation.
    public enum Step: Sendable {
        /// The run is repeated and has come to this instant.
        case repeating(Instant, of: Instant)
        /// Changes are tried in runs of their own: so many of at most so many.
        case trying(Int, of: Int)
        /// Guesses are varied in runs of their own: so many of so many.
        case varying(Int, of: Int)
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
        /// What the run counted about the end; nil if the run was not repeated that far.
        var fact: RunTally.TerminationFact?

        /// Whether the user felt the end: the process was in front, or the user soon wanted the app again.
        public var isFelt: Bool { fact.map { $0.wasForeground || $0.wasPerceived } ?? false }

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
    public enum ProcessFate: Hashable, Sendable {
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

    /// The run's ends; only those of `app` if given, and at most `most` that the system caused.
    ///
    /// If the accounting backend gives the same tables, the run is repeated on it and to its end, because that run is
    /// needed for every price.
    public func history(of app: String? = nil, most: Int = .max) throws -> History {
        let watch = Watch(plan, app: app, most: most, witness: witness)
        let isWholeNeeded = plan.isTheSameOnAccounting && lastEvent == .max
        beginBeside(isWholeNeeded, app)
        let (course, isWhole) = try player.play(
            plan.isTheSameOnAccounting ? plan.onAccounting : plan,
            sampled: { progress(.repeating($0, of: .zero + plan.duration)) },
            isDecided: { run, _ in
                watch.look(run.tally)
                return watch.over != nil || run.handled >= lastEvent || (watch.hasAll && !isWholeNeeded)
            },
            observer: { watch.take($0) }, watcher: { watch.lives.take($0) })
        watch.look(course.tally)
        if isWhole && isWholeNeeded {
            runs.keep(Replay(course: course, lives: watch.lives, reached: nil), Change.none(of: plan))
        }
        return watch.history(course.tally)
    }

    /// Begins runs that will be needed, on the cores that the repeated run leaves idle.
    private func beginBeside(_ isWholeNeeded: Bool, _ app: String?) {
        // Only the accounting backend may play several runs at once, and never beside the other.
        guard plan.isTheSameOnAccounting else { return }
        var wanted = isWholeNeeded ? [] : [Change.none(of: plan)]
        if let app = app ?? likely, let index = plan.apps.firstIndex(where: { $0.name == app }) {
            wanted += [protection(of: app)] + plan.behaviourChanges(of: index)
        }
        for change in wanted.prefix(hands - 1) where !runs.isUnderWay(change) && runs.replay(change, nil) == nil {
            runs.begin(change, [])
        }
    }

    // MARK: Other runs

    /// The course of the whole run, repeated on the accounting backend.
    func course() throws -> RunCourse { try runs.played(.none(of: plan), nil).course }

    /// The fate of the process in a run with the change, and the course of that run. The run goes on to the end of the
    /// scenario only if the process is still alive `survival` after its recorded end.
    func trial(of termination: Termination, with change: Change) throws -> (fate: ProcessFate, course: RunCourse) {
        let question = question(about: termination)
        let replay = try runs.played(change, question)
        return (question.fate(in: replay.lives), replay.course)
    }

    /// The question whether the process outlives its recorded end by `survival`.
    func question(about termination: Termination) -> ReplayQuestion {
        ReplayQuestion(
            app: termination.app, since: termination.since, at: termination.at,
            fatal: termination.at + Explainer.survival, enough: .never)
    }

    /// Whether the process also outlives its recorded end on the run's own backend, if that may give other tables.
    func isConfirmed(_ termination: Termination, with change: Change) throws -> Bool {
        guard !plan.isTheSameOnAccounting else { return true }
        var question = question(about: termination)
        question.enough = question.fatal
        do {
            return question.isSaved(question.fate(in: try player.replay(change.plan, about: [question]).lives))
        } catch is DeviceMemoryFailure where change.kind == .device {
            // The host has no room for the larger device, so the command would be refused.
            return false
        }
    }

    // MARK: The decision again

    /// Whether the policy with other settings would spare this process at the moment of the decision.
    func turns(_ settings: PolicySettings, _ record: DecisionRecord, victim: ProcessID) -> Bool {
        guard let policy = PolicyCatalogue.make(settings) else { return false }
        return spares(victim, policy.decide(record.snapshot), record)
    }

    /// Whether the policy would spare this process at the moment of the decision if the process were another.
    func turns(_ record: DecisionRecord, victim: ProcessID, _ change: (inout ProcessSnapshot) -> Void) -> Bool {
        guard let policy = PolicyCatalogue.make(plan.policy),
            let place = record.snapshot.processes.firstIndex(where: { $0.pid == victim })
        else { return false }
        var snapshot = record.snapshot
        change(&snapshot.processes[place])
        return spares(victim, policy.decide(snapshot), record)
    }

    private func spares(_ victim: ProcessID, _ decision: Decision, _ record: DecisionRecord) -> Bool {
        let chosen = decision.ranking.first {
            record.guardrails.refusal(of: $0, in: record.snapshot) == nil
        }
        return !(chosen.map { record.snapshot.victims(of: $0).contains { $0.pid == victim } } ?? false)
    }
}
