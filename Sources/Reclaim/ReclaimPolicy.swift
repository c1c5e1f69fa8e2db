/// Decides whose memory is taken back, and in which order. Pure: the same snapshot gives the same decision.
public protocol ReclaimPolicy: Sendable {
    /// The name in scenarios; file, type and name agree (`LongestIdleFirst.swift`, `longest-idle-first`).
    static var name: String { get }
    /// One line for `plimsoll list policies`.
    static var summary: String { get }
    static var parameters: [PolicyParameter] { get }

    init(_ values: ParameterValues)

    func decide(_ snapshot: SystemSnapshot) -> Decision
}

/// Every policy; a new one is added here.
public enum PolicyCatalogue {
    public static let all: [any ReclaimPolicy.Type] = [Ladder.self, LRU.self, None.self]

    /// The policy type of that name.
    public static func type(named name: String) -> (any ReclaimPolicy.Type)? {
        all.first { $0.name == name }
    }

    /// The policy with its parameters; nil when no policy has that name.
    public static func make(_ settings: PolicySettings) -> (any ReclaimPolicy)? {
        guard let type = type(named: settings.name) else { return nil }
        return type.init(ParameterValues(of: type, settings: settings))
    }
}
