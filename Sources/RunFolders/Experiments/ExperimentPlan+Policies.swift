import Experiments
import Reclaim

extension PolicySettings {
    /// The parameters without their standard values, as `name: value`. The policy's bare name has none of them.
    package var ownParameters: [String] {
        let table = table
        return parameters.filter { set in !table.contains { $0.name == set.name && $0.standard == set.value } }
            .map { "\($0.name): \($0.value)" }
    }
}

extension ExperimentPlan {
    /// A warning if a policy that was named is the scenario's own, which then lacks the parameters that the scenario
    /// sets.
    ///
    /// - Parameter own: The scenario's policy.
    package func warning(of own: PolicySettings) -> String? {
        guard policies.contains(where: { $0?.given == own.name }), !own.ownParameters.isEmpty else { return nil }
        return "--policy \(own.name) has its standard parameters, not the scenario's own "
            + "(\(own.ownParameters.joined(separator: ", "))); a policy file can have them"
    }
}
