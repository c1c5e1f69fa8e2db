import ArgumentParser
import Interchange

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Says why Linux's kernel or iOS's jetsam ended a process, from the report that it wrote.",
        usage: "plimsoll why [<options>] <file>",
        discussion: """
            The file is a log with OOM reports of a Linux kernel (dmesg, a journal, syslog, or a pasted piece), or a \
            JetsamEvent report (.ips). The answer is one paragraph of at most 15 lines: which process ended, by which \
            rule and by how much, what was short and what held the memory, what would have changed the choice and at \
            which price, and which process other killers would choose in this state.

            EXAMPLES
              dmesg | plimsoll why -
              journalctl -k | plimsoll why - --app postgres
              plimsoll why kern.log --report 3
              plimsoll why JetsamEvent-2020-10-15-172958.ips

            Exit status: 65 if the file holds no report, or no such process; 66 if it is missing.
            """)

    @Argument(help: "The log or the report; - for standard input.", completion: .file())
    var file: String

    @Option(help: "Say where this process stands, by its name or number.")
    var app: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Which report of the file, from 1. Default: the last one.", valueName: "number"),
        transform: { try OptionValue.count($0, in: 1...Int.max) })
    var report: Int?

    func validate() throws { try refuseEmpty(file, "the file", "name a log or a report") }

    func run() throws {
        try reporting {
            Terminal.say(try WhyReport(path: file, number: report, app: app).text(width: Terminal.outputWidth))
            return .success
        }
    }
}
