import Foundation
import Metrics
import Testing

/// Shared by the tests of `compare` and `sweep`: tiny scenarios, and a reader for tables.
enum Experiments {
    /// Twelve seconds with three apps that do not fit together; a run takes a few hundredths of a second.
    static let tiny = """
        plimsoll: 1
        name: tiny
        seed: 5
        duration: 12s
        device: { ceiling: 96MiB, reserved: 16MiB }
        monitor: { preset: brisk }
        policy: lru
        backend: accounting
        apps:
          - { name: a, like: plain, memory: { base: 25MiB, cache: { size: 8MiB } } }
          - { name: b, like: plain, memory: { base: 25MiB, growth: { rate: 4MiB/s, up_to: 40MiB } } }
          - { name: c, like: plain, memory: { base: 30MiB } }
        user:
          - { at: 0s, launch: a }
          - { at: 3s, launch: b }
          - { at: 6s, launch: c }
          - { at: 9s, switch: a }
        """

    static func within(_ body: (URL) throws -> Void) throws {
        let folder = try Program.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(tiny.utf8).write(to: folder.appending(path: "tiny.yaml"))
        try body(folder)
    }

    /// The rows of a CSV file, by column name.
    static func rows(_ file: URL) throws -> [[String: String]] {
        let bytes = Array(try Data(contentsOf: file))
        let names = TableReader(bytes, columns: []).columns
        return TableReader(bytes, columns: names).rows.map { cells in
            Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first })
        }
    }

    /// The processes of the host whose command line names the folder, except the given one.
    static func processes(naming folder: URL, except own: Int32 = 0) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { name in
            guard let number = Int32(name), number != own, number != getpid() else { return false }
            let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline") ?? Data()
            return line.range(of: Data(folder.lastPathComponent.utf8)) != nil
        }
    }

    /// Waits until no process names the folder; false if one still does after a minute.
    static func isQuiet(_ folder: URL) throws -> Bool {
        try Program.wait { try processes(naming: folder).isEmpty }
    }

    /// Waits until a run of a command is under way as a process that names the folder, or until the command has ended.
    static func waitForRun(of process: Process, naming folder: URL) throws {
        try Program.wait {
            try !process.isRunning || !processes(naming: folder, except: process.processIdentifier).isEmpty
        }
    }

    /// The number of finished runs of an experiment in a folder.
    static func finished(_ path: String, in folder: URL) -> Int {
        let text = (try? Program.text(folder.appending(path: "\(path)/ledger.txt"))) ?? ""
        return max(0, text.count { $0 == "\n" } - 1)
    }

    /// Starts a command, and sends the signals as soon as so many of its runs are finished.
    static func interrupt(
        _ arguments: [String], by signals: [Int32], after runs: Int, into out: String, in folder: URL
    ) throws -> Program.Result {
        try Program.run(arguments, in: folder) { process in
            try Program.wait { !process.isRunning || finished(out, in: folder) >= runs }
            for number in signals { kill(process.processIdentifier, number) }
        }
    }
}
