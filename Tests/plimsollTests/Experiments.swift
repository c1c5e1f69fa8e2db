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

    /// Waits until no process names the folder; false if one still does after ten seconds.
    static func isQuiet(_ folder: URL) throws -> Bool {
        for _ in 0..<500 {
            if try processes(naming: folder).isEmpty { return true }
            usleep(20_000)
        }
        return false
    }
}
