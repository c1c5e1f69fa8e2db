/// Never reclaims, so a run shows what the ceiling alone does. The lower bound of every comparison.
public struct None: ReclaimPolicy {
    public static let name = "none"
    public static let summary = "never reclaims: what the ceiling alone does"
    public static let parameters: [Parameter<Self>] = []

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        .nothing(.content("this policy never reclaims"), snapshot)
    }
}
