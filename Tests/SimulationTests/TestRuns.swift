import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim
import Simulation
import TestSupport
import Workload

/// A small app whose figures can all be changed.
func testApp(_ name: String, _ change: (inout AppProfile) -> Void = { _ in }) -> AppProfile {
    var profile = AppProfile(
        name: name, like: "test", scenes: SceneSupport(), backgroundModes: [],
        memory: MemoryProfile(
            base: .mebibytes(4), scene: .mebibytes(2),
            cache: CacheProfile(size: .mebibytes(4), rate: ByteRate(bytesPerSecond: 4 << 20)),
            objects: .uniform(lowest: ByteCount(64), highest: .kibibytes(32))),
        costs: CallbackCosts(),
        background: BackgroundDiscipline(work: .seconds(1), snapshot: .mebibytes(1)),
        warnings: WarningDiscipline(), limits: ProcessLimits())
    change(&profile)
    return profile
}

func testPlan(
    _ apps: [AppProfile], ceiling: ByteCount = .mebibytes(64), seconds: Int64 = 20, seed: UInt64 = 1,
    policy: String = "ladder", user: [(Double, UserAction)], _ change: (inout RunPlan) -> Void = { _ in }
) -> RunPlan {
    var plan = RunPlan(
        name: "test", seed: seed, duration: .seconds(seconds),
        device: Device(ceiling: ceiling, reserved: .mebibytes(4)), monitor: .brisk,
        policy: PolicySettings(name: policy), limits: Limits(), apps: apps,
        user: user.map { .once($0.1, at: Instant(microseconds: Int64($0.0 * 1_000_000))) })
    // Apple's compressor, which is no swap; tests of Linux's say so.
    plan.device.swap.zram = false
    change(&plan)
    return plan
}

/// The output of a run.
struct RunOutput: Sendable {
    let tally: RunTally
    let ending: RunEnding
    let perceivedWithin: TimeSpan
    /// The CSV text of each table, by its name. Empty for a table that the run does not write.
    fileprivate let texts: [String: String]

    private func text(_ table: TableSchema) -> String { texts[table.name] ?? "" }

    var samples: String { text(RunTables.samples) }
    var apps: String { text(RunTables.apps) }
    var events: String { text(RunTables.events) }
    var launches: String { text(RunTables.launches) }
    var decisions: String { text(RunTables.decisions) }
    var summary: String { text(RunTables.summary) }
    var appSummary: String { text(RunTables.appSummary) }
    var exits: String { text(RunTables.exits) }
    var cores: String { text(RunTables.cores) }
    var pages: String { text(RunTables.pages) }
    var limits: String { text(RunTables.limits) }
    var freezer: String { text(RunTables.freezer) }

    var tables: [String] { RunTables.known.map { text($0) } }

    /// The rows of `terminations.csv`.
    var terminationRows: [TableRow] { TableRow.all(in: text(RunTables.terminations)) }

    /// The rows of `decisions.csv`.
    var decisionRows: [TableRow] { TableRow.all(in: decisions) }

    /// The rows of `pages.csv`.
    var pageRows: [TableRow] { TableRow.all(in: pages) }

    /// The rows of `freezer.csv`.
    var freezerRows: [TableRow] { TableRow.all(in: freezer) }

    /// The rows of `events.csv`, cell by column.
    var eventTable: [TableRow] { TableRow.all(in: events) }

    /// The rows of `exits.csv`, cell by column.
    var exitTable: [TableRow] { TableRow.all(in: exits) }

    /// The rows of `events.csv`: event, app, scene, detail, reason.
    var eventRows: [EventRow] { EventRow.rows(of: Array(events.utf8)) }

    /// The rows of `launches.csv`.
    var launchRows: [TableRow] { TableRow.all(in: launches) }

    /// The rows of `app_summary.csv`, cell by column.
    var appSummaryRows: [[String: String]] {
        let names = RunTables.appSummary.columns.map(\.name)
        return TableReader(Array(appSummary.utf8), columns: names).rows.map { row in
            Dictionary(zip(names, row), uniquingKeysWith: { first, _ in first })
        }
    }

    /// The names of the callbacks that an app received, in order.
    func callbacks(of app: String) -> [String] {
        eventRows.filter { $0.event == "callback" && $0.app == app }.map(\.detail)
    }
}

struct EventRow {
    let time, event, app, pid, scene, detail, reason: String

    static func rows(of bytes: [UInt8]) -> [EventRow] {
        TableRow.all(in: bytes).map { EventRow($0) }
    }

    private init(_ row: TableRow) {
        (time, event, app, pid) = (row["time_s"], row["event"], row["app"], row["pid"])
        (scene, detail, reason) = (row["scene"], row["detail"], row["reason"])
    }
}

func runToEnd(_ plan: RunPlan, dryRun: Bool = false, stopAfter: Instant = .never) throws -> RunOutput {
    let memory = try plan.makeDevice()
    let sinks = RunSinks { _ in MemorySink() }
    let simulation = Simulation(plan, memory: memory, sinks: sinks, verify: true, dryRun: dryRun)
    var stop = false
    let ending = try simulation.run(shouldStop: { stop }, progress: { stop = $0 >= stopAfter })
    let texts = RunTables.known.map { ($0.name, (sinks[$0] as? MemorySink)?.text ?? "") }
    return RunOutput(
        tally: simulation.tally, ending: ending, perceivedWithin: plan.perceivedWithin,
        texts: Dictionary(texts, uniquingKeysWith: { first, _ in first }))
}
