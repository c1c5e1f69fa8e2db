/// Takes nothing from any process, so a run shows what the ceiling alone does. A yardstick: what happens without a
/// policy.
public struct None: ReclaimPolicy {
    public static let name = "none"
    public static let summary = "never reclaims: what the ceiling alone does"
    public static let parameters: [Parameter<Self>] = []

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        .nothing(.content("this policy never reclaims"), snapshot)
    }
}
