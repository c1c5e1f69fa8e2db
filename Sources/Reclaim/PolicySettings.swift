/// Which policy a run uses, and with which parameters; what is not named keeps its default.
public struct PolicySettings: Hashable, Sendable {
    public var name: String
    /// What results call it, where that is not its name: a policy with other parameters is another row of a table.
    public var label: String?
    /// In the order of the policy's own table.
    public var parameters: [Assignment]
    /// Of a ladder of the user's own, which then has no parameters.
    public var rules: [LadderRule] = []

    /// What results call it.
    public var title: String { label ?? name }

    public struct Assignment: Hashable, Sendable {
        public var name: String
        public var value: ParameterValue
        public init(name: String, value: ParameterValue) {
            self.name = name
            self.value = value
        }
    }

    public init(name: String, label: String? = nil, parameters: [Assignment] = []) {
        self.name = name
        self.label = label
        self.parameters = parameters
    }
}

extension PolicyCatalogue {
    /// The policy with its parameters; nil when no policy has that name.
    public static func make(_ settings: PolicySettings) -> (any ReclaimPolicy)? {
        guard let type = type(named: settings.name) else { return nil }
        if !settings.rules.isEmpty && type == Ladder.self { return RuleLadder(rules: settings.rules) }
        return type.init(settings.parameters)
    }
}
