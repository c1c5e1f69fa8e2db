import Reclaim
import Simulation

extension RunPlan {
    /// What is said when the scenario is checked and run, a line each: none of it is a fault.
    ///
    /// - Parameter speaker: Begins a line that is about no place of the scenario's text.
    public func warnings(from speaker: String) -> [String] {
        let advice = PolicyCatalogue.type(named: policy.name)?.advice
        return remarks + ((advice.map { [$0] } ?? []) + strangers).map { "\(speaker): warning: \($0)" }
    }

    /// Names in the policy's rules and parameters that are no app's, as sentences. They are no faults: a policy file
    /// may serve several scenarios.
    public var strangers: [String] {
        let names = apps.map(\.name)
        var found: [String] = []
        for (place, name) in named where !names.contains(name) {
            let advice = Nearest.name(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
            let sentence = "\(place): no app is called '\(name)'\(advice)"
            if !found.contains(sentence) { found.append(sentence) }
        }
        return found
    }

    /// Every app that the policy names, and where.
    private var named: [(place: String, name: String)] {
        var named: [(String, String)] = []
        for parameter in policy.parameters {
            guard case .names(let names) = parameter.value else { continue }
            named += names.map { ("parameter '\(parameter.name)'", $0) }
        }
        for rule in policy.rules {
            let claims = rule.who.claims + rule.order.flatMap(\.members.claims)
            for claim in claims where claim.feature == .app {
                if case .word(let name) = claim.value { named.append(("rule '\(rule.name)'", name)) }
            }
        }
        return named
    }
}
