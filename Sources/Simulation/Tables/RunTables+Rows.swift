import Metrics
import Plan

extension RunTables {
    /// The schema of `samples.csv`.
    public static var samples: TableSchema { DeviceRow.table.schema }
    /// The schema of `apps.csv`.
    public static var apps: TableSchema { AppRow.table.schema }
    /// The schema of `events.csv`.
    public static var events: TableSchema { EventRow.table.schema }
    /// The schema of `launches.csv`.
    public static var launches: TableSchema { LaunchRow.table.schema }
    /// The schema of `decisions.csv`.
    public static var decisions: TableSchema { DecisionRow.table.schema }

    /// The schemas of the tables that a run of this plan writes.
    public static func all(of plan: RunPlan) -> [TableSchema] {
        all + (plan.hasKindsOfPages ? [pages] : []) + (plan.hasProcessLimits ? [limits] : [])
            + (plan.hasFreezer ? [freezer] : [])
    }

    /// The schemas of all tables that a run may write.
    public static let known: [TableSchema] = all + [pages, limits, freezer]

    /// The schemas of the tables that every run writes.
    public static let all: [TableSchema] = [
        samples, apps, events, launches, decisions, summary, appSummary, exits, cores, terminations,
    ]

    /// The tables that are written from the facts when a run is over.
    static let final: [(schema: TableSchema, rows: @Sendable (TableWriter, RunTally) -> Void)] = [
        (summary, { $0.summaryRow(of: $1) }),
        (appSummary, { $0.appSummaryRows(of: $1) }),
        (exits, { $0.exitRows(of: $1) }),
        (terminations, { TerminationRow.write(rowsOf: $1, to: $0) }),
    ]
}
