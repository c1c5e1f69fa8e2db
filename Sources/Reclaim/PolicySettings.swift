/// Which policy a run uses, and with which parameters. Parameters not named keep their defaults.
public struct PolicySettings: Hashable, Sendable {
    /// The policy's name in scenarios.
    public var name: String
    /// The name in results, if it differs: the same policy with other parameters is another row of a table.
    public var label: String?
    /// The parameters that are set, in the order of the policy's own table.
    public var parameters: [Assignment]
    /// The rules of a user's own ladder, which then has no parameters.
    public var rules: [LadderRule] = []

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
}

extension PolicyCatalogue {
    /// The policy with its parameters; nil if no policy has that name.
    public static func make(_ settings: PolicySettings) -> (any ReclaimPolicy)? {
        guard let type = type(named: settings.name) else { return nil }
        if !settings.rules.isEmpty && type == Ladder.self { return RuleLadder(rules: settings.rules) }
        return type.init(settings.parameters)
    }
}
