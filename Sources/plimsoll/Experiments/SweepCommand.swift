import ArgumentParser
import Experiments
import Foundation
import Metrics

struct SweepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Runs a scenario under many settings, policies and seeds; can be resumed and spread over machines.",
        discussion: """
            EXAMPLES
              plimsoll sweep Scenarios/quickstart.yaml --vary device.ceiling=400MiB..1GiB/5 --seeds 1..10 --out sweeps/a
              plimsoll sweep A.yaml B.yaml --policy lru --policy ladder --vary limits.background_processes=4..12:4 \
            --out b
              plimsoll sweep A.yaml --vary device.ceiling=log:256MiB..2GiB --vary device.cores=1..8 --sample lhs:40 \
            --out c
              plimsoll sweep A.yaml --vary device.cores=1,2,4 --seeds 1..99 --shard 2/3 --out part-2   # on machine 2
              plimsoll sweep merge part-1 part-2 part-3 --out whole

            VALUES are a list (a,b,c), a range with a step (1..10:3) or a count (256MiB..1GiB/4), a range of whole \
            numbers by ones (1..10), or a range on a log scale (log:1MiB..1GiB/4). With --sample, ranges need neither.

            Finished runs are in DIR/ledger.txt at once. Whatever ends a sweep, the same command with --resume goes \
            on, and sweep.csv has the same bytes in the end.

            The options are those of `plimsoll sweep run --help`.

            Exit status: 0 done, 129, 130 and 143 interrupted; when runs fail, the status of the first of them.
            """,
        subcommands: [SweepRun.self, SweepMerge.self], defaultSubcommand: SweepRun.self)
}

struct SweepRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a sweep, or a part of it (the word run may be left out).")

    @OptionGroup var options: ExperimentOptions

    @Option(
        name: .customLong("vary"),
        help: ArgumentHelp(
            "A setting as in --set, and the values that it takes; may be repeated.", valueName: "key=VALUES")
    )
    var variations: [String] = []

    @Option(
        help: ArgumentHelp(
            "Draws combinations instead of taking all: a Latin hypercube, or at random.", valueName: "lhs:N|random:N"))
    var sample: String?

    @Option(parsing: .unconditional, help: "Decides what --sample draws.", transform: OptionValue.seed)
    var sampleSeed: UInt64 = 1

    @Option(help: "The seeds: 1..20, or 1,2,5; the scenario's own by default.")
    var seeds: String?

    @Option(help: ArgumentHelp("Runs only part I of N parts; `sweep merge` puts them together.", valueName: "I/N"))
    var shard: String?

    @Flag(help: "Goes on with what is in --out, if anything; the command must be the same otherwise.")
    var resume = false

    @Option(help: "The folder to write.")
    var out: String?

    func validate() throws {
        try refuseEmpty(out, "--out")
        if out == nil && !options.dryRun { throw ValidationError("name the folder to write with --out DIR") }
        if sample != nil && variations.isEmpty { throw ValidationError("--sample needs settings to --vary") }
        do {
            let keys = try combinations().keys
            try options.refuse(keys: keys, as: "--vary")
            for key in keys { try options.refuseSets(under: key) }
            _ = try part()
        } catch let fault as ExperimentFault {
            throw ValidationError(fault.message)
        }
        if let seeds { _ = try ExperimentPlanner.seeds(seeds) }
    }

    private func part() throws -> Shard { try shard.map { try Shard(parsing: $0) } ?? .whole }

    /// - Returns: Also how many more were drawn that repeat others.
    private func combinations() throws -> (keys: [String], rows: [[SettingValue]], repeated: Int) {
        let parsed = try variations.map { try Variation(parsing: $0) }
        let keys = parsed.map(\.key)
        for (position, later) in parsed.enumerated() {
            for earlier in parsed[..<position] { try later.refuseOverlap(with: earlier) }
        }
        let sampling = try sample.map { try Sampling(parsing: $0) } ?? .grid
        let rows = try sampling.combinations(of: parsed, seed: sampleSeed)
        return (keys, rows, sampling.count.map { $0 - rows.count } ?? 0)
    }

    func run() throws {
        try reporting {
            let clock = ExperimentClock()
            var planner = ExperimentPlanner(options)
            let (keys, rows, repeated) = try combinations()
            let plan = try planner.plan(
                policies: options.policies.isEmpty ? [nil] : options.policies, keys: keys, combinations: rows,
                seeds: seeds.map { try ExperimentPlanner.seeds($0) } ?? [nil])
            if repeated > 0, !options.quiet {
                Terminal.complain(
                    "plimsoll: \(repeated) of the \(rows.count + repeated) combinations drawn repeat others and are "
                        + "left out")
            }
            let jobs = try planner.jobs()
            let shard = try part()
            guard let out, !options.dryRun else {
                Terminal.say(plan.outline(shard: shard))
                return .success
            }
            var folder = try SweepFolder(plan, shard, path: out, resume: resume)
            defer { withExtendedLifetime(folder) {} }
            let missing = shard.count(of: plan.count) - folder.ledger.finished
            if resume, folder.ledger.finished > 0, !options.quiet {
                Terminal.complain("\(folder.ledger.finished) runs are finished already, \(missing) are left")
            }
            let crew = CaseCrew(plan: plan, jobs: jobs, quiet: options.quiet)
            let cost: CaseCrew.Cost
            if missing > 0 { try folder.note(CaseCrew.Cost(), clock, jobs: jobs) }
            do {
                cost = try crew.run(folder.unfinished, total: missing) { index, row, cost in
                    try folder.book(index, row)
                    try folder.note(cost, clock, jobs: jobs)
                }
            } catch let interrupted as CaseCrew.Interrupted {
                let left = shard.count(of: plan.count) - folder.ledger.finished
                Terminal.complain("plimsoll: interrupted; \(left) runs are left, and --resume goes on with them")
                try folder.note(interrupted.cost, clock, jobs: jobs, ending: .interrupted)
                return ExitCode(128 + interrupted.signal)
            }
            if cost.failures > 0 { try folder.note(cost, clock, jobs: jobs, ending: .failed) }
            try cost.check(retry: "; --resume tries them again")
            try folder.finish()
            try folder.note(cost, clock, jobs: jobs, ending: .completed)
            if !options.quiet { report(plan, shard, folder, clock, cost, jobs) }
            return .success
        }
    }

    private func report(
        _ plan: ExperimentPlan, _ shard: Shard, _ folder: SweepFolder, _ clock: ExperimentClock, _ cost: CaseCrew.Cost,
        _ jobs: Int
    ) {
        let seconds = String(format: "%.1f s, %.1f s of CPU", clock.seconds, cost.cpuSeconds)
        Terminal.say("\(cost.runs) runs in \(seconds), \(jobs) at a time")
        Terminal.say(
            shard == .whole
                ? "written to \(folder.folder.path)/\(SweepFolder.table)"
                : "part \(shard) is in \(folder.folder.path); `plimsoll sweep merge` puts the parts together")
    }
}

struct SweepMerge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Puts the parts of a sweep together: the same bytes as if it had been run whole.",
        discussion: "Exit status 65 when parts are missing, unfinished, doubled or of another sweep, 66 for no part.")

    @Argument(help: "The folders of all parts, in any order.")
    var parts: [String]

    @Option(help: "The folder to write.")
    var out: String

    @Flag(help: "No summary.")
    var quiet = false

    func validate() throws { try refuseEmpty(out, "--out") }

    func run() throws {
        try reporting {
            let plan = try SweepFolder.merge(parts, to: out)
            if !quiet {
                Terminal.say("\(plan.count) runs of \(parts.count) parts; written to \(out)/\(SweepFolder.table)")
            }
            return .success
        }
    }
}
