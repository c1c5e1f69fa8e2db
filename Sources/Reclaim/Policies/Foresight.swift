import Quantities

/// Knows when each app is wanted: a reference that no policy without that knowledge can reach.
///
/// It acts only when an allocation waits or a limit demands it, so nothing is ended earlier than necessary. Unused
/// pages go first. Then, for each choice of victims, the policy works out what follows until the end of the scenario.
/// It takes the choice after which the fewest apps have to be relaunched; on a tie, the one with the least relaunch
/// time. In this way it minimizes the number of terminations that the user notices.
///
/// Its choice is the best one under two conditions. It must be able to follow all futures, `futures` of them at once.
/// And apps must hold what it expects: their present footprint, and from their next time in front on the footprint in
/// their profile. It does not know what chance adds, so in a run it is a reference and no proof. It ends whole
/// processes, so a policy that disconnects scenes may end fewer.
///
/// If there are more futures than it can follow, it follows the cheapest ones. One decision takes at most a thousand
/// steps for each future; each step ends one app. So among thirty apps it looks ahead over some thirty launches that
/// need room, and among ten over a hundred. With more than 64 apps, or with `futures` at zero, it uses a simple score
/// instead: the footprint times the time until the app is wanted, divided by the cost of relaunching the app. The
/// highest score goes first.
public struct Foresight: ReclaimPolicy {
    public static let name = "foresight"
    public static let summary = "knows the future launches: a reference that no real policy can reach"
    public static let needs: PolicyNeeds = .oracle
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.width, "futures", from: 0, to: 100_000,
            meaning: "how many futures are followed at once; 0: the app goes that frees the most "
                + "room for the longest time at the least cost",
            source: "ours")
    ]

    private var width = 64

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        guard snapshot.requester != nil || snapshot.isAboutLimits else {
            return .nothing(.content("no process waits for memory"), snapshot)
        }
        var decision = Decision()
        if snapshot.requester != nil {
            for process in snapshot.processes where process.dirty > .zero {
                decision.rank(
                    .purge(process.pid), score: Int64(process.dirty.bytes), because: "holds dirty pages")
            }
        }
        var candidates: [ProcessSnapshot] = []
        for process in snapshot.processes {
            if process.phase.isForeground || process.pid == snapshot.requester {
                decision.spare(process, because: "in the foreground, or \(Spared.requester)")
            } else {
                candidates.append(process)
            }
        }
        var futures = Futures(snapshot, width: width)
        let best = futures?.best(snapshot) ?? []
        let ordered = candidates.sorted { a, b in
            (best.contains(a.app) ? 1 : 0, score(a, snapshot), b.pid)
                > (best.contains(b.app) ? 1 : 0, score(b, snapshot), a.pid)
        }
        for process in ordered {
            decision.rank(
                .terminate(process.pid), score: score(process, snapshot),
                because: why(process, snapshot, isBest: best.contains(process.app)))
        }
        return decision
    }

    private func next(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Instant? {
        snapshot.oracle?.nextLaunch(of: process.app)
    }

    /// KiB times milliseconds of room, per millisecond of relaunch.
    private func score(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Int64 {
        guard let next = next(process, snapshot) else { return .max }
        let size = snapshot.need.isCount ? 1 : max(1, Int64(process.footprint.bytes) / 1_024)
        let time = max(1, (next - snapshot.now).microseconds / 1_000)
        let (product, overflow) = size.multipliedReportingOverflow(by: time)
        return (overflow ? .max - 1 : product) / max(1, process.relaunchCost.microseconds / 1_000)
    }

    private func why(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot, isBest: Bool) -> String {
        let wanted = next(process, snapshot).map { "is not wanted before \($0)" } ?? "is not wanted again"
        return isBest ? "\(wanted), and goes in the cheapest future" : wanted
    }
}
