import ArgumentParser
import Memory
import RunFolders

// The three commands of the Python part, which parses what follows their names. The options stand here for the help,
// the manual pages and the completions of shells; a test compares them with those of the Python part.

struct PlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plot",
        abstract: "Draws the pictures of a run, or of what compare, sweep or survive wrote.",
        usage: "plimsoll plot [<run>] [<options>]",
        discussion: PythonPart.discussion(
            examples: """
                  plimsoll run Scenarios/quickstart.yaml
                  plimsoll plot runs/quickstart --format png
                """))

    @Argument(
        help: ArgumentHelp("The folder that run, compare, sweep or survive wrote.", valueName: "run"),
        completion: Candidates.runFolders)
    var folder: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Draw one picture of several runs, or of folders of runs, instead; those that differ in the seed alone are \
            put together.
            """, valueName: "run"),
        completion: Candidates.runFolders)
    var compare: [String] = []

    @Option(
        help: """
            Where the pictures go. By default plots in the folder of the run; with --compare the current folder.
            """, completion: .directory)
    var out: String?

    @Flag(help: "Also replace files that are no pictures of plimsoll's.")
    var force = false

    @Option(
        help: "png, svg, or both as png,svg; by default both.", completion: .list(["png", "svg", "png,svg"]))
    var format: String?
}

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Writes one page about a run, about several side by side, or about an experiment.",
        discussion: PythonPart.discussion(
            examples: """
                  plimsoll run Scenarios/quickstart.yaml
                  plimsoll report runs/quickstart
                """))

    @Argument(
        help: ArgumentHelp(
            "Folders of runs, or one folder that compare, sweep, survive or tune wrote.", valueName: "run"),
        completion: Candidates.runFolders)
    var folders: [String]

    @Option(
        help: """
            The page. By default report.html in the folder of the run; of several runs, comparison.html in the current \
            folder.
            """, completion: .file(extensions: ["html"]))
    var out: String?

    @Option(
        help: ArgumentHelp(
            """
            Of which terminations the page says what would have saved the process: of the first ones, so many, or \
            felt, of all that the user felt. By default, if there is one run, felt, or 3 if the user felt none.
            """, valueName: "count|felt"), completion: .list(["felt"]))
    var explain: String?
}

struct TuneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tune",
        abstract: "Searches for better parameters of a policy, and tests them on seeds it never saw.",
        discussion: PythonPart.discussion(
            examples: """
                  plimsoll tune Scenarios/quickstart.yaml --policy ladder --trials 5 \\
                    --seeds 1..2 --held-out-seeds 101..105 --out tunings/ladder
                """))

    @Argument(help: "Scenarios to train on, or folders of them.", completion: Candidates.scenarios)
    var scenario: [String] = []

    @Option(
        help: ArgumentHelp("Train on all scenarios in a folder. Repeatable.", valueName: "folder"),
        completion: .directory)
    var scenarios: [String] = []

    @Option(
        help: ArgumentHelp("A scenario, or a folder, for the verdict alone. Repeatable.", valueName: "path"),
        completion: Candidates.scenarios)
    var heldOut: [String] = []

    @Option(
        help: ArgumentHelp(
            "The policy that is tuned, and whose default it is measured against.", valueName: "name|file"),
        completion: Candidates.policies)
    var policy: String

    @Option(help: ArgumentHelp("Search this parameter only. Repeatable.", valueName: "name"))
    var parameter: [String] = []

    @Option(help: ArgumentHelp("Search a parameter within this range. Repeatable.", valueName: "name=low..high"))
    var range: [String] = []

    @Option(
        help: ArgumentHelp("Less is better. By default terminations_felt and seconds_lost.", valueName: "metric"),
        completion: Candidates.metrics)
    var minimize: [String] = []

    @Option(
        help: ArgumentHelp("More is better. By default hot_launch_ratio.", valueName: "metric"),
        completion: Candidates.metrics)
    var maximize: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            What the mean per run must hold, such as 'terminations_foreground <= 0', which is the default; none is no \
            constraint.
            """, valueName: "condition"))
    var constraint: [String] = []

    @OptionGroup var prices: PriceOptions

    @Option(help: ArgumentHelp("The trials of the whole study.", valueName: "n"))
    var trials = 100

    @Option(help: ArgumentHelp("The seeds of the search, such as 1..8 or 1,2,5.", valueName: "list"))
    var seeds = "1..6"

    @Option(help: ArgumentHelp("The seeds of the verdict, at least 5.", valueName: "list"))
    var heldOutSeeds = "101..120"

    @Option(help: ArgumentHelp("The seed of the search itself.", valueName: "n"))
    var seed = 1

    @Option(help: ArgumentHelp("Runs at once; by default as many as there are cores.", valueName: "n"))
    var jobs: Int?

    @Option(help: "The backend of the search.")
    var backend = MemoryBackend.accounting

    @Option(help: ArgumentHelp("The backend of the verdict.", valueName: "backend"))
    var confirm = MemoryBackend.jemalloc

    @Option(
        help: "The folder to write. By default tunings/POLICY, or the first of -2, -3, … that is free.",
        completion: .directory)
    var out: String?

    @Flag(help: "Go on with the study in --out.")
    var resume = false

    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database, which any number of machines share. By default a file in --out.",
            valueName: "url"))
    var storage: String?

    @Option(
        help: ArgumentHelp(
            "The study's name in the storage. By default it is made from all that decides the result.",
            valueName: "name"))
    var study: String?

    @Option(
        help: ArgumentHelp(
            "After three times as long without a sign a worker is taken for dead.", valueName: "seconds"))
    var heartbeat = 20
}

extension PythonTool {
    /// The command whose help describes the tool.
    fileprivate var command: any ParsableCommand.Type {
        switch self {
        case .plot: PlotCommand.self
        case .report: ReportCommand.self
        case .tune: TuneCommand.self
        }
    }
}

/// The shared parts of the three commands.
enum PythonPart {
    /// The discussion in a command's help.
    fileprivate static func discussion(examples: String) -> String {
        """
        The Python part does the work; the exit status is its own.

        EXAMPLES
        \(examples)

        The Python part is that of the interpreter in the environment variable PLIMSOLL_PYTHON, or is in \
        lib/plimsoll/venv beside the program's folder bin, in .venv of the sources that the program was built from, or \
        on PATH.
        """
    }

    /// Replaces this process by the tool that the first word names, which also prints its own help. Without Python,
    /// `--help` prints the command's help instead.
    /// Does nothing if the word names none.
    static func run(_ words: [String]) throws {
        guard let tool = words.first.flatMap(PythonTool.init(rawValue:)) else { return }
        // `plimsoll plot -- RUN` is `plimsoll plot RUN`.
        let arguments = Array(words.dropFirst(words.dropFirst().first == "--" ? 2 : 1))
        try reporting {
            do throws(Failure) {
                try tool.replaceProgram(arguments)
            } catch {
                guard ["--help", "-h"].contains(arguments.first) else { throw error }
                error.lines.forEach(Terminal.complain)
                throw CleanExit.helpRequest(tool.command)
            }
        }
    }
}
