import Experiments
import Foundation
import Metrics

/// Is told how the runs of an experiment go on.
package protocol CaseListener {
    /// A run begins; `index` is its place in the plan.
    mutating func begin(_ index: Int)
    /// A share of the run is done, from 0 to 1.
    mutating func advance(_ index: Int, to share: Double)
    /// The run is over.
    mutating func end(_ index: Int)
    /// So many runs are over; comes some times a second.
    mutating func update(done: Int)
    /// A run failed: lines for people.
    func complain(_ line: String)
    /// No run is under way any more.
    func finish()
}

/// Runs the cases of a plan with workers, and passes on their rows as they end.
package struct CaseCrew {
    private let plan: ExperimentPlan
    private let handOut: HandOut.Pipes?

    /// - Parameter handOut: The pipes to the process that has the runs made elsewhere; nil to make them here.
    package init(plan: ExperimentPlan, handOut: HandOut.Pipes?) { (self.plan, self.handOut) = (plan, handOut) }

    /// The cost of an experiment, for its manifest.
    package struct Cost {
        package var runs = 0
        /// User and system CPU time of all runs.
        package var cpuSeconds = 0.0
        /// The peak resident memory of one run.
        package var peakKibibytes = 0
        package var failures = 0
        /// The status of the first run that failed.
        package var firstFailure: ExitStatus?

        package init(runs: Int = 0, cpuSeconds: Double = 0, peakKibibytes: Int = 0) {
            (self.runs, self.cpuSeconds, self.peakKibibytes) = (runs, cpuSeconds, peakKibibytes)
        }
    }

    /// A signal interrupted the experiment.
    package struct Interrupted: Error {
        package let signal: Int32
        package let cost: Cost

        package init(signal: Int32, cost: Cost) { (self.signal, self.cost) = (signal, cost) }
    }

    /// After this number of failed runs, no further run starts.
    package static let mostFailures = 10

    /// - Parameters:
    ///   - cases: Indices of the plan, in the order in which the runs start.
    ///   - workers: Make the runs.
    ///   - listener: Is told about each run, and finished at the end.
    ///   - finished: Gets the indices and rows of successful runs, in the order of their ends, and the cost so far.
    /// - Returns: The cost. Failed runs are counted in it and reported on stderr with their case.
    package func run(
        _ cases: some Sequence<Int>, by workers: any CaseWorkers, _ listener: any CaseListener,
        finished: ([(Int, String)], Cost) throws -> Void
    ) throws -> Cost {
        var (cost, waiting, listener) = (Cost(), cases.makeIterator(), listener)
        var (workers, isClosed, next) = (workers, false, waiting.next())
        defer { listener.finish() }
        while true {
            try stopWhenAsked(cost)
            let isEnough = cost.failures >= CaseCrew.mostFailures
            while !isEnough, workers.hasRoom, let index = next {
                try workers.start(CaseRequest(index: index, arguments: arguments(of: index)))
                listener.begin(index)
                next = waiting.next()
            }
            if !isClosed, isEnough || next == nil {
                workers.close(abandoning: isEnough)
                isClosed = true
            }
            if isClosed && workers.isIdle { return cost }
            for (index, share) in workers.shares { listener.advance(index, to: share) }
            listener.update(done: cost.runs)
            let endings = try workers.collect()
            // A signal may have ended the runs and be meant for this process, too.
            try stopWhenAsked(cost)
            for each in endings { listener.end(each.index) }
            try account(endings, &cost, listener, finished)
        }
    }

    private func stopWhenAsked(_ cost: Cost) throws {
        guard Interruption.signalNumber == 0 else { throw Interrupted(signal: Interruption.signalNumber, cost: cost) }
    }

    /// The words of a case after `plimsoll case`.
    private func arguments(of index: Int) -> [String] {
        let each = plan.experimentCase(at: index)
        var arguments: [String] = []
        if let seed = each.seed { arguments += ["--seed", "\(seed)"] }
        if let policy = plan.policies[each.policy] {
            arguments += ["--policy=\(policy.fingerprint == nil ? policy.given : place(of: policy.given))"]
        }
        if let backend = plan.backend { arguments += ["--backend", backend] }
        if let scale = plan.scale { arguments += ["--scale", scale] }
        // Only beside the yardstick that has unlimited memory can be said what a person lost.
        if plan.yardstick != nil { arguments.append("--tell-waits") }
        for assignment in plan.assignments(ofCombination: each.combination, policy: each.policy) {
            arguments.append("--set=\(assignment)")
        }
        return arguments + ["--", place(of: plan.scenarios[each.scenario].path)]
    }

    /// The path of a file where the runs are made.
    private func place(of path: String) -> String { handOut == nil ? path : HandOut.File(path).place }

    /// Adds the ends of runs to the cost, and passes on the rows of those that succeeded, even if another is a fault.
    private func account(
        _ endings: [CaseEnding], _ cost: inout Cost, _ listener: any CaseListener,
        _ finished: ([(Int, String)], Cost) throws -> Void
    ) throws {
        var rows: [(Int, String)] = []
        do {
            for ending in endings {
                if let row = try row(of: ending, &cost, listener) { rows.append((ending.index, row)) }
            }
        } catch {
            if !rows.isEmpty { try finished(rows, cost) }
            throw error
        }
        if !rows.isEmpty { try finished(rows, cost) }
    }

    /// Adds the end of a run to the cost; nil if it failed.
    private func row(of ending: CaseEnding, _ cost: inout Cost, _ listener: any CaseListener) throws -> String? {
        cost.cpuSeconds += ending.cpuSeconds
        cost.peakKibibytes = max(cost.peakKibibytes, ending.peakKibibytes)
        cost.runs += 1
        let each = plan.experimentCase(at: ending.index)
        let lines = ending.output.split(separator: "\n").map(String.init)
        if ending.status == 0, lines.count == 2 {
            let planned = [plan.scenarios[each.scenario].fingerprint, plan.policies[each.policy]?.fingerprint]
            guard lines[0] == planned.compactMap(\.self).joined(separator: " ") else {
                let path = plan.scenarios[each.scenario].path
                throw Failure(.invalidInput, "\(path) or a policy file was changed after the runs were planned")
            }
            return lines[1]
        }
        cost.failures += 1
        let status = ExitStatus(rawValue: ending.status) ?? .internalFault
        cost.firstFailure = cost.firstFailure ?? (status == .done ? .internalFault : status)
        let said = inOwnWords(ending.errors).split(separator: "\n")
        let how = ending.status > 128 ? "was ended by signal \(ending.status - 128)" : "ended with \(ending.status)"
        listener.complain("plimsoll: case \(each.number) (\(plan.title(of: each))) \(how)")
        for line in said { listener.complain("  " + line) }
        return nil
    }

    /// What a run said, with the paths of files as they were given.
    private func inOwnWords(_ said: String) -> String {
        guard handOut != nil else { return said }
        let paths = plan.scenarios.map(\.path) + plan.policies.compactMap { $0?.fingerprint == nil ? nil : $0?.given }
        return paths.reduce(said) { $0.replacingOccurrences(of: place(of: $1), with: $1) }
    }
}
