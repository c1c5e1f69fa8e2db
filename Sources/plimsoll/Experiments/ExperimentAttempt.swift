import ArgumentParser
import Experiments
import Foundation
import RunFolders
import Scenario

/// One attempt at an experiment: makes the runs that its folder lacks, and books each as it ends. `compare` and `sweep`
/// share it.
struct ExperimentAttempt {
    let options: ExperimentOptions
    let planner: ExperimentPlanner
    let jobs: Int
    /// The value of `--out`.
    let out: String?
    let resume: Bool
    let clock: ExperimentClock

    /// Makes the runs. An interrupted attempt says how to go on, and ends with its status.
    ///
    /// - Returns: The cost. Failed runs are counted in it.
    func run(_ booked: inout BookedFolder) throws -> CaseCrew.Cost {
        booked.takeWarningOfMixture().map(Terminal.complain)
        let before = booked.ledger.finished
        let missing = booked.planned - before
        if before > 0, !options.quiet {
            Terminal.complain("\(before.counted("run")) finished before, \(missing) to do")
        }
        do {
            if missing > 0 { try booked.note(CaseCrew.Cost(), clock, jobs: jobs) }
            let crew = CaseCrew(plan: booked.plan, handOut: options.handOut)
            let progress = CaseProgress(total: booked.planned, before: before, quiet: options.quiet)
            let workers = try planner.workers(
                for: missing, of: booked.plan, jobs: jobs, tellingShares: progress.isShown)
            return try crew.run(booked.unfinished, by: workers, progress) { rows, cost in
                try booked.book(rows)
                try booked.note(cost, clock, jobs: jobs)
            }
        } catch let interrupted as CaseCrew.Interrupted {
            throw try end(booked, interrupted)
        } catch {
            booked.withdrawIfBlank()
            throw error
        }
    }

    /// Ends the attempt if a signal came after the last run, while the tables were being computed.
    func endIfAsked(_ booked: BookedFolder, _ cost: CaseCrew.Cost) throws {
        guard Interruption.signalNumber != 0 else { return }
        throw try end(booked, CaseCrew.Interrupted(signal: Interruption.signalNumber, cost: cost))
    }

    /// Says how to go on.
    ///
    /// - Returns: The exit status.
    private func end(_ booked: BookedFolder, _ interrupted: CaseCrew.Interrupted) throws -> ExitCode {
        let isNothingKept = booked.withdrawIfBlank()
        let runs = "\(booked.ledger.finished) of \(booked.planned.counted("run"))"
        var said =
            isNothingKept
            ? "plimsoll: interrupted before a run was finished; nothing is kept"
            : "plimsoll: interrupted; \(runs) finished, kept in \(booked.path)"
        // The process that hands out the runs says how to start it again.
        if options.handOut == nil {
            let command = isNothingKept ? command(adding: []) : continuing(in: booked.path)
            said += ". \(isNothingKept ? "Begin again" : "Go on") with:\n\(command)"
        }
        Terminal.complain(said)
        if !isNothingKept { try booked.note(interrupted.cost, clock, jobs: jobs, ending: .interrupted) }
        return ExitCode(128 + interrupted.signal)
    }

    /// The command that goes on, as a line for a shell.
    private func continuing(in folder: String) -> String {
        command(adding: (out == nil ? ["--out", folder] : []) + (resume ? [] : ["--resume"]))
    }

    /// This process's command with further options.
    private func command(adding options: [String]) -> String {
        var words = [NextSteps.program] + CommandLine.arguments.dropFirst()
        // After `--` an option would count as a scenario.
        words.insert(contentsOf: options, at: words.firstIndex(of: "--") ?? words.endIndex)
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}
