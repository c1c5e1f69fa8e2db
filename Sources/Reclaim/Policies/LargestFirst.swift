import Quantities

/// Ends the process that holds the most memory, as the Linux kernel does as a last resort.
///
/// It acts when less than `floor` is available, or when an allocation waits. The process whose allocation waits is no
/// exception, and one in front is none where the limits do not protect it (`protect_foreground`). Source: Linux,
/// `oom_badness`, which has no such rules.
public struct LargestFirst: ReclaimPolicy {
    public static let name = "largest-first"
    public static let summary = "ends the largest process when little memory is available (like Linux's OOM killer)"
    public static let needs: PolicyNeeds = .everySample
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.floor, "floor", from: .zero, to: .one, meaning: "acts if less than this share of RAM is available",
            source: "ours; the kernel acts when no page can be found")
    ]

    private var floor = Ratio.percent(2)

    public init() {}

    public func contentAbove(on device: DeviceSize) -> ByteCount? { device.ceiling * floor }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        let threshold = snapshot.ceiling * floor
        guard snapshot.obtainable < threshold || snapshot.requester != nil || snapshot.isAboutLimits else {
            return .nothing(.content("available memory is above the floor"), snapshot)
        }
        let exemptions: Exemptions = snapshot.protectsForeground ? .onScreen : []
        var decision = snapshot.rankingTerminations(because: "holds most", sparing: exemptions) {
            Int64($0.footprint.bytes)
        }
        if snapshot.obtainable < threshold && !snapshot.isAboutLimits {
            decision.justify(by: snapshot.evidence(obtainableBelow: threshold, rule: "below \(floor) of RAM"))
        }
        return decision
    }
}
