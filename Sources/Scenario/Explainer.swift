import Lifecycle
import Memory
import Metrics
import Quantities
import Reclaim
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
    }

    /// One termination that the policy chose, or the monitor's setting to end suspended apps first.
    public struct Termination: Sendable {
        public let app: String
        public let pid: ProcessID
        public let at: Instant
        let record: DecisionRecord

        /// When the process began that was ended.
        fileprivate var since: Instant {
            record.snapshot.process(pid)?.launchedAt ?? .zero
        }
    }

    /// What becomes of a process that the policy ended, in another run.
    public enum Fate: Hashable, Sendable {
        /// It is there when it was ended, and still so much later: `survival`, or less where the run is over before.
        case stays(TimeSpan)
        /// It ends all the same, by whomever: the exit's reason, and what is said of it.
        case ends(Instant, reason: String, explanation: String)
        /// The app has no process at that instant.
        case isAbsent
    }

    /// Saved means that the app's process is still there so long after the instant at which it was ended.
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
            plan, isShown: true,
            isDecided: { isOver || found.terminations.count >= most || $0 >= lastEvent },
            observer: { record in
                isOver = isOver || !witness(record)
                guard !isOver, let termination = Explainer.termination(record),
                    // Who was asked to end, and was ended at once after all, is one termination.
                    !ordered.contains(termination.pid)
                else { return }
                ordered.append(termination.pid)
                if app == nil || termination.app == app { found.terminations.append(termination) }
            })
        found.terminations = Array(found.terminations.prefix(most))
        found.otherEnds = tally.terminations.filter {
            !ordered.contains($0.pid) && (app == nil || $0.app == app)
        }.map { ($0.reason, $0.app) }
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
    ///   - isDecided: Is told how many events have been handled.
    ///   - watcher: Told of everything that becomes a row of `events.csv`.
    @discardableResult
    private func play(
        _ plan: RunPlan, isShown: Bool = false, isDecided: (Int) -> Bool,
        observer: ((DecisionRecord) -> Void)? = nil, watcher: ((RunEvent) -> Void)? = nil
    ) throws -> RunTally {
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in NullSink() }
        let end = Instant.zero + plan.duration
        let simulation = Simulation(plan, memory: memory, sinks: sinks, traces: traces, observer: observer)
        if watcher != nil { simulation.keepEvents() }
        func tell() { for event in simulation.takeEvents() { watcher?(event) } }
        var isGivenUp = false
        _ = try simulation.run(
            shouldStop: {
                tell()
                isGivenUp = isInterrupted()
                return isGivenUp || isDecided(simulation.handled)
            },
            progress: { if isShown { progress(.repeating($0, of: end)) } })
        guard !isGivenUp else { throw Interrupted() }
        tell()
        return simulation.tally
    }

    // MARK: What would have saved it

    /// Of the changes of one number that are tried, the nearest with which the policy, asked about the same snapshot,
    /// would not have chosen this process, and with which it is still there a while after that instant: neither the
    /// policy nor anything else has ended it. Nil: there is none among them.
    ///
    /// It need not be the smallest that there is: values lie on the steps of `ParameterSteps`, and a few of each number
    /// are tried in a run. Changes are tried on the accounting backend; the one that is named is tried on the run's
    /// own, too.
    public func change(saving termination: Termination) throws -> PolicyChange? {
        let changes = changesOfDecision(termination)
        for (index, change) in changes.enumerated() {
            progress(.trying(index + 1, of: changes.count))
            guard try saves(change, termination, on: .accounting) else { continue }
            if plan.backend == .accounting { return change }
            if try saves(change, termination, on: plan.backend) { return change }
        }
        return nil
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

    /// Somebody who ends in another run, and did not in this one.
    public struct Payer: Hashable, Sendable {
        public let app: String
        public let at: Instant
    }

    /// Whom the system ends in another run up to a while after that instant, and did not in this one: in the order of
    /// time. Asked on the accounting backend, on which runs are the same.
    func payers(for termination: Termination, in other: RunPlan) throws -> [Payer] {
        var left = try ends(in: plan, until: termination).map(\.app)
        return try ends(in: other, until: termination).filter { end in
            guard let same = left.firstIndex(of: end.app) else { return true }
            left.remove(at: same)
            return false
        }
    }

    private func ends(in plan: RunPlan, until termination: Termination) throws -> [Payer] {
        var plan = plan
        plan.backend = .accounting
        plan.duration = lookedAt(termination) - .zero
        var found: [Payer] = []
        try play(
            plan, isDecided: { _ in false },
            watcher: { event in
                guard event.kind == .exit, let app = event.app,
                    ExitReason(rawValue: event.detail)?.isBySystem ?? false
                else { return }
                found.append(Payer(app: app, at: event.at))
            })
        return found
    }

    /// Until when it is looked whether it is still there.
    private func lookedAt(_ termination: Termination) -> Instant {
        min(termination.at + Explainer.survival, .zero + plan.duration)
    }

    /// The plan with the policy changed.
    func plan(with change: PolicyChange) -> RunPlan {
        var other = plan
        other.policy = change.settings
        return other
    }

    /// The plan in which the monitor does not have suspended apps ended first.
    var planWarningFirst: RunPlan {
        var other = plan
        other.monitor.endSuspendedFirst = false
        return other
    }

    /// The plan in which the policy may not touch the app.
    func plan(protecting termination: Termination) -> RunPlan {
        var other = plan
        other.limits.protected += plan.apps.indices.filter { plan.apps[$0].name == termination.app }.map { AppID($0) }
        return other
    }

    /// Whether the policy would have left this process alone, at that very moment.
    private func turns(_ change: PolicyChange, _ record: DecisionRecord, victim: ProcessID) -> Bool {
        guard let policy = PolicyCatalogue.make(change.settings) else { return false }
        let ranking = policy.decide(record.snapshot).ranking
        let chosen = ranking.first { record.guardrails.refusal(of: $0.action, in: record.snapshot) == nil }
        return !(chosen.map { $0.action.isTermination && $0.action.target == victim } ?? false)
    }

    private func saves(
        _ change: PolicyChange, _ termination: Termination, on backend: MemoryBackend
    ) throws -> Bool {
        var other = plan(with: change)
        other.backend = backend
        guard case .stays = try fate(of: termination, in: other) else { return false }
        return true
    }

    /// What becomes of it if the policy may not touch the app.
    func fateIfProtected(_ termination: Termination) throws -> Fate {
        try fate(of: termination, in: plan(protecting: termination))
    }

    /// What becomes of it if the monitor does not have suspended apps ended first.
    func fateIfWarnedFirst(_ termination: Termination) throws -> Fate {
        try fate(of: termination, in: planWarningFirst)
    }

    /// What becomes of the process in another run, up to a while after the instant at which it was ended. The run stops
    /// as soon as that is known.
    private func fate(of termination: Termination, in other: RunPlan) throws -> Fate {
        var other = other
        let end = lookedAt(termination)
        other.duration = end - .zero
        var isThere = false
        var exit: RunEvent?
        try play(
            other, isDecided: { _ in exit != nil },
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
        if let exit { return .ends(exit.at, reason: exit.detail, explanation: exit.reason ?? "") }
        return isThere ? .stays(end - termination.at) : .isAbsent
    }
}
