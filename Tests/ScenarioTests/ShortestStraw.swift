import Quantities
import Reclaim

/// Ends suspended apps by lot.
public struct ShortestStraw: ReclaimPolicy {
    public static let name = "shortest-straw"
    public static let summary = "ends suspended apps by lot"
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.minimumIdle, "minimum_idle", from: .zero, to: .hours(1), meaning: "younger ones draw no lot",
            source: "ours")
    ]

    private var minimumIdle = TimeSpan.seconds(10)

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        guard snapshot.demandsTermination(onlyWhenCritical: true) else {
            return .nothing(.content("the level is below critical"), snapshot)
        }
        var decision = Decision()
        var lots = snapshot.lots
        for process in snapshot.processes {
            let lot = Int64(lots.below(1_000))
            let idle = process.idleTime(at: snapshot.now)
            if process.phase != .suspended {
                decision.spare(process, because: "it is not suspended")
            } else if idle < minimumIdle {
                decision.spare(process, because: "idle for \(idle) only")
            } else {
                decision.rank(.terminate(process.pid), score: lot, because: "it drew \(lot)")
            }
        }
        decision.sortByScore()
        return decision
    }
}
