import Foundation
import Metrics
import Simulation

/// What a run's folder says of itself, to be held against the same run when it is repeated.
final class RunRecord {
    private let path: String
    /// By the decision's number: the action that was carried out and its target, empty where there was none.
    private var chosen: [Int: String] = [:]
    private var last = 0
    /// The last one for which the policy was asked: the monitor's warnings are numbered with them, but only written.
    private var lastAsked = 0
    /// The repetition's last decision.
    private var repeated = 0
    /// Why nothing can be compared, if so.
    private var obstacle: String?
    /// What came out otherwise first.
    private var difference: String?
    private let made: Maker?
    private var table: String { "\(path)/\(RunTables.decisions.file)" }

    /// - Parameter path: The folder. Without `decisions.csv`, as `--summary-only` leaves it, nothing is compared.
    init(_ path: String) {
        self.path = path
        made = Maker(of: path)
        guard let data = FileManager.default.contents(atPath: table) else {
            obstacle = "there is no \(table) to compare with"
            return
        }
        let columns = ["decision", "action", "pid", "chosen", "demand"]
        let read = TableReader(Array(data), columns: columns)
        guard columns.allSatisfy(read.columns.contains) else {
            obstacle = "\(table) has other columns and was not compared"
            return
        }
        for cells in read.rows {
            guard let number = Int(cells[0]) else { continue }
            last = max(last, number)
            if cells[4] != "warning" { lastAsked = max(lastAsked, number) }
            if cells[3] == "true" { chosen[number] = "\(cells[1]) \(cells[2])" }
        }
    }

    /// Compares one decision of the repetition: up to the last one on record where the run was interrupted.
    func compare(_ record: DecisionRecord) {
        repeated = record.number
        guard obstacle == nil, difference == nil, record.number <= last || made?.ending == "completed" else { return }
        let action = record.chosen.map { record.decision.ranking[$0].action }
        let found = action.map { "\($0.name) \($0.target.number)" }
        if found != chosen[record.number] {
            difference = "decision \(record.number) at \(record.snapshot.now) in \(table) is another one"
        }
    }

    /// The repetition went to the end of the run, and what is on record must have come by then.
    func compareEnd() {
        guard obstacle == nil, difference == nil, repeated < lastAsked else { return }
        difference = "the policy's last decision is \(repeated), in \(table) it is \(lastAsked)"
    }

    /// What whoever reads the explanation should know first; nil: nothing.
    var warning: String? {
        let isOther = made?.buildId.map { $0 != BuildIdentity.current } ?? false
        if let difference {
            return "this run is not repeated as it is on record: \(difference). "
                + (isOther
                    ? "It was made by another build (\(build))" : "Its files were changed, or it was a dry run")
                + "; what follows explains the repetition"
        }
        guard isOther else { return nil }
        return "this run was made by another build of plimsoll (\(build), this is "
            + "\(BuildIdentity.short(BuildIdentity.current))); "
            + (obstacle.map { "\($0), and what follows explains the repetition" }
                ?? "its decisions were the same as far as it was repeated")
    }

    private var build: String { "\(made?.plimsoll ?? "?"), \(BuildIdentity.short(made?.buildId ?? "?"))" }

    /// What the manifest says; nil where there is none, as after a kill.
    private struct Maker: Decodable {
        var plimsoll: String?
        var buildId: String?
        var ending: String?

        init?(of path: String) {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            guard let data = FileManager.default.contents(atPath: "\(path)/manifest.json"),
                let found = try? decoder.decode(Maker.self, from: data)
            else { return nil }
            self = found
        }
    }
}
