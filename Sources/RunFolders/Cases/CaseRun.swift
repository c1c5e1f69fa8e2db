import Experiments
import Foundation
import Interchange
import Metrics
import Plan
import Quantities
import Scenario
import Simulation

/// A run of an experiment or of a search, in this process. It writes no folder.
package struct CaseRun {
    /// The scenario's path.
    package var scenario: String
    package var overrides: Overrides
    /// Adds what the person waited for, for `seconds_lost`.
    package var tellsWaits = false
    /// A file with another run's waits, as `tellsWaits` adds them: a third line says what is lost against them.
    package var lostAgainst: String?
    /// What counts there for an end in front and for a lost launch: `END,LAUNCH`; what is left out is as usual.
    package var prices = ""

    package init(_ scenario: String, _ overrides: Overrides) { (self.scenario, self.overrides) = (scenario, overrides) }

    /// Makes the run.
    ///
    /// - Parameter progress: Gets the share that is done.
    /// - Returns: The fingerprints of the scenario and of the policy file that were read, and the row of the ledger.
    /// - Throws: `ScenarioFault`, `Failure`, and what a run throws.
    package func lines(progress: (Double) -> Void = { _ in }) throws -> String {
        let files = [scenario] + [overrides.policy].compactMap(\.self).filter(PolicyFile.isFile)
        let fingerprints = files.map { Fingerprint(ofFile: $0).description }.joined(separator: " ")
        let plan = try ScenarioLoader.load(path: scenario, overrides: overrides).get()
        return "\(fingerprints)\n\(try summary(of: plan, try TraceFiles(plan), progress))"
    }

    private func summary(of plan: RunPlan, _ traces: TraceFiles, _ progress: (Double) -> Void) throws -> String {
        let memory = try HostMachine.makeDevice(of: plan)
        let sink = MemorySink()
        let sinks = RunSinks { schema -> any ByteSink in
            schema.name == RunTables.summary.name ? sink as any ByteSink : NullSink()
        }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, traces: traces)
        let length = Double(max(1, plan.duration.microseconds))
        let ending = try simulation.run(
            shouldStop: { Interruption.isAbandoned },
            progress: { progress(Double(($0 - Instant.zero).microseconds) / length) })
        guard ending == .completed else { throw Failure(.internalFault, "the run was abandoned") }
        let lines = sink.text.split(separator: "\n")
        guard lines.count == 2 else { throw Failure(.internalFault, "the summary has \(lines.count) lines, not 2") }
        let whole = tellsWaits ? RunRow(summary: String(lines[1]), of: simulation.tally).text : String(lines[1])
        guard let lostAgainst else { return whole }
        guard let text = try? String(contentsOfFile: lostAgainst, encoding: .utf8),
            let other = PersonWaits(parsing: text)
        else { throw Failure(.missingInput, "\(lostAgainst) holds no waits of a run") }
        let lost = PersonWaits(simulation.tally).lost(against: other, try parsedPrices())
        return "\(whole)\n\(Double(lost.microseconds) / 1_000_000)"
    }

    private func parsedPrices() throws -> PersonWaits.Prices {
        let (parts, usual) = (prices.split(separator: ",", omittingEmptySubsequences: false), PersonWaits.Prices())
        func price(_ place: Int, _ otherwise: TimeSpan) throws -> TimeSpan {
            guard parts.count > place, !parts[place].isEmpty else { return otherwise }
            guard let time = try? TimeSpan(parsing: String(parts[place])) else {
                throw Failure(.wrongUsage, "--prices \(prices): expected two times, such as 10s,5s")
            }
            return time
        }
        return .init(end: try price(0, usual.end), launch: try price(1, usual.launch))
    }
}

/// What `plimsoll serve` answers about a run; one line of JSON.
package struct CaseAnswer: Codable {
    /// The status that `plimsoll case` would have ended with.
    let status: Int32
    /// What it would have written to stdout and stderr.
    let output: String
    let errors: String
    /// User and system CPU time of the process since its answer before this one, or since its start.
    private(set) var cpuSeconds = 0.0
    /// The peak resident memory of the process so far.
    private(set) var peakKibibytes = 0

    /// A run that was made.
    package init(output: String) { (status, self.output, errors) = (ExitStatus.done.rawValue, output, "") }

    /// A run that was not.
    package init(_ failure: Failure) {
        (status, output, errors) = (failure.status.rawValue, "", failure.lines.joined(separator: "\n"))
    }

    /// The same answer with its cost.
    ///
    /// - Parameter spent: The CPU time until the answer before; gets that until this one.
    package func withCost(since spent: inout Double) -> CaseAnswer {
        var answer = self
        let now = HostMachine.cpuSeconds
        (answer.cpuSeconds, answer.peakKibibytes) = (now - spent, HostMachine.peakKibibytes)
        spent = now
        return answer
    }
}
