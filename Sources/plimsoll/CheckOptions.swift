import ArgumentParser
import RunFolders

/// The options of commands that continuous integration runs as checks.
struct CheckOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Also write what was checked as JUnit XML. It replaces an earlier such file, and no other.",
            valueName: "file"),
        completion: .file())
    var junit: String?

    @Flag(help: "Also print what failed on stderr, as annotations of GitHub Actions.")
    var github = false

    func validate() throws {
        try refuseEmpty(junit, "--junit")
        if junit == "-" { throw ValidationError("--junit writes to a file; name a file, not '-'") }
    }

    /// Refuses a path that could not be written after the work.
    func check(keeping inputs: [String], besides out: String?) throws {
        if let junit { try CheckReport.check(junit, keeping: inputs, besides: out) }
    }

    /// Runs a command's work. What keeps it from checking anything is also reported, so that no earlier report is taken
    /// for that of this command.
    ///
    /// - Parameter command: The command's name.
    func reporting(
        _ command: String, keeping inputs: [String], besides out: String?, _ work: () throws -> ExitCode
    ) throws {
        try plimsoll.reporting {
            do {
                return try work()
            } catch {
                // The failure itself is what people read; a report that cannot be written is no other one.
                if let report = CheckReport(command, insteadOf: error) {
                    _ = try? tell(report, keeping: inputs, besides: out)
                }
                throw error
            }
        }
    }

    /// Writes and prints the report.
    ///
    /// - Returns: The exit status of a command that was asked to check something: 99 if that failed.
    @discardableResult
    func tell(_ report: CheckReport, keeping inputs: [String], besides out: String?) throws -> ExitCode {
        if let junit { try report.write(to: junit, keeping: inputs, besides: out) }
        if github { report.annotations.forEach(Terminal.complain) }
        guard junit != nil || github else { return .success }
        return report.hasFailed ? ExitStatus.expectationFailed.code : .success
    }
}
