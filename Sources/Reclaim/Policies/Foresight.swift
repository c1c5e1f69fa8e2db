import Quantities

/// Knows when the user will want each app. It is a reference for comparisons: no real policy can know that.
///
/// It acts only when an allocation waits or a limit demands it, so nothing is ended earlier than necessary. For each
/// choice of victims, the policy computes what follows until the end of the scenario. It takes the choice after which
/// the fewest apps have to be relaunched; on a tie, the one with the least relaunch time. So it minimizes the
/// terminations that the user notices. If an allocation waits, unused pages go before any process.
///
/// A *future* is one way in which the run may go on: which apps are ended at each launch that needs room. The choice of
/// victims is the best one under two conditions. First, the policy must be able to follow all futures; it keeps at most
/// `futures` of them at a time. Second, each app must hold what the policy expects: the present footprint until the app
/// is next in front, then the footprint of its profile if that is larger. The policy does not know by how much the
/// run's random draws differ from the profile. So in a run it is a reference, not a proven optimum. It ends whole
/// processes, so a policy that disconnects scenes may end fewer.
///
/// If there are more futures than it can follow, it follows the cheapest ones. For a launch that needs room, it tries
/// to end each app in turn. One decision makes at most a thousand such trials for each of the `futures` that it can
/// follow. With thirty apps these reach over about thirty launches that need room, with ten apps over about a hundred.
/// With more than 64 apps, or with `futures` at zero, it uses a simple score instead: the footprint times the time
/// until the app is wanted, divided by the cost of relaunching the app. The highest score goes first.
public struct Foresight: ReclaimPolicy {
    public static let name = "foresight"
    public static let summary =
        "knows the future launches, and counts compressed memory in full: a reference for other policies"
    public static let needs: PolicyNeeds = .oracle
    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.width, "futures", from: 0, to: 100_000,
            meaning: "how many ways in which the run may go on it follows at once; with 0 it ends the app that "
                + "frees the most room for the longest time at the least cost",
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
            if process.isInFront || process.pid == snapshot.requester {
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
        return isBest ? "\(wanted), and is among the victims of the cheapest choice" : wanted
    }
}
