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

    @Test("are found in the archive's environment, then on PATH; else one line says what to install")
    func search() throws {
        try Experiments.within { folder in
            let program = try installed(in: folder)
            let nothing = try call(["plot", "r"], by: program, in: folder)
            #expect(nothing.status == 71 && nothing.error.split(separator: "\n").count == 1)
            #expect(nothing.error.contains("pip install './Scripts[plot]'"), "\(nothing.error)")
            // With the package beside the program, the line can be copied.
            let package = folder.appending(path: "opt/share/plimsoll/python")
            try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
            try Data().write(to: package.appending(path: "pyproject.toml"))
            let archive = try call(["tune", "r"], by: program, in: folder)
            let prefix = folder.resolvingSymlinksInPath().path() + "/opt"
            #expect(
                archive.error.hasSuffix(
                    "install them with: python3 -m venv \(prefix)/lib/plimsoll/venv && "
                        + "\(prefix)/lib/plimsoll/venv/bin/pip install '\(prefix)/share/plimsoll/python[tune]'\n"),
                "\(archive.error)")
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

    @Test("refuse an interpreter that was named and does not do")
    func named() throws {
        try Experiments.within { folder in
            try standIn("bare", in: folder, status: 1)
            let bare = try call(["report", "r"], in: folder, "PLIMSOLL_PYTHON=./bare")
            #expect(bare.status == 71 && bare.error.contains("lacks some of the packages that report needs"))
            let none = try call(["report", "r"], in: folder, "PLIMSOLL_PYTHON=./none")
            #expect(none.status == 71 && none.error == "plimsoll: PLIMSOLL_PYTHON names ./none, which is no program\n")
            let help = try call(["report", "--help"], in: folder, "PLIMSOLL_PYTHON=./none")
            #expect(help.status == 0 && help.out.contains("OVERVIEW: Writes one page about a run"))
        }
    }
}
