import Lifecycle
import Metrics
import Pressure
import Quantities
import Reclaim

/// Why an allocation waits, or why its process ended because no memory came.
public enum StallCause: String, CaseIterable, Sendable {
    /// There are fewer free pages than the allocation wants.
    case noRoom = "no_room"
    /// There are enough free pages, but no run of them is long enough.
    case fragmented
    /// There are enough free pages, but they are withheld for processes that have waited longer.
    case keptBack = "kept_back"

    /// - Parameters:
    ///   - free: What the allocation may have.
    ///   - keptBack: What is free in addition, but withheld.
    init(wanted: ByteCount, free: ByteCount, keptBack: ByteCount) {
        self = free >= wanted ? .fragmented : free + keptBack >= wanted ? .keptBack : .noRoom
    }
}

/// Why a process gets a memory warning.
public enum WarningCause: String, CaseIterable, Sendable {
    /// It is the process's turn at the monitor's level.
    case level
    /// The process is near its own limit.
    case nearLimit = "near_limit"
    /// The process has crossed its own soft limit.
    case limit
    /// The policy asks for it.
    case policy
}

/// Why something happened, unless the kind of event says it.
public enum EventCause: Hashable, Sendable {
    case kill(KillCause)
    case stall(StallCause)
    case warning(WarningCause)
    /// Linux's kernel ended the process, because an allocation found no room (`device.fallback`).
    case kernelOOM

    /// The value in the column `cause`.
    public var name: String {
        switch self {
        case .kill(let cause): cause.rawValue
        case .stall(let cause): cause.rawValue
        case .warning(let cause): cause.rawValue
        case .kernelOOM: EventCause.kernelName
        }
    }

    /// The value in the column `cause` for an end by Linux's kernel.
    public static let kernelName = "kernel_oom"

    /// All values of the column `cause`.
    public static let names =
        KillCause.allCases.map(\.rawValue) + StallCause.allCases.map(\.rawValue)
        + WarningCause.allCases.map(\.rawValue) + [kernelName]
}

/// An observed value, usually beside what it was compared with, in the unit at the end of the measure's name.
struct Comparison {
    let measure: String
    let observed: Int64
    let threshold: Int64?

    init(_ measure: String, _ observed: Int64, _ threshold: Int64?) {
        (self.measure, self.observed, self.threshold) = (measure, observed, threshold)
    }

    init(_ evidence: Evidence) {
        self.init(evidence.measure, evidence.observed, evidence.threshold)
    }

    init(_ reading: PressureReading) {
        self.init(reading.column, reading.observed, reading.threshold)
    }

    /// A process's footprint against one of its limits.
    static func footprint(_ footprint: ByteCount, limit: ByteCount) -> Comparison {
        Comparison("footprint_bytes", Int64(footprint.bytes), Int64(limit.bytes))
    }

    /// The size that an allocation wants, against the free memory that it may take.
    static func room(for wanted: ByteCount, free: ByteCount) -> Comparison {
        Comparison("free_bytes", Int64(free.bytes), Int64(wanted.bytes))
    }
}

/// What an event says to programs, in columns of its own; the columns `detail` and `reason` are for people.
struct EventFact {
    private(set) var state: String?
    private(set) var level: PressureLevel?
    private(set) var action: ReclaimAction.Kind?
    private(set) var exit: ExitReason?
    private(set) var cause: EventCause?
    private(set) var comparison: Comparison?

    private init() {}

    static let none = EventFact()
    static let states =
        ProcessPhase.allCases.map(\.rawValue)
        + ScenePhase.allCases.map(\.rawValue).filter {
            ProcessPhase(rawValue: $0) == nil
        }

    /// A process enters a state.
    static func entered(_ phase: ProcessPhase) -> EventFact {
        var fact = EventFact()
        fact.state = phase.rawValue
        return fact
    }

    /// A scene enters a state.
    static func entered(_ phase: ScenePhase) -> EventFact {
        var fact = EventFact()
        fact.state = phase.rawValue
        return fact
    }

    static func level(_ change: LevelChange) -> EventFact {
        var fact = EventFact()
        (fact.level, fact.comparison) = (change.to, Comparison(change.reading))
        return fact
    }

    /// - Parameter level: The monitor's level. A warning about a process's own limit leaves it out.
    static func told(_ cause: WarningCause, at level: PressureLevel, _ comparison: Comparison?) -> EventFact {
        var fact = EventFact()
        (fact.cause, fact.comparison) = (.warning(cause), comparison)
        switch cause {
        case .level, .policy: fact.level = level
        case .nearLimit, .limit: break
        }
        return fact
    }

    /// A soft limit was crossed, and the process is not warned again.
    static func crossed(_ comparison: Comparison) -> EventFact {
        var fact = EventFact()
        (fact.cause, fact.comparison) = (.warning(.limit), comparison)
        return fact
    }

    static func action(_ action: ReclaimAction.Kind, _ cause: KillCause?, _ comparison: Comparison) -> EventFact {
        var fact = EventFact()
        (fact.action, fact.cause, fact.comparison) = (action, cause.map(EventCause.kill), comparison)
        return fact
    }

    static func exit(_ reason: ExitReason, _ why: ExitFact?) -> EventFact {
        var fact = EventFact()
        (fact.exit, fact.cause, fact.comparison) = (reason, why?.cause, why?.comparison)
        return fact
    }

    /// An amount of memory, for readers that do not parse `detail`.
    static func amount(_ measure: String, _ bytes: ByteCount) -> EventFact {
        var fact = EventFact()
        fact.comparison = Comparison(measure, Int64(bytes.bytes), nil)
        return fact
    }

    static func stall(_ cause: StallCause, wanted: ByteCount, free: ByteCount) -> EventFact {
        var fact = EventFact()
        (fact.cause, fact.comparison) = (.stall(cause), .room(for: wanted, free: free))
        return fact
    }
}

/// Why a process ended, if the exit reason alone does not say it.
struct ExitFact {
    let cause: EventCause
    var comparison: Comparison?
    /// The app for whose sake it ended, where neither the policy's demand nor the cause says it.
    var beneficiary: RunTally.Beneficiary?
    /// What made the process the one to end, in a few words, where no policy says it.
    var standing: String?

    /// A policy or the monitor had it ended.
    static func decided(_ cause: KillCause) -> ExitFact { ExitFact(cause: .kill(cause)) }

    /// The process's own allocation found no room.
    static func noRoom(for wanted: ByteCount, free: ByteCount) -> ExitFact {
        let cause = StallCause(wanted: wanted, free: free, keptBack: .zero)
        return ExitFact(cause: .stall(cause), comparison: .room(for: wanted, free: free))
    }

    /// Linux's kernel ended the process for an allocation that found no room.
    static func kernelOOM(_ kill: KernelFallback.Kill, for beneficiary: RunTally.Beneficiary) -> ExitFact {
        ExitFact(cause: .kernelOOM, comparison: kill.comparison, beneficiary: beneficiary, standing: kill.standing)
    }

    /// The process crossed its own limit.
    static func limit(_ limit: ByteCount, footprint: ByteCount) -> ExitFact {
        ExitFact(cause: .kill(.perProcessLimit), comparison: .footprint(footprint, limit: limit))
    }
}
