import Quantities

extension Comparison {
    /// One sentence per policy other than the baseline. It covers the last section: the only scenario, or all
    /// together.
    package var conclusions: [String] {
        guard let section = sections.last else { return [] }
        let scope = section.scenario ?? "each of \(plan.scenarios.count) scenarios, with equal weights"
        let place = "Over \(plan.seeds.count.counted("seed")) of \(scope)"
        let labels = plan.policies.map { $0?.label ?? "" }
        guard asked > 1 else {
            return ["\(place), \(labels[0]) ran with the yardsticks only; name a second --policy to compare with it."]
        }
        return (1..<asked).map { policy in
            let findings = section.blocks.map { Finding($0.metric, $0.sense, $0.rows[policy].result) }
            return "\(place), \(Conclusion(labels[policy], against: labels[0], findings).sentence)."
        }
    }
}
