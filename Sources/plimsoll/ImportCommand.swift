import ArgumentParser
import Foundation
import Interchange
import Scenario

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a scenario of what was recorded elsewhere.",
        subcommands: [ImportMemoryReplay.self])
}

struct ImportMemoryReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory-replay",
        abstract: "Reads an allocation trace (Android's memory_replay format), counts it, and writes a scenario.",
        discussion: """
            The trace is plain text; unpack a zip first. It is read line by line and stays where it is: the
            scenario names it. Exit status 65 when a line is broken, 66 when the file is missing.

            EXAMPLES
              plimsoll import memory-replay trace.txt
              plimsoll import memory-replay trace.txt --out replay.yaml && plimsoll run replay.yaml
            """)

    @Argument(help: "The trace.")
    var file: String

    @Option(help: "The scenario to write; without it, only the counts are printed.")
    var out: String?

    func run() throws {
        try reporting {
            let trace: MemoryReplayImport
            do throws(ScenarioFault) {
                trace = try MemoryReplayImport(path: file)
            } catch {
                throw Failure(error.status, [error.description])
            }
            if let out {
                let folder = URL(filePath: out).deletingLastPathComponent().path(percentEncoded: false)
                do {
                    try Data(trace.scenario(in: folder).utf8).write(to: URL(filePath: out))
                } catch {
                    throw Failure(.cannotCreate, "\(out) cannot be written: \(error.localizedDescription)")
                }
            }
            Terminal.say(trace.report)
            return ExitStatus.done.code
        }
    }
}
