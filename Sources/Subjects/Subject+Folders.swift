import Experiments
import Metrics
import Plan
import RunFolders
import Scenario

// What an earlier run or sweep left in a folder, which people and disks may have changed.
extension Subject {
    /// The files of the folder. A piece of the input names its file by its first byte; pieces end at a byte 255, which
    /// no text has.
    private static let files = ["decisions.csv", "manifest.json", Ledger.file, "plan.json", "builds.txt"]

    static let folder = Subject(name: "folder", input: "the tables, the manifest and the ledger of a folder") {
        bytes throws(Finding) in
        let pieces = bytes.split(separator: 255, omittingEmptySubsequences: false).prefix(files.count)
        var contents: [(name: String, bytes: [UInt8])] = []
        for piece in pieces {
            guard let first = piece.first else { continue }
            contents.append((files[Int(first) % files.count], Array(piece.dropFirst())))
        }
        for (name, bytes) in contents where name == files[0] { try isTable(bytes) }
        let folder = ScratchFolder(contents)
        try resumes(folder.path)
        return try isRecord(folder.path)
    }

    /// Every row has a cell for every wanted column, and the rows are those of the whole lines.
    private static func isTable(_ bytes: [UInt8]) throws(Finding) {
        let wanted = ["time_s", "app", "nowhere"]
        let table = TableReader(bytes, columns: wanted)
        for row in table.rows where row.count != wanted.count { throw Finding("a row of \(row.count) cells") }
        if table.rows.contains(where: { !$0[2].isEmpty }) && !table.columns.contains("nowhere") {
            throw Finding("a cell of a column that is not there")
        }
        let cut = TableReader(Array(bytes.dropLast()), columns: wanted)
        if cut.rows.count > table.rows.count { throw Finding("fewer bytes have more rows") }
    }

    private static let plan: RunPlan? = {
        let text = """
            plimsoll: 1
            name: fuzz
            duration: 1min
            device: { ceiling: 256MiB }
            apps: [ { name: a } ]

            """
        return try? ScenarioLoader.load(text: text, file: "scenario.yaml").get()
    }()

    private static func isRecord(_ path: String) throws(Finding) -> Bool {
        guard let plan else { throw Finding("the scenario beside it is no scenario") }
        do {
            let record = try RunRecord(path, plan)
            record.compareEnd()
            for warning in record.warnings { try Claims.isOneLine(warning) }
            _ = record.endedApp(at: nil)
            _ = record.endedApp(at: .seconds(1))
            return true
        } catch {
            try isRefusal(error)
            return false
        }
    }

    /// A sweep that goes on in this folder begins, or is refused; the ledger is not longer than the plan.
    private static func resumes(_ path: String) throws(Finding) {
        let plan = ExperimentPlan(
            program: "fuzz", scenarios: [.init(path: "scenario.yaml", name: "fuzz", fingerprint: "0")],
            seeds: [1, 2, 3])
        do {
            let booked = try BookedFolder(.sweep, plan, path: path, resume: true)
            if booked.ledger.finished > plan.count { throw Finding("more finished runs than there are") }
            for index in 0..<plan.count where booked.ledger.isFinished(index) { _ = try booked.row(index) }
        } catch {
            try isRefusal(error)
        }
    }

    private static func isRefusal(_ error: any Error) throws(Finding) {
        if let finding = error as? Finding { throw finding }
        guard let failure = Failure(of: error) else { throw Finding("an error without a status: \(error)") }
        if failure.status == .internalFault { throw Finding("our own fault: \(failure.lines)") }
        for line in failure.lines { try Claims.isOneLine(line) }
    }
}
