import Experiments
import Foundation
import Metrics
import Quantities

extension Comparison {
    /// Every metric of each scenario, and of all together, as text for stdout.
    package func text(_ paint: TextLook.Paint = { text, _ in text }) -> String {
        let percent = figure(bootstrap.confidence * 100)
        var lines: [String] = []
        for section in sections {
            let seeds = plan.seeds.count
            let scenarios = section.scenario ?? "all \(plan.scenarios.count) scenarios, with equal weights"
            if !lines.isEmpty { lines.append("") }
            lines.append(
                paint(scenarios, .strong) + ": \(seeds.counted("seed")) under each policy; "
                    + "differences from \(plan.policies[0]?.label ?? "")")
            if isSameUnderEverySeed(section) {
                lines.append("  Identical under every seed: more seeds show nothing new, so they count as one case.")
            }
            for block in section.blocks { lines += table(block, paint) }
        }
        lines += [
            "",
            "Intervals: \(percent) %, BCa bootstrap of the paired differences, \(bootstrap.resamples) resamples.",
            "Regret: how much worse than foresight, which knows the future. The other yardsticks: none never acts, "
                + "unbounded has unlimited memory.",
        ]
        return lines.joined(separator: "\n")
    }

    /// Whether no seed changes any difference between the policies that were asked for.
    private func isSameUnderEverySeed(_ section: Section) -> Bool {
        let candidates = section.blocks.flatMap(\.rows).filter { $0.role == .candidate }
        return !candidates.isEmpty && candidates.allSatisfy(\.result.isSameUnderEverySeed)
    }

    private func table(_ block: Block, _ paint: TextLook.Paint) -> [String] {
        let hint = block.sense == .neither ? "" : " (\(block.sense.rawValue) is better)"
        let width = max(10, block.rows.map(\.policy.terminalColumns).max() ?? 0)
        let head =
            "  \("policy".padded(to: width))  \(left("mean", 11))  \(left("difference", 11))  "
            + "interval".padded(to: 25)
        let rows = block.rows.map { row in
            let result = row.result
            let interval = result.interval.map { "[\(signed($0.low)), \(signed($0.high))]" } ?? ""
            let line =
                "  \(row.policy.padded(to: width))  \(left(result.mean.map(figure) ?? "none", 11))  "
                + "\(left(result.difference.map(signed) ?? "", 11))  \(interval.padded(to: 25))  "
                + "\(left(row.regretForesight.map(signed) ?? "", 10))  \(words(row, paint))"
            return line
        }
        return ["", paint(block.metric, .strong) + hint, head + "  \(left("regret", 10))"] + rows
    }

    func words(_ row: Row, _ paint: TextLook.Paint = { text, _ in text }) -> String {
        let result = row.result
        let balance = result.balance.map { " (\($0.better) better, \($0.same) same, \($0.worse) worse)" } ?? ""
        return switch result.verdict {
        case .baseline: "baseline"
        case .identical: "identical: every pair is equal"
        case .notShown: "no difference shown: the interval contains 0\(balance)"
        case .better: paint("better", .good) + constancy(result) + balance
        case .worse: paint("worse", .bad) + constancy(result) + balance
        case .notComparable: "not comparable: lost launches have no latency, and the policies lost unequal numbers"
        case .sameUnderEverySeed: "identical under every seed: no interval"
        case .higher: "higher"
        case .lower: "lower"
        case .tooFew: "no interval: it needs \(Bootstrap.fewest) pairs in each scenario\(balance)"
        case .absent: "no run has it"
        }
    }

    /// Explains an interval of zero width. The difference was the same under each of these seeds; another seed may
    /// still differ.
    private func constancy(_ result: PairedComparison) -> String {
        guard let interval = result.interval, interval.low == interval.high else { return "" }
        return " by the same amount under every seed"
    }

    /// A number with about four significant digits.
    func figure(_ value: Double) -> String {
        let magnitude = abs(value)
        let digits = magnitude >= 1000 || value == value.rounded() ? 0 : magnitude >= 100 ? 1 : magnitude >= 1 ? 2 : 4
        return String(format: "%.\(digits)f", value)
    }

    func signed(_ value: Double) -> String {
        let text = figure(value)
        return value > 0 ? "+" + text : text == "-0" ? "0" : text
    }

    private func left(_ text: String, _ width: Int) -> String { text.padded(to: width, before: true) }
}
