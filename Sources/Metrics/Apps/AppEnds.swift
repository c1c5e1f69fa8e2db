import Lifecycle

extension AppMetric {
    /// The app's processes that the system ended, as in `summary.csv`.
    static let terminations: [AppMetric] = [
        AppMetric(
            "survived", .integer,
            "1 if the system ended no process of the app, otherwise 0; empty if the app had no process. An "
                + "expectation can say `NAME survives`",
            optional: true
        ) { $0.tally.processes == 0 ? .absent : .count($0.terminations.isEmpty ? 1 : 0) },
        count("terminations", "Processes ended by the system") { $0.terminations.count },
        count("terminations_foreground", "Of these, those in the foreground") {
            $0.terminations.count(where: \.wasForeground)
        },
        count("terminations_perceived", "Of these, those whose app was wanted again soon after") {
            $0.terminations.count(where: \.wasPerceived)
        },
        count("terminations_felt", "Processes ended by the system in the foreground, or wanted again soon after") {
            $0.terminations.count(where: \.isFelt)
        },
    ]

    /// How many processes ended for each reason.
    static let ends: [AppMetric] = ExitReason.allCases.map { reason in
        count("ends_\(column(of: reason))", "Processes that ended by \(reason.rawValue)") { facts in
            facts.tally.ends.count { $0 == reason }
        }
    }

    /// What the user loses.
    static let lost = [
        count("data_lost", "Processes that ended before they had saved their data") { $0.tally.dataLost }
    ]

    /// The reason in snake case.
    private static func column(of reason: ExitReason) -> String {
        reason.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
    }
}
