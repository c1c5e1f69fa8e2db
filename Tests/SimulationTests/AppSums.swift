import Metrics
import Quantities

/// Compares the sums over the apps of `app_summary.csv` with the figures of `summary.csv`.
enum AppSums {
    /// Columns whose sum over all apps is the whole run's figure of the same name.
    private static let alike = [
        "launches_hot", "launches_warm", "launches_cold", "launches_unfinished", "terminations",
        "terminations_foreground", "terminations_perceived", "terminations_felt", "warnings", "suspensions",
        "scenes_disconnected", "stalls", "stall_time_s",
    ]
    private static let states = [
        "time_active_s", "time_inactive_s", "time_background_s", "time_suspended_s", "time_not_running_s",
    ]

    /// What does not add up, as sentences.
    static func differences(_ run: RunOutput) -> [String] {
        let names = RunTables.summary.columns.map(\.name)
        let cells = TableReader(Array(run.summary.utf8), columns: names).rows.first ?? []
        let summary = Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first })
        let apps = run.appSummaryRows
        func sum(_ column: String) -> Double { apps.reduce(0) { $0 + number($1[column]) } }
        var found: [String] = []
        func claim(_ what: String, _ a: Double, _ b: Double) {
            if abs(a - b) > 1e-3 { found.append("\(what): \(a), but \(b)") }
        }
        for column in alike { claim(column, sum(column), number(summary[column])) }
        claim("suspended time", sum("time_suspended_s"), number(summary["suspended_time_s"]))
        let lived = states.dropLast().reduce(0) { $0 + sum($1) }
        claim("lives", lived, Double(run.tally.lives.time.microseconds) / 1e6)
        let ended = run.tally.terminations
        claim("paid or for none", sum("others_ended"), Double(ended.count { $0.isForAnother }))
        for app in apps {
            let name = app["app"] ?? ""
            claim("\(name)'s states", states.reduce(0) { $0 + number(app[$1]) }, number(summary["duration_s"]))
            let ends = app.keys.filter { $0.hasPrefix("ends_") }.sorted().reduce(0) { $0 + number(app[$1]) }
            claim("\(name)'s processes", number(app["processes"]), ends + number(app["processes_at_end"]))
            let reasons = ["allocation", "launch", "front", "off_screen"].map { number(app["others_ended_\($0)"]) }
            claim("\(name)'s price", number(app["others_ended"]), reasons.reduce(0, +))
            claim("\(name) at the end", number(app["processes_at_end"]), min(1, number(app["processes_at_end"])))
            let survived = app["processes"] == "0" ? "" : app["terminations"] == "0" ? "1" : "0"
            if app["survived"] != survived { found.append("\(name) has survived '\(app["survived"] ?? "")'") }
        }
        return found + peaks(run, apps)
    }

    /// No sample shows more than an app's peak, and no app more than the device.
    private static func peaks(_ run: RunOutput, _ apps: [[String: String]]) -> [String] {
        var peaks: [String: Double] = [:]
        for app in apps { peaks[app["app"] ?? ""] = number(app["peak_footprint_bytes"]) }
        let rows = TableReader(Array(run.apps.utf8), columns: ["app", "footprint_bytes"]).rows
        let device = Double(run.tally.peakResident.bytes)
        return rows.filter { number($0[1]) > peaks[$0[0]] ?? 0 }.map { "\($0[0]) held \($0[1]) in a sample" }
            + apps.filter { number($0["peak_footprint_bytes"]) > device }.map { "\($0["app"] ?? "") above the device" }
    }

    private static func number(_ cell: String?) -> Double { cell.flatMap { Double($0) } ?? 0 }
}

extension RunTally.TerminationFact {
    /// Whether the policy ended it for the sake of another app.
    fileprivate var isForAnother: Bool { beneficiary.map { $0.app != app } ?? false }
}
