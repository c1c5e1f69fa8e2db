/// The CSV files of a run directory. The order and names of columns are a contract; new columns go last.
///
/// Tables of events are declared beside their row types, where the types of the cells are known. These are computed
/// from the facts of a `RunTally`.
public enum RunTables {
    /// One row, every metric.
    public static let summary = TableSchema(
        "summary", "One row: every metric of the run", key: ["scenario", "policy", "seed"],
        SummaryMetrics.all.map { Column($0.name, $0.type, unit: $0.unit, $0.meaning, optional: $0.isOptional) })

    /// One row per app.
    public static let appSummary = TableSchema(
        "app_summary", "One row per app of the scenario, in its order: what the run was for the app", key: ["app"],
        AppMetrics.all.map(\.column))

    /// The tables that a run writes even with `--summary-only`.
    public static let summaries = [summary, appSummary]
}
