import Metrics
import Quantities
import Testing

@testable import Experiments

@Suite("the short table of a comparison")
struct ComparisonTableTests {
    /// A comparison of `old`, `new` and the yardstick `none` over the first so many seeds.
    ///
    /// - Parameter runs: A metric's value under a seed, counted from zero, in a scenario with a policy.
    private func comparison(
        scenarios: [String] = ["day"], policies: [String] = ["old", "new", "none"], asked: Int = 2, seeds: Int = 6,
        metrics: [String] = MetricSense.usual, runs: (_ metric: String, _ policy: String, _ seed: Int) -> Int?
    ) -> Comparison {
        let plan = ExperimentPlan(
            program: "0", scenarios: scenarios.map { .init(path: $0 + ".yaml", name: $0, fingerprint: "") },
            policies: policies.map { .init(given: $0, label: $0) }, seeds: (1...seeds).map { UInt64($0) })
        let rows = scenarios.flatMap { _ in
            policies.flatMap { policy in
                (0..<seeds).map { seed in
                    RunTables.summary.columns.map { runs($0.name, policy, seed).map { "\($0)" } ?? "" }
                }
            }
        }
        return Comparison(
            plan: plan, asked: asked, bootstrap: .standard, rows: rows.map { $0.joined(separator: ",") },
            metrics: metrics)
    }

    /// The table of a latency, of a share and of two counts.
    private func table(_ comparison: Comparison) -> ComparisonTable {
        ComparisonTable(
            comparison,
            metrics: ["launch_latency_p95_ms", "hot_launch_ratio", "terminations", "terminations_felt"])
    }

    /// `new` ends fewer processes and is slower; `none` loses launches.
    private func value(_ metric: String, _ policy: String, _ seed: Int) -> Int? {
        switch (metric, policy) {
        case ("launch_latency_p95_ms", "new"): 1240 + seed * 10
        case ("launch_latency_p95_ms", "none"): 900 + seed * 10
        case ("launch_latency_p95_ms", _): 1000 + seed * 10
        case ("launches_unfinished", "none"): 2 + seed % 2
        case ("launches_cold", _): 20 + seed
        case ("terminations", "new"): 10 + seed * seed - 3 - seed % 2
        case ("terminations", "none"): 0
        case ("terminations", _): 10 + seed * seed
        case ("terminations_felt", "new"): seed % 2
        case ("terminations_felt", _): (seed + 1) % 2
        default: 0
        }
    }

    @Test("a row per policy, a column per metric; a difference stands beside the mean only if it is shown")
    func text() {
        let expected = """
                      launch_            hot_launch_                       terminations_
              policy  latency_p95_ms     ratio        terminations         felt
              old     1025               0            19.2                 0.5
              new     1265 (+240 worse)  0            15.7 (-3.5 better)   0.5
              none    925*               0             0.0 (-19.2 better)  0.5

            Means over 6 seeds; in brackets the difference from old,
            if its 95 % interval excludes zero. --all prints every metric, with intervals and regret.
            Lost launches, which have no latency: old 0, new 0, none 2.5.
            * not comparable: the policy that seems faster lost more launches.
            Yardsticks: none never acts.
            """
        let text = table(comparison(runs: value)).text()
        #expect(text == expected, "\(text)")
    }

    @Test("on a terminal the heads are bold, differences green or red, and yardsticks grey throughout")
    func colours() {
        let lines = table(comparison(runs: value)).text { "<\($1) \($0)>" }.split(separator: "\n")
        #expect(lines[0].hasPrefix("<strong ") && lines[1].hasPrefix("<strong   policy  latency_p95_ms"))
        let policy = "  new     1265 <bad (+240 worse)>  0            15.7 <good (-3.5 better)>   0.5"
        #expect(lines[3] == policy, "\(lines[3])")
        let yardstick = "<quiet   none    925*               0             0.0 (-19.2 better)  0.5>"
        #expect(lines[4] == yardstick, "\(lines[4])")
        #expect(!lines[2].contains("<") && lines.dropFirst(5).allSatisfy { !$0.contains("<") })
        // A yardstick that was asked for is a policy like any other.
        let asked = table(comparison(asked: 3, runs: value)).text { "<\($1) \($0)>" }
        #expect(!asked.contains("quiet") && !asked.contains("Yardsticks"))
        #expect(asked.contains("0.0 <good (-19.2 better)>"))
    }

    @Test("five policies that differ in everything fit into a hundred columns")
    func width() {
        let policies = ["ladder", "long-idle", "none", "foresight", "unbounded"]
        let text = table(
            comparison(policies: policies, asked: 2) { metric, policy, seed in
                let rank = policies.firstIndex(of: policy) ?? 0
                if metric == "launch_latency_p95_ms" { return 4000 + rank * 1234 + seed }
                return metric == "launches_unfinished" ? 0 : 20 + 17 * rank + seed % 3
            }
        ).text()
        let lines = text.split(separator: "\n")
        #expect(text.contains("  long-idle  5237 (+1234 worse)"), "\(text)")
        #expect(lines.allSatisfy { $0.count <= 100 }, "\(text)")
        #expect(text.count { $0 == "(" } == 4 * 4, "\(text)")
    }

    @Test("the metrics that were asked for are the columns; more than four make a second table")
    func chosen() {
        let metrics = ["warnings", "stalls", "suspensions", "stall_time_s", "terminations"]
        let made = comparison(metrics: metrics) { metric, policy, seed in
            metric == "warnings" && policy == "new" ? 6 + seed % 2 : seed
        }
        let text = ComparisonTable(made, metrics: metrics).text()
        let heads = text.split(separator: "\n").filter { $0.contains("  policy") }
        #expect(heads.count == 2, "\(text)")
        // Neither more nor fewer warnings are better.
        #expect(text.contains("6.5 (+4 higher)"), "\(text)")
        #expect(!text.contains("launch_latency") && !text.contains("Lost launches"), "\(text)")
    }

    @Test("of several scenarios there is one table, of all together")
    func pooled() {
        let text = table(comparison(scenarios: ["day", "night"], runs: value)).text()
        #expect(text.count { $0 == "\n" } == 10, "\(text)")
        let note =
            "Means over 6 seeds of each of 2 scenarios; in brackets the difference from old,\nif its 95 % interval "
            + "excludes zero. --all prints each scenario and every metric, with intervals and regret.\n"
        #expect(text.contains(note), "\(text)")
    }

    @Test("without an interval no difference stands beside a mean, however large it is")
    func fewSeeds() {
        let text = table(comparison(seeds: 4, runs: value)).text()
        #expect(text.contains("1255") && !text.contains("("), "\(text)")
    }

    @Test("for a pull request: the sentence, the same table in Markdown, and the same notes")
    func markdown() {
        let text = table(comparison(runs: value)).markdown
        let lines = text.split(separator: "\n").map(String.init)
        let sentence = "> Over 6 seeds of day, new is better than old on terminations by 3.5 \\["
        #expect(lines[0].hasPrefix(sentence), "\(text)")
        let expected = """
            | policy | `launch_latency_p95_ms` | `hot_launch_ratio` | `terminations` | `terminations_felt` |
            | --- | --: | --: | --: | --: |
            | `old` | 1025 | 0 | 19.2 | 0.5 |
            | `new` | 1265 (+240 worse) | 0 | 15.7 (-3.5 better) | 0.5 |
            | `none` (yardstick) | 925\\* | 0 | 0.0 (-19.2 better) | 0.5 |
            """
        #expect(lines[1...5].joined(separator: "\n") == expected, "\(text)")
        let notes =
            "\\* not comparable: the policy that seems faster lost more launches.\nYardsticks: none never acts."
        #expect(text.hasSuffix(notes), "\(text)")
    }

    @Test("a comparison within a minute has twenty seeds, the fewest for an interval, or one")
    func withinAMinute() {
        func seeds(_ seconds: Double, atOnce: Int = 2) -> String {
            Seeds.withinAMinute(runs: 5, seconds: seconds, atOnce: atOnce)
        }
        // A hundred runs in fifty rounds, or 25 in thirteen.
        #expect(seeds(0.1) == "1..20" && seeds(0.6) == "1..20")
        #expect(seeds(0.61) == "1..5" && seeds(2.3) == "1..5")
        #expect(seeds(2.31) == "1" && seeds(1000) == "1")
        #expect(seeds(2.31, atOnce: 4) == "1..5" && seeds(0.6, atOnce: 1) == "1..5")
    }
}
