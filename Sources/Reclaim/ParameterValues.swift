import Quantities

/// A policy's parameters: the given values, and the defaults for the rest. Asking for a name that is not in the
/// policy's table, or for another kind, is a fault of the policy.
public struct ParameterValues: Sendable {
    private let policy: String
    private let values: [PolicySettings.Assignment]

    public init(of type: any ReclaimPolicy.Type, settings: PolicySettings) {
        policy = type.name
        var values: [PolicySettings.Assignment] = []
        for parameter in type.parameters {
            let given = settings.parameters.last { $0.name == parameter.name }
            values.append(given ?? .init(name: parameter.name, value: parameter.standard))
        }
        self.values = values
    }

    private func value(_ name: String) -> ParameterValue {
        guard let found = values.first(where: { $0.name == name }) else {
            preconditionFailure("policy \(policy) asks for \(name), which is not in its table")
        }
        return found.value
    }

    public func ratio(_ name: String) -> Ratio {
        guard case .ratio(let value) = value(name) else { preconditionFailure("\(policy).\(name) is not a ratio") }
        return value
    }

    public func bytes(_ name: String) -> ByteCount {
        guard case .bytes(let value) = value(name) else { preconditionFailure("\(policy).\(name) is not a size") }
        return value
    }

    public func time(_ name: String) -> TimeSpan {
        guard case .time(let value) = value(name) else { preconditionFailure("\(policy).\(name) is not a time") }
        return value
    }

    public func count(_ name: String) -> Int {
        guard case .count(let value) = value(name) else { preconditionFailure("\(policy).\(name) is not a count") }
        return value
    }

    public func flag(_ name: String) -> Bool {
        guard case .flag(let value) = value(name) else { preconditionFailure("\(policy).\(name) is not a flag") }
        return value
    }

    public func choice(_ name: String) -> String {
        guard case .choice(let value) = value(name) else { preconditionFailure("\(policy).\(name) is not a choice") }
        return value
    }

    public func names(_ name: String) -> [String] {
        guard case .names(let value) = value(name) else {
            preconditionFailure("\(policy).\(name) is not a list of names")
        }
        return value
    }
}
