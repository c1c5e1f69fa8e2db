import Reclaim
import Simulation

extension RunPlan {
    /// Names in the policy's rules that are no app's, as sentences. They are no faults: a policy file may serve several
    /// scenarios.
    public var strangers: [String] {
        let names = apps.map(\.name)
        var found: [String] = []
        for rule in policy.rules {
            let claims = rule.who.claims + rule.order.flatMap(\.members.claims)
            for claim in claims where claim.feature == .app {
                guard case .word(let name) = claim.value, !names.contains(name) else { continue }
                let advice = Nearest.name(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""
                let sentence = "rule '\(rule.name)': no app is called '\(name)'\(advice)"
                if !found.contains(sentence) { found.append(sentence) }
            }
        }
        return found
    }
}
