import Experiments
import Foundation
import Metrics

/// The folder that an experiment leaves behind.
struct ExperimentFolder {
    let directory: RunDirectory
    var path: String { directory.path }

    /// Makes the folder, or takes an empty one.
    ///
    /// - Parameter abandoned: One that holds nothing but the manifest of an experiment that was killed counts as
    ///   empty.
    init(creating path: String, advice: String = "give another --out", abandoned: Bool = false) throws {
        directory = try RunDirectory(
            empty: path, except: abandoned && ExperimentManifest.isAbandoned(in: path) ? [Self.manifest] : [],
            advice: advice)
    }

    static let manifest = "manifest.json"

    /// `runs/NAME` or the first `runs/NAME-2`, -3, … that is free.
    init(free name: String) throws { directory = try RunDirectory(free: name) }

    init(existing path: String) { directory = RunDirectory(existing: path) }

    /// Takes the folder away again, if we made it, with the files that were begun.
    func withdraw(_ files: [String] = []) {
        for file in files { unlink("\(path)/\(file)") }
        directory.withdraw()
    }

    /// Writes a table whole or not at all.
    func write(_ schema: TableSchema, _ rows: (TableWriter) throws -> Void) throws {
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

    func write(_ manifest: ExperimentManifest) throws {
        try directory.write(manifest.json(), to: ExperimentFolder.manifest)
    }
}

/// `manifest.json` of an experiment: what cannot be deterministic, and what repeats it.
///
/// A sweep that is resumed adds to what is there: its cost is that of all runs but those under way when an attempt was
/// killed.
struct ExperimentManifest: Codable {
    var formatVersion = runFormatVersion
    var plimsoll = plimsollVersion
    /// Of the program that made the runs; several where a sweep was resumed by another one.
    var builds = [BuildIdentity.current]
    /// Of the plan: the same experiment has the same.
    var plan: String
    /// `incomplete` while runs are missing, which a program that is killed leaves so, then `completed`, `interrupted`
    /// or `failed`. Nil: an older program made it.
    var ending: Ending?
    var runs: Int
    /// How many there will be when it is whole; nil as above.
    var runsPlanned: Int?
    var jobs: Int
    var startedAt: String
    var wallS: Double
    /// How often the command was given; more than once where a sweep was resumed.
    var attempts = 1
    /// User and system time of all runs.
    var cpuS: Double
    /// The most memory that one run took, as the kernel saw it.
    var runPeakBytes: Int
    /// This process at the end, and at its peak.
    var residentBytes: Int?
    var peakBytes: Int?
    var commandLine = CommandLine.arguments
    var host = Manifest.HostFacts()
    /// Of the intervals; nil where there are none.
    var intervals: String?

    enum Ending: String, Codable {
        case incomplete
        case completed
        case interrupted
        case failed
    }

    /// - Parameter planned: How many runs there will be when it is whole.
    init(
        plan: String, ending: Ending, planned: Int, jobs: Int, clock: ExperimentClock, cost: CaseCrew.Cost,
        intervals: String? = nil
    ) {
        (self.plan, self.jobs, self.intervals) = (plan, jobs, intervals)
        (self.ending, runsPlanned) = (ending, planned)
        (startedAt, wallS) = (clock.startedAt, clock.seconds)
        (runs, cpuS, runPeakBytes) = (cost.runs, cost.cpuSeconds, cost.peakKibibytes << 10)
        residentBytes = Host.processMemory("VmRSS")?.bytes
        peakBytes = Host.processMemory("VmHWM")?.bytes
    }

    /// With what earlier attempts at the same experiment have cost.
    mutating func add(_ earlier: ExperimentManifest) {
        startedAt = earlier.startedAt
        attempts += earlier.attempts
        wallS += earlier.wallS
        runs += earlier.runs
        cpuS += earlier.cpuS
        runPeakBytes = max(runPeakBytes, earlier.runPeakBytes)
        peakBytes = max(peakBytes ?? 0, earlier.peakBytes ?? 0)
    }

    /// The one in a folder; nil where there is none that can be read, or that of another experiment.
    init?(in path: String, of plan: String) {
        guard let found = JSONDocument.read(ExperimentManifest.self, from: "\(path)/\(ExperimentFolder.manifest)"),
            found.plan == plan
        else { return nil }
        self = found
    }

    /// Whether a folder's manifest says that its experiment did not come to its end.
    static func isAbandoned(in path: String) -> Bool {
        struct Record: Decodable { var ending: Ending? }
        return JSONDocument.read(Record.self, from: "\(path)/\(ExperimentFolder.manifest)")?.ending == .incomplete
    }

    func json() throws -> String {
        try JSONDocument.of(self) + "\n"
    }
}

/// The wall clock of an experiment.
struct ExperimentClock {
    let startedAt = ISO8601DateFormatter().string(from: Date())
    private let began = ContinuousClock.now
    var seconds: Double { (ContinuousClock.now - began) / .seconds(1) }
}

extension ExperimentPlan {
    /// The plan as `plan.json`: the same plan gives the same bytes.
    func json() throws -> String {
        try JSONDocument.of(self) + "\n"
    }

    /// Number of runs and the first of them, for `--dry-run`.
    func outline(shard: Shard = .whole) -> String {
        func plural(_ count: Int, _ noun: String, _ nouns: String) -> String { "\(count) \(count == 1 ? noun : nouns)" }
        var lines = [
            "\(plural(count, "run", "runs")): \(plural(scenarios.count, "scenario", "scenarios")) x "
                + "\(plural(policies.count, "policy", "policies")) x "
                + "\(plural(combinations.count, "combination of settings", "combinations of settings")) x "
                + "\(plural(seeds.count, "seed", "seeds"))"
        ]
        if shard != .whole { lines.append("part \(shard): \(plural(shard.count(of: count), "run", "runs"))") }
        let cases = (0..<count).lazy.filter(shard.contains)
        for index in cases.prefix(10) { lines.append("  case \(index + 1): \(title(of: experimentCase(at: index)))") }
        if shard.count(of: count) > 10 { lines.append("  …") }
        return lines.joined(separator: "\n")
    }
}
