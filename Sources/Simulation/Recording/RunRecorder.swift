import DequeModule
import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// Where a run's rows go, table by table.
public struct RunSinks {
    /// By the table's name.
    private var sinks: [String: any ByteSink] = [:]

    /// One sink per table that a run may write, which `make` creates from the table's schema.
    public init<Failure: Error>(_ make: (TableSchema) throws(Failure) -> any ByteSink) throws(Failure) {
        for table in RunTables.known { sinks[table.name] = try make(table) }
    }

    /// Where a table's rows go; what is not a table of a run goes nowhere. Runs without a compressor, a file cache and
    /// purgeable memory write no `pages`, runs in which no process has a memory limit no `limits`, and runs on a device
    /// without a freezer no `freezer`.
    public subscript(table: TableSchema) -> any ByteSink { sinks[table.name] ?? NullSink() }
}

/// A callback that has begun: the number of its row, and when.
struct OpenCallback {
    fileprivate let row: Int
    fileprivate let since: Instant
}

/// A row that waits for its duration, or for that of a row before it.
private struct HeldRow {
    var row: EventRow
    var isOpen: Bool
}

/// Turns events of the run into rows and facts. It makes no decisions.
final class RunRecorder {
    let samples: TableWriter
    let apps: TableWriter
    let events: TableWriter
    let launches: TableWriter
    let decisions: TableWriter
    let cores: TableWriter
    let pages: TableWriter
    /// Whether pages are of several kinds.
    let hasPages: Bool
    private var lastPages = LastRow<PageRow>()
    let limits: TableWriter
    let freezer: TableWriter
    private var lastFreezer = LastRow<FreezerRow>()
    /// The tables that are written when the run is over, each with what writes its rows.
    private let final: [(table: TableWriter, rows: @Sendable (TableWriter, RunTally) -> Void)]
    var tally: RunTally
    /// The number of the last decision; 0 before the first.
    private(set) var lastDecision = 0
    /// Rows of `events.csv` that cannot be written yet: the first is a callback that has not returned.
    private var held: Deque<HeldRow> = []
    /// The number of the first of them.
    private var firstHeld = 0
    /// Events kept for display; nil if the run is not watched.
    private(set) var kept: [RunEvent]?
    /// Waits for memory that have ended, kept for the comparison of runs; nil if they are not needed.
    private var keptWaits: [MemoryWait]?
    /// Whether rows that are written in parts are checked against their declarations; in a debug build they always are.
    let checksRows: Bool

    /// - Parameters:
    ///   - hasPages: See the property.
    ///   - hasLimits: Whether a process has a memory limit.
    ///   - hasFreezer: Whether the device has a freezer.
    init(
        _ sinks: RunSinks, tally: RunTally, checksRows: Bool, hasPages: Bool, hasLimits: Bool, hasFreezer: Bool
    ) {
        func table(_ schema: TableSchema, isWritten: Bool = true) -> TableWriter {
            TableWriter(schema, to: isWritten ? sinks[schema] : NullSink())
        }
        samples = table(RunTables.samples)
        apps = table(RunTables.apps)
        events = table(RunTables.events)
        launches = table(RunTables.launches)
        decisions = table(RunTables.decisions)
        cores = table(RunTables.cores)
        self.hasPages = hasPages
        pages = table(RunTables.pages, isWritten: hasPages)
        limits = table(RunTables.limits, isWritten: hasLimits)
        freezer = table(RunTables.freezer, isWritten: hasFreezer)
        final = RunTables.final.map { (table($0.schema), $0.rows) }
        all = [samples, apps, events, launches, decisions, cores, pages, limits, freezer] + final.map(\.table)
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

    /// Rows that are held back stay; a callback takes at most a minute.
    func flush() { for table in all { table.flush() } }

    /// Writes everything, callbacks that have not returned, too: nothing follows.
    func close() {
        for row in held { EventRow.table.write(row.row, to: events) }
        held.removeAll()
        flush()
    }

    /// Writes what is known at the end of the run.
    func writeSummaries() { for (table, rows) in final { rows(table, tally) } }

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

    /// Writes the device's row of `pages.csv` or of `freezer.csv`.
    func sample(_ row: PageRow) { lastPages.write(row, to: pages, checks: checksRows) }
    func sample(_ row: FreezerRow) { lastFreezer.write(row, to: freezer, checks: checksRows) }

    /// Records that a process has waited for memory.
    func waitEnded(of process: LiveProcess, since: Instant, until now: Instant) {
        tally.stallTime += now - since
        let isActive = process.phase == .active
        count(of: process) { tally in
            tally.stallTime += now - since
            if isActive { tally.activeStallTime += now - since }
        }
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
        add(
            EventRow(at: now, kind: kind, app: app, pid: pid, scene: scene, detail: detail, reason: reason, fact: fact),
            isOpen: false)
    }

    /// Records that a callback begins.
    ///
    /// - Returns: What ends its row.
    func callback(
        _ callback: Callback, at now: Instant, of process: LiveProcess, scene: SceneID? = nil, reason: String? = nil
    ) -> OpenCallback {
        let number = firstHeld + held.count
        add(
            EventRow(
                at: now, kind: .callback, app: process.profile.name, pid: process.pid, scene: scene,
                detail: callback.rawValue, reason: reason, fact: .none),
            isOpen: true)
        return OpenCallback(row: number, since: now)
    }

    /// The callback has returned; or its process has ended, and it never will.
    func end(_ callback: OpenCallback, at now: Instant?) {
        guard events.isRead else { return }
        let index = callback.row - firstHeld
        held[index].row.duration = now.map { $0 - callback.since }
        held[index].isOpen = false
        while let first = held.first, !first.isOpen {
            EventRow.table.write(first.row, to: events)
            held.removeFirst()
            firstHeld += 1
        }
    }

    private func add(_ row: EventRow, isOpen: Bool) {
        tally.events += 1
        kept?.append(
            RunEvent(
                at: row.at, kind: row.kind, app: row.app, detail: row.detail, reason: row.reason, cause: row.fact.cause)
        )
        guard events.isRead else { return events.skipRow() }
        if isOpen || !held.isEmpty {
            held.append(HeldRow(row: row, isOpen: isOpen))
        } else {
            EventRow.table.write(row, to: events)
        }
    }

    func launch(
        _ launch: PendingLaunch, app: String, pid: ProcessID?, ready: Instant?, outcome: LaunchOutcome
    ) {
        let row = LaunchRow(launch: launch, app: app, pid: pid, ready: ready, outcome: outcome)
        tally.launches.append(.init(app: app, kind: launch.kind, tapped: launch.tapped, latency: row.latency))
        LaunchRow.table.write(row, to: launches)
    }
}
