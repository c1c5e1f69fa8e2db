import Quantities

extension ReplayOutcome {
    /// The outcome for people: a table of victims, who else ended, the assumptions, and a line of counts.
    public var text: String {
        let assumed = ["", "Assumptions, which the report cannot confirm:"] + assumptions.map { "- \($0)" }
        let lines: [String] = heading + [""] + table + gradeTable + reasons + [""] + rest + assumed + ["", counts]
        return lines.joined(separator: "\n")
    }

    private var heading: [String] {
        let report = phone.report
        let told = [report.product, report.system].compactMap { $0 }.map { onOneLine($0) }
        let file = onOneLine(report.source.file.split(separator: "/").last.map(String.init) ?? "report")
        let device = phone.device.preset?.name ?? "no preset"
        return [
            "report  " + ([file] + told).joined(separator: ", ") + ": "
                + "\(phone.members.count.counted("process", "processes")), \(victims.count) ended by jetsam",
            "device  \(device), \(phone.device.ceiling.readable) of RAM, policy jetsam of xnu-"
                + "\(report.kernel.rawValue)",
        ]
    }

    private var table: [String] {
        guard !victims.isEmpty else { return ["The report names no process that jetsam ended."] }
        let head = ["report", "process", "band", "reason", "run", "at", "reason", "the same"]
        let rows = victims.enumerated().map { index, victim in
            let grade = victim.isAssumed ? "not graded" : victim.isSame.map { $0 ? "yes" : "no" } ?? "no"
            return [
                "\(index + 1)", victim.name, "\(victim.band)", onOneLine(victim.reason, atMost: 40),
                victim.end.map { "\($0.place)" } ?? "-", victim.end.map { "\($0.at)" } ?? "-",
                victim.end?.reason ?? "lives on", grade,
            ]
        }
        return columns([head] + rows)
    }

    /// The grade of each of the report's reasons.
    private var gradeTable: [String] {
        guard !victims.isEmpty else { return [] }
        let rows = grades.map { grade in
            let others = grade.others.map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
            return [
                onOneLine(grade.reason, atMost: 40), "\(grade.victims)", "\(grade.ended)",
                grade.same.map { "\($0)" } ?? "not graded", others,
            ]
        }
        return [""] + columns([["reason", "victims", "ended", "the same", "another"]] + rows)
    }

    /// Rows as lines, with as much room for each column as it needs.
    private func columns(_ rows: [[String]]) -> [String] {
        guard let head = rows.first else { return [] }
        let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (cell, width) in zip(row, widths) {
                line += cell + String(repeating: " ", count: width + 2 - cell.count)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// What jetsam's words mean, each once.
    private var reasons: [String] {
        var words: [String] = []
        for reason in victims.flatMap({ [$0.reason, $0.end?.reason] }).compactMap({ $0 }) {
            let line = ReportDigest.words(for: onOneLine(reason, atMost: 40))
            if line != onOneLine(reason, atMost: 40) && !words.contains(line) { words.append(line) }
        }
        return words.isEmpty ? [] : [""] + words
    }

    private var rest: [String] {
        guard !victims.isEmpty else { return lines("ended in the run", others + later) }
        let isWhole = ended == victims.count
        let late = phone.late.map { "\(onOneLine($0.name)) (\(onOneLine($0.reason ?? "")))" }
        let left = late.isEmpty ? [] : ["launched after the report's moment, so not replayed: \(late.count)"]
        return left + late.map { "  \($0)" }
            + lines(
                isWhole ? "ended before the last victim, but not in the report" : "ended, but not in the report", others
            )
            + (isWhole ? lines("ended in the \(JetsamReplay.afterwards) after the last victim", later) : [])
    }

    /// The first of a long list are enough for people.
    private func lines(_ title: String, _ ends: [ReplayEnd], atMost most: Int = 20) -> [String] {
        guard !ends.isEmpty else { return ["\(title): none"] }
        let more = ends.count > most ? ["  and \(ends.count - most) more"] : []
        return ["\(title): \(ends.count)"]
            + ends.prefix(most).map { "  \($0.place) \($0.name), band \(band(of: $0)), at \($0.at): \($0.reason)" }
            + more
    }

    private func band(of end: ReplayEnd) -> Int { phone.members.first { $0.name == end.name }?.band ?? 0 }

    /// One line for scripts and people.
    public var counts: String {
        let graded = victims.filter { !$0.isAssumed }
        return "victims \(victims.count), ended \(ended), in the report's order \(inOrder), for the report's reason "
            + "\(graded.count { $0.isSame == true }) of \(graded.count) graded; others before the last victim "
            + "\(others.count)"
    }
}
