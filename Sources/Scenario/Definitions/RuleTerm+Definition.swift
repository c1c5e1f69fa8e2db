import Reclaim

extension RuleTerm {
    /// The features that a term may have.
    static let features = ProcessFeature.allCases.filter(\.isNumber)
    /// The most features of a term.
    private static let most = 8
    private static let example = "idle * footprint / relaunch_cost"

    /// Whether the text is meant as a product or a quotient.
    static func isProduct(_ text: String) -> Bool { text.contains("*") || text.contains("/") }

    /// A regular expression for products and quotients.
    static var pattern: String {
        let one = "(\(features.map(\.rawValue).joined(separator: "|")))"
        let quotient = "1 */ *\(one)( *[*/] *\(one)){0,\(most - 1)}"
        return "^ *(\(quotient)|\(one)( *[*/] *\(one)){1,\(most - 1)}) *$"
    }

    /// A feature, or a product of features divided by others. A quotient may begin with 1.
    init(parsing text: String) throws(RuleFault) {
        var steps: [Step] = []
        var isDivisor = false
        var rest = text[...]
        while true {
            let end = rest.firstIndex { $0 == "*" || $0 == "/" }
            let name = rest[..<(end ?? rest.endIndex)].trimmed
            let isOne = name == "1" && steps.isEmpty && end.map { rest[$0] } == "/"
            if !isOne { steps.append(Step(try RuleTerm.feature(name), isDivisor: isDivisor)) }
            guard let end else { break }
            isDivisor = rest[end] == "/"
            rest = rest[rest.index(after: end)...]
        }
        guard steps.count <= RuleTerm.most else {
            throw RuleFault(message: "a product has at most \(RuleTerm.most) features, not \(steps.count)")
        }
        self.init(steps)
    }

    private static func feature(_ name: String) throws(RuleFault) -> ProcessFeature {
        guard let feature = ProcessFeature(rawValue: name) else {
            guard !name.isEmpty, name.first != "$", name.first?.isNumber != true else {
                let found = name.isEmpty ? "nothing" : "'\(name.shortened())'"
                throw RuleFault(message: "expected features such as '\(example)', not \(found)")
            }
            throw RuleFault(
                message: "unknown feature '\(name.shortened())'"
                    + Nearest.advice(for: name, among: features.map(\.rawValue), kind: "features"))
        }
        guard feature.isNumber else {
            throw RuleFault(message: "'\(name)' is no number, so it cannot be a part of a product")
        }
        return feature
    }
}
