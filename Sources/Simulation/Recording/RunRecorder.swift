import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// Where a run's rows go, table by table.
public struct RunSinks {
    /// For `samples.csv`.
    public var samples: any ByteSink
    /// For `apps.csv`.
    public var apps: any ByteSink
    /// For `events.csv`.
    public var events: any ByteSink
    /// For `launches.csv`.
    public var launches: any ByteSink
    /// For `decisions.csv`.
    public var decisions: any ByteSink
    /// For `summary.csv`.
    public var summary: any ByteSink
    /// For `app_summary.csv`.
    public var appSummary: any ByteSink

    /// One sink per table, which `make` creates from the table's schema.
    public init<Failure: Error>(_ make: (TableSchema) throws(Failure) -> any ByteSink) throws(Failure) {
        samples = try make(RunTables.samples)
        apps = try make(RunTables.apps)
        events = try make(RunTables.events)
        launches = try make(RunTables.launches)
        decisions = try make(RunTables.decisions)
        summary = try make(RunTables.summary)
        appSummary = try make(RunTables.appSummary)
    }
}

/// Turns what happens into rows and facts. It makes no decisions.
final class RunRecorder {
    let samples: TableWriter
    let apps: TableWriter
    let events: TableWriter
    let launches: TableWriter
    let decisions: TableWriter
    let summary: TableWriter
    private let appSummary: TableWriter
    var tally: RunTally
    private var lastDecision = 0
    /// Events kept for display; nil if the run is not watched.
    private(set) var kept: [RunEvent]?
    /// Waits for memory that have ended, kept for the comparison of runs; nil if they are not needed.
    private var keptWaits: [MemoryWait]?
    /// Whether rows that are written in parts are checked against their declarations; in a debug build they always are.
    let checksRows: Bool

    init(_ sinks: RunSinks, tally: RunTally, checksRows: Bool) {
        samples = TableWriter(RunTables.samples, to: sinks.samples)
        apps = TableWriter(RunTables.apps, to: sinks.apps)
        events = TableWriter(RunTables.events, to: sinks.events)
        launches = TableWriter(RunTables.launches, to: sinks.launches)
        decisions = TableWriter(RunTables.decisions, to: sinks.decisions)
        summary = TableWriter(RunTables.summary, to: sinks.summary)
        appSummary = TableWriter(RunTables.appSummary, to: sinks.appSummary)
        all = [samples, apps, events, launches, decisions, summary, appSummary]
        self.tally = tally
        #if DEBUG
            self.checksRows = true
        #else
            self.checksRows = checksRows
        #endif
    }

    /// Built once, because every sample iterates over it.
    private let all: [TableWriter]

    func keepEvents() { kept = kept ?? [] }

    func keepWaits() { keptWaits = keptWaits ?? [] }

    func takeEvents() -> [RunEvent] {
        defer { if kept != nil { kept = [] } }
        return kept ?? []
    }

    func takeWaits() -> [MemoryWait] {
        defer { if keptWaits != nil { keptWaits = [] } }
        return keptWaits ?? []
    }

    /// The first output that the host refused.
    var failure: OutputFailure? {
        for table in all { if let failure = table.failure { return failure } }
        return nil
    }

    func flush() { for table in all { table.flush() } }

    /// Writes what is known at the end of the run.
    func writeSummaries() {
        summary.summaryRow(of: tally)
        appSummary.appSummaryRows(of: tally)
    }

    /// Counts a fact of the process's app.
    func count(of process: LiveProcess, _ change: (inout AppTally) -> Void) {
        change(&tally.apps[process.app.index])
    }

    /// Adds what the device held at a sample.
    func addSample(_ books: DeviceBooks) {
        tally.sampled.requested += books.requested
        tally.sampled.usable += books.usable
        tally.sampled.active += books.active
        tally.sampled.dirty += books.dirty
    }

    /// Records that a process has waited for memory.
    func waitEnded(of process: LiveProcess, since: Instant, until now: Instant) {
        tally.stallTime += now - since
        count(of: process) { $0.stallTime += now - since }
        keptWaits?.append(
            MemoryWait(
                app: process.profile.name, since: since, until: now, wasForeground: process.phase.isForeground))
    }

    /// The number of the next decision, from 1.
    func nextDecision() -> Int {
        lastDecision += 1
        return lastDecision
    }

    func event(
        _ kind: EventKind, at now: Instant, app: String? = nil, pid: ProcessID? = nil, scene: SceneID? = nil,
        _ detail: String, reason: String? = nil, fact: EventFact = .none
    ) {
        tally.events += 1
        kept?.append(RunEvent(at: now, kind: kind, app: app, detail: detail, reason: reason))
        guard events.isRead else { return events.skipRow() }
        let row = EventRow(
            at: now, kind: kind, app: app, pid: pid, scene: scene, detail: detail, reason: reason, fact: fact)
        EventRow.table.write(row, to: events)
    }

    func launch(
        _ launch: PendingLaunch, app: String, pid: ProcessID?, ready: Instant?, outcome: LaunchOutcome
    ) {
        let row = LaunchRow(launch: launch, app: app, pid: pid, ready: ready, outcome: outcome)
        tally.launches.append(.init(app: app, kind: launch.kind, tapped: launch.tapped, latency: row.latency))
        LaunchRow.table.write(row, to: launches)
    }
}
