import Metrics
import Testing

@testable import Experiments

@Suite("one sentence about two sides")
struct ConclusionTests {
    private let base: [Double?] = (0..<12).map { 10 + Double($0 * $0) }

    private func finding(
        _ metric: String, _ a: [Double?], _ b: [Double?], isOneUser: Bool = false, losses: PairedComparison? = nil
    ) -> Finding {
        let sense = MetricSense(ofMetric: metric)
        return Finding(
            metric, sense,
            PairedComparison(
                [a], against: [b], sense: sense, isOneUser: [isOneUser], bootstrap: .standard, stream: "test",
                losses: losses))
    }

    /// The values moved by about this much, a little differently for each.
    private func moved(_ by: Double) -> [Double?] {
        base.enumerated().map { index, value in value.map { $0 + by + Double(index % 3 - 1) * 0.1 } }
    }

    private func sentence(_ findings: [Finding]) -> String { Conclusion("new", against: "old", findings).sentence }

    @Test("better on one, worse on another: what it gains, what that costs, each with its interval")
    func tradeOff() {
        let text = sentence([
            finding("terminations_felt", moved(-3), base), finding("launch_latency_p95_ms", moved(50), base),
            finding("stalls", moved(0), base),
        ])
        #expect(text.hasPrefix("new is better than old on terminations_felt by 3 [2.9"), "\(text)")
        #expect(text.contains("; in return it is worse on launch_latency_p95_ms by 50 ms [49.9"), "\(text)")
        #expect(text.hasSuffix("; no difference is shown on stalls"), "\(text)")
        #expect(!text.contains("-"), "\(text)")
    }

    @Test("better without a shown cost; a metric of which more is better counts the other way round")
    func better() {
        let text = sentence([
            finding("terminations", moved(-2), base), finding("hot_launch_ratio", moved(0.4), base),
            finding("stalls", base, base),
        ])
        #expect(text.hasPrefix("new is better than old on terminations by 2 ["), "\(text)")
        #expect(text.contains("] and hot_launch_ratio by 0.4 ["), "\(text)")
        #expect(text.hasSuffix(", and is shown to be worse on nothing; every pair is equal on stalls"), "\(text)")
    }

    @Test("the side that is better on more metrics is the subject")
    func majority() {
        let text = sentence([
            finding("terminations", moved(2), base), finding("stalls", moved(-3), base),
            finding("terminations_felt", moved(2), base),
        ])
        #expect(text.hasPrefix("old is better than new on terminations by 2 ["), "\(text)")
        #expect(text.contains("; in return it is worse on stalls by 3 ["), "\(text)")
    }

    @Test("if the first is worse and never better, the second is the subject")
    func worse() {
        let text = sentence([finding("terminations", moved(2), base)])
        #expect(text.hasPrefix("old is better than new on terminations by 2 ["), "\(text)")
        #expect(!text.contains("worse"), "\(text)")
    }

    @Test("nothing shown is said, and identical is told from not shown")
    func nothing() {
        let unclear = finding("stalls", moved(0), base)
        let equal = finding("terminations", base, base)
        #expect(
            sentence([unclear, equal])
                == "no difference between new and old is shown; no difference is shown on stalls; "
                + "every pair is equal on terminations")
        #expect(sentence([equal]) == "new and old are identical on terminations: every pair of runs is equal")
        let more = ["stalls", "warnings", "terminations_felt"].map { finding($0, base, base) }
        #expect(
            sentence([equal] + more) == "new and old are identical on all 4 metrics: every pair of runs is equal")
    }

    @Test("one seed, or few: the runs are told as what they are")
    func few() {
        let text = sentence([finding("terminations", [3], [5]), finding("stall_time_s", [2.5], [2])])
        #expect(
            text == "these runs allow no general conclusion about new and old; an interval needs 5 pairs in each "
                + "scenario, and in these runs alone new has, on average, terminations lower by 2 and stall_time_s "
                + "higher by 0.5 s")
        let even = sentence([finding("terminations", [3, 5], [5, 3])])
        #expect(even.hasSuffix("new has, on average, the same mean of terminations"), "\(even)")
    }

    @Test("a user who is written down is one case")
    func oneCase() {
        let text = sentence([
            finding("terminations", .init(repeating: 3, count: 9), .init(repeating: 1, count: 9), isOneUser: true)
        ])
        #expect(
            text == "these runs allow no general conclusion about new and old; the user acts alike under every "
                + "seed, so this is one case, in which new has terminations higher by 2")
    }

    @Test("latencies of the one that lost more launches are not called better; an absent metric is named")
    func remarks() {
        let lost = finding(MetricSense.lostLaunches, moved(2), base)
        let text = sentence([
            lost, finding("launch_latency_p50_ms", moved(-200), base, losses: lost.result),
            finding("launch_latency_p95_ms", [nil], [nil]),
        ])
        #expect(text.hasPrefix("old is better than new on launches_unfinished by 2 ["), "\(text)")
        #expect(
            text.contains(
                "not comparable, because the side that seems better lost more launches: launch_latency_p50_ms"))
        #expect(text.hasSuffix("no run has launch_latency_p95_ms"), "\(text)")
    }

    @Test("a metric without a better end differs, and is neither better nor worse")
    func directed() {
        let text = sentence([finding("warnings", moved(3), base), finding("suspensions", moved(-2), base)])
        #expect(text.hasPrefix("no difference between new and old is shown to be better or worse"), "\(text)")
        #expect(text.contains("neither better nor worse, new has more warnings by 3 ["), "\(text)")
        #expect(text.contains("less suspensions by 2 ["), "\(text)")
    }

    @Test(
        "figures have about four digits and the metric's unit",
        arguments: [
            (0.123456, "hot_launch_ratio", "0.1235"), (2, "terminations", "2"), (12.346, "stall_time_s", "12.35 s"),
            (123.46, "launch_latency_p95_ms", "123.5 ms"), (1234.6, "bytes_reclaimed", "1235"), (-0.00001, "x", "0"),
            (52_428_800, "peak_resident_bytes", "52428800 bytes"), (-2.5, "x", "-2.5"),
        ])
    func figures(value: Double, metric: String, text: String) {
        #expect(Conclusion.figure(value, metric) == text)
    }
}
