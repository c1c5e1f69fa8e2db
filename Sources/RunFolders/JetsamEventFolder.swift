import Foundation
import Interchange
import Metrics
import Simulation

/// The folder of `--jetsam-events` inside a run's folder. After every session of kills a report is written, whole or
/// not at all.
final class JetsamEventFolder: KillReportSink {
    /// The folder's name inside the run's folder.
    package static let name = "jetsam-events"

    private let path: String
    private let export: JetsamEventExport
    /// The number of reports written.
    private(set) var count = 0

    /// Checks before the run that the folder can take its reports.
    ///
    /// - Parameter run: The run's folder; reports of an earlier run in it will be removed.
    package static func check(in run: String) throws {
        let path = "\(run)/\(name)"
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(.cannotCreate, "\(path) is not a folder of reports; give another --out")
        }
        for file in (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? []
        where isNamedLikeReport(file) && !isReport("\(path)/\(file)") {
            throw Failure(
                .cannotCreate,
                "\(path)/\(file) is not a report of a run, and --force overwrites nothing else; give another --out")
        }
    }

    /// Makes the folder, unless it exists.
    init(in run: String, _ export: JetsamEventExport) throws {
        (path, self.export) = ("\(run)/\(JetsamEventFolder.name)", export)
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
            throw Failure(.cannotCreate, "cannot create \(path): \(String(cString: strerror(errno)))")
        }
    }

    package func write(_ report: KillReport) throws(OutputFailure) {
        let text = export.text(of: report)
        let draft = try FileDraft(of: "\(path)/\(export.name(of: report))")
        try draft.sink.write(text.span)
        try draft.settle()
        count += 1
    }

    /// The reports in a run's folder, by their paths inside it.
    package static func reports(in run: String) -> [String] {
        var status = stat()
        // A symbolic link would lead to a folder that is not plimsoll's.
        guard lstat("\(run)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [] }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(run)/\(name)")) ?? []
        return files.filter(isNamedLikeReport).map { "\(name)/\($0)" }.filter { isReport("\(run)/\($0)") }
    }

    private static func isNamedLikeReport(_ file: String) -> Bool {
        file.hasPrefix(JetsamEventExport.namePrefix) && file.hasSuffix(JetsamEventExport.nameSuffix)
    }

    /// Whether this is a plain file that begins like a report of plimsoll.
    private static func isReport(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: JetsamEventExport.beginning.count)
        else { return false }
        return bytes.elementsEqual(JetsamEventExport.beginning)
    }
}
