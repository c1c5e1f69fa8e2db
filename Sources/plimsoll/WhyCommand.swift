import ArgumentParser
import Interchange
import RunFolders

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Says why Linux's kernel or iOS's jetsam ended a process, from the report that it wrote.",
        usage: "plimsoll why [<options>] <file> ...",
        discussion: """
            The file is a log with OOM reports of a Linux kernel (dmesg, a journal, syslog, or a pasted piece), or a \
            JetsamEvent report (.ips). The answer is one paragraph of at most 15 lines: which process ended, by which \
            rule and by how much, what was short and what held the memory, what would have changed the choice and at \
            which price, and which process other killers would choose in this state.

            With --table the output is a table of Markdown with a row per report of a kernel, from any number of \
            files: who ended, whom the kernel's rule chooses, and who ends when the report is played.

            EXAMPLES
              dmesg | plimsoll why -
              journalctl -k | plimsoll why - --app postgres
              plimsoll why kern.log --report 3
              plimsoll why JetsamEvent-2020-10-15-172958.ips
              plimsoll why --table kern.log

            Exit status: 65 if a file holds no report, or no such process; 66 if it is missing; with --table also 71 \
            if the host refuses the memory for a replay; 129, 130 and 143 interrupted.
            """)

    @Argument(
        help: ArgumentHelp(
            "The log or the report; - for standard input. Several only with --table.", valueName: "file"),
        completion: .file())
    var files: [String]

    @Option(help: "Say where this process stands, by its name or number.")
    var app: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Which report of the file, from 1. Default: the last one.", valueName: "number"),
        transform: { try OptionValue.count($0, in: 1...Int.max) })
    var report: Int?

    @Flag(help: "Make a table with a row per report, and play each.")
    var table = false

    func validate() throws {
        for file in files { try refuseEmpty(file, "the file", "name a log or a report") }
        if table, app != nil || report != nil {
            throw ValidationError("--table has a row for every report and no place for --app and --report")
        }
        if !table, files.count > 1 {
            throw ValidationError("the answer is about one file; name one, or ask for --table")
        }
    }

    func run() throws {
        try reporting {
            if table { return try makeTable() }
            let answer = try WhyReport(path: files[0], number: report, app: app)
            Terminal.say(answer.text(width: Terminal.outputWidth))
            return ExitStatus.done.code
        }
    }

    private func makeTable() throws -> ExitCode {
        let table = try WhyTable(paths: files)
        Interruption.install()
        Terminal.say(WhyTable.head)
        do {
            try table.rows(isInterrupted: { Interruption.signalNumber != 0 }, take: Terminal.say)
        } catch is KernelReplay.Interrupted {
            return ExitCode(128 + Interruption.signalNumber)
        }
        return ExitStatus.done.code
    }
}
