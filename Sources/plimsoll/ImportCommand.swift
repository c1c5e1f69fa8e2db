import ArgumentParser
import Foundation
import Interchange
import Memory
import Plan
import Quantities
import RunFolders
import Scenario
import Simulation

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Turns a recording from another tool into a scenario.",
        discussion: """
            EXAMPLES
              plimsoll import jetsam-event JetsamEvent-2020-10-15-172958.ips
              plimsoll import kernel-oom kern.log --out state.yaml
              plimsoll import memory-replay trace.txt
              plimsoll import app-usage usage.csv --user 17
            """,
        subcommands: [
            ImportJetsamEvent.self, ImportKernelOOM.self, ImportMemoryReplay.self, ImportAppUsage.self,
        ])
}

struct ImportMemoryReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory-replay",
        abstract: "Reads an allocation trace (Android's memory_replay format) and writes a scenario that plays it.",
        discussion: """
            The trace is plain text, or such a text packed as .gz or .zip. It is read piece by piece and stays where \
            it is: the scenario refers to it by its path. An archive that holds several files, or that unpacks to more \
            than 4 GiB or to more than 200 times its size, is refused.

            EXAMPLES
              plimsoll import memory-replay trace.txt
              plimsoll import memory-replay trace.txt --out replay.yaml
              plimsoll run replay.yaml

            Exit status: 65 if a line or the archive is broken, 66 if the file is missing, 73 if --out exists or \
            cannot be created, 74 if it cannot be written.
            """)

    @Argument(help: "The trace.", completion: .file())
    var file: String

    @OptionGroup var output: ImportOutput

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "trace"))
            let trace = try MemoryReplayImport(path: file)
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
        usage: "plimsoll import jetsam-event [<options>] <file>",
        discussion: """
            The scenario's device has the report's memory. Every process of the report is alive when the run begins: \
            apps, helpers, extensions and daemons, in the bands and the order of the report, with its footprints. \
            With --apps-only, only the apps are there, and they are launched one after the other until they are in \
            the report's state; all other processes are reserved memory. Comments in the scenario state what the \
            import decided.

            The command prints what the report says: which app is in front, which others there are, and which \
            processes jetsam ended and why. --format json prints the same and more figures for programs.

            With --replay, the run goes on from the report's state under the device's policy, while memory is taken \
            at a steady rate. The command prints which of the report's victims end, in which order and for which \
            reason, who else ends, and what is assumed. With --out it writes the scenario that it replays.

            EXAMPLES
              plimsoll import jetsam-event JetsamEvent-2020-10-15-172958.ips
              plimsoll import jetsam-event JetsamEvent-2020-10-15-172958.ips \\
                --out state.yaml
              plimsoll run state.yaml
              plimsoll import jetsam-event JetsamEvent-2020-10-15-172958.ips --replay

            Exit status: 0 also if a replay ends other processes than the report; 65 if the report is broken, with \
            line and column, or is of another kind or another device; 66 if the file is missing; 71 if the host \
            refuses the memory for a replay; 73 if --out exists or cannot be created; 74 if it cannot be written; \
            129, 130 and 143 interrupted.
            """)

    @Argument(help: "The report.", completion: .file())
    var file: String

    @Flag(help: "Only the apps, launched one after the other.")
    var appsOnly = false

    @Flag(help: "Go on from the report's state, and compare the ends with the report's.")
    var replay = false

    @Option(
        help: ArgumentHelp(
            "How to print: \(RunCommand.Format.allCases.map(\.rawValue).joined(separator: " or ")).",
            valueName: "format"))
    var format: RunCommand.Format?

    @OptionGroup var output: ImportOutput

    func validate() throws {
        if replay && appsOnly {
            throw ValidationError("--replay needs every process and --apps-only has not; leave one of them out")
        }
    }

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "report"))
            if replay { return try replayReport() }
            let imported: (scenario: String, digest: ReportDigest)
            if appsOnly {
                let apps = try JetsamEventImport(path: file)
                imported = (apps.scenario, apps.digest)
            } else {
                let phone = try JetsamPhoneImport(path: file)
                imported = (phone.scenario, phone.digest)
            }
            try output.write(imported.scenario)
            switch format ?? .text {
            case .text:
                let words = [NextSteps.program, "import", "jetsam-event", file, "--replay"]
                let command = words.map(ShellWord.quoted).joined(separator: " ")
                Terminal.say(imported.digest.text + "\nto ask why  \(command)")
            case .json: Terminal.say(try JSONDocument.of(imported.digest))
            }
            return ExitStatus.done.code
        }
    }

    private func replayReport() throws -> ExitCode {
        let replay = JetsamReplay(try JetsamPhoneImport(path: file))
        try output.write(replay.scenario)
        Interruption.install()
        let outcome: ReplayOutcome
        do {
            outcome = try replay.play(isInterrupted: { Interruption.signalNumber != 0 })
        } catch is JetsamReplay.Interrupted {
            return ExitCode(128 + Interruption.signalNumber)
        }
        switch format ?? .text {
        case .text: Terminal.say(outcome.text)
        case .json: Terminal.say(try JSONDocument.of(ReplayTable(outcome)))
        }
        return ExitStatus.done.code
    }
}

/// A replay for programs: the output of `plimsoll import jetsam-event --replay --format json`.
private struct ReplayTable: Encodable {
    struct Victim: Encodable {
        let process: String
        let band: Int
        let reportReason: String
        let place: Int?
        let endedS: Double?
        let reason: String?
        /// Absent if it is not graded.
        let isSame: Bool?
        let isAssumed: Bool
    }

    struct End: Encodable {
        let process: String
        let place: Int
        let endedS: Double
        let reason: String

        init(_ end: ReplayEnd) {
            (process, place, reason) = (end.name, end.place, end.reason)
            endedS = Double(end.at.microseconds) / 1_000_000
        }
    }

    var formatVersion = 1
    let victims: [Victim]
    let reasons: [ReplayOutcome.ReasonGrade]
    let othersBefore: [End]
    let othersAfter: [End]
    let assumptions: [String]
    let ended: Int
    let inOrder: Int

    init(_ outcome: ReplayOutcome) {
        victims = outcome.victims.map { victim in
            let end = victim.end.map(End.init)
            return Victim(
                process: victim.name, band: victim.band, reportReason: victim.reason, place: end?.place,
                endedS: end?.endedS, reason: end?.reason, isSame: victim.isSame, isAssumed: victim.isAssumed)
        }
        reasons = outcome.grades
        (othersBefore, othersAfter) = (outcome.others.map(End.init), outcome.later.map(End.init))
        (assumptions, ended, inOrder) = (outcome.assumptions, outcome.ended, outcome.inOrder)
    }
}

struct ImportKernelOOM: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kernel-oom",
        abstract: "Reads an OOM report of a Linux kernel, and writes a scenario that begins in its state.",
        usage: "plimsoll import kernel-oom [<options>] <file>",
        discussion: """
            The file is a log: dmesg, a journal, syslog, or a pasted piece; - for standard input. Every process of the \
            report's table is alive when the run begins, with its oom_score_adj and all that the kernel's rule counts \
            of it: RAM, swap and page tables. The device's memory stands for RAM and swap, or for the memory group's \
            limit. The requester asks for memory, and the policy is the kernel's own. Comments in the scenario state \
            what the import decided.

            With --replay, the scenario runs until a process ends. The command prints whether it is the report's, its \
            points, and which process would have been next.

            EXAMPLES
              plimsoll import kernel-oom kern.log --out state.yaml
              plimsoll import kernel-oom kern.log --replay
              dmesg | plimsoll import kernel-oom - --out state.yaml
              plimsoll run state.yaml

            Exit status: 0 also if a replay ends another process; 65 if the file holds no report or the report no \
            table; 66 if the file is missing; 71 if the host refuses the memory for a replay; 73 if --out exists or \
            cannot be created; 74 if it cannot be written; 129, 130 and 143 interrupted.
            """)

    @Argument(help: "The log; - for standard input.", completion: .file())
    var file: String

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Which report of the file, from 1. Default: the last one.", valueName: "number"),
        transform: { try OptionValue.count($0, in: 1...Int.max) })
    var report: Int?

    @Flag(help: "Run the scenario until a process ends, and compare it with the report's.")
    var replay = false

    @OptionGroup var output: ImportOutput

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "log"))
            let imported = try KernelOOMImport(KernelLog(path: file), number: report, file: file)
            try output.write(imported.scenario)
            Terminal.say(imported.summary)
            guard replay else { return ExitStatus.done.code }
            Interruption.install()
            do {
                Terminal.say(try KernelReplay(imported).play { Interruption.signalNumber != 0 }.text)
            } catch is KernelReplay.Interrupted {
                return ExitCode(128 + Interruption.signalNumber)
            }
            return ExitStatus.done.code
        }
    }
}

struct ImportAppUsage: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-usage",
        abstract: "Reads a trace of app usage and writes a scenario of one user's launches and switches.",
        usage: "plimsoll import app-usage [<options>] <file>",
        discussion: """
            The first line names the columns and tells two formats apart: timestamp,user,app,event with commas, where \
            the event is opened or closed; and LSApp's user_id, session_id, timestamp, app_name, event_type with tabs.

            EXAMPLES
              plimsoll import app-usage usage.csv --user 17
              plimsoll import app-usage lsapp.tsv --user 0 --longest-idle 10min \\
                --out day.yaml
              plimsoll run day.yaml

            Exit status: 65 if a line is broken, with line and column; 66 if the file is missing; 73 if --out exists \
            or cannot be created; 74 if it cannot be written.
            """)

    @Argument(help: "The trace.", completion: .file())
    var file: String

    @Option(help: "The user to follow; required if the trace holds several.")
    var user: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Shorten times without an app in front to this, such as 10min. Default: no limit.", valueName: "time"),
        transform: OptionValue.time)
    var longestIdle: TimeSpan?

    @OptionGroup var output: ImportOutput

    func run() throws {
        try reporting {
            try output.check(keeping: (file, "trace"))
            let trace = try AppUsageImport(path: file, user: user, longestIdle: longestIdle)
            try output.write(trace.scenario)
            Terminal.say(trace.summary)
            return ExitStatus.done.code
        }
    }
}

/// Where an import writes its scenario.
struct ImportOutput: ParsableArguments {
    @Option(
        help: "The scenario to write; without it, the command only prints figures.", completion: Candidates.scenarios)
    var out: String?

    @Flag(help: "Overwrite the file that --out names; never the input itself.")
    var force = false

    func validate() throws { try refuseEmpty(out, "--out") }

    /// Refuses, before the work begins, a path that could not be written afterwards.
    ///
    /// - Parameter input: The path of the input and its kind in words, such as `trace`.
    func check(keeping input: (path: String, kind: String)) throws {
        if let out { try OutputFile.check(out, force: force, keeping: input, option: "--out") }
    }

    /// Writes the scenario, if `--out` asks for it. A file that appeared since the check is overwritten only with
    /// `--force`.
    func write(_ scenario: String) throws {
        guard let out else { return }
        let bytes = Array(scenario.utf8)
        try force ? OutputFile.replace(out, bytes) : OutputFile.create(out, bytes)
    }
}
