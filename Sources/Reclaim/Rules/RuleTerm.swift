import Quantities

/// A product of features, divided by others: `idle * footprint / relaunch_cost`.
///
/// Times count in seconds, sizes in MiB, shares as parts of the whole (100 % is 1), and numbers as they are. The term
/// is computed from left to right in IEEE 754 double precision, whose products and quotients are the same on every
/// platform. A divisor of zero counts as the smallest step of its unit: 1 µs, 1 byte, a millionth or 1. So a quotient
/// is never infinite, less of a divisor never makes it smaller, and zero divided by anything is zero. A negative number
/// counts as zero.
public struct RuleTerm: Hashable, Sendable, CustomStringConvertible {
    /// A feature, and what is done with it.
    public struct Step: Hashable, Sendable {
        /// The feature; it must be a number.
        public var feature: ProcessFeature
        /// Whether the product so far is divided by the feature. Else it is multiplied by it.
        public var isDivisor: Bool

        /// A factor or a divisor.
        public init(_ feature: ProcessFeature, isDivisor: Bool = false) {
            self.feature = feature
            self.isDivisor = isDivisor
        }
    }

    /// In the order of the text; the product begins at one.
    public var steps: [Step]

    /// A term of these steps.
    public init(_ steps: [Step]) { self.steps = steps }

    /// The only feature of a term that consists of it; nil for products and quotients.
    public var feature: ProcessFeature? { steps.count == 1 && !steps[0].isDivisor ? steps[0].feature : nil }

    /// The term as scenarios write it.
    public var description: String {
        let first = steps.first?.isDivisor == true ? "1" : ""
        return steps.reduce(first) { text, step in
            text.isEmpty ? step.feature.rawValue : "\(text) \(step.isDivisor ? "/" : "*") \(step.feature.rawValue)"
        }
    }

    /// The term's value for a target: a finite number that is not negative.
    func value(of target: RuleTarget, _ view: RuleView) -> Double {
        steps.reduce(1) { product, step in
            let amount = max(0, step.feature.reading(target, view)?.value ?? 0)
            let unit = step.feature.kind.unit
            return step.isDivisor ? product / (Double(max(1, amount)) / unit) : product * (Double(amount) / unit)
        }
    }
}

extension RuleKind {
    /// How many of a reading's steps make one of the unit in which terms count.
    fileprivate var unit: Double {
        switch self {
        case .memory: 1_048_576
        case .share, .time: 1_000_000
        case .count, .ladder, .choice, .name: 1
        }
    }
}
