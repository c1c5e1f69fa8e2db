import ArgumentParser
import Experiments
import Foundation
import Metrics
import Quantities
import RunFolders

struct SweepCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sweep",
        abstract: "Runs a scenario under many settings, policies and seeds; can be resumed and spread over machines.",
        discussion: """
            EXAMPLES
              plimsoll sweep Scenarios/quickstart.yaml \\
                --vary device.ceiling=400MiB..1GiB/5 --seeds 1..10 --out sweeps/a
              plimsoll sweep Scenarios/quickstart.yaml Scenarios/burst.yaml \\
                --policy lru --policy ladder \\
                --vary limits.background_processes=4..12:4 --out sweeps/b
              plimsoll sweep Scenarios/quickstart.yaml \\
                --vary device.ceiling=log:256MiB..2GiB --vary device.cores=1..8 \\
                --sample lhs:10 --out sweeps/c
              plimsoll sweep Scenarios/quickstart.yaml --vary device.cores=1,2,4 \\
                --shard 1/2 --out part-1   # on one machine
              plimsoll sweep Scenarios/quickstart.yaml --vary device.cores=1,2,4 \\
                --shard 2/2 --out part-2   # on another machine
              plimsoll sweep merge part-1 part-2 --out whole

            The options are those of `plimsoll sweep run --help`. The values of --vary are a list (a,b,c), a range \
            with a step (1..10:3) or a count (256MiB..1GiB/4), a range of whole numbers (1..10), or a range on a log \
            scale (log:1MiB..1GiB/4). With --sample, a range needs neither a step nor a count.

            The last line names the best setting by the metric of --metric (terminations_felt), by how much it is \
            better, and what it costs on the other metrics, or says that no setting changes the metric.

            A sweep records each finished run in ledger.txt at once. If it is interrupted, it prints the command that \
            goes on: the same one with --resume. That makes the missing runs, and sweep.csv has the same bytes as \
            without the interruption.

            Exit status: 0 done; 129, 130 and 143 interrupted, finished runs are kept; if runs fail, the status of \
            the first failure.
            """,
        subcommands: [SweepRun.self, SweepMerge.self], defaultSubcommand: SweepRun.self)
}

struct SweepRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Runs a sweep or a part of it; `plimsoll sweep` alone does the same.",
        usage: "plimsoll sweep [<options>] <scenarios> ...",
        discussion: """
            EXAMPLES
              plimsoll sweep run Scenarios/quickstart.yaml --vary device.cores=1..4 \\
                --out sweeps/cores
            """)

    @OptionGroup var options: ExperimentOptions

    @OptionGroup var best: BestSetting

    @Option(
        name: .customLong("vary"),
        help: ArgumentHelp(
            "A setting, as in --set, and its values. Repeatable.", valueName: "key=values"),
        completion: Candidates.settings)
    var variations: [String] = []

    @Option(
        help: ArgumentHelp(
            "Draw N combinations instead of running all: a Latin hypercube, or at random.",
            valueName: "lhs:N|random:N"))
    var sample: String?

    @Option(parsing: .unconditional, help: "The seed of --sample.", transform: OptionValue.seed)
    var sampleSeed: UInt64 = 1

    @Option(help: "The seeds, such as 1..20 or 1,2,5; by default the scenario's own.")
    var seeds: String?

    @Option(help: ArgumentHelp("Run only part I of N; `sweep merge` joins the parts.", valueName: "I/N"))
    var shard: String?

    @Flag(help: "Continue the sweep in --out, if there is one. All other options must be those of the first command.")
    var resume = false

    @Option(help: "The folder to write.", completion: .directory)
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
        if best.needsYardstick, !options.policies.isEmpty, Set(options.policies) == [ExperimentPlan.yardstick] {
            throw ValidationError(
                "--metric \(SummaryMetric.secondsLost.name): name a --policy beside \(ExperimentPlan.yardstick)")
        }
    }

    private func part() throws -> Shard { try shard.map { try Shard(parsing: $0) } ?? .whole }

    /// - Returns: The rows, and in `repeated` the number of drawn combinations that were left out as repetitions.
    private func combinations(
        isReal: (Variation) -> Bool = { _ in false }
    ) throws -> (keys: [String], rows: [[SettingValue]], repeated: Int) {
        let parsed = try variations.map { try Variation(parsing: $0) }.map { isReal($0) ? $0.ofReals : $0 }
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
            let (keys, rows, repeated) = try combinations {
                sample != nil && $0.isReal(in: options.scenarios[0], options.settings.sets)
            }
            let own: [String?] = options.policies.isEmpty ? [nil] : options.policies
            let isAdded = best.needsYardstick && !own.contains(ExperimentPlan.yardstick)
            let plan = try planner.plan(
                policies: own + (isAdded ? [ExperimentPlan.yardstick] : []), keys: keys, combinations: rows,
                seeds: seeds.map { try ExperimentPlanner.seeds($0) } ?? [nil])
            if repeated > 0, !options.quiet {
                Terminal.complain(
                    "plimsoll: left out \(repeated) of the \((rows.count + repeated).counted("combination")) drawn: "
                        + "repetitions of others")
            }
            let jobs = try planner.jobs()
            let shard = try part()
            guard let out, !options.dryRun else {
                Terminal.say(plan.outline(shard: shard))
                return .success
            }
            Interruption.install(endingAtSecondCtrlC: true)
            var booked = try BookedFolder(.sweep, plan, shard, path: out, resume: resume)
            defer { withExtendedLifetime(booked) {} }
            let attempt = ExperimentAttempt(
                options: options, planner: planner, jobs: jobs, out: out, resume: resume, clock: clock)
            let cost = try attempt.run(&booked)
            if cost.failures > 0 { try booked.note(cost, clock, jobs: jobs, ending: .failed) }
            try cost.check(retry: "; --resume runs them again")
            booked.takeWarningOfMixture().map(Terminal.complain)
            let settings = try SweepFolder.finish(booked, comparing: best.metrics, best.prices.ofRuns)
            try booked.note(cost, clock, jobs: jobs, ending: .completed)
            if !options.quiet {
                report(settings, done: done(booked, clock, cost, jobs))
            }
            return .success
        }
    }

    /// The lines about the runs and the folder.
    private func done(
        _ booked: BookedFolder, _ clock: ExperimentClock, _ cost: CaseCrew.Cost, _ jobs: Int
    ) -> String {
        let seconds = String(format: "%.1f s, %.1f s of CPU", clock.seconds, cost.cpuSeconds)
        let place =
            booked.shard == .whole
            ? "written to \(booked.path)/\(SweepFolder.table)"
            : "part \(booked.shard) is in \(booked.path); `plimsoll sweep merge` joins the parts"
        return "\(cost.runs.counted("run")) in \(seconds), \(jobs) at a time\n\(place)"
    }

    private func report(_ settings: SettingsComparison?, done: String) {
        guard let settings else { return Terminal.say(done) }
        BestSetting.report(settings, done: done, options.format)
    }
}

struct SweepMerge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Joins the parts of a sweep: sweep.csv has the same bytes as from one machine.",
        usage: "plimsoll sweep merge [<options>] <parts> ... --out <out>",
        discussion: """
            EXAMPLES
              plimsoll sweep Scenarios/quickstart.yaml --vary device.cores=1,2,4 \\
                --shard 1/2 --out part-1   # on one machine
              plimsoll sweep Scenarios/quickstart.yaml --vary device.cores=1,2,4 \\
                --shard 2/2 --out part-2   # on another machine
              plimsoll sweep merge part-1 part-2 --out whole

            Exit status: 65 if parts are missing, unfinished, given twice or of another sweep; 66 if a folder holds \
            no part.
            """)

    @Argument(help: "The folders of all parts, in any order.", completion: .directory)
    var parts: [String]

    @Option(help: "The folder to write.", completion: .directory)
    var out: String

    @Flag(help: "Print no summary.")
    var quiet = false

    @OptionGroup var best: BestSetting

    @Option(help: ExperimentFormat.help)
    var format: ExperimentFormat = .text

    func validate() throws { try refuseEmpty(out, "--out") }

    func run() throws {
        try reporting {
            let (plan, settings) = try SweepFolder.merge(
                parts, to: out, comparing: best.metrics, best.prices.ofRuns, warn: Terminal.complain)
            if !quiet {
                let done =
                    "\(plan.count.counted("run")) of \(parts.count.counted("part")); written to "
                    + "\(out)/\(SweepFolder.table)"
                BestSetting.report(settings, done: done, format)
            }
            return .success
        }
    }
}
