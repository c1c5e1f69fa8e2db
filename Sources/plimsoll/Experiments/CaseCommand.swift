import ArgumentParser
import Foundation
import Memory
import Quantities
import RunFolders
import Scenario

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
    @Option var prices = ""

    func run() throws {
        try reporting {
            HostMachine.volunteerForOutOfMemory()
            Terminal.say(try lines())
            return .success
        }
    }

    /// Makes the run, and says how much of it is done.
    func lines() throws -> String {
        var run = CaseRun(
            scenario, Overrides(sets: sets, seed: seed, policy: policy, backend: backend, scale: scale))
        (run.tellsWaits, run.lostAgainst, run.prices) = (tellWaits, lostAgainst, prices)
        var share = CaseShare()
        return try run.lines { done in
            if tellShares, let line = share.line(done) { Terminal.say(line) }
        }
    }
}

/// Makes one run after another. A hidden command: experiments on the accounting backend and `Scripts/tune` start it,
/// because a process of its own takes longer to begin than a short run takes to end.
///
/// A line of stdin is a JSON array: the words after `plimsoll case`. A line of stdout answers it: the status that the
/// command would have had, and what it would have written to stdout and stderr.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Makes runs for another program: a line in, a line out.", shouldDisplay: false)

    func run() throws {
        try reporting {
            HostMachine.volunteerForOutOfMemory()
            var spent = 0.0
            while let line = readLine() {
                guard let words = JSONDocument.read([String].self, Data(line.utf8)) else {
                    throw Failure(.wrongUsage, "standard input does not hold the words of a case, as an array of JSON")
                }
                let answer = answer(words).withCost(since: &spent)
                Terminal.say(String(try JSONDocument.line(answer).dropLast()))
            }
            return .success
        }
    }

    private func answer(_ words: [String]) -> CaseAnswer {
        do {
            return CaseAnswer(output: try CaseCommand.parse(words).lines())
        } catch {
            return CaseAnswer(Failure(of: error) ?? Failure(.wrongUsage, CaseCommand.message(for: error)))
        }
    }
}
