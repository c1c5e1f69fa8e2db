import Foundation
import Interchange
import Metrics

/// The file of `--trace`: made from the run's CSV when the run is over, whole or not at all.
struct TraceFile {
    let path: String
    /// Its name, if it lies in the run's own folder.
    let nameInside: String?

    /// Refuses before the run what could not be written after it.
    ///
    /// - Parameter out: The run's own folder. It may hold the timeline, too, and is not there yet.
    init(path: String, besides out: String, force: Bool) throws {
        self.path = path
        let file = URL(fileURLWithPath: path).standardizedFileURL
        let folder = file.deletingLastPathComponent()
        let isInside = folder.path == URL(fileURLWithPath: out).standardizedFileURL.path
        nameInside = isInside ? file.lastPathComponent : nil
        guard !isInside || !RunDirectory.files.contains(file.lastPathComponent) else {
            throw Failure(.cannotCreate, "\(path) is one of the run's own files; give another --trace")
        }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard !isFolder.boolValue else { throw Failure(.cannotCreate, "\(path) is a folder") }
        guard !exists || force else {
            throw Failure(.cannotCreate, "\(path) exists already; give another --trace, or --force to overwrite")
        }
        guard isInside || access(folder.path, W_OK) == 0 else {
            throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(errno)))")
        }
    }

    func write(from directory: RunDirectory) throws {
        func bytes(_ table: TableSchema) throws -> [UInt8] {
            guard let data = FileManager.default.contents(atPath: "\(directory.path)/\(table.file)") else {
                throw Failure(.cannotWrite, "cannot write \(path): \(directory.path)/\(table.file) is gone")
            }
            return Array(data)
        }
        let json = RunTrace.json(
            of: RunTrace.Tables(
                samples: try bytes(RunTables.samples), apps: try bytes(RunTables.apps),
                events: try bytes(RunTables.events), launches: try bytes(RunTables.launches)))
        let draft = path + ".part"
        unlink(draft)
        do {
            try FileSink(creating: draft).write(json)
        } catch {
            unlink(draft)
            throw Failure(.cannotWrite, "cannot write \(path): \(String(cString: strerror(error.code)))")
        }
        guard rename(draft, path) == 0 else {
            throw Failure(.cannotWrite, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }
}
