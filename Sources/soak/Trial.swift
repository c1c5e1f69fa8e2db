import Foundation
import Memory
import Metrics
import Quantities
import Scenario
import Worlds

/// A fault in a world's run.
struct Fault: Error, Hashable {
    enum Check: String, CaseIterable {
        case reading
        case run
        case files
        case tables
        case dryRun = "dry run"
        case repetition
        case backends
        case effective = "effective scenario"
        case explain
        case beginning = "a shorter run"
        case survival = "survive"
        case comparison = "compare"
        case reports = "import of its reports"
        case renaming = "renamed apps"
        case shift = "a later start"
        case ample = "ample memory"
        case idleApp = "an app that never runs"
    }

    let check: Check
    /// The kind of fault in few words: `status 70`, `signal 4`, `hung`.
    let kind: String
    /// The message of the fault.
    let text: String

    /// The kind of a fault in which the run does not end.
    static let hung = "hung"
    /// The kind of a fault in which the program properly refuses the run, because the host has too little memory
    /// left.
    static let tooLarge = "too large for this host"
    /// The program's exit status for such a refusal.
    static let tooLargeStatus: Int32 = 71

    /// The kind of a fault in which the program properly refuses what only the run can see: a start that does not fit
    /// on its device, or a trace that ends too early. Worlds at the edges of the format try both; of others one in some
    /// thousand begins too full.
    static let refused = "refused"
    /// The program's exit status for such a refusal.
    static let refusedStatus: Int32 = 65
    /// What its message says.
    static let refusals = [": start.", "the trace ends here"]

    /// Whether the program properly refuses the world.
    var isRefused: Bool { kind == Fault.refused }
    /// Whether the host rather than the program is the cause.
    var isOfTheHost: Bool { kind == Fault.tooLarge }

    /// Whether the faults are the same. A smaller world gives the same fault with other figures.
    func isSame(as other: Fault) -> Bool {
        signature == other.signature
    }

    /// The text that all worlds with this fault have in common.
    var signature: String {
        // The text of a relation is two whole rows.
        let isOfRelation = Trial.relations.contains { $0.check == check }
        return "\(check.rawValue): \(kind)" + (isOfRelation ? "" : ": \(Fault.withoutFigures(text))")
    }

    private static func withoutFigures(_ text: String) -> String {
        // Worlds name their apps app7 and so on; shrunk worlds use a letter.
        text.replacing(#/\b(app[0-9]+|[a-z])\b/#, with: "APP")
            .replacing(#/[0-9][0-9.]*( ?([KMG]i)?B)?/#, with: "#")
    }
}

/// Runs a world in a folder of its own and checks the result.
struct Trial {
    let world: World
    let program: String
    /// A path. The trial creates the folder and removes it.
    let folder: String
    let checks: Set<Fault.Check>
    /// The time limit of one run. An explanation, which takes many runs, has four times as long.
    let seconds: Double

    /// The tables of every run.
    static let tables = [
        "samples", "apps", "events", "launches", "decisions", "summary", "app_summary", "exits", "cores",
        "terminations",
    ]

    /// The tables of this world's run.
    var tables: [String] {
        // An app, a kind of process, an archetype or a device may bring a limit or a compressor: the run says whether
        // it has these tables.
        let further = ["pages", "limits", "freezer"].filter { table in
            FileManager.default.fileExists(atPath: "\(folder)/a/\(table).csv")
        }
        return Trial.tables + further
    }

    /// The checks of a world. Only a share of the worlds gets the checks that cost a run of their own, unless `all` is
    /// set, or for relations `isEvery`.
    /// Worlds at the edges also get a shorter run, and further commands.
    static func checks(of world: World, all: Bool, relations isEvery: Bool) -> Set<Fault.Check> {
        var draw = SeededGenerator(seed: world.seed, stream: "checks")
        var checks: Set<Fault.Check> = [.reading, .run, .files, .tables, .dryRun]
        for (check, percent) in [(.repetition, 12), (.backends, 15), (.effective, 12), (.explain, 15)]
            as [(Fault.Check, Int64)] where draw.chance(.percent(percent)) || all
        { checks.insert(check) }
        // Worlds at the edges are run for as long as there is time, others all of them.
        let share: Int64 = world.options.isAtTheEdges ? 15 : 1
        var drawRelation = SeededGenerator(seed: world.seed, stream: "relations")
        for (_, check) in relations where drawRelation.chance(.percent(share)) || all || isEvery {
            checks.insert(check)
        }
        guard world.options.isAtTheEdges else { return checks }
        for (check, percent) in [(.beginning, 20), (.survival, 4), (.comparison, 6), (.reports, 100)]
            as [(Fault.Check, Int64)] where draw.chance(.percent(percent)) || all
        { checks.insert(check) }
        return checks
    }

    /// The outcomes of the run. Throws the first fault.
    func run() throws(Fault) -> [String] {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try read()
        do {
            try? FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for file in world.files {
                try file.text.write(toFile: "\(folder)/\(file.name)", atomically: false, encoding: .utf8)
            }
        } catch {
            throw Fault(check: .run, kind: "the host", text: "\(error)")
        }
        try start(world.arguments(in: folder, out: "\(folder)/a"), .run)
        if checks.contains(.files) { try checkFiles() }
        if checks.contains(.tables) { try checkTables() }
        let things = Outcomes.things(
            events: bytes("a/events.csv"), decisions: bytes("a/decisions.csv"), launches: bytes("a/launches.csv"))
        if checks.contains(.dryRun) { try checkDryRun() }
        if checks.contains(.repetition) {
            try start(world.arguments(in: folder, out: "\(folder)/b"), .repetition)
            try compare("a", "b", .repetition)
        }
        if checks.contains(.backends) { try checkBackends() }
        if checks.contains(.effective) { try checkEffective() }
        if checks.contains(.explain) { try checkExplain() }
        if checks.contains(.beginning) { try checkBeginning() }
        if checks.contains(.survival) { try checkSurvival() }
        if checks.contains(.comparison) { try checkComparison() }
        if checks.contains(.reports) { try checkReports() }
        return things + (try checkRelations())
    }

    private func read() throws(Fault) {
        guard case .failure(let fault) = world.reading else { return }
        throw Fault(check: .reading, kind: "the loader refuses it", text: "\(fault)")
    }

    /// Runs the program, and throws a fault unless it ends properly.
    func start(_ arguments: [String], _ check: Fault.Check, seconds: Double? = nil) throws(Fault) {
        let child = Child(program, arguments, log: "\(folder)/errors.txt", seconds: seconds ?? self.seconds)
        // The first line with content that is no warning, or the line of a trap.
        let all = child.errors.split(separator: "\n").filter { !$0.isEmpty }
        let firm = all.filter { !$0.contains(": warning: ") }
        let lines = firm.isEmpty ? all : firm
        let text = String((lines.first { $0.contains("Fatal error") } ?? lines.first ?? "").prefix(400))
        let said = text.replacing(folder, with: "").replacing(#/with seed [0-9]+/#, with: "with the seed")
        switch child.ending {
        case .exited(0), .exited(99):
            guard check == .explain, !child.errors.isEmpty else { return }
            throw Fault(check: check, kind: "a warning", text: said)
        case .exited(Fault.refusedStatus) where Fault.refusals.contains(where: said.contains):
            throw Fault(check: check, kind: Fault.refused, text: said)
        case .exited(Fault.tooLargeStatus) where said.hasPrefix("plimsoll: the host has "):
            throw Fault(check: check, kind: Fault.tooLarge, text: said)
        case .exited(let status): throw Fault(check: check, kind: "status \(status)", text: said)
        case .signalled(let signal): throw Fault(check: check, kind: "signal \(signal)", text: said)
        case .hung: throw Fault(check: check, kind: Fault.hung, text: "no end after \(seconds ?? self.seconds) s")
        case .notStarted: throw Fault(check: check, kind: "not started", text: said)
        }
    }

    func bytes(_ name: String) -> [UInt8] {
        (FileManager.default.contents(atPath: "\(folder)/\(name)")).map { Array($0) } ?? []
    }

    // MARK: Checks

    /// Checks that every promised file exists, that there are no others, and that each is complete.
    private func checkFiles() throws(Fault) {
        let options = world.options
        var promised = tables.map { "\($0).csv" } + ["datapackage.json", "manifest.json", "scenario.yaml"]
        if options.writesTimeline { promised.append("timeline.json") }
        if options.writesReports { promised.append("jetsam-events") }
        let found = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/a")) ?? []
        guard found.sorted() == promised.sorted() else {
            let others = Set(found).symmetricDifference(promised).sorted().joined(separator: ", ")
            throw Fault(check: .files, kind: "other files than promised", text: others)
        }
        for name in found {
            let bytes = bytes("a/\(name)")
            if name.hasSuffix(".csv"), bytes.last != UInt8(ascii: "\n") {
                throw Fault(check: .files, kind: "half-written", text: name)
            }
            if name.hasSuffix(".json") { try checkJSON(bytes[...], name) }
        }
        guard options.writesReports else { return }
        let reports = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/a/jetsam-events")) ?? []
        for name in reports {
            // A header line, then the report.
            let bytes = bytes("a/jetsam-events/\(name)")
            let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            try checkJSON(bytes[..<end], name)
            try checkJSON(bytes[end...], name)
        }
    }

    private func checkJSON(_ bytes: ArraySlice<UInt8>, _ name: String) throws(Fault) {
        do {
            _ = try JSONSerialization.jsonObject(with: Data(bytes))
        } catch {
            throw Fault(check: .files, kind: "no JSON", text: name)
        }
    }

    /// Checks that only the monitor acts in a dry run.
    private func checkDryRun() throws(Fault) {
        guard world.options.isDryRun else { return }
        let rows = TableReader(bytes("a/events.csv"), columns: ["event", "detail", "reason"]).rows
        if let row = rows.first(where: { $0[0] == "action" && !$0[2].contains("before running apps are warned") }) {
            throw Fault(check: .dryRun, kind: "an action", text: "\(row[1]): \(row[2])")
        }
    }

    /// Checks that the other backend gives the same tables except for its own bookkeeping.
    private func checkBackends() throws(Fault) {
        let ceiling = world.document["device"]?["ceiling"]?.text.flatMap { try? ByteCount(parsing: $0) }
        guard let ceiling, ceiling * (world.options.scale ?? .one) <= .mebibytes(256) else { return }
        // The other backend has no contents.
        guard world.document["device"]?["compressor"]?["codec"]?.text != "lz4" else { return }
        var other = world
        other.options.backend = world.options.backend == .jemalloc ? .accounting : .jemalloc
        // The statistics of another backend after every event are a matter of its own worlds.
        other.options.auditsEvents = false
        try start(other.arguments(in: folder, out: "\(folder)/o"), .backends)
        try compare("a", "o", .backends, besides: ["metadata_bytes"])
    }

    /// Checks that the run's own scenario repeats the run.
    private func checkEffective() throws(Fault) {
        let dry = world.options.isDryRun ? ["--dry-run"] : []
        try start(
            ["run", "\(folder)/a/scenario.yaml", "--out", "\(folder)/e", "--quiet", "--verify"] + dry, .effective)
        try compare("a", "e", .effective)
    }

    private func checkExplain() throws(Fault) {
        try start(["explain", "\(folder)/a", "--most", "1"], .explain, seconds: seconds * 4)
    }

    private func compare(
        _ first: String, _ second: String, _ check: Fault.Check, besides columns: Set<String> = []
    ) throws(Fault) {
        for table in tables {
            let (a, b) = (bytes("\(first)/\(table).csv"), bytes("\(second)/\(table).csv"))
            guard a != b, let difference = TableDifference(a, b, besides: columns) else { continue }
            throw Fault(check: check, kind: "\(table).csv differs in \(difference.column)", text: "")
        }
    }
}

/// The first cell in which two tables differ.
struct TableDifference {
    let row: Int
    let column: String

    /// - Parameter columns: Columns whose cells may differ.
    init?(_ a: [UInt8], _ b: [UInt8], besides columns: Set<String>) {
        let names = TableReader(a, columns: []).columns
        let kept = names.filter { !columns.contains($0) }
        let (first, second) = (TableReader(a, columns: kept).rows, TableReader(b, columns: kept).rows)
        for (row, (here, there)) in zip(first, second).enumerated() where here != there {
            let column = zip(here, there).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
            (self.row, self.column) = (row + 1, kept[column])
            return
        }
        guard first.count != second.count || names != TableReader(b, columns: []).columns else { return nil }
        (row, column) = (min(first.count, second.count) + 1, "its length")
    }
}
