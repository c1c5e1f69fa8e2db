import Quantities
import Simulation

/// What a run will write at least, as far as its plan tells: a row of samples.csv at every sample, and one of apps.csv
/// for every process.
struct OutputEstimate {
    private static let worthAWord = ByteCount.gibibytes(1)
    /// Bytes of a row, as they are in runs of some ten apps.
    private static let (sampleRow, appRow) = (150, 80)

    let samples: Int
    private let writesEveryApp: Bool

    init(_ plan: RunPlan) {
        samples = Int((plan.duration.microseconds / max(1, plan.monitor.interval.microseconds))) + 1
        writesEveryApp = plan.appRows == .all
    }

    private var samplesTable: ByteCount { ByteCount(samples * OutputEstimate.sampleRow) }
    /// For one process that lives all the time.
    private var appsTable: ByteCount { writesEveryApp ? ByteCount(samples * OutputEstimate.appRow) : .zero }

    /// In words, where it is a gibibyte or more with a single process; otherwise nil.
    var text: String? {
        guard samplesTable + appsTable >= OutputEstimate.worthAWord else { return nil }
        let apps = writesEveryApp ? ", and apps.csv \(appsTable.readable) for every process that lives throughout" : ""
        return "with \(samples.grouped) samples, samples.csv will have about \(samplesTable.readable)\(apps); "
            + "a longer monitor.interval makes less of it, and --summary-only nothing"
    }
}
