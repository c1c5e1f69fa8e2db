import Metrics
import Plan

/// What came of an expectation: the claim, and the value of its metric in a run.
public struct ExpectationResult: Sendable {
    /// The claim.
    public let expectation: Expectation
    /// The observed value; absent if the run has no such value, or no such app.
    public let observed: MetricValue

    /// Whether the claim holds; with an absent value none does.
    public var holds: Bool {
        guard let number = observed.number else { return false }
        return switch expectation.comparison {
        case .equal: number == expectation.value
        case .notEqual: number != expectation.value
        case .atMost: number <= expectation.value
        case .atLeast: number >= expectation.value
        case .below: number < expectation.value
        case .above: number > expectation.value
        }
    }
}

extension RunTally {
    /// What came of these claims, in their order.
    public func results(of expectations: [Expectation]) -> [ExpectationResult] {
        let apps = expectations.contains { $0.app != nil } ? appFacts : []
        return expectations.map { expectation in
            let value =
                if let app = expectation.app {
                    apps.first { $0.tally.name == app }.flatMap { AppMetrics.named(expectation.metric)?.value($0) }
                } else {
                    SummaryMetrics.named(expectation.metric)?.value(self)
                }
            return ExpectationResult(expectation: expectation, observed: value ?? .absent)
        }
    }
}
