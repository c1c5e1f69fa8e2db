import ArgumentParser
import Experiments
import Foundation
import Metrics
import Quantities
import Scenario

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Runs policies under the same seeds and tests whether they differ.",
        usage: "plimsoll compare [<options>] --policy <name|file> ... <scenarios> ...",
        discussion: """
            Under the same seed every policy meets the same user. The first policy is the baseline: the differences of \
            the others from it are taken seed by seed and have confidence intervals. The yardsticks none, foresight \
            and unbounded always run as well. Several scenarios are compared one by one and together.

            EXAMPLES
              plimsoll compare Scenarios/evening-commute.yaml \\
                --policy ladder --policy jetsam --seeds 1..20
              plimsoll compare Scenarios/seeded-commuter.yaml --policy ladder \\
                --policy Scenarios/policies/weighted.yaml --seeds 1..5
              plimsoll compare Scenarios/quickstart.yaml --policy lru --seeds 1..5 \\
                --backend accounting --metric terminations --metric bytes_reclaimed
              plimsoll compare Scenarios/quickstart.yaml --policy lru --policy jetsam \\
                --seeds 1..5 --format markdown

            The last line says which policy is better on what, by how much, and what it costs on the other metrics.

            Exit status: 0 done; 129, 130 and 143 interrupted (nothing is written); if a run fails, its status, and \
            runs.csv has the others.
            """)

    @OptionGroup var options: ExperimentOptions

    @Option(help: "The seeds, such as 1..20 or 1,2,5.")
    var seeds = "1..20"

    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp("A column of summary.csv, in place of the usual ones. Repeatable.", valueName: "name"),
        completion: Candidates.metrics)
    var metrics: [String] = []

    @Option(
        help: "The folder to write. By default runs/compare, or the first of runs/compare-2, -3, … that is free.",
        completion: .directory)
    var out: String?

    func validate() throws {
        try refuseEmpty(out, "--out")
        if options.policies.isEmpty {
            throw ValidationError("name at least one --policy; the others are compared with the first")
        }
        _ = try ExperimentPlanner.seeds(seeds)
        for metric in metrics {
            try ExperimentOptions.check(metric: metric)
            if metric == "seed" { throw ValidationError("--metric seed: the seed is the same for all policies") }
        }
    }

    func run() throws {
        try reporting {
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
            let folder =
                try out.map { try ExperimentFolder(creating: $0, abandoned: true) } ?? ExperimentFolder(free: "compare")
            defer { withExtendedLifetime(folder) {} }
            try note(.incomplete, plan, in: folder, jobs: jobs, clock, CaseCrew.Cost())
            var rows = [String?](repeating: nil, count: plan.count)
            let cost: CaseCrew.Cost
            do {
                let crew = CaseCrew(plan: plan, quiet: options.quiet, handOut: options.handOut)
                let workers = try planner.workers(for: plan.count, of: plan, jobs: jobs)
                cost = try crew.run(0..<plan.count, total: plan.count, by: workers) { made, _ in
                    for (index, row) in made { rows[index] = row }
                }
            } catch {
                folder.withdraw()
                if let interrupted = error as? CaseCrew.Interrupted { return ExitCode(128 + interrupted.signal) }
                throw error
            }
            if cost.failures > 0 {
                let isAnyMade = try keep(rows, plan, in: folder)
                if isAnyMade { try note(.failed, plan, in: folder, jobs: jobs, clock, cost) }
                try cost.check(retry: isAnyMade ? "; the others are in \(folder.path)/runs.csv" : "")
            }
            try write(rows.compactMap(\.self), plan, to: folder, jobs: jobs, clock, cost)
            return .success
        }
    }

    private func note(
        _ ending: ExperimentManifest.Ending, _ plan: ExperimentPlan, in folder: ExperimentFolder, jobs: Int,
        _ clock: ExperimentClock, _ cost: CaseCrew.Cost, intervals: String? = nil
    ) throws {
        try folder.write(
            ExperimentManifest(
                plan: "\(Fingerprint(of: try plan.json()))", ending: ending, planned: plan.count, jobs: jobs,
                clock: clock, cost: cost, intervals: intervals))
    }

    /// Writes the rows of the successful runs when others failed; nothing is compared.
    ///
    /// - Returns: False if no run succeeded; then the folder is removed.
    private func keep(_ rows: [String?], _ plan: ExperimentPlan, in folder: ExperimentFolder) throws -> Bool {
        let made = rows.indices.filter { rows[$0] != nil }
        guard !made.isEmpty else {
            folder.withdraw()
            return false
        }
        let runs = RunList("runs", of: plan)
        try folder.directory.write(try plan.json(), to: "plan.json")
        try folder.directory.write(
            try DataPackage.json(
                name: "compare", title: "Runs of an incomplete comparison", tables: [runs.schema]),
            to: "datapackage.json")
        let cells = RunList.cells(of: rows.compactMap(\.self))
        try folder.write(runs.schema) { table in
            for (index, row) in zip(made, cells) { runs.write(index, summary: row, to: table) }
        }
        return true
    }

    private func write(
        _ rows: [String], _ plan: ExperimentPlan, to folder: ExperimentFolder, jobs: Int, _ clock: ExperimentClock,
        _ cost: CaseCrew.Cost
    ) throws {
        let cells = RunList.cells(of: rows)
        let bootstrap = Bootstrap.standard
        let comparison = Comparison(
            plan: plan, asked: options.policies.count, metrics: metrics.isEmpty ? MetricSense.usual : metrics,
            bootstrap: bootstrap, summaries: cells)
        let runs = RunList("runs", of: plan)
        try folder.directory.write(try plan.json(), to: "plan.json")
        try folder.directory.write(
            try DataPackage.json(
                name: "compare", title: "A comparison of policies by Plimsoll",
                tables: [Comparison.schema, runs.schema]), to: "datapackage.json")
        try folder.write(runs.schema) { table in
            for (index, row) in cells.enumerated() { runs.write(index, summary: row, to: table) }
        }
        try folder.write(Comparison.schema) { comparison.write(to: $0) }
        try note(
            .completed, plan, in: folder, jobs: jobs, clock, cost,
            intervals: "BCa bootstrap of paired differences, \(bootstrap.resamples) resamples, "
                + "confidence \(bootstrap.confidence)")
        guard !options.quiet else { return }
        let seconds = String(format: "%.1f s, %.1f s of CPU", clock.seconds, cost.cpuSeconds)
        let done = "\(plan.count.counted("run")) in \(seconds), \(jobs) at a time; written to \(folder.path)"
        switch options.format {
        case .text: Terminal.say(([comparison.text, done, ""] + comparison.conclusions).joined(separator: "\n"))
        case .markdown:
            Terminal.complain(done)
            Terminal.say(comparison.markdown)
        }
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
