import Experiments
import Foundation
import Metrics
import Quantities

/// The folder of an experiment.
package struct ExperimentFolder {
    let directory: RunDirectory
    package var path: String { directory.path }

    /// Makes the folder, or takes an empty one.
    ///
    /// - Parameter remains: Files that may be there all the same.
    init(creating path: String, except remains: [String] = [], advice: String = "give another --out") throws {
        directory = try RunDirectory(empty: path, except: remains, advice: advice)
    }

    package static let manifest = "manifest.json"

    /// `runs/NAME` or the first `runs/NAME-2`, -3, … that is free.
    init(free name: String) throws { directory = try RunDirectory(free: name) }

    /// An existing folder.
    init(existing path: String) { directory = RunDirectory(existing: path) }

    /// Removes the given files, and the folder if this process made it.
    func withdraw(_ files: [String] = []) {
        for file in files { unlink("\(path)/\(file)") }
        directory.withdraw()
    }

    /// Writes a table whole or not at all.
    package func write(_ schema: TableSchema, _ rows: (TableWriter) throws -> Void) throws {
        do {
            let draft = try FileDraft(of: "\(path)/\(schema.file)")
            let table = TableWriter(schema, to: draft.sink)
            try rows(table)
            table.flush()
            if let failure = table.failure { throw failure }
            try draft.settle()
        } catch let failure as OutputFailure {
            throw Failure(cannotWrite: failure)
        }
    }

    package func write(_ manifest: ExperimentManifest) throws {
        try directory.write(manifest.json(), to: ExperimentFolder.manifest)
    }
}

/// `manifest.json` of an experiment: the facts that differ between repetitions, and what is needed to repeat it.
///
/// An experiment that goes on adds to its earlier manifest: the cost is that of all runs, except those under way when
/// an attempt was killed.
package struct ExperimentManifest: Codable {
    var formatVersion = runFormatVersion
    var plimsoll = plimsollVersion
    /// The builds that made the runs; several if another build resumed the experiment.
    var builds = [BuildIdentity.current]
    /// The plan's fingerprint, equal for equal experiments.
    var plan: String
    /// `incomplete` while runs are missing, also after a kill; at the end `completed`, `interrupted` or `failed`. Nil
    /// in manifests of older programs.
    var ending: Ending?
    var runs: Int
    /// Runs of the complete experiment; nil in manifests of older programs.
    var runsPlanned: Int?
    var jobs: Int
    var startedAt: String
    var wallS: Double
    /// How often the command ran; more than once if the experiment was resumed.
    var attempts = 1
    /// User and system CPU time of all runs.
    var cpuS: Double
    /// The peak resident memory of one run, from the kernel.
    var runPeakBytes: Int
    /// Resident memory of this process at the end, and its peak.
    var residentBytes: Int?
    var peakBytes: Int?
    var commandLine = CommandLine.arguments
    var host = Manifest.HostFacts()
    /// The method of the confidence intervals; nil if there are none.
    var intervals: String?

    package enum Ending: String, Codable {
        case incomplete
        case completed
        case interrupted
        case failed
    }

    /// - Parameter planned: Runs of the complete experiment.
    init(
        plan: String, ending: Ending, planned: Int, jobs: Int, clock: ExperimentClock, cost: CaseCrew.Cost,
        intervals: String? = nil
    ) {
        (self.plan, self.jobs, self.intervals) = (plan, jobs, intervals)
        (self.ending, runsPlanned) = (ending, planned)
        (startedAt, wallS) = (clock.startedAt, clock.seconds)
        (runs, cpuS, runPeakBytes) = (cost.runs, cost.cpuSeconds, cost.peakKibibytes << 10)
        residentBytes = HostMachine.processMemory("VmRSS")?.bytes
        peakBytes = HostMachine.processMemory("VmHWM")?.bytes
    }

    /// Adds the cost of earlier attempts at the same experiment.
    package mutating func add(_ earlier: ExperimentManifest) {
        startedAt = earlier.startedAt
        attempts += earlier.attempts
        wallS += earlier.wallS
        runs += earlier.runs
        cpuS += earlier.cpuS
        runPeakBytes = max(runPeakBytes, earlier.runPeakBytes)
        peakBytes = max(peakBytes ?? 0, earlier.peakBytes ?? 0)
    }

    /// Reads a folder's manifest; nil if it is missing, unreadable or of another experiment.
    init?(in path: String, of plan: String) {
        guard let found = JSONDocument.read(ExperimentManifest.self, from: "\(path)/\(ExperimentFolder.manifest)"),
            found.plan == plan
        else { return nil }
        self = found
    }

    /// Whether a folder's manifest says that its experiment is incomplete.
    package static func isAbandoned(in path: String) -> Bool {
        struct Record: Decodable { var ending: Ending? }
        return JSONDocument.read(Record.self, from: "\(path)/\(ExperimentFolder.manifest)")?.ending == .incomplete
    }

    package func json() throws -> String {
        try JSONDocument.of(self) + "\n"
    }
}

/// The wall clock of an experiment.
package struct ExperimentClock {
    let startedAt = ISO8601DateFormatter().string(from: Date())
    private let began = ContinuousClock.now

    package init() {}

    /// The seconds since it was made.
    package var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }
}

extension ExperimentPlan {
    /// The plan as `plan.json`: the same plan gives the same bytes.
    package func json() throws -> String {
        try JSONDocument.of(self) + "\n"
    }

    /// The number of runs and the first ten of them, for `--dry-run`.
    package func outline(shard: Shard = .whole) -> String {
        var lines = [
            "\(count.counted("run")): \(scenarios.count.counted("scenario")) x "
                + "\(policies.count.counted("policy", "policies")) x "
                + "\(combinations.count.counted("combination")) of settings x \(seeds.count.counted("seed"))"
        ]
        if shard != .whole { lines.append("part \(shard): \(shard.count(of: count).counted("run"))") }
        let cases = (0..<count).lazy.filter(shard.contains)
        for index in cases.prefix(10) { lines.append("  case \(index + 1): \(title(of: experimentCase(at: index)))") }
        if shard.count(of: count) > 10 { lines.append("  …") }
        return lines.joined(separator: "\n")
    }
}
