import Plan
import Quantities
import Simulation

/// A lower bound of the bytes that a run writes, computed from its plan: at each sample one row of samples.csv, and
/// one row of apps.csv for each process.
package struct OutputEstimate {
    private static let worthAWord = ByteCount.gibibytes(1)
    /// Bytes of a row, measured in runs of about ten apps.
    private static let (sampleRow, appRow) = (150, 80)

    let samples: Int
    private let writesEveryApp: Bool

    package init(_ plan: RunPlan) {
        samples = Int((plan.duration.microseconds / max(1, plan.monitor.interval.microseconds))) + 1
        writesEveryApp = plan.appRows == .all
    }

    private var samplesTable: ByteCount { ByteCount(samples * OutputEstimate.sampleRow) }
    /// The size of apps.csv for one process that lives throughout the run.
    private var appsTable: ByteCount { writesEveryApp ? ByteCount(samples * OutputEstimate.appRow) : .zero }

    /// A warning if samples.csv and the rows of one process in apps.csv add up to 1 GiB or more; otherwise nil.
    package var text: String? {
        guard samplesTable + appsTable >= OutputEstimate.worthAWord else { return nil }
        let apps = writesEveryApp ? ", and apps.csv \(appsTable.readable) for every process that lives throughout" : ""
        return "with \(samples.grouped) samples, samples.csv will have about \(samplesTable.readable)\(apps); "
            + "a longer monitor.interval writes less, and --summary-only writes no such table"
    }
}
