import Memory
import Metrics
import Plan
import Quantities
import Scenario
import Simulation
import Workload

/// Plays runs. It has no state, so several runs on the accounting backend can be played at once.
struct Player: Sendable {
    let traces: any TraceLibrary
    /// Asked at every sample; true ends the run with `Explainer.Interrupted`.
    let isInterrupted: @Sendable () -> Bool

    /// Plays the plan to its end, or until it can yield nothing more of interest.
    ///
    /// - Parameters:
    ///   - sampled: Receives the instant of every sample.
    ///   - isDecided: Asked at every sample and at intervals in between, with the instant of the last sample; true ends
    ///     the run.
    ///   - observer: Receives every decision.
    ///   - watcher: Receives everything that becomes a row of `events.csv`, before `isDecided` is asked.
    func play(
        _ plan: RunPlan, sampled: (Instant) -> Void = { _ in },
        isDecided: (Simulation, Instant) -> Bool, observer: ((DecisionRecord) -> Void)? = nil,
        watcher: (RunEvent) -> Void
    ) throws -> (course: RunCourse, isWhole: Bool) {
        let memory = try plan.makeDevice()
        let sinks = RunSinks { _ in NullSink() }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, traces: traces, observer: observer)
        simulation.keepEvents()
        simulation.keepWaits()
        var isGivenUp = false
        var now = Instant.zero
        let ending = try simulation.run(
            shouldStop: {
                for event in simulation.takeEvents() { watcher(event) }
                isGivenUp = isInterrupted()
                return isGivenUp || isDecided(simulation, now)
            },
            progress: { instant in
                now = instant
                sampled(instant)
            })
        guard !isGivenUp else { throw Explainer.Interrupted() }
        for event in simulation.takeEvents() { watcher(event) }
        return (RunCourse(simulation.tally, waits: simulation.takeWaits()), ending == .completed)
    }

    /// Plays a plan until all questions are answered; without a question, to its end.
    func replay(_ plan: RunPlan, about questions: [ReplayQuestion]) throws -> Replay {
        var lives = ProcessLives(startingWith: plan)
        var reached = Instant.zero
        // Between these instants, only another life can answer a question. A run has tens of thousands of samples.
        let dates = questions.flatMap { [$0.at, $0.enough] }
        var (due, changes) = (dates.min() ?? .never, 0)
        let (course, isWhole) = try play(
            plan,
            isDecided: { _, now in
                reached = now
                guard now > due || lives.changes != changes, !questions.isEmpty else { return false }
                (due, changes) = (dates.filter { $0 >= now }.min() ?? .never, lives.changes)
                return questions.allSatisfy { $0.isAnswered(by: lives, at: now) }
            }, watcher: { lives.take($0) })
        return Replay(course: course, lives: lives, reached: isWhole ? nil : reached)
    }
}

/// A question to a run: does the process that lived at an instant live on?
struct ReplayQuestion: Hashable, Sendable {
    let app: String
    /// When the process began in the recorded run.
    let since: Instant
    /// When it ended there.
    let at: Instant
    /// If the system ends the process at this instant or earlier, it does not live on.
    var fatal: Instant
    /// The question is answered at this instant at the latest, so the run need not go on after it.
    var enough: Instant
    /// Whether the run need not go on after the end of the process, however late it comes.
    var isAboutOneLife = false

    /// The fate of the process, as far as the run was played.
    func fate(in lives: ProcessLives) -> Explainer.ProcessFate {
        let own = lives.of(app).prefix { $0.since <= at }
        // An earlier process of the app may have to end before this one can begin.
        let life = own.last { ($0.end?.at ?? .never) > at } ?? own.last { ($0.end?.at ?? .never) > since }
        guard let life else { return .isAbsent }
        return life.end.map { .ends($0.at, reason: $0.reason, explanation: $0.explanation) } ?? .stays
    }

    /// Whether the process is alive at its recorded end, and the system does not end it soon after.
    func isSaved(_ fate: Explainer.ProcessFate) -> Bool {
        switch fate {
        case .stays: true
        case .ends(let end, let reason, _): end > at && (end > fatal || !Explainer.isBySystem(reason))
        case .isAbsent: false
        }
    }

    fileprivate func isAnswered(by lives: ProcessLives, at now: Instant) -> Bool {
        guard now > at else { return false }
        let fate = fate(in: lives)
        if isAboutOneLife, case .ends = fate { return true }
        return now > enough || !isSaved(fate)
    }

    /// Whether the run was played far enough to answer it.
    func isAnswered(by replay: Replay) -> Bool {
        replay.reached.map { isAnswered(by: replay.lives, at: $0) } ?? true
    }
}

/// When the processes of a run began and ended.
struct ProcessLives: Sendable {
    private var byApp: [String: [Life]] = [:]
    /// How many processes have begun or ended.
    private(set) var changes = 0

    struct Life: Sendable {
        let app: String
        /// Before the run for a process that is alive when it begins.
        let since: Instant
        /// Whether it crashed because the scenario has it crash by itself (`crashes_after`).
        var hasCrashed = false
        var end: End?
    }

    struct End: Hashable, Sendable {
        let at: Instant
        let reason: String
        let explanation: String
        /// Whether it is the end of a process that crashed by itself.
        let isFault: Bool
    }

    /// The processes that are alive when a run of the plan begins. They have no launch in the run.
    init(startingWith plan: RunPlan) {
        for entry in plan.start {
            let app = plan.apps[entry.process.index].name
            byApp[app, default: []].append(Life(app: app, since: .zero - entry.age))
        }
    }

    /// The processes of an app, in the order of time.
    func of(_ app: String) -> [Life] { byApp[app] ?? [] }

    /// All processes that ended, in the order of time.
    var ended: [(app: String, end: End)] {
        byApp.keys.sorted().flatMap { app in of(app).compactMap { life in life.end.map { (app, $0) } } }
            .enumerated().sorted { ($0.element.1.at, $0.offset) < ($1.element.1.at, $1.offset) }.map(\.element)
    }

    mutating func take(_ event: RunEvent) {
        guard let app = event.app else { return }
        switch event.kind {
        case .launch:
            changes += 1
            byApp[app, default: []].append(Life(app: app, since: event.at))
        case .fault where event.detail == Lapse.crash.rawValue:
            guard let last = of(app).indices.last else { return }
            byApp[app]?[last].hasCrashed = true
        case .exit:
            changes += 1
            guard let last = of(app).indices.last else { return }
            let isFault = of(app)[last].hasCrashed
            byApp[app]?[last].end = End(
                at: event.at, reason: event.detail, explanation: event.reason ?? "", isFault: isFault)
        default: break
        }
    }
}

/// What a run did, as far as it was played.
struct Replay: Sendable {
    let course: RunCourse
    let lives: ProcessLives
    /// The last sample; nil if the run was played to its end.
    let reached: Instant?

    var isWhole: Bool { reached == nil }
}
