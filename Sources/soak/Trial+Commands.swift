import Foundation
import Metrics
import Quantities
import Worlds

// Checks that send a world through further commands, or compare it with another run of itself.
extension Trial {
    /// Checks that a run to two thirds of the time is the beginning of the whole run: no row is about what comes later.
    func checkBeginning() throws(Fault) {
        guard let whole = world.document["duration"]?.text.flatMap({ try? TimeSpan(parsing: $0) }) else { return }
        // A policy that knows the future, and claims about an app, may see that the run is shorter.
        guard world.policyFile == nil, !knowsFuture else { return }
        let part = TimeSpan(microseconds: max(1, whole.microseconds / 3 * 2))
        var shorter = world
        shorter.document = world.document.ending(after: part)
        guard case .success = shorter.reading else { return }
        // A model draws by its place among the user's events.
        guard models(of: shorter) == models(of: world) else { return }
        let place = "\(folder)/shorter.yaml"
        try write(shorter.document.denseYAML, to: place, .beginning)
        var words = shorter.arguments(in: folder, out: "\(folder)/s")
        words[1] = place
        try start(words, .beginning)
        let columns = ["time_s", "event", "app", "detail", "action", "exit_reason"]
        let rows = TableReader(bytes("a/events.csv"), columns: columns).rows
        let shorterRows = TableReader(bytes("s/events.csv"), columns: columns).rows
        let end = Double(part.microseconds) / 1_000_000
        func isBefore(_ row: [String]) -> Bool { (Double(row[0]) ?? .infinity) < end }
        let (first, second) = (rows.filter(isBefore), shorterRows.filter(isBefore))
        guard first != second else { return }
        let differing = zip(first, second).first { $0 != $1 }
        let text =
            differing.map { "\($0.0) and in the shorter run \($0.1)" } ?? "\(first.count) and \(second.count) rows"
        throw Fault(check: .beginning, kind: "events.csv has another beginning", text: text)
    }

    private func models(of world: World) -> [Int] {
        let user = world.document["user"]?.elements ?? []
        return user.indices.filter { user[$0]["model"] != nil }
    }

    private var knowsFuture: Bool {
        let policy = world.document["policy"]
        return (policy?.text ?? policy?["name"]?.text) == "foresight"
    }

    /// Checks that `survive` answers for an app of the world.
    func checkSurvival() throws(Fault) {
        guard let app = world.document["apps"]?.elements?.first?["name"]?.text else { return }
        try start(
            [
                "survive", "\(folder)/\(World.scenarioName)", "--app", app, "--seeds", "1..2", "--out",
                "\(folder)/survival",
            ] + scale, .survival, seconds: seconds * 8)
    }

    /// Checks that two policies can be compared in the world.
    func checkComparison() throws(Fault) {
        try start(
            [
                "compare", "\(folder)/\(World.scenarioName)", "--policy", "ladder", "--policy", "jetsam", "--seeds",
                "1..2", "--backend", "accounting", "--jobs", "1", "--out", "\(folder)/comparison",
            ] + scale, .comparison, seconds: seconds * 4)
    }

    private var scale: [String] { world.options.scale.map { ["--scale", "\($0)"] } ?? [] }

    /// Checks that the world's own reports can be read: as a state that runs, as a replay, and by `why`.
    func checkReports() throws(Fault) {
        guard world.options.writesReports else { return }
        let reports = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/a/jetsam-events")) ?? []
        for name in reports.sorted().prefix(2) {
            let report = "\(folder)/a/jetsam-events/\(name)"
            try start(["why", report], .reports)
            let state = "\(folder)/state.yaml"
            try start(["import", "jetsam-event", report, "--out", state, "--force"], .reports)
            let run = ["run", state, "--backend", "accounting", "--verify", "--quiet", "--out", "\(folder)/state"]
            try start(run + ["--force"], .reports)
            try start(["import", "jetsam-event", report, "--replay"], .reports, seconds: seconds * 2)
        }
    }

    private func write(_ text: String, to path: String, _ check: Fault.Check) throws(Fault) {
        do {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        } catch {
            throw Fault(check: check, kind: "the host", text: "\(error)")
        }
    }
}
