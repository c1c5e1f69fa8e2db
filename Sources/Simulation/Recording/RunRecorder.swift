import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// Where a run's rows go.
public struct RunSinks {
    public var samples: any ByteSink
    public var apps: any ByteSink
    public var events: any ByteSink
    public var launches: any ByteSink
    public var decisions: any ByteSink
    public var summary: any ByteSink

    /// One sink per table, made by `make` from the table's schema.
    public init<Failure: Error>(_ make: (TableSchema) throws(Failure) -> any ByteSink) throws(Failure) {
        samples = try make(RunTables.samples)
        apps = try make(RunTables.apps)
        events = try make(RunTables.events)
        launches = try make(RunTables.launches)
        decisions = try make(RunTables.decisions)
        summary = try make(RunTables.summary)
    }
}

/// Turns what happens into rows and facts. It decides nothing.
final class RunRecorder {
    let samples: TableWriter
    let apps: TableWriter
    let events: TableWriter
    let launches: TableWriter
    let decisions: TableWriter
    let summary: TableWriter
    var tally: RunTally
    private var lastDecision = 0
    /// Events for those who watch; nil when nobody does.
    private(set) var kept: [RunEvent]?
    /// Waits for memory that are over, for those who compare runs; nil when nothing asks for them.
    private var keptWaits: [MemoryWait]?

    init(_ sinks: RunSinks, tally: RunTally) {
        samples = TableWriter(RunTables.samples, to: sinks.samples)
        apps = TableWriter(RunTables.apps, to: sinks.apps)
        events = TableWriter(RunTables.events, to: sinks.events)
        launches = TableWriter(RunTables.launches, to: sinks.launches)
        decisions = TableWriter(RunTables.decisions, to: sinks.decisions)
        summary = TableWriter(RunTables.summary, to: sinks.summary)
        all = [samples, apps, events, launches, decisions, summary]
        self.tally = tally
    }

    /// Made once, for it is gone through at every sample.
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

    /// What the device held at a sample.
    func addSample(_ books: DeviceBooks) {
        tally.sampledRequested += books.requested
        tally.sampledUsable += books.usable
        tally.sampledActive += books.active
        tally.sampledDirty += books.dirty
    }

    /// A process has waited for memory.
    func waitEnded(of process: LiveProcess, since: Instant, until now: Instant) {
        tally.stallTime += now - since
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
        _ detail: String, reason: String? = nil
    ) {
        tally.events += 1
        kept?.append(RunEvent(at: now, kind: kind, app: app, detail: detail, reason: reason))
        guard events.isRead else { return events.skipRow() }
        events.seconds(now)
        events.text(kind.rawValue)
        events.text(app)
        events.integer(pid?.number)
        events.integer(scene?.number)
        events.text(detail)
        events.text(reason)
        events.endRow()
    }

    /// The row of a process as it was last sampled; one that is as it was is repeated.
    ///
    /// - Parameter keepsRows: Whether one may be as it was.
    func app(_ row: SampledRow, at now: Instant, keepsRows: Bool) {
        guard let facts = row.takeStale() else { return apps.repeatRow(row.memo, at: now) }
        guard apps.isRead else { return apps.skipRow() }
        apps.seconds(now)
        if row.keepsHead(facts) {
            apps.repeatHead(of: row.memo)
        } else {
            apps.text(row.name)
            apps.integer(row.pid.number)
            apps.text(facts.phase.rawValue)
            apps.integer(facts.band.number)
            apps.endHead(of: row.memo)
        }
        let (books, cache) = (facts.books, facts.cache)
        let cells: InlineArray<8, Int> = [
            books.footprint.bytes, books.active.bytes, books.dirty.bytes, books.requested.bytes, books.usable.bytes,
            cache.bytes, books.objects, books.metadata.bytes,
        ]
        apps.integers(cells.span)
        if keepsRows { apps.endRow(keeping: row.memo) } else { apps.endRow() }
    }

    func launch(_ launch: PendingLaunch, app: String, pid: ProcessID?, ready: Instant?, outcome: String) {
        let latency = ready.map { $0 - launch.tapped }
        let kind: RunTally.LaunchFact.Kind =
            switch launch.kind {
            case .cold: .cold
            case .warm: .warm
            case .hot: .hot
            }
        tally.launches.append(.init(app: app, kind: kind, tapped: launch.tapped, latency: latency))
        launches.text(app)
        launches.text(launch.kind.rawValue)
        launches.seconds(launch.tapped)
        launches.seconds(ready)
        launches.milliseconds(latency)
        launches.integer(pid?.number)
        launches.milliseconds(launch.declared)
        launches.milliseconds(launch.fill)
        launches.milliseconds(launch.memoryWait)
        launches.milliseconds(latency.map { $0 - launch.accounted })
        launches.text(outcome)
        launches.milliseconds(launch.answers)
        launches.endRow()
    }
}
