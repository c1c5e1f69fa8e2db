import ArgumentParser
import Foundation
import Quantities
import Reclaim
import RunFolders

/// The program, for an executable of a package with policies of its own.
public enum PlimsollProgram {
    /// Does what the command line says, and exits. Scenarios, options and lists know the added policies by name, too.
    public static func main(adding policies: [any ReclaimPolicy.Type] = []) {
        for policy in policies { PolicyCatalogue.add(policy) }
        Plimsoll.main()
    }
}

struct Plimsoll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plimsoll",
        abstract: "Runs many simulated apps on real memory under a hard ceiling, and shows what a reclaim policy does.",
        discussion: """
            EXAMPLES
              plimsoll init my-phone
              plimsoll run Scenarios/headline.yaml
              plimsoll run Scenarios/evening-commute.yaml --policy lru \\
                --set 'expect=[]' --out runs/lru
              plimsoll run Scenarios/quickstart.yaml \\
                --set device.ceiling=400MiB --set 'expect=[]'
              plimsoll compare Scenarios/evening-commute.yaml \\
                --policy ladder --policy jetsam --seeds 1..20
              plimsoll sweep Scenarios/quickstart.yaml \\
                --vary device.ceiling=400MiB,512MiB --out sweeps/a
              plimsoll survive Scenarios/seeded-commuter.yaml --app weather \\
                --seeds 1..20
              dmesg | plimsoll why -
              plimsoll validate Scenarios/*.yaml
              plimsoll list policies
              plimsoll schema scenario > plimsoll.schema.json

            EXIT STATUS
              0    done, and every expectation held
              64   wrong usage
              65   the input is invalid
              66   the input is missing
              70   a fault of plimsoll's own
              71   the host refuses (memory, stack, allocator)
              73   output cannot be created
              74   output cannot be written
              99   an expectation failed
              129, 130, 143   interrupted by a signal; the CSV files are flushed

            Set the environment variable NO_COLOR to switch colours off.
            """,
        version: plimsollVersion,
        subcommands: [
            InitCommand.self, RunCommand.self, CompareCommand.self, SweepCommand.self, SurviveCommand.self,
            ExplainCommand.self, WhyCommand.self, PlotCommand.self, ReportCommand.self, TuneCommand.self,
            ValidateCommand.self,
            ImportCommand.self, ListCommand.self, SchemaCommand.self, DoctorCommand.self, CompletionsCommand.self,
            CaseCommand.self, CasesCommand.self, ServeCommand.self, BuildCommand.self, VerdictCommand.self,
        ])

    static func main() {
        HostMachine.refuseSmallStack()
        Terminal.secureDescriptors()
        do {
            try reporting {
                try HostMachine.refuseEnvironment()
                return .success
            }
            try PythonPart.run(Array(CommandLine.arguments.dropFirst()))
            var command = try parse()
            try command.run()
        } catch {
            leave(with: error)
        }
    }

    /// Parses the command line. For a command that does not exist, the error suggests a similar one.
    private static func parse() throws -> any ParsableCommand {
        do {
            return try parseAsRoot()
        } catch {
            guard exitCode(for: error) != .success, let near = NearCommand(Array(CommandLine.arguments.dropFirst()))
            else { throw error }
            near.complain()
            throw ExitStatus.wrongUsage.code
        }
    }

    /// Prints ArgumentParser's text for the error (help on stdout, faults on stderr) and exits with ArgumentParser's
    /// exit code.
    private static func leave(with error: any Error) -> Never {
        let (text, code) = (fullMessage(for: error), exitCode(for: error))
        if code == .success {
            if !text.isEmpty { Terminal.say(text) }
        } else if !text.isEmpty {
            // The message quotes the command line, so it is escaped. Usage and help follow on their own lines.
            let (head, message) = ("Error: ", message(for: error))
            let isPlain = text.hasPrefix(head + message)
            let rest = isPlain ? String(text.dropFirst((head + message).count)) : text
            Terminal.complain((isPlain ? head + message.asMessage.onOneLine : "") + rest)
        }
        Foundation.exit(code.rawValue)
    }
}
