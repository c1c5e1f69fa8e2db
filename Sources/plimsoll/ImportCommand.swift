import ArgumentParser
import Foundation
import Interchange
import Scenario

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a scenario of what was recorded elsewhere.",
        subcommands: [ImportJetsamEvent.self, ImportMemoryReplay.self])
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
                try write(trace.scenario(in: folder), to: out)
            }
            Terminal.say(trace.report)
            return ExitStatus.done.code
        }
    }
}

struct ImportJetsamEvent: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jetsam-event",
        abstract: "Reads a JetsamEvent report (.ips) of iOS 10 or later, and writes a scenario of the state it shows.",
        discussion: """
            The device gets the report's memory; every process that is an app is launched, the least recently used
            first, until the same apps are in the same bands in the same order with the footprints of the report.
            The scenario says in comments what was decided. Exit status 65 when the report is broken, with line and
            column; 66 when the file is missing.

            EXAMPLES
              plimsoll import jetsam-event JetsamEvent-2020-10-15-172958.ips
              plimsoll import jetsam-event report.ips --out state.yaml && plimsoll run state.yaml
            """)

    @Argument(help: "The report.")
    var file: String

    @Option(help: "The scenario to write; without it, only the figures are printed.")
    var out: String?

    func run() throws {
        try reporting {
            let report: JetsamEventImport
            do throws(ScenarioFault) {
                report = try JetsamEventImport(path: file)
            } catch {
                throw Failure(error.status, [error.description])
            }
            if let out { try write(report.scenario, to: out) }
            Terminal.say(report.summary)
            return ExitStatus.done.code
        }
    }
}

/// Writes an imported scenario.
private func write(_ scenario: String, to path: String) throws {
    do {
        try Data(scenario.utf8).write(to: URL(filePath: path))
    } catch {
        throw Failure(.cannotCreate, "\(path) cannot be written: \(error.localizedDescription)")
    }
}
