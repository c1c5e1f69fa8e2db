import Lifecycle
import Metrics
import Pressure
import Quantities

/// One row of `cores.csv`: what the cores did since the last sample.
struct CoreRow {
    let at: Instant
    /// The share of the cores' time that was used.
    let busy: Ratio
    /// The time since the last sample, by class of service.
    let times: CoreAccounts
    let stalls: StallAverages

    static let table = RowTable<CoreRow>(
        "cores",
        "One row per monitor sample after which a core worked or work waited, and one for the first idle sample; "
            + "samples without a row are idle", key: ["time_s"],
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .share("busy_ratio", "The share of the cores' time that was used since the last sample, slow cores too") {
                $0.busy
            },
        ]
            + ServiceClass.allCases.map { service in
                .milliseconds(
                    "given_\(service.name)_ms",
                    "Time since the last sample that cores worked for the class \(service.name), all cores added up"
                ) { $0.times.given[service.rawValue] }
            }
            + ServiceClass.allCases.map { service in
                .milliseconds(
                    "waited_\(service.name)_ms",
                    "Time since the last sample that work of the class \(service.name) was kept from a core, summed"
                ) { $0.times.waited[service.rawValue] }
            } + [
                .share("psi_cpu_some_avg10", meaning(10)) { $0.stalls.avg10 },
                .share("psi_cpu_some_avg60", meaning(60)) { $0.stalls.avg60 },
                .share("psi_cpu_some_avg300", meaning(300)) { $0.stalls.avg300 },
            ])

    private static func meaning(_ seconds: Int) -> String {
        "Share of time in which work was kept from a core, averaged over \(seconds) s"
    }
}

extension RunTables {
    /// The schema of `cores.csv`.
    public static var cores: TableSchema { CoreRow.table.schema }
}
