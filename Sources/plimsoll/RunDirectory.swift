import Foundation
import Metrics
import Simulation

/// The folder that a run leaves behind. Tables are written as the run goes; the manifest comes last and at once.
struct RunDirectory {
    let path: String

    /// The files that every run writes.
    static let files = RunTables.all.map(\.file) + ["datapackage.json", "scenario.yaml", "manifest.json"]

    /// A folder that is there already.
    init(existing path: String) { self.path = path }

    /// Makes the folder, or takes one that holds no earlier run.
    ///
    /// - Parameter scenario: The input; it is never overwritten by the run's own `scenario.yaml`.
    init(creating path: String, force: Bool, keeping scenario: String) throws {
        self.path = path
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw Failure(.cannotCreate, "\(path) exists and is not a folder") }
            let content: [String]
            do {
                content = try manager.contentsOfDirectory(atPath: path)
            } catch {
                throw Failure(.cannotCreate, "cannot look into \(path): \(RunDirectory.why(error))")
            }
            guard content.isEmpty || force else {
                throw Failure(.cannotCreate, "\(path) exists already; give another --out, or --force to overwrite")
            }
            let ours = RunDirectory.files.filter(content.contains)
            // An experiment's folder has a package and a manifest, too, but other tables.
            guard ours.isEmpty || RunDirectory.marks.allSatisfy(content.contains) else {
                throw Failure(
                    .cannotCreate, "\(path) holds \(ours[0]), but no run that could be overwritten; give another --out")
            }
            guard !RunDirectory.isSame(scenario, path + "/scenario.yaml") else {
                throw Failure(
                    .cannotCreate,
                    "\(path)/scenario.yaml is the scenario itself and would be overwritten; give another --out")
            }
            if !ours.isEmpty { try removeRun(ours) }
        } else {
            try RunDirectory.make(path)
        }
    }

    /// Makes a folder and those above it.
    static func make(_ path: String) throws {
        var built = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            built += built.isEmpty || built == "/" ? String(part) : "/" + part
            guard mkdir(built, 0o755) != 0 else { continue }
            let code = errno
            var isFolder: ObjCBool = false
            if code == EEXIST, FileManager.default.fileExists(atPath: built, isDirectory: &isFolder), isFolder.boolValue
            {
                continue
            }
            throw Failure(.cannotCreate, "cannot create \(path): \(built): \(String(cString: strerror(code)))")
        }
    }

    static func isSame(_ a: String, _ b: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard stat(a, &first) == 0, stat(b, &second) == 0 else { return false }
        return first.st_ino == second.st_ino && first.st_dev == second.st_dev
    }

    /// `runs/NAME` below the current folder, or the first `runs/NAME-2`, `-3`, … that is free.
    static func free(for name: String) -> String {
        var path = "runs/\(name)"
        var number = 2
        while FileManager.default.fileExists(atPath: path) {
            path = "runs/\(name)-\(number)"
            number += 1
        }
        return path
    }

    /// The tables' files, all of them empty; those that nobody wants are not made.
    func sinks(summaryOnly: Bool) throws -> RunSinks {
        do {
            return try RunSinks { (schema: TableSchema) throws(OutputFailure) in
                if summaryOnly && schema.name != RunTables.summary.name { return NullSink() }
                return try FileSink(creating: "\(path)/\(schema.file)")
            }
        } catch {
            throw Failure(.cannotCreate, "cannot create \(error.path): \(String(cString: strerror(error.code)))")
        }
    }

    /// Writes a file whole or not at all: under another name first, then moved into place.
    func write(_ text: String, to file: String) throws {
        let target = "\(path)/\(file)"
        let draft = target + ".part"
        unlink(draft)
        do {
            let sink = try FileSink(creating: draft)
            try sink.write(Array(text.utf8))
        } catch {
            unlink(draft)
            throw Failure(.cannotWrite, "cannot write \(target): \(String(cString: strerror(error.code)))")
        }
        guard rename(draft, target) == 0 else {
            throw Failure(.cannotWrite, "cannot write \(target): \(String(cString: strerror(errno)))")
        }
    }

    static func why(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        if let code = underlying?.code, underlying?.domain == NSPOSIXErrorDomain {
            return String(cString: strerror(Int32(code)))
        }
        return error.localizedDescription
    }
}
