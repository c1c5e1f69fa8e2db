import Foundation
import Metrics
import Simulation

/// What a run's folder says of itself, to be held against the same run when it is repeated.
final class RunRecord {
    private let path: String
    /// By the decision's number: the action that was carried out and its target, empty where there was none.
    private var chosen: [Int: Substring] = [:]
    private var last = 0
    /// The first decision that came out otherwise.
    private var differing: (number: Int, time: String)?

    /// - Parameter path: The folder. Without `decisions.csv`, as `--summary-only` leaves it, nothing is compared.
    init(_ path: String) {
        self.path = path
        guard let text = try? String(contentsOfFile: "\(path)/\(RunTables.decisions.file)", encoding: .utf8) else {
            return
        }
        let columns = ["time_s", "decision", "action", "app", "pid", "rank", "chosen"]
        let lines = text.split(whereSeparator: \.isNewline)
        guard let header = lines.first, header.split(separator: ",").prefix(7).elementsEqual(columns[...], by: ==)
        else {
            return
        }
        for line in lines.dropFirst() {
            // Texts that may be quoted come behind these.
            let cells = line.split(separator: ",", maxSplits: 7, omittingEmptySubsequences: false)
            guard cells.count == 8, let number = Int(cells[1]) else { continue }
            last = max(last, number)
            if cells[6] == "true" { chosen[number] = "\(cells[2]) \(cells[4])"[...] }
        }
    }

    /// Compares one decision of the repetition, up to the last one on record: the run may have been interrupted.
    func compare(_ record: DecisionRecord) {
        guard differing == nil, record.number <= last else { return }
        let action = record.chosen.map { record.decision.ranking[$0].action }
        let found = action.map { "\($0.name) \($0.target.number)" }
        if found != chosen[record.number].map(String.init) {
            differing = (record.number, "\(record.snapshot.now)")
        }
    }

    /// What whoever reads the explanation should know first; nil: nothing.
    var warning: String? {
        let made = manifest
        let isOther = made?.buildId.map { $0 != BuildIdentity.current } ?? false
        if let differing {
            return "this run is not repeated as it is on record: decision \(differing.number) at \(differing.time) in "
                + "\(path)/\(RunTables.decisions.file) is another one. "
                + (isOther
                    ? "It was made by another build (\(build(made)))" : "Its files were changed, or it was a dry run")
                + "; what follows explains the repetition"
        }
        guard isOther else { return nil }
        return "this run was made by another build of plimsoll (\(build(made)), this is "
            + "\(BuildIdentity.short(BuildIdentity.current))); its decisions were the same as far as it was repeated"
    }

    private func build(_ manifest: Maker?) -> String {
        "\(manifest?.plimsoll ?? "?"), \(BuildIdentity.short(manifest?.buildId ?? "?"))"
    }

    private struct Maker: Decodable {
        var plimsoll: String?
        var buildId: String?
    }

    private var manifest: Maker? {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return FileManager.default.contents(atPath: "\(path)/manifest.json").flatMap {
            try? decoder.decode(Maker.self, from: $0)
        }
    }
}
