import Foundation
import Metrics

/// `datapackage.json`: the CSVs described in Frictionless Table Schema.
struct DataPackage: Encodable {
    let profile = "tabular-data-package"
    let name: String
    let title: String
    let version = "\(runFormatVersion)"
    let resources: [Resource]

    struct Resource: Encodable {
        let name: String
        let path: String
        let profile = "tabular-data-resource"
        let format = "csv"
        let mediatype = "text/csv"
        let encoding = "utf-8"
        let description: String
        let schema: Schema
    }

    struct Schema: Encodable {
        let fields: [Field]
        let missingValues = [""]
    }

    struct Field: Encodable {
        let name: String
        let type: String
        let description: String
        let constraints: Constraints
    }

    struct Constraints: Encodable {
        let required: Bool
        let `enum`: [String]?
    }

    init(of scenario: String) {
        name = scenario.lowercased().replacingOccurrences(of: " ", with: "-")
        title = "A Plimsoll run of \(scenario)"
        resources = RunTables.all.map { Resource(table: $0) }
    }

    static func json(of scenario: String) throws -> String { try encode(DataPackage(of: scenario)) }

    /// The tables alone, for `plimsoll schema csv`.
    static func tables() throws -> String { try encode(RunTables.all.map { Resource(table: $0) }) }

    private static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }
}

extension DataPackage.Resource {
    fileprivate init(table: TableSchema) {
        name = table.name
        path = table.file
        description = table.meaning
        schema = DataPackage.Schema(
            fields: table.columns.map { column in
                DataPackage.Field(
                    name: column.name, type: column.type.rawValue, description: column.meaning,
                    constraints: DataPackage.Constraints(
                        required: !column.isOptional, enum: column.choices.isEmpty ? nil : column.choices))
            })
    }
}
