import Quantities

/// Ends the process that is cheapest to bring back per byte freed (SWAM's idea).
///
/// The cost is the declared time of a cold launch, plus the time to fill its memory. How likely the user is to want it
/// plays no part. `minimum_idle` puts processes that were seen a moment ago last. It spares what is in front, and the
/// process whose allocation waits.
public struct CheapestRelaunch: ReclaimPolicy {
    public static let name = "cheapest-relaunch"
    public static let summary = "ends the app that costs least to bring back per byte freed"
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.onlyWhenCritical, "only_when_critical",
            meaning: "whether it acts at the critical level only; if false, it acts from the warning level on",
            source: "ours"),
        Parameter(
            \.minimumIdle, "minimum_idle", from: .zero, to: .hours(24),
            meaning: "apps that were seen within this time go last", source: "ours"),
    ]

    private var onlyWhenCritical = true
    private var minimumIdle = TimeSpan.zero

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        guard snapshot.demandsTermination(onlyWhenCritical: onlyWhenCritical) else {
            return .nothing(.content("the level is below critical"), snapshot)
        }
        return snapshot.rankingTerminations(because: "cheapest to bring back per byte") { process in
            let cost = max(1, process.relaunchCost.microseconds)
            // Bytes freed per second of relaunch; recently seen processes score far below all others.
            let yield = Int64(process.footprint.bytes) / max(1, cost / 1_000)
            return process.idleTime(at: snapshot.now) < minimumIdle ? yield - (1 << 50) : yield
        }
    }
}
