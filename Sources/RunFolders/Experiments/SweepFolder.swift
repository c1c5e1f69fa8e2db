import Experiments
import Foundation
import Metrics
import Quantities

/// The table of a sweep, and the joining of its parts.
package enum SweepFolder {
    package static let table = "sweep.csv"

    /// Writes the table of a whole sweep; a part has none until `merge`.
    ///
    /// - Parameters:
    ///   - metrics: The first one chooses the best setting.
    ///   - prices: What an end in front and a lost launch count as in what the person lost.
    /// - Returns: The settings, compared on `metrics`; nil for a part.
    package static func finish(
        _ booked: BookedFolder, comparing metrics: [String], _ prices: PersonWaits.Prices
    ) throws -> SettingsComparison? {
        guard booked.shard == .whole else { return nil }
        return try write(booked.plan, to: booked.folder, comparing: metrics, prices) { [ledger = booked.ledger] _ in
            ledger
        }
    }

    /// Writes the table in the order of the plan, with at most 500 rows in memory, and what it shows.
    private static func write(
        _ plan: ExperimentPlan, to folder: ExperimentFolder, comparing metrics: [String],
        _ prices: PersonWaits.Prices, _ ledger: (Int) -> Ledger
    ) throws -> SettingsComparison {
        let tellsLosses = metrics.contains(SummaryMetric.secondsLost.name)
        let list = RunList("sweep", of: plan, hasLosses: tellsLosses)
        func row(_ index: Int) throws -> String {
            try BookedFolder.saying { () throws(LedgerFault) in try ledger(index).row(index) }
        }
        func lost(_ index: Int, _ text: String) throws -> TimeSpan? {
            guard tellsLosses, let other = plan.yardstick(of: index), let own = RunRow(text).waits else { return nil }
            return RunRow(try row(other)).waits.map { own.lost(against: $0, prices) }
        }
        var values = RunValues(metrics, of: plan)
        try folder.write(list.schema) { table in
            for start in stride(from: 0, to: plan.count, by: 500) {
                let indices = start..<min(start + 500, plan.count)
                let rows = try indices.map(row)
                for ((index, text), summary) in zip(zip(indices, rows), RunList.cells(of: rows)) {
                    let lost = try lost(index, text)
                    list.write(index, summary: summary, lost: lost, to: table)
                    values.add(index, summary: summary, lost: lost)
                }
            }
        }
        let settings = SettingsComparison(plan, metrics: metrics, values)
        let names = plan.scenarios.map(\.name).joined(separator: ", ")
        try folder.directory.write(
            try DataPackage.json(
                name: "sweep", title: "A sweep of \(names) by Plimsoll", description: settings.conclusion,
                decider: settings.decider, yardstick: tellsLosses ? ExperimentPlan.yardstick : nil,
                tables: [list.schema]), to: "datapackage.json")
        return settings
    }
}

extension SweepFolder {
    private struct Part {
        let path: String
        let shard: Shard
        let ledger: Ledger
    }

    /// Joins all parts of a sweep.
    ///
    /// - Parameters:
    ///   - metrics: The first one chooses the best setting.
    ///   - prices: As in `finish`.
    ///   - warn: Gets a line for people if several builds made the parts.
    /// - Returns: The plan that the parts share, and its settings, compared on `metrics`.
    package static func merge(
        _ paths: [String], to out: String, comparing metrics: [String], _ prices: PersonWaits.Prices,
        warn: (String) -> Void
    ) throws -> (ExperimentPlan, SettingsComparison) {
        guard let first = paths.first, let (plan, text) = try BookedFolder.readPlan(first, of: .sweep) else {
            throw Failure(
                .missingInput, "\(paths.first ?? "") holds no part of a sweep: there is no \(BookedFolder.planFile)")
        }
        guard plan.yardstick != nil || !metrics.contains(SummaryMetric.secondsLost.name) else {
            throw Failure(
                .invalidInput,
                "\(first) has no runs under \(ExperimentPlan.yardstick), which \(SummaryMetric.secondsLost.name) is "
                    + "measured against; give the sweep that --metric, too")
        }
        let parts = try parts(paths, of: plan, text)
        let count = parts[0].shard.count
        let missing = (1...count).filter { number in !parts.contains { $0.shard.number == number } }
        guard missing.isEmpty else {
            let list = missing.prefix(10).map { "\($0)/\(count)" }.joined(separator: ", ")
            throw Failure(.invalidInput, "missing: part \(list)" + (missing.count > 10 ? ", …" : ""))
        }
        var builds: [String] = []
        for build in parts.flatMap({ BookedFolder.builds(of: $0.path, having: $0.ledger) })
        where !builds.contains(build) { builds.append(build) }
        BookedFolder.warning("the parts were made", by: builds, of: plan, table: table).map(warn)
        let folder = try ExperimentFolder(creating: out)
        try folder.directory.write(text, to: BookedFolder.planFile)
        try folder.directory.write(BookedFolder.list(builds), to: BookedFolder.buildsFile)
        let byNumber = parts.sorted { $0.shard.number < $1.shard.number }
        return (plan, try write(plan, to: folder, comparing: metrics, prices) { byNumber[$0 % count].ledger })
    }

    /// - Parameter text: The plan's text, in the first of the folders.
    private static func parts(_ paths: [String], of plan: ExperimentPlan, _ text: String) throws -> [Part] {
        var parts: [Part] = []
        for path in paths {
            guard let other = try BookedFolder.readPlan(path, of: .sweep) else {
                throw Failure(.missingInput, "\(path) holds no part of a sweep: there is no \(BookedFolder.planFile)")
            }
            guard other.text == text else {
                let difference = other.plan.difference(from: plan) ?? "form of plan.json"
                throw Failure(
                    .invalidInput, "\(path) belongs to another sweep than \(paths[0]): it has another \(difference)")
            }
            parts.append(try part(path, of: plan, Fingerprint(of: text), beside: parts))
        }
        return parts
    }

    private static func part(
        _ path: String, of plan: ExperimentPlan, _ fingerprint: Fingerprint, beside others: [Part]
    ) throws -> Part {
        let file = "\(path)/\(Ledger.file)"
        guard let shard = try BookedFolder.saying({ () throws(LedgerFault) in try Ledger.part(at: file) }) else {
            throw Failure(.invalidInput, "\(file) is not the ledger of a sweep")
        }
        if let first = others.first, first.shard.count != shard.count {
            throw Failure(.invalidInput, "\(path) is part \(shard), but \(first.path) is part \(first.shard)")
        }
        if let same = others.first(where: { $0.shard == shard }) {
            throw Failure(.invalidInput, "\(path) and \(same.path) are both part \(shard)")
        }
        let ledger = try BookedFolder.saying(busy: .invalidInput) { () throws(LedgerFault) in
            try Ledger(reading: file, plan: fingerprint, shard: shard, cases: plan.count)
        }
        let left = (0..<plan.count).count { shard.contains($0) && !ledger.isFinished($0) }
        guard left == 0 else {
            throw Failure(.invalidInput, "part \(shard) in \(path) lacks \(left) of its runs; finish it with --resume")
        }
        return Part(path: path, shard: shard, ledger: ledger)
    }
}
