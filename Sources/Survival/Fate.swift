import Lifecycle
import Metrics
import Plan
import Quantities
import Simulation

/// What became of one app in one run.
public struct Fate: Hashable, Sendable, Codable {
    /// Processes that were made for the app.
    public var processes = 0
    /// Whether the run was played to its end; otherwise it was played until the first end that counts.
    public var isWhole = true
    /// The ends of its processes, in order.
    public var ends: [Ending] = []
    /// Its stays in the background, in order.
    public var stays: [Stay] = []

    /// Whether the app lives; nil if the run has no process of it, so that there is nothing to survive.
    ///
    /// An app lives if it has a process in the run and none of its processes has an end that counts.
    public var lives: Bool? { processes == 0 ? nil : !ends.contains(where: \.counts) }

    /// The first end that counts.
    public var death: Ending? { ends.first(where: \.counts) }

    /// The end of a process.
    public struct Ending: Hashable, Sendable, Codable {
        /// Microseconds since the start of the run.
        public var at: Int64
        /// The raw value of the exit reason.
        public var reason: String
        /// Whether the process was in the foreground.
        public var wasForeground: Bool
        /// The app for whose sake the policy ended the process; nil if there is none.
        public var beneficiary: String?
        /// What that app needed memory for.
        public var need: String?
        /// The footprint of the process in bytes; nil if the system did not end it.
        public var footprint: Int?

        /// Whether the app does not live because of this end: the user did not want it. These are all ends by the
        /// system, whether or not the user notices them, and crashes. The user's own quits and orderly ends, such as
        /// for an update, do not count.
        public var counts: Bool {
            guard let reason = ExitReason(rawValue: reason) else { return false }
            return reason.isBySystem || reason == .abnormal
        }
    }

    /// A stay of a process in the background: from the instant at which it leaves the screen.
    ///
    /// It is over when the process ends or returns to the front, or with the run. A process that the system launched
    /// off screen has no stay before the user has had it in front. A process that is off screen when the run begins has
    /// a stay from the start of the run.
    public struct Stay: Hashable, Sendable, Codable {
        /// Microseconds since the start of the run.
        public var since: Int64
        /// In microseconds.
        public var length: Int64
        /// Whether it is over by an end that counts. Otherwise it is censored.
        public var isEnd: Bool
    }
}

/// Follows one app through the events of a run.
struct FateWatch {
    let app: String
    private(set) var fate = Fate()
    private var isInFront = false
    private var leftAt: Instant?
    /// Whether the app's process is only prewarmed, so that its end is no loss.
    private var isPrewarmed = false

    /// - Parameter state: What the app's process does when the run begins; nil if there is none.
    init(of app: String, startingAs state: StartedProcess.State?) {
        self.app = app
        switch state {
        case .front: isInFront = true
        case .background, .suspended: leftAt = .zero
        case .prewarmed: isPrewarmed = true
        case nil: break
        }
    }

    mutating func take(_ event: RunEvent) {
        guard event.app == app else { return }
        switch event.kind {
        case .exit: exit(event)
        case .processState: if let phase = ProcessPhase(rawValue: event.detail) { enter(phase, at: event.at) }
        default: break
        }
    }

    private mutating func exit(_ event: RunEvent) {
        if isPrewarmed {
            isPrewarmed = false
            return
        }
        let ending = Fate.Ending(at: event.at.microseconds, reason: event.detail, wasForeground: isInFront)
        fate.ends.append(ending)
        closeStay(at: event.at, isEnd: ending.counts)
        isInFront = false
    }

    private mutating func enter(_ phase: ProcessPhase, at now: Instant) {
        isPrewarmed = phase == .prewarmed
        switch phase {
        case .inactive, .active:
            closeStay(at: now, isEnd: false)
            isInFront = true
        case .background, .suspended:
            if isInFront { leftAt = now }
            isInFront = false
        // The user has not launched the app.
        case .notRunning, .prewarmed: isInFront = false
        }
    }

    private mutating func closeStay(at now: Instant, isEnd: Bool) {
        guard let since = leftAt else { return }
        leftAt = nil
        fate.stays.append(
            Fate.Stay(since: since.microseconds, length: (now - since).microseconds, isEnd: isEnd))
    }

    /// The fate when the run is over, or is not followed any further.
    func closed(at now: Instant, _ tally: RunTally, isWhole: Bool) -> Fate {
        var watch = self
        watch.closeStay(at: now, isEnd: false)
        var fate = watch.fate
        fate.isWhole = isWhole
        // Processes that are alive when the run begins are not launched in it.
        let own = tally.apps.first { $0.name == app }
        fate.processes = max(own?.processes ?? 0, fate.ends.count + (own?.processesAtEnd ?? 0))
        for fact in tally.terminations where fact.app == app {
            guard let index = fate.ends.firstIndex(where: { $0.at == fact.at.microseconds && $0.footprint == nil })
            else { continue }
            fate.ends[index].wasForeground = fact.wasForeground
            fate.ends[index].beneficiary = fact.beneficiary?.app
            fate.ends[index].need = fact.beneficiary?.need.rawValue
            fate.ends[index].footprint = fact.footprint.bytes
        }
        return fate
    }
}

extension Fate {
    /// Every word for a need.
    public static let needs = RunTally.Need.allCases.map(\.rawValue)

    /// The counter of MetricKit that counts an end; nil if there is none.
    public static func counter(of ending: Ending) -> ExitCounter? {
        let payload: ExitPayload = ending.wasForeground ? .foreground : .background
        let own = ExitCounter.all.filter { $0.reason?.rawValue == ending.reason }
        return own.first { $0.payload == payload } ?? own.first { $0.payload == nil }
    }
}
