import Experiments
import Foundation
import Metrics
import Quantities

/// The tables of a comparison in its folder.
package enum ComparisonFolder {
    /// Writes the rows of the successful runs when others failed; nothing is compared.
    ///
    /// - Returns: False if no run succeeded; then a new folder is removed.
    package static func keep(_ booked: BookedFolder) throws -> Bool {
        guard !booked.withdrawIfBlank() else { return false }
        let made = booked.finished
        let runs = RunList("runs", of: booked.plan)
        try booked.folder.directory.write(
            try DataPackage.json(
                name: "compare", title: "Runs of an incomplete comparison", tables: [runs.schema]),
            to: "datapackage.json")
        try write(runs, made, try made.map(booked.row), to: booked.folder)
        return true
    }

    /// Writes the tables of a whole comparison.
    ///
    /// - Parameter rows: The rows of the ledger, one per case of the plan.
    package static func write(_ comparison: Comparison, _ rows: [String], to booked: BookedFolder) throws {
        let runs = RunList("runs", of: booked.plan, hasLosses: true)
        try booked.folder.directory.write(
            try DataPackage.json(
                name: "compare", title: "A comparison of policies by Plimsoll",
                description: comparison.conclusions.joined(separator: "\n"),
                tables: [Comparison.schema, runs.schema]), to: "datapackage.json")
        try write(runs, Array(rows.indices), rows, comparison.losses, to: booked.folder)
        try booked.folder.write(Comparison.schema) { comparison.write(to: $0) }
    }

    private static func write(
        _ runs: RunList, _ made: [Int], _ rows: [String], _ losses: [TimeSpan?]? = nil, to folder: ExperimentFolder
    ) throws {
        try folder.write(runs.schema) { table in
            for (index, cells) in zip(made, RunList.cells(of: rows)) {
                runs.write(index, summary: cells, lost: losses?[index], to: table)
            }
        }
    }
}
