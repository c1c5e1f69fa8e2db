import Metrics

extension RunTables {
    public static var samples: TableSchema { DeviceRow.table.schema }
    public static var apps: TableSchema { AppRow.table.schema }
    public static var events: TableSchema { EventRow.table.schema }
    public static var launches: TableSchema { LaunchRow.table.schema }
    public static var decisions: TableSchema { DecisionRow.table.schema }

    public static let all: [TableSchema] = [samples, apps, events, launches, decisions, summary]
}
