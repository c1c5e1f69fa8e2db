import Foundation

/// What `--force` removes: the files that plimsoll and its scripts write about a run, by name, so that none is left
/// from the earlier run. All other files stay.
extension RunDirectory {
    /// Files that together mark a run's folder; no other folder of plimsoll has both.
    package static let marks = ["datapackage.json", "summary.csv"]

    /// What `Scripts/plot` draws of a run, into its folder `plots`.
    package static let pictures = [
        "story", "memory", "pages", "pressure", "cores", "states", "launches", "terminations",
    ]
    package static let pictureFormats = ["png", "svg"]
    private static let pictureFolder = "plots"

    /// What `Scripts/report` writes.
    package static let report = "report.html"

    /// Removes the run's tables, its timeline, its pictures, its report and its JetsamEvent reports.
    ///
    /// - Parameter tables: The members of `files` that exist.
    func removeRun(_ tables: [String]) throws {
        let timeline = timelineOnRecord
        for file in [RunDirectory.report, timeline].compactMap(\.self) { try removePlain(file) }
        try removePictures()
        try removeJetsamEvents()
        // The marks are removed last: a run whose removal was cut short keeps them, so --force can overwrite it
        // again.
        for file in tables.filter({ !RunDirectory.marks.contains($0) }) + RunDirectory.marks.filter(tables.contains) {
            try remove(file)
        }
    }

    /// The name of the run's timeline in this folder, from its manifest.
    private var timelineOnRecord: String? {
        struct Record: Decodable { var traceFile: String? }
        guard let name = JSONDocument.read(Record.self, from: "\(path)/manifest.json")?.traceFile,
            !name.contains("/"), !RunDirectory.files.contains(name)
        else { return nil }
        return name
    }

    private func removePictures() throws {
        let folder = RunDirectory.pictureFolder
        // A link leads to a folder that is not plimsoll's.
        guard kind(of: folder) == S_IFDIR else { return }
        for picture in RunDirectory.pictures {
            for format in RunDirectory.pictureFormats { try removePlain("\(folder)/\(picture).\(format)") }
        }
        // The folder stays while it holds other files.
        rmdir("\(path)/\(folder)")
    }

    private func removeJetsamEvents() throws {
        let reports = JetsamEventFolder.reports(in: path)
        for report in reports { try remove(report) }
        // A folder without reports may be the user's and stays. Otherwise rmdir keeps it only while it holds other
        // files.
        if !reports.isEmpty { rmdir("\(path)/\(JetsamEventFolder.name)") }
    }

    /// Removes a plain file; the scripts make no links or folders of such a name.
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
