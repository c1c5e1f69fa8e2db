import Experiments
import Foundation
import Metrics

/// The folder of a sweep or of a part of it: the plan, the ledger of finished runs and, at the end, the table.
struct SweepFolder {
    let plan: ExperimentPlan
    let shard: Shard
    let folder: ExperimentFolder
    let ledger: Ledger
    let fingerprint: Fingerprint
    /// The builds of plimsoll that made the finished runs.
    private(set) var builds: [String]
    private var isMixtureSaid = false
    /// The manifest of the attempts before this one; nil if there was none.
    private let earlier: ExperimentManifest?

    static let table = "sweep.csv"
    private static let planFile = "plan.json"
    /// Lists the builds of the program that made runs, one per line, in order of their first run.
    private static let buildsFile = "builds.txt"
    private static let unknown = "unknown"

    /// - Parameter resume: Continues the sweep in the folder, if there is one.
    init(_ plan: ExperimentPlan, _ shard: Shard, path: String, resume: Bool) throws {
        (self.plan, self.shard) = (plan, shard)
        let text = try plan.json()
        fingerprint = Fingerprint(of: text)
        let manifest = resume ? ExperimentManifest(in: path, of: "\(fingerprint)") : nil
        earlier = manifest.flatMap { $0.runs > 0 ? $0 : nil }
        let ledgerPath = "\(path)/\(Ledger.file)"
        let old = resume ? try SweepFolder.readPlan(path) : nil
        if let old {
            if let difference = plan.difference(from: old.plan) {
                throw Failure(
                    .invalidInput, "\(path) was begun with another \(difference); resume it with its first command")
            }
            guard old.text == text else { throw Failure(.invalidInput, "\(path)/plan.json was changed by hand") }
            folder = ExperimentFolder(existing: path)
        } else {
            folder = try SweepFolder.make(path, resume: resume)
        }
        do {
            if old == nil { try folder.directory.write(text, to: SweepFolder.planFile) }
            let exists = FileManager.default.fileExists(atPath: ledgerPath)
            ledger = try SweepFolder.saying { [fingerprint] () throws(LedgerFault) in
                exists
                    ? try Ledger(resuming: ledgerPath, plan: fingerprint, shard: shard, cases: plan.count)
                    : try Ledger(creating: ledgerPath, plan: fingerprint, shard: shard, cases: plan.count)
            }
        } catch {
            if old == nil { folder.withdraw([SweepFolder.planFile, Ledger.file]) }
            throw error
        }
        builds = SweepFolder.builds(of: path, having: ledger)
        if ledger.finished < shard.count(of: plan.count) { warnOfMixture(with: BuildIdentity.current) }
    }

    /// Warns once if several builds made, or will make, the folder's runs: their results may differ.
    private mutating func warnOfMixture(with own: String? = nil) {
        let all = builds + [own].compactMap(\.self).filter { !builds.contains($0) }
        guard !isMixtureSaid else { return }
        isMixtureSaid = SweepFolder.warn("the runs in \(folder.path) are made", by: all, of: plan)
    }

    /// - Returns: Whether it warned. It warns of several builds, and of an unknown build, as that may stand for
    ///   several.
    @discardableResult
    private static func warn(_ subject: String, by builds: [String], of plan: ExperimentPlan) -> Bool {
        guard builds.count > 1 || builds == [unknown] else { return false }
        let list = builds.map { ($0 == BuildIdentity.current ? "this one " : "") + BuildIdentity.short($0) }
        let makers = builds.count > 1 ? "\(builds.count) builds" : "builds"
        Terminal.complain(
            "plimsoll: warning: \(subject) by \(makers) of plimsoll \(plan.program) "
                + "(\(list.joined(separator: ", "))); if results differ between them, \(table) mixes them")
        return true
    }

    private static func list(_ builds: [String]) -> String { builds.map { $0 + "\n" }.joined() }

    /// The builds that made the runs in a folder; `unknown` if there are runs but no record of their builds.
    private static func builds(of path: String, having ledger: Ledger) -> [String] {
        // A sweep that was killed before it recorded a run has none.
        guard ledger.finished > 0 else { return [] }
        let text = try? String(contentsOfFile: "\(path)/\(buildsFile)", encoding: .utf8)
        let named = text?.split(separator: "\n").map(String.init) ?? []
        return named.isEmpty ? [unknown] : named
    }

    /// Makes the folder. A sweep killed before it wrote its plan may have left an empty folder or a draft of the plan.
    private static func make(_ path: String, resume: Bool) throws -> ExperimentFolder {
        if resume { unlink("\(path)/\(planFile).part") }
        return try ExperimentFolder(
            creating: path,
            advice: resume
                ? "it holds no sweep to resume; give another --out" : "--resume continues a sweep in it")
    }

    /// The plan in a folder; nil if there is none.
    private static func readPlan(_ path: String) throws -> (plan: ExperimentPlan, text: String)? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(planFile)") else { return nil }
        guard let plan = JSONDocument.read(ExperimentPlan.self, data), plan.isSound else {
            throw Failure(.invalidInput, "\(path)/\(planFile) is not the plan of a sweep")
        }
        return (plan, String(decoding: data, as: UTF8.self))
    }

    /// Reports a ledger's fault as one line with its exit status. `busy` is the status if the sweep is still running.
    static func saying<Value>(
        busy: ExitStatus = .cannotCreate, _ work: () throws(LedgerFault) -> Value
    ) throws -> Value {
        do throws(LedgerFault) {
            return try work()
        } catch {
            switch error {
            case .unreadable(let path, let code):
                throw Failure(.missingInput, "cannot read \(path): \(String(cString: strerror(code)))")
            case .foreign(let sentence): throw Failure(.invalidInput, sentence)
            case .busy(let path):
                throw Failure(busy, "\(path.dropLast(Ledger.file.count + 1)) is being written by another plimsoll")
            case .output(let failure): throw Failure(.cannotWrite, "\(failure)")
            }
        }
    }
}

extension SweepFolder {
    /// The cases of this part that are not in the ledger.
    var unfinished: some Sequence<Int> {
        (0..<plan.count).lazy.filter { shard.contains($0) && !ledger.isFinished($0) }
    }

    /// Records finished runs and, before this build's first run, the build.
    mutating func book(_ rows: [(Int, String)]) throws {
        if !builds.contains(BuildIdentity.current) {
            builds.append(BuildIdentity.current)
            try folder.directory.write(SweepFolder.list(builds), to: SweepFolder.buildsFile)
        }
        try SweepFolder.saying { () throws(LedgerFault) in try ledger.append(rows) }
    }

    /// Writes the manifest with the cost of this attempt so far and of the earlier ones. Called after every run, so
    /// that a killed attempt loses little. An attempt without a finished run does not count.
    ///
    /// - Parameter ending: How the attempt ended; `incomplete` while it runs.
    func note(
        _ cost: CaseCrew.Cost, _ clock: ExperimentClock, jobs: Int, ending: ExperimentManifest.Ending = .incomplete
    ) throws {
        let planned = shard.count(of: plan.count)
        if cost.runs == 0, var earlier {
            (earlier.builds, earlier.ending, earlier.runsPlanned) = (builds, ending, planned)
            return try folder.write(earlier)
        }
        var manifest = ExperimentManifest(
            plan: "\(fingerprint)", ending: ending, planned: planned, jobs: jobs, clock: clock, cost: cost)
        manifest.builds = builds
        if let earlier { manifest.add(earlier) }
        try folder.write(manifest)
    }

    /// Writes the table of a whole sweep; a part has none until `merge`.
    ///
    /// - Returns: The values of `metrics` in all runs; nil for a part.
    mutating func finish(keeping metrics: [String]) throws -> RunValues? {
        guard shard == .whole else { return nil }
        warnOfMixture()
        var values = RunValues(metrics, of: plan)
        try SweepFolder.write(plan, to: folder, &values) { _ in ledger }
        return values
    }

    /// Writes the table in the order of the plan, with at most 500 rows in memory.
    private static func write(
        _ plan: ExperimentPlan, to folder: ExperimentFolder, _ values: inout RunValues, _ ledger: (Int) -> Ledger
    ) throws {
        let list = RunList("sweep", of: plan)
        let names = plan.scenarios.map(\.name).joined(separator: ", ")
        try folder.directory.write(
            try DataPackage.json(name: "sweep", title: "A sweep of \(names) by Plimsoll", tables: [list.schema]),
            to: "datapackage.json")
        try folder.write(list.schema) { table in
            for start in stride(from: 0, to: plan.count, by: 500) {
                let indices = start..<min(start + 500, plan.count)
                let rows = try indices.map { index in
                    try saying { () throws(LedgerFault) in try ledger(index).row(index) }
                }
                for (index, summary) in zip(indices, RunList.cells(of: rows)) {
                    list.write(index, summary: summary, to: table)
                    values.add(index, summary: summary)
                }
            }
        }
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
    /// - Returns: The plan that the parts share, and the values of `metrics` in all runs.
    static func merge(
        _ paths: [String], to out: String, keeping metrics: [String]
    ) throws -> (ExperimentPlan, RunValues) {
        guard let first = paths.first, let (plan, text) = try readPlan(first) else {
            throw Failure(.missingInput, "\(paths.first ?? "") holds no part of a sweep: there is no \(planFile)")
        }
        var parts: [Part] = []
        for path in paths {
            guard let other = try readPlan(path) else {
                throw Failure(.missingInput, "\(path) holds no part of a sweep: there is no \(planFile)")
            }
            guard other.text == text else {
                let difference = other.plan.difference(from: plan) ?? "form of plan.json"
                throw Failure(
                    .invalidInput, "\(path) belongs to another sweep than \(first): it has another \(difference)")
            }
            parts.append(try part(path, of: plan, Fingerprint(of: text), beside: parts))
        }
        let count = parts[0].shard.count
        let missing = (1...count).filter { number in !parts.contains { $0.shard.number == number } }
        guard missing.isEmpty else {
            let list = missing.prefix(10).map { "\($0)/\(count)" }.joined(separator: ", ")
            throw Failure(.invalidInput, "missing: part \(list)" + (missing.count > 10 ? ", …" : ""))
        }
        var builds: [String] = []
        for build in parts.flatMap({ SweepFolder.builds(of: $0.path, having: $0.ledger) })
        where !builds.contains(build) { builds.append(build) }
        warn("the parts were made", by: builds, of: plan)
        let folder = try ExperimentFolder(creating: out)
        try folder.directory.write(text, to: planFile)
        try folder.directory.write(list(builds), to: buildsFile)
        let byNumber = parts.sorted { $0.shard.number < $1.shard.number }
        var values = RunValues(metrics, of: plan)
        try write(plan, to: folder, &values) { byNumber[$0 % count].ledger }
        return (plan, values)
    }

    private static func part(
        _ path: String, of plan: ExperimentPlan, _ fingerprint: Fingerprint, beside others: [Part]
    ) throws -> Part {
        let file = "\(path)/\(Ledger.file)"
        guard let shard = try saying({ () throws(LedgerFault) in try Ledger.part(at: file) }) else {
            throw Failure(.invalidInput, "\(file) is not the ledger of a sweep")
        }
        if let first = others.first, first.shard.count != shard.count {
            throw Failure(.invalidInput, "\(path) is part \(shard), but \(first.path) is part \(first.shard)")
        }
        if let same = others.first(where: { $0.shard == shard }) {
            throw Failure(.invalidInput, "\(path) and \(same.path) are both part \(shard)")
        }
        let ledger = try saying(busy: .invalidInput) { () throws(LedgerFault) in
            try Ledger(reading: file, plan: fingerprint, shard: shard, cases: plan.count)
        }
        let left = (0..<plan.count).count { shard.contains($0) && !ledger.isFinished($0) }
        guard left == 0 else {
            throw Failure(.invalidInput, "part \(shard) in \(path) lacks \(left) of its runs; finish it with --resume")
        }
        return Part(path: path, shard: shard, ledger: ledger)
    }
}
