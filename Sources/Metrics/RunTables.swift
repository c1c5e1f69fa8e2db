/// The CSV files of a run directory. Scripts rely on the order and names of columns; new columns go last.
///
/// The tables of events are declared beside their row types, where the types of the cells are known. The tables here
/// are computed from the facts of a `RunTally`.
public enum RunTables {
    /// One row, every metric.
    public static let summary = TableSchema(
        "summary", "One row: every metric of the run", key: ["scenario", "policy", "seed"],
        SummaryMetrics.all.map { Column($0) })

    /// One row per app.
    public static let appSummary = TableSchema(
        "app_summary", "One row per app of the scenario, in the scenario's order: how the app fared", key: ["app"],
        AppMetrics.all.map(\.column))

    /// The exits of each app as MetricKit counts them.
    public static let exits = ExitRow.table.schema

    /// The tables that a run writes even with `--summary-only`.
    public static let summaries = [summary, appSummary, exits]
}
