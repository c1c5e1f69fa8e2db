import ArgumentParser
import Experiments
import Metrics
import RunFolders
import Scenario

/// The metrics by which a sweep names its best setting, and what it prints about it.
struct BestSetting: ParsableArguments {
    @Option(
        name: .customLong("metric"),
        help: ArgumentHelp(
            """
            The column of summary.csv that decides which setting is best, or seconds_lost, for which unbounded runs as \
            well. Repeatable; further ones show its cost.
            """, valueName: "name"), completion: Candidates.metrics)
    var given: [String] = []

    @OptionGroup var prices: PriceOptions

    /// Whether what the person lost is asked for, which needs runs under `unbounded`.
    var needsYardstick: Bool { given.contains(SummaryMetric.secondsLost.name) }

    static let usual = "terminations_felt"

    /// The deciding metric, then those that tell what the best setting costs.
    var metrics: [String] {
        var all: [String] = []
        let wanted = given.isEmpty ? [BestSetting.usual] + MetricSense.usual : given
        for metric in wanted where !all.contains(metric) { all.append(metric) }
        return all
    }

    func validate() throws {
        for metric in given where metric != SummaryMetric.secondsLost.name {
            try ExperimentOptions.check(metric: metric)
        }
        guard let first = given.first, MetricSense(ofMetric: first) == .neither else { return }
        throw ValidationError("--metric \(first): neither higher nor lower is better, so no setting is best")
    }

    /// Prints the result of a whole sweep.
    ///
    /// - Parameter done: The lines about the runs and the folder.
    static func report(_ settings: SettingsComparison, done: String, _ format: ExperimentFormat) {
        switch format {
        case .text: Terminal.say("\(done)\n\n\(settings.conclusion)")
        case .markdown:
            Terminal.complain(done)
            Terminal.say(settings.markdown)
        }
    }
}
