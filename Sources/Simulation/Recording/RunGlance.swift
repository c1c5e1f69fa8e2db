import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// What a run looks like at an instant, for those who watch it. Values: watching changes nothing.
public struct RunGlance: Sendable {
    public var now: Instant
    public var ceiling: ByteCount
    public var resident: ByteCount
    public var reserved: ByteCount
    public var available: ByteCount
    public var level: PressureLevel
    public var launches: Int
    public var warnings: Int
    public var terminations: Int
    /// By rising process number.
    public var processes: [ProcessGlance]

    public init(
        now: Instant, ceiling: ByteCount, resident: ByteCount, reserved: ByteCount, available: ByteCount,
        level: PressureLevel, launches: Int = 0, warnings: Int = 0, terminations: Int = 0,
        processes: [ProcessGlance] = []
    ) {
        self.now = now
        self.ceiling = ceiling
        self.resident = resident
        self.reserved = reserved
        self.available = available
        self.level = level
        self.launches = launches
        self.warnings = warnings
        self.terminations = terminations
        self.processes = processes
    }
}

/// One process of a `RunGlance`.
public struct ProcessGlance: Sendable {
    public var app: String
    public var pid: ProcessID
    public var phase: ProcessPhase
    public var band: Int
    public var footprint: ByteCount
    public var age: TimeSpan
    /// Since it was last on screen; since its launch where it never was.
    public var idle: TimeSpan

    public init(
        app: String, pid: ProcessID, phase: ProcessPhase, band: Int, footprint: ByteCount, age: TimeSpan,
        idle: TimeSpan
    ) {
        self.app = app
        self.pid = pid
        self.phase = phase
        self.band = band
        self.footprint = footprint
        self.age = age
        self.idle = idle
    }
}

/// A row of `events.csv`, for those who watch.
public struct RunEvent: Sendable {
    public var at: Instant
    public var kind: EventKind
    public var app: String?
    public var detail: String
    public var reason: String?

    public init(at: Instant, kind: EventKind, app: String?, detail: String, reason: String?) {
        self.at = at
        self.kind = kind
        self.app = app
        self.detail = detail
        self.reason = reason
    }
}

/// A process that waited for memory, and how long.
public struct MemoryWait: Sendable {
    public var app: String
    public var since: Instant
    public var until: Instant
    /// In the foreground when the wait was over.
    public var wasForeground: Bool

    public init(app: String, since: Instant, until: Instant, wasForeground: Bool) {
        self.app = app
        self.since = since
        self.until = until
        self.wasForeground = wasForeground
    }
}

extension RunGlance {
    /// The run as it stands.
    init(_ run: Simulation) {
        let books = run.memory.books
        self.init(
            now: run.now, ceiling: books.ceiling, resident: books.resident, reserved: books.reserved,
            available: books.available, level: run.watch.level, launches: run.tally.launches.count,
            warnings: run.tally.warnings, terminations: run.tally.terminations.count,
            processes: run.processes.live.map { process in
                let facts = run.snapshots.snapshot(process)
                return ProcessGlance(
                    app: facts.name, pid: facts.pid, phase: facts.phase, band: facts.band.number,
                    footprint: facts.footprint, age: run.now - facts.launchedAt,
                    idle: facts.idleTime(at: run.now))
            })
    }
}
