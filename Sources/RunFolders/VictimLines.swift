import Metrics
import Quantities

/// The processes that the system ended, a line each: when, who, why, and what the user lost.
struct VictimLines {
    /// With more lines the summary of a run is no summary.
    static let most = 8

    /// The processes, in the order of their ends.
    let ends: [RunTally.TerminationFact]
    /// The table with all of them; nil if the run did not write it.
    let table: String?

    /// One line per process, in the order of their ends, and whether the user felt the end. Of more than `most`
    /// processes, those that the user felt come before the others.
    var lines: [(text: String, isFelt: Bool)] {
        let ranked = ends.indices.sorted { (ends[$0].isFelt ? 0 : 1, $0) < (ends[$1].isFelt ? 0 : 1, $1) }
        let shown = ranked.prefix(VictimLines.most).sorted()
        let lines = shown.map { (text: VictimLines.line(ends[$0]), isFelt: ends[$0].isFelt) }
        guard shown.count < ends.count else { return lines }
        let place = table.map { ": \($0)" } ?? ""
        return lines + [(text: "and \(ends.count - shown.count) more\(place)", isFelt: false)]
    }

    private static func line(_ end: RunTally.TerminationFact) -> String {
        let why = [end.cause, end.course.standing].compactMap(\.self).joined(separator: "; ")
        return "\((end.at - .zero).clockText) \(end.app): \(why); \(loss(of: end))".onOneLine
    }

    /// What the user lost.
    static func loss(of end: RunTally.TerminationFact) -> String {
        if end.wasForeground { return "it was on screen" }
        guard let after = end.wantedAfter else { return "not missed" }
        return "wanted \(after.clock) later"
    }
}
