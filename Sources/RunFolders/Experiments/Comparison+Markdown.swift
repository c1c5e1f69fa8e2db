import Experiments
import Metrics
import Quantities

extension Comparison {
    /// The tables of every metric and the sentences, for a pull request.
    package var markdown: String {
        let percent = figure(bootstrap.confidence * 100)
        let parts = sections.flatMap { section in
            let all = "all \(plan.scenarios.count) scenarios, with equal weights"
            let name = section.scenario.map(Markdown.code) ?? all
            return [
                "**\(name)**, \(plan.seeds.count.counted("seed")), differences from "
                    + "\(Markdown.code(plan.policies[0]?.label ?? "")) with \(percent) % intervals (BCa bootstrap)",
                Markdown.table(
                    ["metric", "policy", "verdict", "mean", "difference", "interval", "regret"], texts: 3,
                    section.blocks.flatMap(markdownRows)),
            ]
        }
        return (parts + conclusions.map(Markdown.quotation)).joined(separator: "\n\n")
    }

    private func markdownRows(_ block: Block) -> [[String]] {
        block.rows.map { row in
            let result = row.result
            let hint = block.sense == .neither ? "" : ", \(block.sense.rawValue) is better"
            let interval = result.interval.map { "[\(signed($0.low)), \(signed($0.high))]" }
            return [
                row.role == .baseline ? Markdown.code(block.metric) + hint : "", Markdown.code(row.policy),
                words(row),
                result.mean.map(figure) ?? "none", result.difference.map(signed) ?? "", interval ?? "",
                row.regretForesight.map(signed) ?? "",
            ]
        }
    }
}

extension SettingsComparison {
    /// The sentence about the best setting.
    package var conclusion: String { "Over \(scope): \(sentence)." }

    /// The most settings that the table shows. It counts the others in a sentence.
    private static let most = 50

    /// A table of the settings by the deciding metric, and the sentence, for a pull request.
    package var markdown: String {
        let rows = (0..<min(count, SettingsComparison.most)).map { setting in
            let own = compared(decider, setting, with: setting == 0 ? nil : 0)
            let interval = own.interval.map { "[\(signed($0.low)), \(signed($0.high))]" }
            return [
                Markdown.code(label(setting)), words(own.verdict), own.mean.map(Conclusion.figure) ?? "none",
                own.difference.map(signed) ?? "", interval ?? "",
            ]
        }
        let left = count - rows.count
        let parts = [
            "**\(Markdown.code(decider))** over \(scope), differences from the first setting with "
                + "\(Conclusion.figure(Bootstrap.standard.confidence * 100)) % intervals (BCa bootstrap)",
            Markdown.table(["setting", "verdict", "mean", "difference", "interval"], texts: 2, rows),
        ]
        let rest = left > 0 ? ["\(left.counted("more setting")) in \(SweepFolder.table)."] : []
        return (parts + rest + [Markdown.quotation(conclusion)]).joined(separator: "\n\n")
    }

    private func signed(_ value: Double) -> String { (value > 0 ? "+" : "") + Conclusion.figure(value) }

    private func words(_ verdict: PairedComparison.Verdict) -> String {
        switch verdict {
        case .baseline: "first setting"
        case .identical: "identical"
        case .notShown: "no difference shown"
        case .better: "better"
        case .worse: "worse"
        case .notComparable: "not comparable"
        case .sameUnderEverySeed: "one case: no interval"
        case .higher: "higher"
        case .lower: "lower"
        case .tooFew: "too few pairs"
        case .absent: "no run has it"
        }
    }
}
