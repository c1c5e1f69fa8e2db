import Quantities
import Reclaim

/// How a policy errs, as the seed decides (`limits.policy_errs`). Without this fault it draws nothing.
struct PolicyErrors {
    private let share: Ratio
    private var generator: SeededGenerator

    init(_ share: Ratio, seed: UInt64) {
        self.share = share
        generator = SeededGenerator(seed: seed, stream: "policy/errs")
    }

    /// The decision, in some cases with another candidate in front of the first choice.
    mutating func change(_ decision: inout Decision) {
        guard share > .zero, decision.ranking.count > 1, generator.chance(share) else { return }
        let place = generator.number(in: 1...decision.ranking.count - 1)
        decision.erredFrom = decision.ranking[0].action.target
        decision.ranking.insert(decision.ranking.remove(at: place), at: 0)
    }
}
