import Experiments
import Foundation
import Metrics

/// Runs the cases of a plan, so many at a time, each in a process of its own, and hands out their rows as they finish.
struct CaseCrew {
    let plan: ExperimentPlan
    let jobs: Int
    let quiet: Bool

    /// This program, even when its file is replaced meanwhile: by its name as long as that is still the same file.
    private static var program: String {
        let running = "/proc/self/exe"
        let name = (try? FileManager.default.destinationOfSymbolicLink(atPath: running)) ?? running
        return RunDirectory.isSame(name, running) ? name : running
    }

    /// What an experiment cost, for its manifest.
    struct Cost {
        var runs = 0
        var cpuSeconds = 0.0
        var peakKibibytes = 0
        var failures = 0
        /// Of the first run that failed.
        var firstFailure: ExitStatus?
    }

    /// The experiment was interrupted by a signal.
    struct Interrupted: Error {
        let signal: Int32
        let cost: Cost
    }

    /// After so many failed runs the rest is not tried.
    static let mostFailures = 10

    /// - Parameters:
    ///   - cases: Indices of the plan, run in this order as far as there is room.
    ///   - total: How many these are, for the progress.
    ///   - finished: Told the row of every run that succeeded, in the order in which they end, and what all have cost.
    /// - Returns: What it cost. Runs that fail are said on stderr with their case, and counted.
    func run(
        _ cases: some Sequence<Int>, total: Int, finished: (Int, String, Cost) throws -> Void
    ) throws -> Cost {
        Interruption.install()
        var (cost, waiting) = (Cost(), cases.makeIterator())
        var progress = CaseProgress(total: total, quiet: quiet)
        defer { progress.finish() }
        var running: [Running] = []
        while true {
            try stopWhenAsked(cost)
            while running.count < jobs, cost.failures < CaseCrew.mostFailures, let index = waiting.next() {
                running.append(Running(index: index, child: try ChildProcess(CaseCrew.program, arguments(of: index))))
            }
            if running.isEmpty { return cost }
            progress.update(done: cost.runs)
            CaseCrew.listen(to: running)
            for each in running where each.child.isSilent {
                let ending = each.child.end()
                // A signal may have ended us both.
                try stopWhenAsked(cost)
                try account(each.index, ending, &cost, finished)
            }
            running.removeAll(where: \.child.isSilent)
        }
    }

    private struct Running {
        let index: Int
        let child: ChildProcess
    }

    /// Waits until a process says something or ends, or a moment has gone by in which a signal may have come.
    private static func listen(to running: [Running]) {
        let pipes = running.flatMap { [$0.child.outputPipe, $0.child.errorPipe] }
        // A negative descriptor is passed over.
        var questions = pipes.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&questions, nfds_t(questions.count), 250) > 0 else { return }
        for (position, each) in running.enumerated() {
            if questions[2 * position].revents != 0 { each.child.readOutput() }
            if questions[2 * position + 1].revents != 0 { each.child.readErrors() }
        }
    }

    private func stopWhenAsked(_ cost: Cost) throws {
        guard Interruption.signalNumber == 0 else { throw Interrupted(signal: Interruption.signalNumber, cost: cost) }
    }

    /// The command line of a case.
    func arguments(of index: Int) -> [String] {
        let each = plan.experimentCase(at: index)
        var arguments = ["case"]
        if let seed = each.seed { arguments += ["--seed", "\(seed)"] }
        if let policy = plan.policies[each.policy] { arguments += ["--policy=\(policy.given)"] }
        if let backend = plan.backend { arguments += ["--backend", backend] }
        if let scale = plan.scale { arguments += ["--scale", scale] }
        for assignment in plan.assignments(ofCombination: each.combination) { arguments.append("--set=\(assignment)") }
        return arguments + ["--", plan.scenarios[each.scenario].path]
    }

    private func account(
        _ index: Int, _ ending: ChildProcess.Ending, _ cost: inout Cost,
        _ finished: (Int, String, Cost) throws -> Void
    ) throws {
        cost.cpuSeconds += ending.cpuSeconds
        cost.peakKibibytes = max(cost.peakKibibytes, ending.peakKibibytes)
        cost.runs += 1
        let each = plan.experimentCase(at: index)
        let lines = String(decoding: ending.output, as: UTF8.self).split(separator: "\n").map(String.init)
        if ending.status == 0, lines.count == 2 {
            let planned = [plan.scenarios[each.scenario].fingerprint, plan.policies[each.policy]?.fingerprint]
            guard lines[0] == planned.compactMap(\.self).joined(separator: " ") else {
                let path = plan.scenarios[each.scenario].path
                throw Failure(.invalidInput, "\(path) or a policy file was changed since the runs were planned")
            }
            return try finished(index, lines[1], cost)
        }
        cost.failures += 1
        let status = ExitStatus(rawValue: ending.status) ?? .internalFault
        cost.firstFailure = cost.firstFailure ?? (status == .done ? .internalFault : status)
        let said = String(decoding: ending.errors, as: UTF8.self).split(separator: "\n").map(String.init)
        let how = ending.status > 128 ? "was ended by signal \(ending.status - 128)" : "ended with \(ending.status)"
        Terminal.complain("plimsoll: case \(each.number) (\(plan.title(of: each))) \(how)")
        for line in said { Terminal.complain("  " + line) }
    }
}
