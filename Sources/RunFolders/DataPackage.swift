import Foundation
import Metrics
import Plan
import Simulation

/// `datapackage.json`: describes the CSV files in Frictionless Table Schema.
package struct DataPackage: Encodable {
    let profile = "tabular-data-package"
    let name: String
    let title: String
    /// What a comparison or a sweep shows, a sentence on each line; nil for everything else.
    private(set) var description: String?
    /// An extension, which the standard allows: the metric by which a sweep chose its best setting; nil for everything
    /// else.
    private(set) var decider: String?
    /// An extension, which the standard allows: the label of the policy that is no setting of a sweep, because what the
    /// person lost is measured against it; nil for everything else.
    private(set) var yardstick: String?
    let version = "\(runFormatVersion)"
    /// An extension, which the standard allows: what programs that draw a run must know of it; nil without one.
    private(set) var run: RunFacts?
    private(set) var resources: [Resource]

    struct Resource: Encodable {
        let name: String
        let path: String
        let profile = "tabular-data-resource"
        let format = "csv"
        let mediatype = "text/csv"
        let encoding = "utf-8"
        var description: String
        /// An extension, which the standard allows. Only for `apps.csv`: `all`, or `changed` if a process has a row
        /// only at samples at which it differs from its last row.
        var rowsOf: String?
        let schema: Schema
    }

    package struct Schema: Encodable {
        let fields: [Field]
        let missingValues = [""]
        let primaryKey: [String]?
        let foreignKeys: [Key]?
    }

    struct Field: Encodable {
        let name: String
        let type: String
        let description: String
        /// An extension, which Table Schema allows: `byte`, `s`, `ms`, `byte/s`, or `1` for a ratio.
        let unit: String?
        /// What people call a metric that is compared.
        let title: String?
        /// An extension, only for the columns of `summary.csv`.
        let metric: Metric?
        let constraints: Constraints
    }

    struct Metric: Encodable {
        /// Which direction is better: `lower`, `higher` or `neither`.
        let better: String
        /// Its place among the metrics that a page shows of several runs, from 1; nil if it is not among them.
        let place: Int?
        /// Whether pictures of several runs show it.
        let isDrawn: Bool
        /// The metric that counts what this one leaves out.
        let leavesOut: String?
    }

    struct Constraints: Encodable {
        let required: Bool
        let `enum`: [String]?
        let minimum: Int?
        let maximum: Int?
    }

    struct Key: Encodable {
        let fields: [String]
        let reference: Reference

        struct Reference: Encodable {
            let resource: String
            let fields: [String]
        }
    }

    /// - Parameters:
    ///   - scenario: The plan as a scenario.
    ///   - tables: The tables that the run writes.
    private init(of plan: RunPlan, _ scenario: String, _ tables: [TableSchema]) {
        self.init(name: plan.name, title: "A Plimsoll run of \(plan.name)", tables: tables)
        run = RunFacts(of: plan, scenario)
        for index in resources.indices where resources[index].name == RunTables.apps.name {
            resources[index].rowsOf = plan.appRows.rawValue
            if plan.appRows == .changed { resources[index].description = DataPackage.rowsOfChanged }
        }
    }

    private static let rowsOfChanged =
        "One row per process and sample at which it differs from its last row, in the order of process numbers; at the "
        + "other samples a process is as in its last row, until it exits"

    private init(name: String, title: String, tables: [TableSchema]) {
        self.name = DataPackage.identifier(of: name)
        self.title = title
        resources = tables.map { Resource(table: $0) }
    }

    /// The scenario's name, reduced to the characters that a package's name may have.
    package static func identifier(of scenario: String) -> String {
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-._")
        return "plimsoll-" + String(scenario.lowercased().map { allowed.contains($0) ? $0 : "-" })
    }

    /// - Parameters:
    ///   - scenario: The plan as a scenario.
    ///   - tables: The tables that the run writes.
    package static func json(of plan: RunPlan, _ scenario: String, _ tables: [TableSchema]) throws -> String {
        try encode(DataPackage(of: plan, scenario, tables))
    }

    /// The package of tables that are not of a single run.
    ///
    /// - Parameters:
    ///   - description: What they show, a sentence on each line; nil without one.
    ///   - decider: The metric by which a sweep chose its best setting; nil without one.
    ///   - yardstick: The label of the policy that is no setting of the sweep; nil without one.
    package static func json(
        name: String, title: String, description: String? = nil, decider: String? = nil, yardstick: String? = nil,
        tables: [TableSchema]
    ) throws -> String {
        var package = DataPackage(name: name, title: title, tables: tables)
        (package.description, package.decider, package.yardstick) = (description, decider, yardstick)
        return try encode(package)
    }

    /// Only the tables that a run may write, for `plimsoll schema csv`.
    package static func tables() throws -> String { try encode(RunTables.known.map { Resource(table: $0) }) }

    /// The columns of `summary.csv`, and what commands that compare runs add, for `plimsoll list metrics`.
    package static func metrics() throws -> String {
        let columns = RunTables.summary.columns + [Column(.secondsLost, signed: true)]
        return try encode(["metrics": columns.map { Field(column: $0) }])
    }

    private static func encode(_ value: some Encodable) throws -> String {
        try JSONDocument.of(value, keepsKeys: true) + "\n"
    }
}

extension DataPackage.Resource {
    fileprivate init(table: TableSchema) {
        name = table.name
        path = table.file
        description = table.meaning
        let keys = table.foreignKeys.map {
            DataPackage.Key(fields: $0.columns, reference: .init(resource: $0.table, fields: $0.columns))
        }
        schema = DataPackage.Schema(
            fields: table.columns.map { DataPackage.Field(column: $0) },
            primaryKey: table.primaryKey.isEmpty ? nil : table.primaryKey, foreignKeys: keys.isEmpty ? nil : keys)
    }
}

extension DataPackage.Field {
    fileprivate init(column: Column) {
        name = column.name
        type = column.type.rawValue
        description = column.meaning
        unit = column.unit?.rawValue
        let place = column.metric.flatMap { metric in SummaryMetrics.compared.firstIndex { $0.name == metric.name } }
        let compared = place.map { SummaryMetrics.compared[$0] }
        title = compared?.title ?? column.metric?.title
        metric = column.metric.map { metric in
            DataPackage.Metric(
                better: metric.better.rawValue, place: place.map { $0 + 1 }, isDrawn: compared?.isDrawn ?? false,
                leavesOut: metric.leavesOut)
        }
        constraints = DataPackage.Constraints(
            required: !column.isOptional, enum: column.choices.isEmpty ? nil : column.choices,
            minimum: column.bounds.lowest, maximum: column.bounds.highest)
    }
}
