/// The CSV files of a run directory. Order and names of columns are a contract; new columns go last.
///
/// Tables of events stand with the rows that are written into them, where the types of their cells are known; here is
/// the one that follows from the facts of a `RunTally`.
public enum RunTables {
    /// One row, every metric.
    public static let summary = TableSchema(
        "summary", "One row: every metric of the run", key: ["scenario", "policy", "seed"],
        SummaryMetrics.all.map { Column($0.name, $0.type, unit: $0.unit, $0.meaning, optional: $0.isOptional) })
}
