import Experiments
import Foundation
import Metrics
import Plan
import Quantities
import Reclaim
import Simulation

/// The record of a run in its folder. `explain` compares it with its repetition of the run.
package final class RunRecord {
    private let path: String
    private let plan: RunPlan
    /// For each decision's number, the action that was carried out and its target; no entry if there was none.
    private var chosen: [Int: String] = [:]
    private var last = 0
    /// The number of the policy's last decision on record. Excludes the monitor's warnings, which share the numbering
    /// but are not decided by the policy.
    private var lastAsked = 0
    /// The number of the repetition's last decision.
    private var repeated = 0
    /// Why nothing can be compared; nil if it can.
    private var obstacle: String?
    /// The first difference.
    private var difference: String?
    /// The recorded ends that the policy ordered, in the order of time.
    private var ordered: [(at: TimeSpan, app: String)] = []
    private let made: Maker?
    /// Why the manifest is missing or unreadable, in words.
    private let silence: String
    private var table: String { "\(path)/\(RunTables.decisions.file)" }

    /// - Parameters:
    ///   - path: The folder. Without `decisions.csv`, as after `--summary-only`, nothing is compared.
    ///   - plan: The plan of the folder's `scenario.yaml`.
    package init(_ path: String, _ plan: RunPlan) throws {
        self.path = path
        self.plan = plan
        made = Maker(of: path)
        if let version = made?.formatVersion, version > runFormatVersion {
            throw Failure(
                .missingInput,
                "\(path) has format \(version), but this plimsoll reads formats up to \(runFormatVersion)")
        }
        silence = RunRecord.silence(of: path)
        readDecisions()
        guard made != nil || obstacle == nil else {
            throw Failure(
                .missingInput,
                "nothing says how far the run in \(path) came: \(silence), and \(obstacle ?? "")")
        }
    }

    /// Fails if the folder is not that of a run, and says what it holds instead.
    package static func demandRun(in path: String) throws {
        let content: [String]
        do {
            content = try RunDirectory.content(of: path)
        } catch {
            throw Failure(.missingInput, "\(error); expected the folder of a run")
        }
        guard !content.contains("scenario.yaml") else { return }
        let isExperiment = [Ledger.file, SweepFolder.table, Comparison.schema.file].contains(where: content.contains)
        throw Failure(
            .missingInput,
            isExperiment
                ? "\(path) holds the tables of many runs, but no complete run; explain needs a run that "
                    + "`plimsoll run` wrote"
                : "\(path) holds no run; expected what `plimsoll run` wrote")
    }

    private static func silence(of path: String) -> String {
        if FileManager.default.fileExists(atPath: "\(path)/manifest.json") {
            return "\(path)/manifest.json is not the manifest of a run"
        }
        // The manifest is written last.
        if FolderHold.isHeld(path) { return "\(path) is still being written" }
        return "there is no \(path)/manifest.json, so the run did not end properly"
    }

    private func readDecisions() {
        guard let data = FileManager.default.contents(atPath: table) else {
            let isThere = FileManager.default.fileExists(atPath: table)
            obstacle = isThere ? "\(table) cannot be read" : "there is no \(table) to compare with"
            return
        }
        let columns = ["decision", "action", "pid", "chosen", "demand"]
        let read = TableReader(Array(data), columns: columns + ["time_s", "app"])
        guard columns.allSatisfy(read.columns.contains) else {
            obstacle = "\(table) has other columns and was not compared"
            return
        }
        for cells in read.rows {
            guard let number = Int(cells[0]) else { continue }
            last = max(last, number)
            if cells[4] != "warning" { lastAsked = max(lastAsked, number) }
            guard cells[3] == "true" else { continue }
            chosen[number] = "\(cells[1]) \(cells[2])"
            if ReclaimAction.Kind(rawValue: cells[1])?.isTermination == true, let at = Double(cells[5]) {
                ordered.append((TimeSpan(microseconds: Int64(at * 1_000_000)), cells[6]))
            }
        }
    }

    /// The app that the record says was ended at this time, or first of all; nil if it says nothing. Its cells are not
    /// checked: this is a guess at what will be asked.
    package func endedApp(at time: TimeSpan?) -> String? {
        guard let time else { return ordered.first?.app }
        return ordered.min { abs(($0.at - time).microseconds) < abs(($1.at - time).microseconds) }?.app
    }

    /// Whether the run reached the end of its scenario.
    package var isWhole: Bool { made?.ending == "completed" }

    /// Whether the run's decisions were not carried out.
    package var isDryRun: Bool { made?.dryRun ?? false }

    /// The number of queue events that the run handled; `Int.max` if it is whole or unknown.
    package var lastEvent: Int { isWhole ? .max : made?.queueEvents ?? .max }

    /// Compares one decision of the repetition with the record.
    ///
    /// - Returns: False to stop: a run without a manifest came only as far as its last recorded decision.
    package func compare(_ record: DecisionRecord) -> Bool {
        let action = record.chosen.map { record.decision.ranking[$0].action }
        let found = action.map { "\($0.name) \($0.target.number)" }
        // The last line may be cut off; the decision counts if its chosen action was written.
        if made == nil, record.number > last || (record.number == last && chosen[last] == nil) { return false }
        repeated = record.number
        guard obstacle == nil, difference == nil else { return true }
        if found != chosen[record.number] {
            difference = "decision \(record.number) at \(record.snapshot.now) is not the one in \(table)"
        }
        return true
    }

    /// Checks, at the end of the repetition, that it made all recorded decisions.
    package func compareEnd() {
        guard made != nil, obstacle == nil, difference == nil, repeated < lastAsked else { return }
        difference = "the policy's last decision is \(repeated), but in \(table) it is \(lastAsked)"
    }

    /// Warnings that a reader of the explanation needs.
    package var warnings: [String] { [lack, contradiction].compactMap { $0 } }

    /// How the record is incomplete.
    private var lack: String? {
        guard let made else {
            return "\(silence); it is explained up to the last decision on record"
        }
        if !isWhole { return "this run was \(made.ending ?? "not completed"); it is explained as far as it came" }
        return nil
    }

    private var contradiction: String? {
        let isOther = made?.buildId.map { $0 != BuildIdentity.current } ?? false
        let whatFollows = "what follows explains the repetition"
        if let seed = made?.seed, seed != plan.seed {
            return "\(path)/scenario.yaml has seed \(plan.seed), but the run was made with seed \(seed); \(whatFollows)"
        }
        if let difference {
            return "this run is not repeated as it is on record: \(difference). "
                + (isOther ? "It was made by another build (\(build))" : "Its files were changed") + "; \(whatFollows)"
        }
        guard isOther else { return obstacle.map { "\($0); \(whatFollows)" } }
        return "this run was made by another build of plimsoll (\(build), this is "
            + "\(BuildIdentity.short(BuildIdentity.current))); "
            + (obstacle.map { "\($0), and \(whatFollows)" }
                ?? "its decisions were the same as far as it was repeated")
    }

    private var build: String { "\(made?.plimsoll ?? "?"), \(BuildIdentity.short(made?.buildId ?? "?"))" }

    /// The manifest's facts; nil if it is missing, as after a kill, or unreadable.
    private struct Maker: Decodable {
        var formatVersion: Int?
        var plimsoll: String?
        var buildId: String?
        var ending: String?
        var seed: UInt64?
        var queueEvents: Int?
        var dryRun: Bool?

        init?(of path: String) {
            guard let found = JSONDocument.read(Maker.self, from: "\(path)/manifest.json") else { return nil }
            self = found
        }
    }
}
