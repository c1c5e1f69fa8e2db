import Foundation
import Testing

@Suite("plot, report and tune")
struct PythonToolTests {
    /// Runs the arguments in the folder, with nothing of Python on PATH but what the test puts there.
    private func call(
        _ arguments: [String], by program: URL = Program.executable, in folder: URL, _ variables: String = ""
    ) throws -> Program.Result {
        let path = "\(folder.path())/on-path:/usr/bin:/bin"
        return try Program.run(
            [program.path()] + arguments, in: folder,
            shell: "shift; unset PLIMSOLL PLIMSOLL_PYTHON; PATH=\(path) \(variables) exec \"$@\"")
    }

    /// A stand-in for Python or a tool that says how it was called. Asked what is installed, it answers with `status`.
    @discardableResult
    private func standIn(_ name: String, in folder: URL, status: Int = 0) throws -> URL {
        let file = folder.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        let text = """
            #!/bin/sh
            [ "$2" = -c ] && exit \(status)
            echo "$PLIMSOLL_COMMAND by $(basename "$0") of $(basename "$PLIMSOLL"): $*"
            exit 42
            """
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path())
        return file
    }

    /// The program as an archive has it, apart from any sources.
    private func installed(in folder: URL) throws -> URL {
        let program = folder.appending(path: "opt/bin/plimsoll")
        try FileManager.default.createDirectory(
            at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Program.executable, to: program)
        return program
    }

    @Test("hand their arguments on as they are, and end with the tool's exit status")
    func arguments() throws {
        try Experiments.within { folder in
            try standIn("python", in: folder)
            let modules = ["plot": "plotting", "report": "reporting", "tune": "tuning"]
            for (name, module) in modules.sorted(by: { $0.key < $1.key }) {
                let words = [name, "a folder", "--out", "--help", "-x", "--", "$HOME"]
                let result = try call(words, in: folder, "PLIMSOLL_PYTHON=./python")
                let said = "plimsoll \(name) by python of plimsoll: -I -m plimsoll_tools.\(module) "
                #expect(result.status == 42 && result.out == said + "a folder --out --help -x -- $HOME\n")
            }
            let first = try call(["plot", "--", "run"], in: folder, "PLIMSOLL_PYTHON=./python")
            #expect(first.out.hasSuffix("plimsoll_tools.plotting run\n"), "\(first.out)")
            let help = try call(["plot", "--help"], in: folder, "PLIMSOLL_PYTHON=./python")
            #expect(help.out.hasSuffix("plimsoll_tools.plotting --help\n"), "\(help.out)")
        }
    }

    @Test("with few descriptors one line says so, whatever is installed", arguments: 4...12)
    func fewFiles(most: Int) throws {
        try Experiments.within { folder in
            try standIn("python", in: folder)
            for name in ["plot", "report", "tune"] {
                let result = try Program.run(
                    [name, "r"], in: folder, shell: "ulimit -n \(most); PLIMSOLL_PYTHON=./python exec \"$@\"")
                #expect(result.status == 71 && result.out.isEmpty, "\(most): \(result.error)")
                let line = "plimsoll: \(name) needs 16 further open files, and this process may open "
                #expect(
                    result.error.hasPrefix(line) && result.error.split(separator: "\n").count == 1, "\(result.error)")
            }
        }
    }

    @Test("are found in the archive's environment, then on PATH; else one line says what to install")
    func search() throws {
        try Experiments.within { folder in
            let program = try installed(in: folder)
            let nothing = try call(["plot", "r"], by: program, in: folder)
            #expect(nothing.status == 71 && nothing.error.split(separator: "\n").count == 1)
            #expect(nothing.error.contains("pip install './Scripts[plot]'"), "\(nothing.error)")
            // An archive has a program that installs them; the line can be copied.
            try standIn("opt/lib/plimsoll/setup-python", in: folder)
            let setup = folder.resolvingSymlinksInPath().path() + "/opt/lib/plimsoll/setup-python"
            for (name, group) in [("plot", "plot"), ("report", "plot"), ("tune", "tune")] {
                let line = "plimsoll: \(name) needs Python packages that are not installed; install them with: "
                let archive = try call([name, "r"], by: program, in: folder)
                #expect(archive.status == 71 && archive.error == "\(line)\(setup) \(group)\n", "\(archive.error)")
            }
            // The program that a link in another folder leads to decides.
            let link = folder.appending(path: "on-path/plimsoll")
            try FileManager.default.createDirectory(
                at: link.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: program)
            #expect(try call(["plot", "r"], by: link, in: folder).error.hasSuffix("with: \(setup) plot\n"))
            try standIn("on-path/plimsoll-plot", in: folder)
            let onPath = try call(["plot", "r"], by: program, in: folder)
            #expect(onPath.status == 42 && onPath.out == "plimsoll plot by plimsoll-plot of plimsoll: r\n")
            // An environment that lacks packages is passed over.
            try standIn("opt/lib/plimsoll/venv/bin/python", in: folder, status: 1)
            #expect(try call(["plot", "r"], by: program, in: folder).out == onPath.out)
            try standIn("opt/lib/plimsoll/venv/bin/python", in: folder)
            let own = try call(["plot", "r"], by: program, in: folder)
            #expect(own.out == "plimsoll plot by python of plimsoll: -I -m plimsoll_tools.plotting r\n")
            #expect(try call(["plot", "--help"], by: program, in: folder).status == 42)
        }
    }

    /// The long options that the lines of a help begin with.
    private func options(in help: String) -> Set<String> {
        let found = help.matches(of: #/(?m)^ {2}(?:-\w, )?(--[a-z-]+)/#).map { String($0.output.1) }
        return Set(found).subtracting(["--help", "--version"])
    }

    @Test("have the options in their help, manual page and completions that the Python part has")
    func options() throws {
        let python = Program.root.appending(path: ".venv/bin/python")
        guard FileManager.default.isExecutableFile(atPath: python.path()) else { return }
        try Experiments.within { folder in
            for (name, count) in [("plot", 4), ("report", 2), ("tune", 22)] {
                let own = try call(["help", name], in: folder)
                let asked = try call([name, "--help"], in: folder, "PLIMSOLL_PYTHON=\(python.path())")
                #expect(asked.out.hasPrefix("usage: plimsoll \(name) "), "\(asked.out) \(asked.error)")
                #expect(options(in: own.out) == options(in: asked.out) && options(in: own.out).count == count)
            }
        }
    }

    @Test("refuse an interpreter that was named and does not do")
    func named() throws {
        try Experiments.within { folder in
            try standIn("bare", in: folder, status: 1)
            let bare = try call(["report", "r"], in: folder, "PLIMSOLL_PYTHON=./bare")
            #expect(bare.status == 71 && bare.error.contains("lacks some of the packages that report needs"))
            let none = try call(["report", "r"], in: folder, "PLIMSOLL_PYTHON=./none")
            #expect(none.status == 71)
            #expect(none.error == "plimsoll: PLIMSOLL_PYTHON names ./none, which is not a program\n")
            let help = try call(["report", "--help"], in: folder, "PLIMSOLL_PYTHON=./none")
            #expect(help.status == 0 && help.out.contains("OVERVIEW: Writes one page about a run"))
        }
    }
}
