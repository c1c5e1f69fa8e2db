import Quantities

/// earlyoom: a small daemon that acts before the kernel does.
///
/// The policy compares available memory and free swap with two shares each. If both are at or below their higher shares
/// (`terminate`, `swap_terminate`), it asks the largest process to end. If both are at or below their lower shares, it
/// kills that process. The more headroom there is, the less often the policy looks; each look reads the measures anew.
/// It waits up to `wait` for a process that it asked to end, and then kills it, because Linux itself sets no deadline
/// after SIGTERM. Source: earlyoom's documentation. On a device without swap, swap counts as used up.
public struct EarlyOOM: ReclaimPolicy {
    public static let name = "earlyoom"
    public static let summary = "Linux's earlyoom: asks the largest to end, then kills it"
    public static let needs: PolicyNeeds = .everySample

    private static let source = "earlyoom's documentation"

    private static func share(
        _ field: Parameter<Self>.Field<Ratio>, _ name: String, _ meaning: String
    ) -> Parameter<Self> {
        Parameter(field, name, from: .zero, to: .one, meaning: meaning, source: source)
    }

    public static let parameters: [Parameter<Self>] = [
        share(\.terminate, "terminate", "if at most this share of RAM is available, the victim is asked to end"),
        share(\.kill, "kill", "if at most this share of RAM is available, the victim is killed"),
        share(\.swapTerminate, "swap_terminate", "terminate also requires that at most this share of swap is free"),
        share(\.swapKill, "swap_kill", "kill also requires that at most this share of swap is free"),
        Parameter(
            \.fastest, "poll_fastest", from: .milliseconds(1), to: .minutes(1),
            meaning: "the shortest time between two looks", source: source),
        Parameter(
            \.slowest, "poll_slowest", from: .milliseconds(1), to: .minutes(1),
            meaning: "the longest time between two looks", source: source),
        Parameter(
            \.fillRate, "fill_rate", from: .mebibytes(1), to: .gibibytes(64),
            meaning: "how much memory can be filled within a second; the headroom divided "
                + "by it is the time to the next look",
            source: "ours"),
        Parameter(
            \.wait, "wait", from: .zero, to: .minutes(10),
            meaning: "how long it waits for a victim that it asked to end, before it kills it", source: source),
        Parameter(\.prefer, "prefer", meaning: "apps that count as larger by 30% of RAM", source: source),
        Parameter(\.avoid, "avoid", meaning: "apps that count as smaller by 30% of RAM", source: source),
    ]

    private var terminate = Ratio.percent(10)
    private var kill = Ratio.percent(5)
    private var swapTerminate = Ratio.percent(10)
    private var swapKill = Ratio.percent(5)
    private var fastest = TimeSpan.milliseconds(100)
    private var slowest = TimeSpan.seconds(1)
    private var fillRate = ByteCount.gibibytes(6)
    private var wait = TimeSpan.seconds(10)
    private var prefer: [String] = []
    private var avoid: [String] = []

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        let share = snapshot.available.share(of: snapshot.ceiling)
        let swap = snapshot.measures.swapFree.share(of: snapshot.measures.swapTotal)
        let mustKill = (share <= kill && swap <= swapKill) || snapshot.requester != nil || snapshot.isAboutLimits
        guard mustKill || (share <= terminate && swap <= swapTerminate) else {
            var decision = Decision.nothing(.content("enough memory or swap is free"), snapshot)
            decision.nextLook = nextLook(snapshot)
            return decision
        }
        if let ending = snapshot.processes.first(where: { $0.isEnding }), !mustKill,
            let last = snapshot.history.lastKill, snapshot.now - last < wait
        {
            return .nothing(.waiting("\(ending.name) was asked to end"), snapshot)
        }
        return rank(snapshot, mustKill: mustKill, share: share)
    }

    /// The headroom divided by the rate at which memory can be filled, but within `poll_fastest` and `poll_slowest`.
    private func nextLook(_ snapshot: SystemSnapshot) -> TimeSpan {
        let headroom = max(0, (snapshot.available - snapshot.ceiling * terminate).bytes)
        let time = ByteRate(bytesPerSecond: fillRate.bytes).time(for: ByteCount(headroom))
        return min(max(time, fastest), max(slowest, fastest))
    }

    private func rank(_ snapshot: SystemSnapshot, mustKill: Bool, share: Ratio) -> Decision {
        var decision = Decision()
        for process in snapshot.processes {
            if process.pid == snapshot.requester {
                decision.spare(process, because: Spared.requester)
                continue
            }
            let action: ReclaimAction =
                mustKill || process.isEnding ? .terminate(process.pid) : .terminatePolitely(process.pid)
            var candidate = Candidate(action, score: badness(process, snapshot), reason: "the largest badness")
            if case .terminatePolitely = action { candidate.grace = wait }
            decision.ranking.append(candidate)
        }
        decision.sortByScore()
        if !snapshot.isAboutLimits && snapshot.requester == nil {
            let threshold = mustKill ? kill : terminate
            decision.justify(
                by: snapshot.evidence(
                    availableBelow: snapshot.ceiling * threshold, rule: "\(share) available, \(threshold) asked for"))
        }
        return decision
    }

    /// The footprint's share of RAM in thousandths, adjusted by preference.
    private func badness(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Int64 {
        var badness = process.footprint.share(of: snapshot.ceiling).partsPerMillion / 1_000
        if prefer.contains(process.name) { badness += 300 }
        if avoid.contains(process.name) { badness -= 300 }
        return badness
    }
}
