import ArgumentParser
import Foundation
import Interchange
import Quantities
import Scenario

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a scenario of what was recorded elsewhere.",
        subcommands: [ImportJetsamEvent.self, ImportMemoryReplay.self, ImportAppUsage.self])
}

struct ImportMemoryReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory-replay",
        abstract: "Reads an allocation trace (Android's memory_replay format), counts it, and writes a scenario.",
        discussion: """
            The trace is plain text; unpack a zip first. It is read line by line and stays where it is: the
            scenario names it. Exit status 65 when a line is broken, 66 when the file is missing, \
            73 when --out exists or cannot be created, 74 when it cannot be written.

            EXAMPLES
              plimsoll import memory-replay trace.txt
              plimsoll import memory-replay trace.txt --out replay.yaml && plimsoll run replay.yaml
            """)

    @Argument(help: "The trace.")
    var file: String

    @OptionGroup var output: ImportOutput

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "trace"))
            let trace: MemoryReplayImport
            do throws(ScenarioFault) {
                trace = try MemoryReplayImport(path: file)
            } catch {
                throw Failure(error.status, [error.description])
            }
            if let out = output.out {
                let folder = URL(filePath: out).deletingLastPathComponent().path(percentEncoded: false)
                try output.write(trace.scenario(in: folder))
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
            column; 66 when the file is missing; 73 when --out exists or cannot be created, 74 when it cannot be
            written.

            EXAMPLES
              plimsoll import jetsam-event JetsamEvent-2020-10-15-172958.ips
              plimsoll import jetsam-event report.ips --out state.yaml && plimsoll run state.yaml
            """)

    @Argument(help: "The report.")
    var file: String

    @OptionGroup var output: ImportOutput

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "report"))
            let report: JetsamEventImport
            do throws(ScenarioFault) {
                report = try JetsamEventImport(path: file)
            } catch {
                throw Failure(error.status, [error.description])
            }
            try output.write(report.scenario)
            Terminal.say(report.summary)
            return ExitStatus.done.code
        }
    }
}

struct ImportAppUsage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-usage",
        abstract:
            "Reads a trace of who used which app when, and writes a scenario of one user's launches and switches.",
        discussion: """
            Two forms are read; the first line names the columns: timestamp,user,app,event with commas (opened,
            closed), and LSApp's user_id, session_id, timestamp, app_name, event_type with tabs. Exit status 65 when a
            line is broken, with line and column; 66 when the file is missing; 73 when --out exists or cannot be
            created, 74 when it cannot be written.

            EXAMPLES
              plimsoll import app-usage usage.csv --user 17
              plimsoll import app-usage lsapp.tsv --user 0 --longest-idle 10min --out day.yaml && plimsoll run day.yaml
            """)

    @Argument(help: "The trace.")
    var file: String

    @Option(help: "The user to follow; needed when the trace holds several.")
    var user: String?

    @Option(
        parsing: .unconditional,
        help: "Times in which no app is in front are shortened to this, such as 10min; they are kept if not given.",
        transform: OptionValue.time)
    var longestIdle: TimeSpan?

    @OptionGroup var output: ImportOutput

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "trace"))
            let trace: AppUsageImport
            do throws(ScenarioFault) {
                trace = try AppUsageImport(path: file, user: user, longestIdle: longestIdle)
            } catch {
                throw Failure(error.status, [error.description])
            }
            try output.write(trace.scenario)
            Terminal.say(trace.summary)
            return ExitStatus.done.code
        }
    }
}

/// Where an import writes its scenario.
struct ImportOutput: ParsableArguments {
    @Option(help: "The scenario to write; without it, only the figures are printed.")
    var out: String?

    @Flag(help: "Overwrite the file that --out names; never the input itself.")
    var force = false

    func validate() throws { try refuseEmpty(out, "--out") }

    /// Refuses before the work what could not be written after it.
    ///
    /// - Parameter input: What is read, and what it is called.
    func check(keeping input: (path: String, kind: String)) throws {
        if let out { try OutputFile.check(out, force: force, keeping: input, option: "--out") }
    }

    /// Writes the scenario, if it is wanted. What has come there since the check is not ours to overwrite, either.
    func write(_ scenario: String) throws {
        guard let out else { return }
        let bytes = Array(scenario.utf8)
        try force ? OutputFile.replace(out, bytes) : OutputFile.create(out, bytes)
    }
}
