import ArgumentParser
import Experiments
import Foundation
import Metrics
import Quantities
import RunFolders
import Scenario

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Runs policies under the same seeds and tests whether they differ.",
        usage: "plimsoll compare [<options>] --policy <name|file> ... <scenarios> ...",
        discussion: """
            Under the same seed every policy meets the same user. The first policy is the baseline: the others' \
            differences are taken seed by seed and have intervals. The yardsticks none, foresight and unbounded run as \
            well, once per build (see ~/.cache/plimsoll). Several scenarios are compared one by one and together.

            EXAMPLES
              plimsoll compare Scenarios/evening-commute.yaml \\
                --policy ladder --policy jetsam --seeds 1..20
              plimsoll compare Scenarios/seeded-commuter.yaml --policy ladder \\
                --policy Scenarios/policies/weighted.yaml --seeds 1..5
              plimsoll compare Scenarios/quickstart.yaml --policy lru --seeds 1..5 \\
                --backend accounting --metric terminations --metric bytes_reclaimed
              plimsoll compare Scenarios/quickstart.yaml --policy lru --policy jetsam \\
                --seeds 1..5 --format markdown

            The first line says which policy is better on what, by how much, and what it costs on the other metrics. \
            The table below it has a row per policy; its columns are the metrics of --metric, or the usual ones. --all \
            prints every metric of each scenario, with intervals and regret.

            Each finished run is kept in ledger.txt at once. If a comparison is interrupted, it prints the command \
            that goes on, with --resume; the tables then have the same bytes as without the interruption.

            With --junit or --github the command is a check: each policy must be no worse than the first one on each \
            metric that has a better direction, or the status is 99. --metric says which metrics count.

            Exit status: 0 done; 99 a check failed; 129, 130 and 143 interrupted, finished runs are kept; if a run \
            fails, its status, and runs.csv has the others.
            """)

    @OptionGroup var options: ExperimentOptions

    @Option(help: "The seeds, such as 1..20 or 1,2,5.")
    var seeds = "1..20"

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp("A column of summary.csv, or seconds_lost. Repeatable.", valueName: "name"),
        completion: Candidates.metrics)
    var metrics: [String] = []

    @OptionGroup var prices: PriceOptions

    @Flag(name: .customLong("all"), help: "Print every metric of each scenario, with its interval and its regret.")
    var printsAll = false

    @Flag(
        help: """
            Continue the comparison in --out, if there is one. Except for --metric, all other options must be those of \
            the first command.
            """)
    var resume = false

    @Option(
        help: "The folder to write. By default runs/compare, or the first of runs/compare-2, -3, … that is free.",
        completion: .directory)
    var out: String?

    @OptionGroup var checks: CheckOptions

    func validate() throws {
        try refuseEmpty(out, "--out")
        if resume && out == nil { throw ValidationError("--resume: name the folder of the comparison with --out DIR") }
        if options.policies.isEmpty {
            throw ValidationError("name at least one --policy; the others are compared with the first")
        }
        _ = try ExperimentPlanner.seeds(seeds)
        for metric in metrics where metric != SummaryMetric.secondsLost.name {
            try ExperimentOptions.check(metric: metric)
            if metric == "seed" { throw ValidationError("--metric seed: the seed is the same for all policies") }
        }
    }

    func run() throws {
        try checks.reporting("compare", keeping: options.scenarios, besides: out) {
            let clock = ExperimentClock()
            var planner = ExperimentPlanner(options)
            let added = Comparison.yardsticks.filter { !options.policies.contains($0) }
            let plan = try planner.plan(
                policies: options.policies + added, seeds: try ExperimentPlanner.seeds(seeds))
            let jobs = try planner.jobs()
            if options.dryRun {
                Terminal.say(plan.outline())
                return .success
            }
            try checks.check(keeping: options.scenarios, besides: out)
            Interruption.install(endingAtSecondCtrlC: true)
            var booked = try BookedFolder(.comparison, plan, path: out, resume: resume)
            defer { withExtendedLifetime(booked) {} }
            let attempt = ExperimentAttempt(
                options: options, planner: planner, jobs: jobs, out: out, resume: resume, clock: clock)
            let cost = try attempt.run(&booked)
            if cost.failures > 0 {
                let isAnyMade = try ComparisonFolder.keep(booked)
                if isAnyMade { try booked.note(cost, clock, jobs: jobs, ending: .failed) }
                try cost.check(
                    retry: isAnyMade ? "; the others are in \(booked.path)/runs.csv, and --resume runs them again" : "")
            }
            booked.takeWarningOfMixture().map(Terminal.complain)
            let rows = try booked.finished.map(booked.row)
            let comparison = Comparison(
                plan: plan, asked: options.policies.count, bootstrap: .standard, rows: rows, prices: prices.ofRuns,
                metrics: metrics.isEmpty ? MetricSense.ofComparison : metrics)
            try attempt.endIfAsked(booked, cost)
            try write(comparison, rows, to: booked, jobs: jobs, clock, cost)
            return try checks.tell(
                CheckReport(of: comparison), keeping: options.scenarios, besides: booked.path)
        }
    }

    private func write(
        _ comparison: Comparison, _ rows: [String], to booked: BookedFolder, jobs: Int, _ clock: ExperimentClock,
        _ cost: CaseCrew.Cost
    ) throws {
        let bootstrap = comparison.bootstrap
        try ComparisonFolder.write(comparison, rows, to: booked)
        try booked.note(
            cost, clock, jobs: jobs, ending: .completed,
            intervals: "BCa bootstrap of paired differences, \(bootstrap.resamples) resamples, "
                + "confidence \(bootstrap.confidence)")
        guard !options.quiet else { return }
        let seconds = String(format: "%.1f s, %.1f s of CPU", clock.seconds, cost.cpuSeconds)
        let report = [NextSteps.program, "report", booked.path].map(ShellWord.quoted).joined(separator: " ")
        let place = "written to \(booked.path); \(report) draws it"
        let done = "\(cost.runs.counted("run")) in \(seconds), \(jobs) at a time; \(place)"
        let table = ComparisonTable(comparison, metrics: metrics.isEmpty ? MetricSense.short : metrics)
        let parts =
            switch (options.format, printsAll) {
            case (.text, false): comparison.conclusions + ["", table.text(Terminal.painted), done]
            case (.text, true): [comparison.text(Terminal.painted), done, ""] + comparison.conclusions
            case (.markdown, _): [printsAll ? comparison.markdown : table.markdown]
            }
        if options.format == .markdown { Terminal.complain(done) }
        Terminal.say(parts.joined(separator: "\n"))
    }
}

extension CaseCrew.Cost {
    /// Throws if any run failed, with the status of the first failure.
    func check(retry: String) throws {
        guard let firstFailure else { return }
        let why = failures >= CaseCrew.mostFailures ? "; the rest was not tried" : ""
        throw Failure(firstFailure, "\(failures) of \(runs.counted("run")) failed\(why)\(retry)")
    }
}
