/// Which policy a run uses, and with which parameters. Parameters not named keep their defaults.
public struct PolicySettings: Hashable, Sendable {
    /// The policy's name in scenarios.
    public var name: String
    /// The name in results, if it differs: the same policy with other parameters is another row of a table.
    public var label: String?
    /// The parameters that are set, in the order of the policy's own table or, for rules, of `declared`.
    public var parameters: [Assignment]
    /// The rules of a user's own ladder. They have the present values of the parameters to which they refer.
    public var rules: [LadderRule] = []
    /// The parameters that the rules refer to, in the order of the text.
    public var declared: [PolicyParameter] = []

    /// The name in results.
    public var title: String { label ?? name }

    /// A parameter and its value.
    public struct Assignment: Hashable, Sendable {
        /// The parameter's name.
        public var name: String
        /// The value it gets.
        public var value: ParameterValue
        /// A parameter's name with its value.
        public init(name: String, value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    /// A policy without rules of the user's own.
    public init(name: String, label: String? = nil, parameters: [Assignment] = []) {
        self.name = name
        self.label = label
        self.parameters = parameters
    }

    /// Every parameter that can be set: those of the policy's own table or, for rules, the declared ones.
    public var table: [PolicyParameter] {
        rules.isEmpty ? PolicyCatalogue.type(named: name)?.parameterTable ?? [] : declared
    }

    /// The values that apply on a device, in the order of `table`.
    public func present(on device: DeviceSize) -> [ParameterValue] {
        guard rules.isEmpty else { return declared.map(value) }
        return PolicyCatalogue.type(named: name)?.present(parameters, on: device) ?? []
    }

    /// The parameter's value as it is set, or its default.
    public func value(of parameter: PolicyParameter) -> ParameterValue {
        parameters.last { $0.name == parameter.name }?.value ?? parameter.standard
    }

    /// The policy with another value of one parameter.
    public func setting(_ parameter: String, to value: ParameterValue) -> PolicySettings {
        var settings = self
        settings.parameters.removeAll { $0.name == parameter }
        settings.parameters.append(Assignment(name: parameter, value: value))
        return settings.bound
    }

    /// The policy with the present values of the parameters in its rules.
    public var bound: PolicySettings {
        var settings = self
        settings.rules = rules.map { $0.bound(to: parameters) }
        return settings
    }
}

extension PolicyCatalogue {
    /// The policy with its parameters; nil if no policy has that name.
    public static func make(_ settings: PolicySettings) -> (any ReclaimPolicy)? {
        guard let type = type(named: settings.name) else { return nil }
        if !settings.rules.isEmpty && type == Ladder.self { return RuleLadder(rules: settings.rules) }
        return type.init(settings.parameters)
    }
}
