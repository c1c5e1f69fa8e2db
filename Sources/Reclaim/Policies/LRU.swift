import Quantities

/// Ends the process that the user has not seen for the longest time, whatever its size. The usual baseline.
///
/// It acts at the critical level (without `only_when_critical` from the warning level on), for a limit, or when an
/// allocation waits. It has no milder steps before termination. It spares what is in front, and the process whose
/// allocation waits.
public struct LRU: ReclaimPolicy {
    public static let name = "lru"
    public static let summary = "ends the least recently used process, whatever its size"
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.onlyWhenCritical, "only_when_critical",
            meaning: "whether it acts at the critical level only; if false, it acts from the warning level on",
            source: "ours; the usual baseline of published comparisons acts at the low-memory mark only")
    ]

    private var onlyWhenCritical = true

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        guard snapshot.demandsTermination(onlyWhenCritical: onlyWhenCritical) else {
            return .nothing(.content("the level is below critical"), snapshot)
        }
        return snapshot.rankingTerminations(because: "least recently used") {
            $0.idleTime(at: snapshot.now).microseconds
        }
    }
}
