import Experiments
import Foundation
import Metrics

/// The folder of a comparison, of a sweep or of a part of it: the plan, the ledger of finished runs, and the builds
/// that made them. Each run is booked as it ends, so an experiment that ends early can go on in its folder.
package struct BookedFolder {
    let kind: Kind
    package let plan: ExperimentPlan
    package let shard: Shard
    package let ledger: Ledger
    package let folder: ExperimentFolder
    private let fingerprint: Fingerprint
    /// Whether this attempt began the folder.
    private let isNew: Bool
    /// The builds of plimsoll that made the finished runs.
    private(set) var builds: [String]
    private var isMixtureSaid = false
    /// The manifest of the attempts before this one; nil if there was none.
    private let earlier: ExperimentManifest?
    /// The rows of yardsticks that are kept for other comparisons; nil if none are.
    private var kept: KeptRuns?

    /// The command that fills the folder.
    package enum Kind: String {
        case comparison
        case sweep

        /// The table that the command writes at the end.
        var table: String { self == .sweep ? SweepFolder.table : Comparison.schema.file }
        private var other: Kind { self == .sweep ? .comparison : .sweep }

        /// Fails if the folder has the table of the other command: its runs may be equal, but its files are not ours.
        func refuseOther(in path: String) throws {
            guard FileManager.default.fileExists(atPath: "\(path)/\(other.table)") else { return }
            throw Failure(.invalidInput, "\(path) holds a \(other), not a \(self); give another --out")
        }
    }

    static let planFile = "plan.json"
    /// Lists the builds of the program that made runs, one per line, in order of their first run.
    static let buildsFile = "builds.txt"
    private static let unknown = "unknown"

    package var path: String { folder.path }
    /// The runs of this part.
    package var planned: Int { shard.count(of: plan.count) }

    /// - Parameters:
    ///   - path: Nil for a new folder below `runs`.
    ///   - resume: Continues the experiment in the folder, if there is one.
    package init(_ kind: Kind, _ plan: ExperimentPlan, _ shard: Shard = .whole, path: String?, resume: Bool) throws {
        (self.kind, self.plan, self.shard) = (kind, plan, shard)
        let text = try plan.json()
        let mark = Fingerprint(of: text)
        fingerprint = mark
        if let path, resume { try kind.refuseOther(in: path) }
        let old = try path.flatMap { resume ? try BookedFolder.readPlan($0, of: kind) : nil }
        isNew = old == nil
        if let path, let old {
            if let difference = plan.difference(from: old.plan) {
                throw Failure(
                    .invalidInput, "\(path) was begun with another \(difference); resume it with its first command")
            }
            guard old.text == text else { throw Failure(.invalidInput, "\(path)/plan.json was changed by hand") }
            folder = ExperimentFolder(existing: path)
            earlier = ExperimentManifest(in: path, of: "\(mark)").flatMap { $0.runs > 0 ? $0 : nil }
        } else {
            folder =
                try path.map { try BookedFolder.make($0, kind, resume: resume) } ?? ExperimentFolder(free: "compare")
            earlier = nil
        }
        let file = "\(folder.path)/\(Ledger.file)"
        do {
            if old == nil { try folder.directory.write(text, to: BookedFolder.planFile) }
            let exists = FileManager.default.fileExists(atPath: file)
            ledger = try BookedFolder.saying { () throws(LedgerFault) in
                exists
                    ? try Ledger(resuming: file, plan: mark, shard: shard, cases: plan.count)
                    : try Ledger(creating: file, plan: mark, shard: shard, cases: plan.count)
            }
        } catch {
            if old == nil { folder.withdraw([BookedFolder.planFile, Ledger.file]) }
            throw error
        }
        builds = BookedFolder.builds(of: folder.path, having: ledger)
        if kind == .comparison || plan.yardstick != nil { try recall() }
    }

    /// Books the yardsticks' runs that this build has made before.
    private mutating func recall() throws {
        guard let kept = KeptRuns() else { return }
        let rows = unfinished.compactMap { index in kept.row(of: index, in: plan).map { (index, $0) } }
        if !rows.isEmpty { try book(rows) }
        self.kept = kept
    }

    /// Makes the folder, or takes an empty one. What a command leaves that was killed before its first run had ended
    /// counts as nothing.
    private static func make(_ path: String, _ kind: Kind, resume: Bool) throws -> ExperimentFolder {
        var remains = resume ? ["\(planFile).part"] : []
        if ExperimentManifest.isAbandoned(in: path), Ledger.isBlank(at: "\(path)/\(Ledger.file)") {
            let files = [planFile, buildsFile, ExperimentFolder.manifest]
            remains = files + files.map { "\($0).part" } + [Ledger.file]
        }
        let folder = try ExperimentFolder(
            creating: path, except: remains,
            advice: resume
                ? "it holds no \(kind) to resume; give another --out" : "--resume continues a \(kind) in it")
        for file in remains { unlink("\(path)/\(file)") }
        return folder
    }

    /// The plan in a folder; nil if there is none.
    static func readPlan(_ path: String, of kind: Kind) throws -> (plan: ExperimentPlan, text: String)? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(planFile)") else { return nil }
        guard let plan = JSONDocument.read(ExperimentPlan.self, data), plan.isSound else {
            throw Failure(.invalidInput, "\(path)/\(planFile) is not the plan of a \(kind)")
        }
        return (plan, String(decoding: data, as: UTF8.self))
    }

    /// Reports a ledger's fault as one line with its exit status. `busy` is the status if the experiment is still
    /// running.
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

extension BookedFolder {
    /// The cases of this part that are not in the ledger.
    package var unfinished: some Sequence<Int> {
        (0..<plan.count).lazy.filter { shard.contains($0) && !ledger.isFinished($0) }
    }

    /// The finished cases, in the order of the plan.
    package var finished: [Int] { (0..<plan.count).filter(ledger.isFinished) }

    /// The row of a finished run.
    package func row(_ index: Int) throws -> String {
        try BookedFolder.saying { () throws(LedgerFault) in try ledger.row(index) }
    }

    /// Records finished runs and, before this build's first run, the build.
    package mutating func book(_ rows: [(Int, String)]) throws {
        if !builds.contains(BuildIdentity.current) {
            builds.append(BuildIdentity.current)
            try folder.directory.write(BookedFolder.list(builds), to: BookedFolder.buildsFile)
        }
        try BookedFolder.saying { () throws(LedgerFault) in try ledger.append(rows) }
        kept?.keep(rows, of: plan)
    }

    /// Writes the manifest with the cost of this attempt so far and of the earlier ones. Called after every run, so
    /// that a killed attempt loses little. An attempt without a finished run does not count.
    ///
    /// - Parameters:
    ///   - ending: How the attempt ended; `incomplete` while it runs.
    ///   - intervals: The method of the confidence intervals; nil if there are none.
    package func note(
        _ cost: CaseCrew.Cost, _ clock: ExperimentClock, jobs: Int,
        ending: ExperimentManifest.Ending = .incomplete, intervals: String? = nil
    ) throws {
        if cost.runs == 0, var earlier {
            (earlier.builds, earlier.ending, earlier.runsPlanned) = (builds, ending, planned)
            earlier.intervals = intervals
            return try folder.write(earlier)
        }
        var manifest = ExperimentManifest(
            plan: "\(fingerprint)", ending: ending, planned: planned, jobs: jobs, clock: clock, cost: cost,
            intervals: intervals)
        manifest.builds = builds
        if let earlier { manifest.add(earlier) }
        try folder.write(manifest)
    }

    /// Removes the folder if this attempt began it and no run has ended.
    ///
    /// - Returns: Whether it did; then nothing is kept.
    @discardableResult
    package func withdrawIfBlank() -> Bool {
        guard isNew, ledger.finished == 0 else { return false }
        folder.withdraw([BookedFolder.planFile, BookedFolder.buildsFile, Ledger.file])
        return true
    }
}

// MARK: The builds

extension BookedFolder {
    /// A warning, once, if several builds made the folder's runs: their results may differ. While runs are missing,
    /// this build will make some.
    package mutating func takeWarningOfMixture() -> String? {
        let own = [BuildIdentity.current].filter { ledger.finished < planned && !builds.contains($0) }
        guard !isMixtureSaid else { return nil }
        let warning = BookedFolder.warning(
            "the runs in \(path) are made", by: builds + own, of: plan, table: kind.table)
        isMixtureSaid = warning != nil
        return warning
    }

    /// A warning of several builds, and of an unknown build, as that may stand for several.
    package static func warning(
        _ subject: String, by builds: [String], of plan: ExperimentPlan, table: String
    ) -> String? {
        guard builds.count > 1 || builds == [unknown] else { return nil }
        let list = builds.map { ($0 == BuildIdentity.current ? "this one " : "") + BuildIdentity.short($0) }
        let makers = builds.count > 1 ? "\(builds.count) builds" : "builds"
        return "plimsoll: warning: \(subject) by \(makers) of plimsoll \(plan.program) "
            + "(\(list.joined(separator: ", "))); if results differ between them, \(table) mixes them"
    }

    package static func list(_ builds: [String]) -> String { builds.map { $0 + "\n" }.joined() }

    /// The builds that made the runs in a folder; `unknown` if there are runs but no record of their builds.
    package static func builds(of path: String, having ledger: Ledger) -> [String] {
        // An experiment that was killed before it recorded a run has none.
        guard ledger.finished > 0 else { return [] }
        let text = try? String(contentsOfFile: "\(path)/\(buildsFile)", encoding: .utf8)
        let named = text?.split(separator: "\n").map(String.init) ?? []
        return named.isEmpty ? [unknown] : named
    }
}
