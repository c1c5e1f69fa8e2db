import Experiments
import Foundation
import Metrics
import Simulation

/// The folder of a run. The tables grow during the run; the manifest is written last, in one step.
package struct RunDirectory {
    let path: String
    /// Keeps other plimsoll processes out; nil for a folder that is only read.
    private let hold: FolderHold?
    /// The members of `files` that an earlier run left there.
    private let earlier: [String]

    /// The files that a run may write.
    package static let files = RunTables.known.map(\.file) + ["datapackage.json", "scenario.yaml", "manifest.json"]

    /// An existing folder.
    package init(existing path: String) { (self.path, hold, earlier) = (path, nil, []) }

    /// A new folder below `runs`: `runs/NAME`, or the first `runs/NAME-2`, -3, … that is free.
    package init(free name: String) throws {
        let hold = try FolderHold(makingFree: name, in: "runs")
        (path, self.hold, earlier) = (hold.path, hold, [])
    }

    /// Makes the folder, or takes an empty one.
    ///
    /// - Parameter ours: Files that may exist and will be overwritten.
    package init(empty path: String, except ours: [String] = [], advice: String) throws {
        let (hold, content) = try RunDirectory.take(path)
        guard content.allSatisfy(ours.contains) else {
            throw Failure(.cannotCreate, "\(path) exists already; \(advice)")
        }
        (self.path, self.hold, earlier) = (path, hold, [])
    }

    /// Makes the folder, or takes an existing one. Call `removeEarlierRun` before writing the first file.
    ///
    /// - Parameter scenario: The input; it is never overwritten by the run's own `scenario.yaml`.
    package init(creating path: String, force: Bool, keeping scenario: String) throws {
        let (hold, content) = try RunDirectory.take(path)
        guard content.isEmpty || force else {  // promise: folder-kept
            throw Failure(.cannotCreate, "\(path) exists already; give another --out, or --force to overwrite")
        }
        let ours = RunDirectory.files.filter(content.contains)
        // The folder of an experiment also has a package and a manifest, but other tables, and before its end a
        // ledger.
        let claimed = ours + [Ledger.file].filter(content.contains)
        guard
            claimed.isEmpty || RunDirectory.marks.allSatisfy(content.contains)
                || RunDirectory.isHardlyBegun(claimed, in: path)
        else {
            throw Failure(
                .cannotCreate, "\(path) holds \(claimed[0]), but no run that could be overwritten; give another --out")
        }
        guard !RunDirectory.isSame(scenario, path + "/scenario.yaml") else {
            throw Failure(
                .cannotCreate,
                "\(path)/scenario.yaml is the scenario itself and would be overwritten; give another --out")
        }
        (self.path, self.hold, earlier) = (path, hold, ours)
    }

    /// Whether these files are what a run leaves that is killed while it makes its folder: tables without a row, not
    /// even that of their columns, and perhaps the scenario.
    private static func isHardlyBegun(_ files: [String], in path: String) -> Bool {
        let tables = files.filter { $0 != "scenario.yaml" }
        return !tables.isEmpty
            && tables.allSatisfy { file in
                var status = stat()
                return RunTables.known.contains { $0.file == file } && lstat("\(path)/\(file)", &status) == 0
                    && status.st_mode & S_IFMT == S_IFREG && status.st_size == 0
            }
    }

    /// Makes the folder if it is missing, takes it, and lists its content.
    private static func take(_ path: String) throws -> (FolderHold, content: [String]) {
        var isFolder: ObjCBool = false
        guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || isFolder.boolValue else {
            throw Failure(.cannotCreate, "\(path) exists and is not a folder")
        }
        let hold = try FolderHold(making: path)
        do {
            return (hold, try content(of: path))
        } catch {
            hold.withdraw()
            throw Failure(.cannotCreate, "\(error)")
        }
    }

    /// Why the content of a folder cannot be listed, in the system's words.
    package struct Closed: Error, CustomStringConvertible {
        let path: String
        let code: Int32

        package var description: String { "cannot look into \(path): \(String(cString: strerror(code)))" }
    }

    /// The names of a folder's content, in no order.
    package static func content(of path: String) throws(Closed) -> [String] {
        // Foundation hides the reason of a failure, so open() is called first to get it.
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Closed(path: path, code: errno) }
        close(descriptor)
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw Closed(path: path, code: EIO)
        }
    }

    /// Removes all files of an earlier run.
    func removeEarlierRun() throws {
        if !earlier.isEmpty { try removeRun(earlier) }
    }

    /// Removes the folders that this process made; for use before the first file.
    package func leave() { hold?.withdraw() }

    /// Removes what this process made after `removeEarlierRun`: the files, and the folders that did not exist before.
    func withdraw() {
        for file in RunDirectory.files { unlink("\(path)/\(file)") }
        hold?.withdraw()
    }

    /// Whether two paths lead to one file.
    package static func isSame(_ a: String, _ b: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(a, &first) == 0, stat(b, &second) == 0 else { return false }
        return first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    /// Creates the files of these tables, all empty.
    package func sinks(_ tables: [TableSchema]) throws -> RunSinks {
        do {
            return try RunSinks { (schema: TableSchema) throws(OutputFailure) in
                guard tables.contains(where: { $0.name == schema.name }) else { return NullSink() }
                return try FileSink(creating: "\(path)/\(schema.file)")
            }
        } catch {
            throw Failure(.cannotCreate, "cannot create \(error.path): \(String(cString: strerror(error.code)))")
        }
    }

    /// Writes a file whole or not at all.
    package func write(_ text: String, to file: String) throws {
        let bytes = Array(text.utf8)
        do {
            let draft = try FileDraft(of: "\(path)/\(file)")
            try draft.sink.write(bytes.span)
            try draft.settle()
        } catch {
            throw Failure(cannotWrite: error)
        }
    }
}
