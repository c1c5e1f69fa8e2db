import Foundation
import Testing

/// Runs the built program as a user would.
enum Program {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The test bundle and the program are built into the same folder.
    static let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "plimsoll")

    struct Result {
        let status: Int32
        let out: String
        let error: String
    }

    static func scenario(_ name: String) -> String { root.appending(path: "Scenarios/\(name).yaml").path() }

    /// A new folder for each test; the test removes it with `defer`.
    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "plimsoll-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Runs `plimsoll` with the arguments; `shell` wraps the command, as in `ulimit -f 8; exec "$@"`. Runs of
    /// yardsticks are kept in the folder `cache`, if it is not empty.
    static func run(
        _ arguments: [String], of program: URL = executable, in folder: URL, shell: String? = nil, cache: String = "",
        meanwhile: (Process) throws -> Void = { _ in }
    ) throws -> Result {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(["PLIMSOLL_CACHE": cache]) { $1 }
        if let shell {
            process.executableURL = URL(filePath: "/bin/bash")
            process.arguments = ["-c", shell, "bash", program.path()] + arguments
        } else {
            process.executableURL = program
            process.arguments = arguments
        }
        process.currentDirectoryURL = folder
        let (out, error) = (folder.appending(path: ".stdout"), folder.appending(path: ".stderr"))
        for file in [out, error] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: out)
        process.standardError = try FileHandle(forWritingTo: error)
        process.standardInput = FileHandle.nullDevice
        // Under nohup a closed terminal would be ignored, by the program, too: it leaves that to its parent.
        signal(SIGHUP, SIG_DFL)
        try process.run()
        try meanwhile(process)
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, out: try String(contentsOf: out, encoding: .utf8),
            error: try String(contentsOf: error, encoding: .utf8))
    }

    /// Waits until something is true, at most a minute: a machine may be slow, and a test that passes waits no longer
    /// than it must.
    ///
    /// - Returns: Whether it became true.
    @discardableResult
    static func wait(_ happened: () throws -> Bool) throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !happened() {
            guard ContinuousClock.now < deadline else { return false }
            usleep(5_000)
        }
        return true
    }

    static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// Whether every row of a CSV without quotes has as many cells as its header, and the last one is complete.
    static func isValidPrefix(_ csv: String) -> Bool {
        guard csv.hasSuffix("\n") else { return csv.isEmpty }
        let rows = csv.split(separator: "\n")
        let columns = rows.first?.split(separator: ",", omittingEmptySubsequences: false).count
        return rows.allSatisfy { $0.split(separator: ",", omittingEmptySubsequences: false).count == columns }
    }
}
