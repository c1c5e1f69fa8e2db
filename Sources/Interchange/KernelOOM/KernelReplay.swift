import Lifecycle
import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation

/// Plays the scenario of a kernel's OOM report until the kernel's rule ends a process, and compares that with the
/// report. The run is on the accounting backend, and the same every time.
public struct KernelReplay {
    /// The report as a scenario.
    public let imported: KernelOOMImport

    /// The run was interrupted.
    public struct Interrupted: Error {}

    /// The replay of a report.
    public init(_ imported: KernelOOMImport) { self.imported = imported }

    /// Plays the run.
    ///
    /// - Parameter isInterrupted: Asked at every sample; true ends the run with `Interrupted`.
    /// - Throws: `ScenarioFault` if the state makes no valid scenario; what the device and the run throw.
    public func play(isInterrupted: @escaping () -> Bool = { false }) throws -> KernelReplayOutcome {
        var plan = try ScenarioLoader.load(text: imported.scenario, file: "kernel-oom.yaml").get()
        plan.backend = .accounting
        let decisions = MemorySink()
        let simulation = Simulation(
            plan, memory: try plan.makeDevice(),
            sinks: RunSinks { table -> any ByteSink in
                table.name == RunTables.decisions.name ? decisions : NullSink()
            })
        simulation.keepEvents()
        var end: (name: String, at: Instant)?
        var isGivenUp = false
        _ = try simulation.run(shouldStop: {
            for event in simulation.takeEvents() where event.kind == .exit && end == nil {
                end = event.app.map { ($0, event.at) }
            }
            isGivenUp = isInterrupted()
            return isGivenUp || end != nil
        })
        guard !isGivenUp else { throw Interrupted() }
        return KernelReplayOutcome(imported, end, KernelReplay.ranking(decisions.bytes))
    }

    /// The candidates of the first decision for an allocation that ended a process, by rank, with their points.
    private static func ranking(_ table: [UInt8]) -> [(name: String, points: Int)] {
        let rows = TableReader(table, columns: ["decision", "app", "rank", "chosen", "score", "demand"]).rows
        let isMeant = { (row: [String]) in row[3] == "true" && row[5] == ReclaimDemand.Kind.allocation.rawValue }
        guard let first = rows.first(where: isMeant)?[0] else { return [] }
        return rows.filter { $0[0] == first }
            .compactMap { row in Int(row[2]).flatMap { rank in Int(row[4]).map { (rank, row[1], $0) } } }
            .sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
    }
}

/// What a replay of a kernel's report showed.
public struct KernelReplayOutcome: Sendable {
    /// A process of the scenario.
    public struct Candidate: Hashable, Sendable {
        /// Its name in the scenario.
        public let name: String
        /// Its points in the run, in the report's unit: multiplied again if every size of the scenario is a part of the
        /// report's.
        public let points: Int
        /// Its points by the report's own table; nil if it is not in the table, or is never chosen.
        public let reported: Int?
    }

    /// The scenario name of the process that the report says was ended; nil if it names none, or none of the table.
    public let reported: String?
    /// The process that ended first, and the time from the beginning of the run; nil: none ended.
    public let ended: (candidate: Candidate, after: TimeSpan)?
    /// The process that would have been next; nil: there was no other.
    public let next: Candidate?
    private let imported: KernelOOMImport

    init(
        _ imported: KernelOOMImport, _ end: (name: String, at: Instant)?, _ ranking: [(name: String, points: Int)]
    ) {
        self.imported = imported
        let verdict = imported.verdict
        let named = verdict.agrees == true ? verdict.predicted : verdict.report.victim
        reported = named.flatMap { task in imported.members.first { $0.task.pid == task.pid }?.name }
        let scale = verdict.badness.countsThousandths ? 1 : imported.divisor
        let candidates = ranking.map { entry in
            let member = imported.members.first { $0.name == entry.name }
            return Candidate(
                name: entry.name, points: entry.points * scale,
                reported: member.flatMap { verdict.points(of: $0.task) })
        }
        ended = end.map { end in
            let candidate = candidates.first { $0.name == end.name }
            return (candidate ?? Candidate(name: end.name, points: 0, reported: nil), end.at - .zero)
        }
        next = candidates.first { $0.name != end?.name }
    }

    /// Whether the report's victim ended; nil: the report names none of its table.
    public var isSame: Bool? { reported.map { $0 == ended?.candidate.name } }

    /// What the replay showed, one figure per line.
    public var text: String {
        let victim = reported.map { "'\($0)'" } ?? "no process of its table"
        guard let ended else {
            return importReport([("ended", "nobody"), ("report", victim)])
        }
        let grade = isSame.map { $0 ? "as in the report" : "the report says \(victim)" } ?? "the report names nobody"
        return importReport([
            ("ended", "'\(ended.candidate.name)', \(grade)"), ("after", ended.after.readable),
            ("points", points(ended.candidate)),
            ("next", next.map { "'\($0.name)' with \(points($0))" } ?? "nobody"),
        ])
    }

    private func points(_ candidate: Candidate) -> String {
        let unit = imported.verdict.badness.countsThousandths ? "thousandths" : "pages"
        let here = "\(candidate.points.grouped) \(unit)"
        guard let reported = candidate.reported else { return here }
        return here + (reported == candidate.points ? ", as in the report" : "; \(reported.grouped) in the report")
    }
}
