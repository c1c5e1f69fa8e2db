import Metrics
import Testing

@testable import Experiments

@Suite("one sentence about the settings of a sweep")
struct SettingsComparisonTests {
    /// Per setting, per metric, the values of the seeds.
    private func sentence(
        _ settings: [[String: [Double?]]], metrics: [String] = ["terminations_felt"], isOneUser: Bool = false
    ) -> String {
        let names = RunTables.summary.columns.map(\.name)
        let seeds = settings[0].values.map(\.count).max() ?? 1
        let plan = ExperimentPlan(
            program: "0", scenarios: [.init(path: "a.yaml", name: "a", fingerprint: "")], keys: ["device.cores"],
            combinations: settings.indices.map { [SettingValue("\($0 + 1)")] }, seeds: (1...seeds).map { UInt64($0) })
        var values = RunValues(metrics, of: plan)
        for (setting, figures) in settings.enumerated() {
            for seed in 0..<seeds {
                let cells = names.map { name -> String in
                    if name == "launches_cold" { return isOneUser ? "4" : "\(seed)" }
                    if MetricSense.launches.contains(name), figures[name] == nil { return "0" }
                    return figures[name]?[seed].map { "\($0)" } ?? ""
                }
                values.add(setting * seeds + seed, summary: cells)
            }
        }
        return SettingsComparison(plan, metrics: metrics, values).sentence
    }

    private let felt = "terminations_felt"
    private let base: [Double?] = (0..<12).map { 10 + Double($0 * $0) }

    private func moved(_ by: Double) -> [Double?] {
        base.enumerated().map { index, value in value.map { $0 + by + Double(index % 3 - 1) * 0.1 } }
    }

    @Test("the best setting, its lead over the first and the next best, and what it costs")
    func best() {
        let text = sentence(
            [
                [felt: base, "stall_time_s": base], [felt: moved(-1), "stall_time_s": moved(1)],
                [felt: moved(-4), "stall_time_s": moved(6)],
            ], metrics: [felt, "stall_time_s"])
        #expect(text.hasPrefix("terminations_felt has its best mean, 48.17, with device.cores=3: better by 4 ["))
        #expect(text.contains("] than with device.cores=1, the first setting; it is better than the next best, "))
        #expect(text.contains("; in return it is worse on stall_time_s by 6 s ["), "\(text)")
        #expect(text.hasSuffix("the best of 3 settings was picked by these runs: confirm it under other seeds"))
    }

    @Test("if the first setting is best, the next best shows by how much; no cost is said to be shown")
    func firstIsBest() {
        let text = sentence(
            [[felt: base, "stalls": base], [felt: moved(2), "stalls": base]], metrics: [felt, "stalls"])
        #expect(text.contains("with device.cores=1: better by 2 ["), "\(text)")
        let gain = "] than with device.cores=2, the next best; no cost is shown on the other metrics"
        #expect(text.contains(gain), "\(text)")
        #expect(text.hasSuffix("every pair is equal on stalls") && !text.contains("confirm"), "\(text)")
    }

    @Test("no setting changes it: every pair is equal")
    func same() {
        #expect(
            sentence([[felt: [3, 5]], [felt: [3, 5]], [felt: [3, 5]]])
                == "no setting changes terminations_felt: in every run with the same seed it is the same, 4 on average")
    }

    @Test("a mean that is lower by chance is not called better")
    func chance() {
        let text = sentence([[felt: base], [felt: moved(-0.01)]])
        #expect(
            text.hasSuffix(
                "with device.cores=2, but that is not shown to be better than the 52.17 with device.cores=1, the first "
                    + "setting: the interval of the difference contains zero"), "\(text)")
    }

    @Test("one seed: the runs are told as what they are")
    func oneSeed() {
        let text = sentence([[felt: [5]], [felt: [3]]])
        let means = "terminations_felt has its best mean, 3, with device.cores=2, against the 5 with device.cores=1, "
        let why = "these runs allow no general conclusion, because an interval needs 5 pairs in each scenario"
        #expect(text == means + "the first setting; " + why)
    }

    @Test("a user who is written down is one case")
    func oneCase() {
        let text = sentence(
            [[felt: .init(repeating: 5, count: 8)], [felt: .init(repeating: 3, count: 8)]],
            isOneUser: true)
        #expect(text.hasSuffix("because the user acts alike under every seed, so this is one case"), "\(text)")
    }

    @Test("settings that are alike share the best place")
    func alike() {
        let text = sentence([[felt: base], [felt: moved(-3)], [felt: moved(-3)]])
        let best = "with device.cores=2, the same in every run as with device.cores=3: better by 3"
        #expect(text.contains(best), "\(text)")
    }

    @Test("a setting that loses its slow launches is not the best one of a latency")
    func lost() {
        let latency = "launch_latency_p95_ms"
        let text = sentence(
            [
                [latency: base, MetricSense.lostLaunches: .init(repeating: 0, count: 12)],
                [latency: moved(-5), MetricSense.lostLaunches: .init(repeating: 2, count: 12)],
            ], metrics: [latency])
        #expect(text.hasSuffix("with device.cores=1; the other settings lost more launches, or lack it"), "\(text)")
    }

    @Test("one setting, or a metric that no run has")
    func nothing() {
        #expect(sentence([[felt: [3]]]) == "one setting was run, so there is none to compare it with")
        #expect(
            sentence([[felt: [nil]], [felt: [nil]]]) == "no setting has terminations_felt in every scenario")
    }
}
