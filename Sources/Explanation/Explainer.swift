import Memory
import Metrics
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
    private let traces: any TraceLibrary
    private let progress: (Step) -> Void
    private let witness: (DecisionRecord) -> Bool
    private let lastEvent: Int
    private let isInterrupted: () -> Bool
    private let memo = Memo()

    /// The user interrupted the explanation.
    public struct Interrupted: Error {}

    /// - Parameters:
    ///   - scenario: The file of the plan. Changes name paths of rules as in the run's own scenario.
    ///   - traces: The traces that the plan's apps play.
    ///   - lastEvent: The number of queue events after which the run was ended from outside; later ones never happened.
    ///   - isInterrupted: Called at every sample; true ends the current step with `Interrupted`.
    ///   - progress: Receives the current step, to show progress.
    ///   - witness: Receives every decision of the repeated run, to compare it with the record. Returns false if the
    ///     recorded run did not come so far; nothing after that is explained.
    public init(
        plan: RunPlan, scenario: String, traces: any TraceLibrary = NoTraces(), lastEvent: Int = .max,
        isInterrupted: @escaping () -> Bool = { false }, progress: @escaping (Step) -> Void = { _ in },
        witness: @escaping (DecisionRecord) -> Bool = { _ in true }
    ) {
        self.plan = plan
        self.scenario = scenario
        self.traces = traces
        self.lastEvent = lastEvent
        self.isInterrupted = isInterrupted
        self.progress = progress
        self.witness = witness
    }

    /// The current step of an explanation.
    public enum Step: Sendable {
        /// The run is repeated and has come to this instant.
        case repeating(Instant, of: Instant)
        /// A change is tried in a run of its own: this one of that many.
        case trying(Int, of: Int)
        /// A run is followed to its end to find its cost, and has come to this instant.
        case following(Instant, of: Instant)
    }

    /// Results that are computed once for all terminations.
    private final class Memo {
        var course: RunCourse?
    }

    /// A termination by the policy, or by the monitor's setting to end suspended apps first.
    public struct Termination: Sendable {
        /// The app's name.
        public let app: String
        /// The process that ended.
        public let pid: ProcessID
        /// The instant of the decision.
        public let at: Instant
        let record: DecisionRecord

        /// When the ended process began.
        var since: Instant {
            record.snapshot.process(pid)?.launchedAt ?? .zero
        }
    }

    /// The fate, in another run, of a process that the policy ended.
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
        /// The terminations that the policy ordered, in the order of time.
        public var terminations: [Termination] = []
        /// The ends that the system caused without an order of the policy, each with its reason and its app.
        public var otherEnds: [(reason: String, app: String)] = []
    }

    /// The terminations that the policy ordered, in the order of time; only those of `app` if given, and at most
    /// `most`.
    public func terminations(of app: String? = nil, most: Int = .max) throws -> [Termination] {
        try history(of: app, most: most).terminations
    }

    /// The run's terminations; only those of `app` if given, and at most `most` by the policy.
    public func history(of app: String? = nil, most: Int = .max) throws -> History {
        var found = History()
        var isOver = false
        var ordered: [ProcessID] = []
        let tally = try play(
            plan, step: { .repeating($0, of: .zero + plan.duration) },
            isDecided: { handled, _ in isOver || found.terminations.count >= most || handled >= lastEvent },
            observer: { record in
                isOver = isOver || !witness(record)
                guard !isOver, let termination = Explainer.termination(record),
                    // An app that was asked to end and then ended at once counts as one termination.
                    !ordered.contains(termination.pid)
                else { return }
                ordered.append(termination.pid)
                if app == nil || termination.app == app { found.terminations.append(termination) }
            }
        ).tally
        found.terminations = Array(found.terminations.prefix(most))
        found.otherEnds = tally.terminations.filter {
            !ordered.contains($0.pid) && (app == nil || $0.app == app)
        }.map { ($0.reason.rawValue, $0.app) }
        return found
    }

    private static func termination(_ record: DecisionRecord) -> Termination? {
        guard let chosen = record.chosen else { return nil }
        let action = record.decision.ranking[chosen].action
        guard action.isTermination,
            let victim = record.snapshot.process(action.target)
        else { return nil }
        return Termination(app: victim.name, pid: victim.pid, at: record.snapshot.now, record: record)
    }

    /// Plays the plan until it can yield nothing more of interest.
    ///
    /// - Parameters:
    ///   - step: Returns the step to report at an instant of the run.
    ///   - isDecided: Receives the number of handled events and the instant of the last sample; true ends the run.
    ///   - watcher: Receives everything that becomes a row of `events.csv`.
    @discardableResult
    private func play(
        _ plan: RunPlan, step: (Instant) -> Step? = { _ in nil }, isDecided: (Int, Instant) -> Bool,
        observer: ((DecisionRecord) -> Void)? = nil, watcher: ((RunEvent) -> Void)? = nil
    ) throws -> RunCourse {
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in NullSink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, traces: traces, observer: observer)
        if watcher != nil { simulation.keepEvents() }
        simulation.keepWaits()
        func tell() { for event in simulation.takeEvents() { watcher?(event) } }
        var isGivenUp = false
        var sampled = Instant.zero
        _ = try simulation.run(
            shouldStop: {
                tell()
                isGivenUp = isInterrupted()
                return isGivenUp || isDecided(simulation.handled, sampled)
            },
            progress: { now in
                sampled = now
                if let step = step(now) { progress(step) }
            })
        guard !isGivenUp else { throw Interrupted() }
        tell()
        return RunCourse(simulation.tally, waits: simulation.takeWaits())
    }

    // MARK: Other runs

    /// The whole run on the accounting backend.
    func course() throws -> RunCourse {
        if let course = memo.course { return course }
        let course = try course(of: plan)
        memo.course = course
        return course
    }

    private func course(of plan: RunPlan) throws -> RunCourse {
        var plan = plan
        plan.backend = .accounting
        return try play(
            plan, step: { .following($0, of: .zero + plan.duration) }, isDecided: { _, _ in false })
    }

    /// The fate of the process in another run, and that run's course: to the end of the scenario if the process
    /// outlives its recorded end by a while.
    func trial(of termination: Termination, in other: RunPlan) throws -> (fate: Fate, course: RunCourse) {
        var other = other
        other.backend = .accounting
        return try follow(termination, in: other) { _ in false }
    }

    /// Whether the process also outlives its recorded end by a while on the run's own backend.
    func isConfirmed(_ termination: Termination, in other: RunPlan) throws -> Bool {
        guard plan.backend != .accounting else { return true }
        let enough = termination.at + Explainer.survival
        return outlives(termination, try follow(termination, in: other) { $0 > enough }.fate)
    }

    func outlives(_ termination: Termination, _ fate: Fate) -> Bool {
        switch fate {
        case .stays: true
        case .ends(let at, _, _): at > termination.at + Explainer.survival
        case .isAbsent: false
        }
    }

    private func follow(
        _ termination: Termination, in other: RunPlan, isEnough: (Instant) -> Bool
    ) throws -> (fate: Fate, course: RunCourse) {
        let enough = termination.at + Explainer.survival
        var isThere = false
        var exit: RunEvent?
        let course = try play(
            other, step: { $0 > enough ? .following($0, of: .zero + other.duration) : nil },
            isDecided: { _, now in isEnough(now) || exit.map { $0.at <= enough } ?? false },
            watcher: { event in
                guard exit == nil, event.app == termination.app else { return }
                switch event.kind {
                case .launch where event.at <= termination.at: isThere = true
                // An earlier process of the app may have to end before this one can begin.
                case .exit where event.at <= termination.since: isThere = false
                case .exit where isThere: exit = event
                default: break
                }
            })
        if let exit { return (.ends(exit.at, reason: exit.detail, explanation: exit.reason ?? ""), course) }
        return (isThere ? .stays : .isAbsent, course)
    }

    /// Whether the changed policy would spare this process at the moment of the decision.
    func turns(_ change: PolicyChange, _ record: DecisionRecord, victim: ProcessID) -> Bool {
        guard let policy = PolicyCatalogue.make(change.settings) else { return false }
        let ranking = policy.decide(record.snapshot).ranking
        let chosen = ranking.first { record.guardrails.refusal(of: $0.action, in: record.snapshot) == nil }
        return !(chosen.map { $0.action.isTermination && $0.action.target == victim } ?? false)
    }

    func tell(_ step: Step) { progress(step) }
}
