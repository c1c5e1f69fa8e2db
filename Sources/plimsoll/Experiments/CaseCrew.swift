import Experiments
import Foundation
import Metrics

/// Runs the cases of a plan, each in a process of its own and `jobs` at a time, and passes on their rows as they end.
struct CaseCrew {
    let plan: ExperimentPlan
    let jobs: Int
    let quiet: Bool

    /// The path of this program: its name while that is still the running file, otherwise `/proc/self/exe`, which stays
    /// valid when the file is replaced.
    private static var program: String {
        let running = "/proc/self/exe"
        let name = (try? FileManager.default.destinationOfSymbolicLink(atPath: running)) ?? running
        return RunDirectory.isSame(name, running) ? name : running
    }

    /// The cost of an experiment, for its manifest.
    struct Cost {
        var runs = 0
        var cpuSeconds = 0.0
        var peakKibibytes = 0
        var failures = 0
        /// The status of the first run that failed.
        var firstFailure: ExitStatus?
    }

    /// A signal interrupted the experiment.
    struct Interrupted: Error {
        let signal: Int32
        let cost: Cost
    }

    /// After this number of failed runs, no further run starts.
    static let mostFailures = 10

    /// - Parameters:
    ///   - cases: Indices of the plan, in the order in which the runs start.
    ///   - total: The number of cases, for the progress line.
    ///   - finished: Gets the index and row of each successful run, in the order of their ends, and the cost so far.
    /// - Returns: The cost. Failed runs are counted in it and reported on stderr with their case.
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
                // A signal may have ended the child and be meant for this process, too.
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

    /// Waits until a process writes or ends, at most 250 ms, so that signals are noticed.
    private static func listen(to running: [Running]) {
        let pipes = running.flatMap { [$0.child.outputPipe, $0.child.errorPipe] }
        // poll(2) ignores negative descriptors.
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
                throw Failure(.invalidInput, "\(path) or a policy file was changed after the runs were planned")
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
