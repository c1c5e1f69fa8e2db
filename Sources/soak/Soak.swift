import ArgumentParser
import Foundation
import Memory
import Quantities
import Scenario
import Worlds

/// Runs random worlds and looks for faults. A world is a scenario drawn at random, with its options. This is a
/// development tool, not part of the program.
@main
struct Soak: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Runs scenarios drawn at random with --verify, and shrinks those that fail.",
        discussion: "Exit status: 0 nothing failed; 1 something did, or is not covered; 64 usage.")

    @Option(help: "The worlds: A..B, or one seed; without it, from 1 on until --minutes is up.", transform: Soak.seeds)
    var seeds: ClosedRange<UInt64>?

    @Option(help: "Start no new world after this number of minutes.")
    var minutes: Double?

    @Option(help: "All worlds on this backend; without it nine of ten on accounting.", transform: Soak.backend)
    var backend: MemoryBackend?

    @Option(help: "The plimsoll program.")
    var program: String

    @Option(help: "A folder for the worlds' files; it must be there.")
    var work: String

    @Option(help: "The folder for shrunk worlds.")
    var keep = "runs/soak"

    @Option(help: "The number of worlds to run at once.")
    var jobs = max(1, ProcessInfo.processInfo.activeProcessorCount)

    @Option(help: "The seconds after which a run counts as hung.")
    var patience = 60.0

    @Option(help: "About the most seconds for shrinking one world; 0 shrinks none.")
    var shrink = 120.0

    @Flag(
        help: "Make every check of every world. Without it, only a share gets the checks that need another run.")
    var all = false

    @Flag(help: "Compare every world with itself under other names, a minute later, and so on.")
    var relations = false

    @Flag(help: "Compare with jemalloc's statistics after every event, not only at every sample; slow.")
    var events = false

    @Flag(help: "Edit the worlds towards the edges of the format, and send a share of them through further commands.")
    var far = false

    @Option(help: ArgumentHelp("Plant a fault in the checks of this world, which must be found.", visibility: .hidden))
    var canary: UInt64?

    @Flag(help: "Fail unless the worlds use every word of the format and reach every declared outcome.")
    var coverage = false

    @Flag(help: "Print how often each exit, action and refusal occurred.")
    var verbose = false

    @Option(help: "Write the files of the worlds into this folder, a folder each, and run nothing.")
    var write: String?

    func validate() throws {
        if seeds == nil && minutes == nil { throw ValidationError("say which --seeds, or how many --minutes") }
        if jobs < 1 { throw ValidationError("--jobs must be at least 1") }
    }

    func run() throws {
        if let write { return try writeWorlds(to: write) }
        // No other comparison meets a world again.
        setenv("PLIMSOLL_CACHE", "", 1)
        let clock = ContinuousClock.now
        let orders = Crew.Orders(
            program: program, work: work, backend: backend, all: all, relations: relations, events: events, far: far,
            canary: canary,
            seconds: patience, jobs: jobs)
        let line = StatusLine(since: clock)
        let crew = Crew(
            orders, seeds: seeds ?? 1...UInt64.max - 1, until: minutes.map { clock + .seconds($0 * 60) },
            progress: { line.draw("\($0.counted("world")), \($1) failed") })
        let state = crew.work()
        line.clear()
        let took = Soak.clock(ContinuousClock.now - clock)
        let backends = MemoryBackend.allCases.map { "\(state.byBackend[$0] ?? 0) on \($0.rawValue)" }
        print("\(state.words.worlds.counted("world")) in \(took): \(backends.joined(separator: ", "))")
        print("slowest: seed \(state.slowest.seed), \(Int(state.slowest.seconds)) s")
        let isCovered = report(state)
        let tooLarge = state.faults.filter(\.fault.isOfTheHost).map { "\($0.seed)" }.sorted()
        if !tooLarge.isEmpty {
            let seeds = tooLarge.joined(separator: ", ")
            print("refused, because this host is too small: \(tooLarge.count), seeds \(seeds)")
        }
        let refused = state.faults.count { $0.fault.isRefused }
        if refused > 0 {
            print("refused, because the start does not fit or a trace ends early: \(refused.counted("world"))")
        }
        // Worlds are drawn so that nearly all of them begin.
        let isWasted = refused >= 5 && refused * 20 > state.words.worlds
        let faults = state.faults.filter { !$0.fault.isOfTheHost && !$0.fault.isRefused }.sorted { $0.seed < $1.seed }
        print(faults.isEmpty ? "nothing failed" : "\(faults.count) failed")
        try report(faults, orders)
        if isWasted { print("too many worlds were refused") }
        if !faults.isEmpty || isWasted || coverage && !isCovered { throw ExitCode(1) }
    }

    // MARK: Coverage

    /// Prints the coverage; true if the worlds cover everything.
    private func report(_ state: Crew.State) -> Bool {
        let worlds = state.outcomes.worlds
        let (words, outcomes) = (Vocabulary.all, Outcomes.frequent + Outcomes.occasional)
        let rare =
            state.words.rare(words, below: 1) + state.words.rare(Vocabulary.actions, below: max(1, worlds / 100))
            + state.outcomes.rare(Outcomes.frequent, below: max(1, worlds / 100))
            + state.outcomes.rare(Outcomes.occasional, below: 1)
        let said = words.count - state.words.rare(words, below: 1).count
        let found = outcomes.count - state.outcomes.rare(outcomes, below: 1).count
        print("coverage: \(said) of \(words.count) words of the format, \(found) of \(outcomes.count) outcomes")
        let compared = Relation.allCases.map { "\($0.rawValue) \(state.outcomes.count(of: Trial.thing($0)))" }
        print("relations, compared in worlds: \(compared.joined(separator: ", "))")
        for (thing, count) in rare where coverage || verbose {
            print("  too rare: '\(thing)' in \(count) of \(worlds)")
        }
        let unexpected = Outcomes.unexpected.filter { state.outcomes.count(of: $0) > 0 }
        for thing in unexpected where coverage || verbose { print("  thought impossible: '\(thing)'") }
        if verbose {
            for thing in Outcomes.frequent + Vocabulary.actions {
                let count = max(state.outcomes.count(of: thing), state.words.count(of: thing))
                print("  \(Double(count * 1_000 / max(1, worlds)) / 10) %  \(thing)")
            }
        }
        return rare.isEmpty && unexpected.isEmpty
    }

    // MARK: Failures

    /// Shrinks the first world of each kind of fault, and prints the seeds of the others.
    private func report(_ faults: [(seed: UInt64, fault: Fault)], _ orders: Crew.Orders) throws {
        var told: [String] = []
        for (seed, fault) in faults {
            guard !told.contains(fault.signature) else { continue }
            told.append(fault.signature)
            let others = faults.filter { $0.fault.signature == fault.signature && $0.seed != seed }.map { "\($0.seed)" }
            print("\nseed \(seed): \(fault.check.rawValue): \(fault.kind)\n  \(fault.text)")
            if !others.isEmpty {
                print("  the same fault: \(others.count) more, seeds \(others.prefix(12).joined(separator: ", "))")
            }
            let option = backend.map { " --backend \($0.rawValue)" } ?? ""
            var flags =
                (all ? " --all" : "") + (relations ? " --relations" : "") + (events ? " --events" : "")
                + (far ? " --far" : "")
            if canary == seed { flags += " --canary \(seed)" }
            print("  again: Scripts/soak --seeds \(seed)\(option)\(flags)")
            guard told.count <= 5, shrink > 0 else { continue }
            var shrinking = Shrinking(orders.world(seed), fault, orders, seconds: shrink)
            let small = shrinking.run()
            let place = "\(keep)/world-\(seed)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let command = small.arguments(in: ".", out: "/tmp/run").joined(separator: " ")
            let text = small.document.denseYAML
            for (index, file) in small.files.enumerated() {
                let words = index == 0 ? "# \(fault.check.rawValue): plimsoll \(command)\n\(text)" : file.text
                try words.write(toFile: "\(place)/\(file.name)", atomically: true, encoding: .utf8)
            }
            print("  shrunk to \(text.split(separator: "\n").count) lines; in \(place): plimsoll \(command)\n")
            for line in text.split(separator: "\n") { print("    \(line)") }
        }
    }

    // MARK: Worlds as files

    private func writeWorlds(to folder: String) throws {
        guard let seeds else { throw ValidationError("--write needs --seeds") }
        for seed in seeds {
            let drawn = World(seed: seed, backend: backend)
            let world = far ? drawn.atTheEdges() : drawn
            let place = "\(folder)/\(seed)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            for file in world.files + [("arguments.txt", world.arguments(in: ".", out: "OUT").joined(separator: "\n"))]
            {
                try file.1.write(toFile: "\(place)/\(file.0)", atomically: false, encoding: .utf8)
            }
        }
    }

    // MARK: Options

    private static func seeds(_ text: String) throws -> ClosedRange<UInt64> {
        let ends = text.split(separator: ".", omittingEmptySubsequences: true).map { UInt64($0) }
        switch (ends.count, ends.first ?? nil, ends.last ?? nil) {
        case (1, let seed?, _) where !text.contains("."): return seed...seed
        case (2, let first?, let last?) where text.contains("..") && first <= last && last < .max: return first...last
        default: throw ValidationError("expected seeds such as 1..300, or one such as 17, not '\(text)'")
        }
    }

    private static func backend(_ text: String) throws -> MemoryBackend {
        guard let backend = MemoryBackend(rawValue: text) else {
            throw ValidationError("expected \(MemoryBackend.allCases.map(\.rawValue).joined(separator: " or "))")
        }
        return backend
    }

    static func clock(_ time: Duration) -> String {
        let seconds = Int(time.components.seconds)
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}

/// One line on a terminal's stderr that is redrawn repeatedly; without a terminal it prints nothing.
struct StatusLine: Sendable {
    private let isShown = isatty(2) == 1
    private let start: ContinuousClock.Instant

    init(since start: ContinuousClock.Instant) { self.start = start }

    func draw(_ text: String) {
        guard isShown else { return }
        write("\r\(text), \(Soak.clock(ContinuousClock.now - start))\u{1B}[K")
    }

    func clear() { if isShown { write("\r\u{1B}[K") } }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
