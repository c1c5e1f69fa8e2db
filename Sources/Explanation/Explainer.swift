import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation
import Workload

/// Explains a run's terminations from its plan alone: the same plan gives the same run, and with it every snapshot that
/// the policy saw.
public struct Explainer {
    public let plan: RunPlan
    /// Where the plan came from, for commands that can be tried as they are printed.
    let scenario: String
    private let traces: any TraceLibrary
    private let progress: (Step) -> Void
    private let witness: (DecisionRecord) -> Bool
    private let lastEvent: Int
    private let isInterrupted: () -> Bool
    private let memo = Memo()

    /// Whoever waited for an explanation gave up.
    public struct Interrupted: Error {}

    /// - Parameters:
    ///   - scenario: The file of the plan: the run's own, in which rules have the paths that changes name.
    ///   - traces: Those that the plan's apps play.
    ///   - lastEvent: After so many events of the queue the run was ended from outside; later ones never happened.
    ///   - isInterrupted: Asked at every sample; if so, what is under way ends with `Interrupted`.
    ///   - progress: Told what is under way; for whoever waits.
    ///   - witness: Sees every decision of the repeated run, to compare it with what is on record. False: the run did
    ///     not come so far, and nothing from here on is explained.
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

    /// What is under way.
    public enum Step: Sendable {
        /// The run is repeated; now it is so late.
        case repeating(Instant, of: Instant)
        /// A change is tried in a run of its own.
        case trying(Int, of: Int)
        /// A run is followed to its end, for what it costs; now it is so late.
        case following(Instant, of: Instant)
    }

    /// What was computed once for all terminations.
    private final class Memo {
        var course: RunCourse?
    }

    /// One termination that the policy chose, or the monitor's setting to end suspended apps first.
    public struct Termination: Sendable {
        public let app: String
        public let pid: ProcessID
        public let at: Instant
        let record: DecisionRecord

        /// When the process began that was ended.
        var since: Instant {
            record.snapshot.process(pid)?.launchedAt ?? .zero
        }
    }

    /// What becomes of a process that the policy ended, in another run.
    public enum Fate: Hashable, Sendable {
        /// It is there when it was ended, and still when the run ends.
        case stays
        /// It ends all the same, sooner or later: the exit's reason, and what is said of it.
        case ends(Instant, reason: String, explanation: String)
        /// The app has no process at that instant.
        case isAbsent
    }

    /// A change whose run ends the process within this time of the recorded end is not followed any further.
    public static let survival = TimeSpan.seconds(10)

    // MARK: The run again

    /// What the repeated run did.
    public struct History {
        /// Those that the policy ordered, in the order of time.
        public var terminations: [Termination] = []
        /// Ends that the system brought about and the policy did not order, each with its reason and its app.
        public var otherEnds: [(reason: String, app: String)] = []
    }

    /// The terminations that the policy ordered, in the order of time: all of them, or only so many of one app.
    public func terminations(of app: String? = nil, most: Int = .max) throws -> [Termination] {
        try history(of: app, most: most).terminations
    }

    /// The run's terminations: all of them, or those up to so many by the policy; or those of one app.
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
                    // Who was asked to end, and was ended at once after all, is one termination.
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

    /// Plays the plan until nothing more can be learnt from it.
    ///
    /// - Parameters:
    ///   - step: What is under way at an instant of the run.
    ///   - isDecided: Is told how many events have been handled, and the instant of the last sample.
    ///   - watcher: Told of everything that becomes a row of `events.csv`.
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

    /// The run itself, to the end of its scenario, on the accounting backend.
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

    /// What becomes of the process in another run, and what else happens there: to the end of the scenario, if the
    /// process outlives the recorded end by a while.
    func trial(of termination: Termination, in other: RunPlan) throws -> (fate: Fate, course: RunCourse) {
        var other = other
        other.backend = .accounting
        return try follow(termination, in: other) { _ in false }
    }

    /// Whether the process outlives the recorded end by a while on the run's own backend, too.
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
                // An earlier process of the app may have to go before this one can begin.
                case .exit where event.at <= termination.since: isThere = false
                case .exit where isThere: exit = event
                default: break
                }
            })
        if let exit { return (.ends(exit.at, reason: exit.detail, explanation: exit.reason ?? ""), course) }
        return (isThere ? .stays : .isAbsent, course)
    }

    /// Whether the policy would have left this process alone, at that very moment.
    func turns(_ change: PolicyChange, _ record: DecisionRecord, victim: ProcessID) -> Bool {
        guard let policy = PolicyCatalogue.make(change.settings) else { return false }
        let ranking = policy.decide(record.snapshot).ranking
        let chosen = ranking.first { record.guardrails.refusal(of: $0.action, in: record.snapshot) == nil }
        return !(chosen.map { $0.action.isTermination && $0.action.target == victim } ?? false)
    }

    func tell(_ step: Step) { progress(step) }
}
