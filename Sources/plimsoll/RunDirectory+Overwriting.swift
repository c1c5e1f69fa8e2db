import Foundation

/// What `--force` takes away: whatever plimsoll and its scripts have written about the run that was there, by name, so
/// that nothing is left that speaks of another run. What anybody else put into the folder stays.
extension RunDirectory {
    /// Files that a run has, and no other folder of ours.
    static let marks = ["datapackage.json", "summary.csv"]

    /// What `Scripts/plot` draws of a run, into its folder `plots`.
    static let pictures = ["memory", "pressure", "states", "launches", "terminations"]
    static let pictureFormats = ["png", "svg"]
    private static let pictureFolder = "plots"

    /// What `Scripts/report` writes.
    static let report = "report.html"

    /// Removes the run's tables, its timeline, its pictures, its report and its JetsamEvent reports.
    ///
    /// - Parameter tables: Those of `files` that are there.
    func removeRun(_ tables: [String]) throws {
        let timeline = timelineOnRecord
        for file in [RunDirectory.report, timeline].compactMap(\.self) { try removePlain(file) }
        try removePictures()
        try removeJetsamEvents()
        // Last what shows that a run can be overwritten, so that one which could not be removed whole can be again.
        for file in tables.filter({ !RunDirectory.marks.contains($0) }) + RunDirectory.marks { try remove(file) }
    }

    /// The name of the timeline that the run left here, by its manifest.
    private var timelineOnRecord: String? {
        struct Record: Decodable { var traceFile: String? }
        guard let name = JSONDocument.read(Record.self, from: "\(path)/manifest.json")?.traceFile,
            !name.contains("/"), !RunDirectory.files.contains(name)
        else { return nil }
        return name
    }

    private func removePictures() throws {
        let folder = RunDirectory.pictureFolder
        // A link leads to a place that is somebody else's.
        guard kind(of: folder) == S_IFDIR else { return }
        for picture in RunDirectory.pictures {
            for format in RunDirectory.pictureFormats { try removePlain("\(folder)/\(picture).\(format)") }
        }
        // It stays while anything else is in it.
        rmdir("\(path)/\(folder)")
    }

    private func removeJetsamEvents() throws {
        let reports = JetsamEventFolder.reports(in: path)
        for report in reports { try remove(report) }
        // It stays while anything else is in it; an empty one may be somebody else's.
        if !reports.isEmpty { rmdir("\(path)/\(JetsamEventFolder.name)") }
    }

    /// A link or a folder of such a name is not what our scripts make.
    private func removePlain(_ file: String) throws {
        if kind(of: file) == S_IFREG { try remove(file) }
    }

    private func kind(of file: String) -> mode_t? {
        var status = stat()
        return lstat("\(path)/\(file)", &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private func remove(_ file: String) throws {
        guard unlink("\(path)/\(file)") == 0 else {
            throw Failure(.cannotCreate, "cannot overwrite \(path)/\(file): \(String(cString: strerror(errno)))")
        }
    }
}
