import Quantities

/// earlyoom: a small daemon that acts before the kernel does.
///
/// Below one share of memory and swap it asks the largest process to end, below another it kills it. It looks the less
/// often the more headroom there is, reads again before it kills, and waits for a victim up to `wait` before it
/// escalates: Linux's SIGTERM has no deadline of the system's. Source: earlyoom's documentation. Where there is no
/// swap, swap counts as used up.
public struct EarlyOOM: ReclaimPolicy {
    public static let name = "earlyoom"
    public static let summary = "Linux's earlyoom: asks the largest to end, then kills it"
    public static let needs: PolicyNeeds = .everySample

    private static let source = "earlyoom's documentation"

    private static func share(_ name: String, _ percent: Int64, _ meaning: String) -> PolicyParameter {
        PolicyParameter(
            name, .ratio(.percent(percent)), from: .ratio(.zero), to: .ratio(.one), meaning: meaning, source: source)
    }

    public static let parameters: [PolicyParameter] = [
        share("terminate", 10, "at or below this share available the victim is asked to end"),
        share("kill", 5, "at or below this share available the victim is killed"),
        share("swap_terminate", 10, "and so much of swap free"),
        share("swap_kill", 5, "and so much of swap free"),
        PolicyParameter(
            "poll_fastest", .time(.milliseconds(100)), from: .time(.milliseconds(1)), to: .time(.minutes(1)),
            meaning: "it looks no more often", source: source),
        PolicyParameter(
            "poll_slowest", .time(.seconds(1)), from: .time(.milliseconds(1)), to: .time(.minutes(1)),
            meaning: "it looks no less often", source: source),
        PolicyParameter(
            "fill_rate", .bytes(.gibibytes(6)), from: .bytes(.mebibytes(1)), to: .bytes(.gibibytes(64)),
            meaning: "how much can be filled within a second: headroom over it is the time to the next look",
            source: "ours"),
        PolicyParameter(
            "wait", .time(.seconds(10)), from: .time(.zero), to: .time(.minutes(10)),
            meaning: "how long it waits for a victim before it escalates", source: source),
        PolicyParameter(
            "prefer", .names([]), from: .names([]), to: .names([]),
            meaning: "apps whose badness is raised by 300 of 1000", source: source),
        PolicyParameter(
            "avoid", .names([]), from: .names([]), to: .names([]),
            meaning: "apps whose badness is lowered by 300 of 1000", source: source),
    ]

    private let terminate: Ratio
    private let kill: Ratio
    private let swapTerminate: Ratio
    private let swapKill: Ratio
    private let fastest: TimeSpan
    private let slowest: TimeSpan
    private let fillRate: ByteCount
    private let wait: TimeSpan
    private let prefer: [String]
    private let avoid: [String]

    public init(_ values: ParameterValues) {
        terminate = values.ratio("terminate")
        kill = values.ratio("kill")
        swapTerminate = values.ratio("swap_terminate")
        swapKill = values.ratio("swap_kill")
        fastest = values.time("poll_fastest")
        slowest = values.time("poll_slowest")
        fillRate = values.bytes("fill_rate")
        wait = values.time("wait")
        prefer = values.names("prefer")
        avoid = values.names("avoid")
    }

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

    /// Headroom over the rate at which memory can be filled, within the two ends.
    private func nextLook(_ snapshot: SystemSnapshot) -> TimeSpan {
        let headroom = max(0, (snapshot.available - snapshot.ceiling * terminate).bytes)
        let time = ByteRate(bytesPerSecond: fillRate.bytes).time(for: ByteCount(headroom))
        return min(max(time, fastest), max(slowest, fastest))
    }

    private func rank(_ snapshot: SystemSnapshot, mustKill: Bool, share: Ratio) -> Decision {
        var decision = Decision()
        for process in snapshot.processes {
            if process.pid == snapshot.requester {
                decision.spared.append(Spared(process.pid, reason: "the memory is for itself"))
                continue
            }
            let action: ReclaimAction =
                mustKill || process.isEnding ? .terminate(process.pid) : .terminatePolitely(process.pid)
            var candidate = Candidate(action, score: badness(process, snapshot), reason: "the largest badness")
            if case .terminatePolitely = action { candidate.grace = wait }
            decision.ranking.append(candidate)
        }
        decision.ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
        if !snapshot.isAboutLimits && snapshot.requester == nil {
            let threshold = mustKill ? kill : terminate
            decision.justify(
                by: Evidence(
                    "available_bytes", observed: Int64(snapshot.available.bytes),
                    threshold: Int64((snapshot.ceiling * threshold).bytes),
                    rule: "\(share) available, \(threshold) asked for"))
        }
        return decision
    }

    /// The footprint's share of RAM in thousandths, moved by preference.
    private func badness(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Int64 {
        var badness = process.footprint.share(of: snapshot.ceiling).partsPerMillion / 1_000
        if prefer.contains(process.name) { badness += 300 }
        if avoid.contains(process.name) { badness -= 300 }
        return badness
    }
}
