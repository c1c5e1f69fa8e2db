import ArgumentParser
import Experiments
import Foundation
import Interchange
import Memory
import Metrics
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation

/// Makes one run of an experiment. A hidden command: experiments and `Scripts/tune` start it in a process.
///
/// It writes no folder. It prints the fingerprints of the scenario and the policy file that it read, and the row of
/// the ledger. It exits as soon as its parent process is gone, because its standard input closes then.
struct CaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "case", abstract: "Makes one run of compare or sweep.",
        usage: "plimsoll case [<options>] <scenario>", shouldDisplay: false)

    @Argument var scenario: String
    @Option(transform: OptionValue.seed) var seed: UInt64?
    @Option var policy: String?
    @Option var backend: MemoryBackend?
    @Option(transform: OptionValue.scale) var scale: Ratio?
    @Option(name: .customLong("set")) var sets: [String] = []
    /// Says four times a second how much of the run is done.
    @Flag var tellShares = false
    /// Adds what the person waited for, for `seconds_lost`.
    @Flag var tellWaits = false
    /// A file with another run's waits, as `--tell-waits` prints them; a third line says what is lost against them.
    @Option var lostAgainst: String?

    func run() throws {
        try reporting {
            HostMachine.volunteerForOutOfMemory()
            let overrides = Overrides(sets: sets, seed: seed, policy: policy, backend: backend, scale: scale)
            let files = [scenario] + [policy].compactMap(\.self).filter(PolicyFile.isFile)
            let fingerprints = files.map { Fingerprint(ofFile: $0).description }.joined(separator: " ")
            let plan = try ScenarioLoader.load(path: scenario, overrides: overrides).get()
            let row = try summary(of: plan, try TraceFiles(plan))
            Terminal.say("\(fingerprints)\n\(row)")
            return .success
        }
    }

    /// The row of the ledger.
    private func summary(of plan: RunPlan, _ traces: TraceFiles) throws -> String {
        let memory = try HostMachine.makeDevice(of: plan)
        let sink = MemorySink()
        let sinks = RunSinks { schema -> any ByteSink in
            schema.name == RunTables.summary.name ? sink as any ByteSink : NullSink()
        }
        let simulation = Simulation(plan, memory: memory, sinks: sinks, traces: traces)
        var share = CaseShare()
        let length = Double(max(1, plan.duration.microseconds))
        let ending = try simulation.run(
            shouldStop: { Interruption.isAbandoned },
            progress: { now in
                guard tellShares, let line = share.line(Double((now - Instant.zero).microseconds) / length) else {
                    return
                }
                Terminal.say(line)
            })
        guard ending == .completed else { throw ExitStatus.internalFault.code }
        let lines = sink.text.split(separator: "\n")
        guard lines.count == 2 else { throw Failure(.internalFault, "the summary has \(lines.count) lines, not 2") }
        let whole = tellWaits ? RunRow(summary: String(lines[1]), of: simulation.tally).text : String(lines[1])
        guard let lostAgainst else { return whole }
        guard let text = try? String(contentsOfFile: lostAgainst, encoding: .utf8),
            let other = PersonWaits(parsing: text)
        else { throw Failure(.missingInput, "\(lostAgainst) holds no waits of a run") }
        let lost = PersonWaits(simulation.tally).lost(against: other, .init())
        return "\(whole)\n\(Double(lost.microseconds) / 1_000_000)"
    }
}
