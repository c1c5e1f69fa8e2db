import Quantities
import Reclaim

/// Ends the largest suspended process, but none that was seen a moment ago.
public struct LargestAsleep: ReclaimPolicy {
    public static let name = "largest-asleep"
    public static let summary = "ends the largest suspended app that was not seen for a while"
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.unseen, "unseen", from: .zero, to: .hours(1), meaning: "apps seen within this time are left alone",
            source: "the tutorial")
    ]

    private var unseen = TimeSpan.seconds(10)

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        var decision = Decision()
        for process in snapshot.processes {
            let idle = process.idleTime(at: snapshot.now)
            if process.phase != .suspended {
                decision.spare(process, because: "it does not sleep")
            } else if idle < unseen {
                decision.spare(process, because: "seen \(idle.readable) ago")
            } else {
                decision.rank(
                    .terminate(process.pid), score: Int64(process.footprint.bytes),
                    because: "asleep, and holds \(process.footprint.readable)")
            }
        }
        decision.sortByScore()
        return decision
    }
}
