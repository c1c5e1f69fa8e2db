import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// The state of a run at an instant, for display. It is a value: reading it changes nothing in the run.
public struct RunGlance: Sendable {
    /// The virtual instant.
    public var now: Instant
    /// All RAM of the device.
    public var ceiling: ByteCount
    /// Pages handed out to processes, plus what the system keeps for itself.
    public var resident: ByteCount
    /// What the system keeps for itself.
    public var reserved: ByteCount
    /// The ceiling minus `resident`.
    public var available: ByteCount
    /// The processes' pages that the compressor keeps; they take no room of their own. Zero without a compressor.
    public var compressed: ByteCount
    /// What the compressor's pool takes, a part of `resident`.
    public var pool: ByteCount
    /// The monitor's level.
    public var level: PressureLevel
    /// Launches so far.
    public var launches: Int
    /// Memory warnings so far.
    public var warnings: Int
    /// Terminations so far.
    public var terminations: Int
    /// What the cores did between the last two samples.
    public var cores: CoreGlance
    /// The live processes, by rising process number.
    public var processes: [ProcessGlance]

    /// A glance from its parts.
    public init(
        now: Instant, ceiling: ByteCount, resident: ByteCount, reserved: ByteCount, available: ByteCount,
        compressed: ByteCount = .zero, pool: ByteCount = .zero,
        level: PressureLevel, launches: Int = 0, warnings: Int = 0, terminations: Int = 0,
        cores: CoreGlance = CoreGlance(count: 1), processes: [ProcessGlance] = []
    ) {
        self.now = now
        self.ceiling = ceiling
        self.resident = resident
        self.reserved = reserved
        self.available = available
        self.compressed = compressed
        self.pool = pool
        self.level = level
        self.launches = launches
        self.warnings = warnings
        self.terminations = terminations
        self.cores = cores
        self.processes = processes
    }
}

/// One process of a `RunGlance`.
public struct ProcessGlance: Sendable {
    /// The app's name in the scenario.
    public var app: String
    /// The process number.
    public var pid: ProcessID
    /// Its state in its life cycle.
    public var phase: ProcessPhase
    /// The number of its jetsam band.
    public var band: Int
    /// What it holds.
    public var footprint: ByteCount
    /// The part of the footprint that is compressed.
    public var compressed: ByteCount
    /// The time since its launch.
    public var age: TimeSpan
    /// The time since it was last on screen, or since its launch if it never was.
    public var idle: TimeSpan

    /// A glance at a process from its parts.
    public init(
        app: String, pid: ProcessID, phase: ProcessPhase, band: Int, footprint: ByteCount,
        compressed: ByteCount = .zero, age: TimeSpan, idle: TimeSpan
    ) {
        self.app = app
        self.pid = pid
        self.phase = phase
        self.band = band
        self.footprint = footprint
        self.compressed = compressed
        self.age = age
        self.idle = idle
    }
}

/// A row of `events.csv`, for display.
public struct RunEvent: Sendable {
    /// When it happened.
    public var at: Instant
    /// What happened.
    public var kind: EventKind
    /// The app's name in the scenario; nil if the event is about no app.
    public var app: String?
    /// More about the event; empty if there is nothing more.
    public var detail: String
    /// Why it happened; nil if the row has no reason.
    public var reason: String?
    /// Why it happened, for programs; nil if the kind of event says it.
    public var cause: EventCause?

    /// An event from its parts.
    public init(
        at: Instant, kind: EventKind, app: String?, detail: String, reason: String?, cause: EventCause? = nil
    ) {
        self.at = at
        self.kind = kind
        self.app = app
        self.detail = detail
        self.reason = reason
        self.cause = cause
    }
}

/// A process's wait for memory.
public struct MemoryWait: Sendable {
    /// The app's name in the scenario.
    public var app: String
    /// When the wait began.
    public var since: Instant
    /// When the wait ended.
    public var until: Instant
    /// Whether the process was in the foreground when the wait ended.
    public var wasForeground: Bool

    /// A wait from its parts.
    public init(app: String, since: Instant, until: Instant, wasForeground: Bool) {
        self.app = app
        self.since = since
        self.until = until
        self.wasForeground = wasForeground
    }
}

extension RunGlance {
    /// The present state of a run.
    init(_ run: Simulation) {
        let books = run.memory.books
        self.init(
            now: run.now, ceiling: books.ceiling, resident: books.resident, reserved: books.reserved,
            available: books.available, compressed: books.compressed, pool: books.compressor,
            level: run.watch.level, launches: run.tally.launches.count, warnings: run.tally.warnings,
            terminations: run.tally.terminations.count, cores: run.scheduler.glance,
            processes: run.processes.live.map { process in
                let (facts, books) = (run.snapshots.snapshot(process), run.memory.books(of: process.slot))
                return ProcessGlance(
                    app: facts.name, pid: facts.pid, phase: facts.phase, band: facts.band.number,
                    footprint: books.footprint, compressed: books.compressed,
                    age: run.now - facts.launchedAt, idle: facts.idleTime(at: run.now))
            })
    }
}
