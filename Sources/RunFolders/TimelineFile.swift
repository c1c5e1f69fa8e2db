import Foundation
import Interchange
import Metrics

/// The file of `--trace`: made from the run's CSV files after the run, whole or not at all.
struct TimelineFile {
    let path: String
    /// The file's name, if it lies in the run's folder.
    let nameInside: String?

    /// Checks before the run that the path can be written after it.
    ///
    /// - Parameters:
    ///   - out: The run's folder; it may hold the timeline, too.
    ///   - force: Whether to overwrite an earlier timeline; other files are never overwritten.
    ///   - scenario: The input; it is never overwritten.
    init(path: String, besides out: String, force: Bool, keeping scenario: String) throws {
        self.path = path
        let file = URL(fileURLWithPath: path).standardizedFileURL
        let folder = file.deletingLastPathComponent()
        let isInside = folder.path == URL(fileURLWithPath: out).standardizedFileURL.path
        nameInside = isInside ? file.lastPathComponent : nil
        guard !isInside || !RunDirectory.files.contains(file.lastPathComponent) else {
            throw Failure(.cannotCreate, "\(path) is one of the run's own files; give another --trace")
        }
        try OutputFile.check(path, force: force, keeping: (scenario, "scenario"), option: "--trace")
        guard !FileManager.default.fileExists(atPath: path) || TimelineFile.isTimeline(path) else {
            throw Failure(
                .cannotCreate,
                "\(path) is not a timeline of a run, and --force overwrites nothing else; give another --trace")
        }
        guard isInside || access(folder.path, W_OK) == 0 else {
            throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(errno)))")
        }
    }

    package func write(from directory: RunDirectory) throws {
        func bytes(_ table: TableSchema) throws -> [UInt8] {
            guard let data = FileManager.default.contents(atPath: "\(directory.path)/\(table.file)") else {
                throw Failure(.cannotWrite, "cannot write \(path): \(directory.path)/\(table.file) is gone")
            }
            return Array(data)
        }
        let pages = FileManager.default.contents(atPath: "\(directory.path)/\(RunTables.pages.file)")
        let json = RunTrace.json(
            of: RunTrace.Tables(
                samples: try bytes(RunTables.samples), apps: try bytes(RunTables.apps),
                events: try bytes(RunTables.events), launches: try bytes(RunTables.launches),
                cores: try bytes(RunTables.cores), pages: Array(pages ?? Data())))
        try OutputFile.replace(path, json)
    }

    /// Whether the file begins like a timeline of plimsoll.
    private static func isTimeline(_ path: String) -> Bool {
        let beginning = RunTrace.beginning
        guard let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: beginning.count)
        else { return false }
        return bytes.elementsEqual(beginning)
    }
}
