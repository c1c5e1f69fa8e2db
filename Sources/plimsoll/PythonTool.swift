import Foundation
import Quantities
import RunFolders
import Scenario

/// A part of Plimsoll that is written in Python. Finds where it is installed, and replaces this process by it.
enum PythonTool: String, CaseIterable {
    case plot
    case report
    case tune

    /// The module that Python runs.
    private var module: String {
        switch self {
        case .plot: "plimsoll_tools.plotting"
        case .report: "plimsoll_tools.reporting"
        case .tune: "plimsoll_tools.tuning"
        }
    }

    /// The group of requirements in the Python package that the tool belongs to.
    private var group: String { self == .tune ? "tune" : "plot" }

    /// The Python modules that must be importable for the tool to run.
    private var needs: [String] {
        ["plimsoll_tools", "matplotlib", "pandas", "yaml"] + (self == .tune ? ["optuna", "sqlalchemy"] : [])
    }

    /// Replaces this process by the tool, whose exit status becomes the program's. Returns only by throwing.
    func replaceProgram(_ arguments: [String]) throws(Failure) -> Never {
        try HostMachine.demandFiles(PythonTool.files, for: rawValue)
        let place = ProgramPlace.current
        guard let command = try command(place) else {
            throw Failure(.hostRefuses, "\(rawValue) needs Python packages that are not installed; \(advice(place))")
        }
        // The tool names itself as the user typed it, and can start this program again.
        setenv("PLIMSOLL_COMMAND", "plimsoll \(rawValue)", 1)
        if let file = place.file { setenv("PLIMSOLL", file, 0) }
        // An ignored signal stays ignored in the new program.
        signal(SIGPIPE, SIG_DFL)
        var words = (command + arguments).map { strdup($0) }
        words.append(nil)
        execv(command[0], words)
        throw Failure(.hostRefuses, "\(command[0]) cannot be run: \(String(cString: strerror(errno)))")
    }

    /// How many files Python and its packages may have open at a time, with a margin. With fewer, Python would say so
    /// in a trace of its calls, or not find a package.
    private static let files = 16

    /// The command that runs the tool, without its arguments; nil if it is not installed.
    private func command(_ place: ProgramPlace) throws(Failure) -> [String]? {
        // -I isolates Python: PYTHONPATH, the user's own packages and the current folder cannot change a result.
        func call(_ python: String) -> [String] { [python, "-I", "-m", module] }
        if let named = ProcessInfo.processInfo.environment["PLIMSOLL_PYTHON"], !named.isEmpty {
            guard let python = ProgramPlace.onPath(named) else {
                throw Failure(.hostRefuses, "PLIMSOLL_PYTHON names \(named), which is not a program")
            }
            guard isComplete(python) else {
                throw Failure(
                    .hostRefuses,
                    "PLIMSOLL_PYTHON names \(named), which lacks some of the packages that \(rawValue) needs: "
                        + needs.joined(separator: ", "))
            }
            return call(python)
        }
        for python in place.pythons where access(python, X_OK) == 0 && isComplete(python) { return call(python) }
        return ProgramPlace.onPath("plimsoll-\(rawValue)").map { [$0] }
    }

    /// Whether the interpreter finds every module that the tool needs.
    private func isComplete(_ python: String) -> Bool {
        let question = "import sys; from importlib.util import find_spec as f; sys.exit(None in map(f, sys.argv[1:]))"
        var words = ([python, "-I", "-c", question] + needs).map { strdup($0) } + [nil]
        // Foundation's Process would take descriptors of its own, and print where there are too few.
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            for word in words { free(word) }
        }
        for descriptor: Int32 in 0...2 {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        var (child, status) = (pid_t(), Int32())
        guard posix_spawn(&child, python, &actions, nil, &words, environ) == 0 else { return false }
        while waitpid(child, &status, 0) < 0 { guard errno == EINTR else { return false } }
        return status == 0
    }

    /// The command that installs the tool, for this place of the program.
    private func advice(_ place: ProgramPlace) -> String {
        if let sources = place.checkout {
            return "install them with: \(ShellWord.quoted(sources + "/Scripts/setup.sh")) \(group)"
        }
        if let setup = place.ownSetup { return "install them with: \(ShellWord.quoted(setup)) \(group)" }
        return "install the package in Plimsoll's folder Scripts with pip install './Scripts[\(group)]', and name the "
            + "interpreter in PLIMSOLL_PYTHON"
    }
}
