import ArgumentParser
import Interchange
import Plan
import RunFolders
import Scenario
import Simulation

/// One run of `plimsoll run`: makes it with its progress on the terminal, and prints what came of it.
struct ScenarioRun {
    let plan: RunPlan
    let command: RunCommand

    func run() throws -> ExitCode {
        try command.checks.check(keeping: [command.scenario], besides: command.out)
        let run = try FolderRun(plan, command.order)
        let traces = try TraceFiles(plan)
        if !command.ignoreHost { try HostMachine.check(plan, traces, flag: "--ignore-host") }
        if !command.summaryOnly, let text = OutputEstimate(plan).text {
            Terminal.complain("plimsoll: warning: \(text)")
        }
        let played = try run.play(traces, play)
        if let detail = played.ending.detail, played.ending.signal == 0 { Terminal.complain("plimsoll: \(detail)") }
        let (manifest, warnings) = try run.finish(played)
        try report(played, manifest, warnings)
        try command.checks.tell(
            CheckReport(of: plan, manifest), keeping: [command.scenario], besides: played.path)
        return ExitCode(manifest.ending.exitStatus)
    }

    private func play(_ simulation: Simulation) -> FolderRun.Ending {
        let live = command.live ? LiveView(plan, speed: command.speed, isDryRun: command.dryRun) : nil
        if live != nil { simulation.keepEvents() }
        let progress = Progress(total: plan.duration, quiet: command.quiet || command.live)
        defer {
            progress.finish()
            live?.finish()
        }
        // A local copy, as the closure below reads it at every sample.
        let lifeline = command.lifeline
        do {
            let ending = try simulation.run(
                shouldStop: { Interruption.isAsked(lifeline: lifeline) },
                progress: {
                    progress.update($0)
                    live?.update(simulation)
                })
            switch ending {
            case .completed: return .completed
            case .interrupted: return .interrupted(by: Interruption.signalNumber, at: simulation.now)
            }
        } catch {
            return .failed(error)
        }
    }

    private func report(
        _ played: FolderRun.Played, _ manifest: Manifest, _ warnings: [MeasurementWarning]
    ) throws {
        let lines = plan.warnings(from: "plimsoll") + warnings.map { "plimsoll: warning: \($0.brief)" }
        if !command.quiet { lines.forEach(Terminal.complain) }
        let failed = zip(manifest.expectations, plan.expectations).filter { !$0.0.held }
        for (result, claim) in failed {
            Terminal.complain("plimsoll: expectation failed: \(RunReport.failure(result, of: claim, in: manifest))")
        }
        guard !command.quiet, manifest.ending.ending != "failed" else { return }
        let next = NextSteps(
            plan: plan, tally: played.tally, failing: failed.compactMap(\.1.app), folder: played.path,
            policyFile: manifest.plan.policyFile,
            offersReport: !command.summaryOnly && !command.reportFollows, isDryRun: command.dryRun,
            seconds: command.live ? manifest.times.cpuS : manifest.times.wallS)
        let report = RunReport(
            plan, played, manifest, hasTables: !command.summaryOnly, next: next.commands)
        switch command.format {
        case .text: Terminal.say(report.text(Terminal.painted))
        case .json: Terminal.say(try report.json())
        }
    }
}
