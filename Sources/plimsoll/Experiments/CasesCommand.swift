import ArgumentParser
import Experiments
import Foundation
import RunFolders

/// Runs the cases that another process handed out; `Scripts/sweep-on` starts it on a worker, not people.
///
/// Stdin holds a `CaseRequest` per line. Stdout gets a `CaseEnding` per line as soon as a run ends. The status is 0
/// even if runs fail: their ends say so.
struct CasesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cases", abstract: "Makes runs of compare or sweep for another machine.",
        usage: "plimsoll cases [--jobs <jobs>]", shouldDisplay: false)

    @Option(parsing: .unconditional, transform: { try OptionValue.count($0, in: 1...1024) })
    var jobs = 1

    func run() throws {
        try reporting {
            let lines = FileHandle.standardInput.readDataToEndOfFile().split(separator: UInt8(ascii: "\n"))
            let requests = try lines.map { line in
                guard let request = JSONDocument.read(CaseRequest.self, Data(line)) else {
                    throw Failure(.wrongUsage, "standard input does not hold cases, one per line")
                }
                return request
            }
            Interruption.install()
            var (waiting, workers) = (requests.makeIterator(), LocalWorkers(jobs: jobs))
            while Interruption.signalNumber == 0 {
                while workers.hasRoom, let next = waiting.next() { try workers.start(next) }
                if workers.isIdle { return .success }
                let ended = workers.collect()
                // A signal may have ended the run and be meant for this process, too.
                guard Interruption.signalNumber == 0 else { break }
                for each in ended { Terminal.say(String(try JSONDocument.line(each).dropLast())) }
            }
            return ExitCode(128 + Interruption.signalNumber)
        }
    }
}
