import ArgumentParser

struct PlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plot",
        abstract: "Draws the pictures of a run, or of what compare and sweep wrote.",
        usage: "plimsoll plot <argument> ...",
        discussion: """
            Hands its arguments on to the Python part; `plimsoll plot --help` lists the options that it has. The \
            exit status is the Python part's.

            EXAMPLES
              plimsoll run Scenarios/quickstart.yaml
              plimsoll plot runs/quickstart --format png

            \(PythonPart.place)
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "A folder of a run, and options.",
        completion: Candidates.runFolders)
    var arguments: [String] = []

    func run() throws {
        try PythonPart.run(.plot, of: PlotCommand.self, arguments)
    }
}

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes one page about a run, or about several side by side.",
        usage: "plimsoll report <argument> ...",
        discussion: """
            Hands its arguments on to the Python part; `plimsoll report --help` lists the options that it has. The \
            exit status is the Python part's.

            EXAMPLES
              plimsoll run Scenarios/quickstart.yaml
              plimsoll report runs/quickstart

            \(PythonPart.place)
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "Folders of runs, and options.",
        completion: Candidates.runFolders)
    var arguments: [String] = []

    func run() throws {
        try PythonPart.run(.report, of: ReportCommand.self, arguments)
    }
}

struct TuneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tune",
        abstract: "Searches for better parameters of a policy, and proves them on what the search never saw.",
        usage: "plimsoll tune <argument> ...",
        discussion: """
            Hands its arguments on to the Python part; `plimsoll tune --help` lists the options that it has. The \
            exit status is the Python part's.

            EXAMPLES
              plimsoll tune Scenarios/quickstart.yaml --policy ladder --trials 5 \\
                --seeds 1..2 --held-out-seeds 101..105 --out tunings/ladder

            \(PythonPart.place)
            """)

    @Argument(
        parsing: .captureForPassthrough, help: "Scenario files or folders of them, and options.",
        completion: Candidates.scenarios)
    var arguments: [String] = []

    func run() throws {
        try PythonPart.run(.tune, of: TuneCommand.self, arguments)
    }
}

/// What the three commands share.
private enum PythonPart {
    static let place = """
        The Python part is that of the interpreter in the environment variable PLIMSOLL_PYTHON, or lies in \
        lib/plimsoll/venv beside the program's folder bin, in .venv of the sources that the program was built from, or \
        on PATH.
        """

    /// Becomes the tool, also for its own help, which lists its options; without Python the command's help does.
    static func run(_ tool: PythonTool, of command: any ParsableCommand.Type, _ arguments: [String]) throws {
        try reporting {
            do throws(Failure) {
                // `plimsoll plot -- RUN` is `plimsoll plot RUN`.
                try tool.replaceProgram(arguments.first == "--" ? Array(arguments.dropFirst()) : arguments)
            } catch {
                guard ["--help", "-h"].contains(arguments.first) else { throw error }
                error.lines.forEach(Terminal.complain)
                throw CleanExit.helpRequest(command)
            }
        }
    }
}
