import Lifecycle
import Quantities

/// earlyoom: a small daemon that acts before the kernel does.
///
/// At each look the policy compares available memory and free swap with two shares each. If both are at or below their
/// higher shares (`terminate`, `swap_terminate`), it asks a process to end. If both are at or below their lower shares,
/// it kills the process. The victim has the highest `oom_score` (`LinuxScore`). Of several processes with that score,
/// it has most in RAM. Available memory counts as a share of the memory that processes have or can get, without what
/// the system keeps.
///
/// While a process that was asked to end lives, the policy waits up to `wait` and then asks again. Time alone makes it
/// kill nothing: only the lower shares do. Once the victim is gone, the policy looks again, whether or not the victim's
/// memory is back. It sleeps between two looks, the longer the more memory and swap there is
/// above the higher shares. Nothing wakes it, not even an allocation that waits. The scenario's limits on background
/// apps are none of earlyoom's; for them the policy kills at once.
///
/// Source: earlyoom 1.9. On a device without swap, swap counts as used up.
public struct EarlyOOM: ReclaimPolicy {
    public static let name = "earlyoom"
    public static let summary = "Linux's earlyoom: asks the highest oom_score to end, or kills it (earlyoom 1.9)"
    public static let needs: PolicyNeeds = [.everySample, .ownTimes, .looksOn]

    private static let source = "earlyoom 1.9"

    private static func share(
        _ field: Parameter<Self>.Field<Ratio>, _ name: String, _ meaning: String
    ) -> Parameter<Self> {
        Parameter(field, name, from: .zero, to: .one, meaning: meaning, source: source)
    }

    private static func rate(
        _ field: Parameter<Self>.Field<ByteCount>, _ name: String, of memory: String
    ) -> Parameter<Self> {
        Parameter(
            field, name, from: .mebibytes(1), to: .gibibytes(64),
            meaning: "how much \(memory) can be filled within a second; what is left above the higher share, divided "
                + "by it, is a part of the time to the next look",
            source: source)
    }

    private static func names(
        _ field: Parameter<Self>.Field<[String]>, _ name: String, _ change: String
    ) -> Parameter<Self> {
        Parameter(
            field, name, meaning: "apps whose oom_score counts as 300 \(change), which is 45% of RAM and swap",
            source: source)
    }

    public static let parameters: [Parameter<Self>] = [
        share(\.terminate, "terminate", "if at most this share of memory is available, the victim is asked to end"),
        share(\.kill, "kill", "if at most this share of memory is available, the victim is killed"),
        share(\.swapTerminate, "swap_terminate", "terminate also requires that at most this share of swap is free")
            .about(.swap),
        share(\.swapKill, "swap_kill", "kill also requires that at most this share of swap is free").about(.swap),
        Parameter(
            \.fastest, "poll_fastest", from: .milliseconds(1), to: .minutes(1),
            meaning: "the shortest time between two looks", source: source),
        Parameter(
            \.slowest, "poll_slowest", from: .milliseconds(1), to: .minutes(1),
            meaning: "the longest time between two looks", source: source),
        rate(\.fillRate, "fill_rate", of: "memory"),
        rate(\.swapFillRate, "swap_fill_rate", of: "swap").about(.swap),
        Parameter(
            \.wait, "wait", from: .zero, to: .minutes(10),
            meaning: "how long it waits for a victim that it asked to end, before it asks again", source: source),
        Parameter(
            \.grace, "grace", from: Deadline.terminationTime, to: .hours(1),
            meaning: "how long a victim that was asked to end may take; Linux itself sets no deadline",
            source: "ours; a victim that hangs would otherwise hold up every other action"),
        names(\.prefer, "prefer", "higher"),
        names(\.avoid, "avoid", "lower"),
    ]

    private var terminate = Ratio.percent(10)
    private var kill = Ratio.percent(5)
    private var swapTerminate = Ratio.percent(10)
    private var swapKill = Ratio.percent(5)
    private var fastest = TimeSpan.milliseconds(100)
    private var slowest = TimeSpan.seconds(1)
    private var fillRate = ByteCount.kibibytes(6_000 * 1_000)
    private var swapFillRate = ByteCount.kibibytes(800 * 1_000)
    private var wait = TimeSpan.seconds(10)
    private var grace = TimeSpan.minutes(1)
    private var prefer: [String] = []
    private var avoid: [String] = []

    /// What `prefer` adds to an `oom_score` and `avoid` subtracts.
    private static let preference: Int64 = 300

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        let memory = snapshot.userMemory
        var decision = answer(snapshot, memory)
        decision.nextLook = nextLook(snapshot, memory)
        return decision
    }

    private func answer(_ snapshot: SystemSnapshot, _ memory: ByteCount) -> Decision {
        let mustKill = snapshot.isAboutLimits || isLow(snapshot, memory, kill, swapKill)
        guard mustKill || isLow(snapshot, memory, terminate, swapTerminate) else {
            return .notDue("enough memory or swap is free", snapshot)
        }
        let asked = processInHand(snapshot)
        if let asked, !mustKill { return .nothing(.waiting("\(asked.name) was asked to end"), snapshot) }
        var decision = ranking(snapshot, mustKill: mustKill)
        if let asked { decision.keepOnly(asked) }
        if !mustKill, let first = decision.ranking.first.flatMap({ snapshot.process($0.action.target) }), first.isEnding
        {
            decision.keepOnly(first)
        }
        if !snapshot.isAboutLimits {
            let (share, threshold) = (snapshot.obtainable.share(of: memory), mustKill ? kill : terminate)
            decision.justify(
                by: snapshot.evidence(
                    obtainableBelow: memory * threshold, rule: "\(share) available, \(threshold) asked for"))
        }
        return decision
    }

    private func isLow(_ snapshot: SystemSnapshot, _ memory: ByteCount, _ share: Ratio, _ swapShare: Ratio) -> Bool {
        let measures = snapshot.measures
        return snapshot.obtainable <= memory * share && measures.swapFree <= measures.swapTotal * swapShare
    }

    /// The process that the policy has asked to end within the last `wait`, if it is not gone yet.
    private func processInHand(_ snapshot: SystemSnapshot) -> ProcessSnapshot? {
        guard let last = snapshot.history.kills.last, snapshot.now - last.at < wait,
            let process = snapshot.process(last.pid), process.isEnding
        else { return nil }
        return process
    }

    /// What is above the higher shares, divided by the rates at which memory and swap can be filled, each in whole
    /// milliseconds; but within `poll_fastest` and `poll_slowest`.
    private func nextLook(_ snapshot: SystemSnapshot, _ memory: ByteCount) -> TimeSpan {
        let measures = snapshot.measures
        let time =
            milliseconds(snapshot.obtainable - memory * max(terminate, kill), at: fillRate)
            + milliseconds(measures.swapFree - measures.swapTotal * max(swapTerminate, swapKill), at: swapFillRate)
        return min(max(.milliseconds(time), fastest), max(slowest, fastest))
    }

    private func milliseconds(_ headroom: ByteCount, at rate: ByteCount) -> Int64 {
        scaled(Int64(max(.zero, headroom).bytes), by: 1_000, over: Int64(rate.bytes))
    }

    private func ranking(_ snapshot: SystemSnapshot, mustKill: Bool) -> Decision {
        var decision = Decision()
        var victims: [(score: Int64, process: ProcessSnapshot)] = []
        for process in snapshot.processes {
            if process.oomScoreAdj == LinuxScore.exempt {
                decision.spare(process, because: "its oom_score_adj is \(LinuxScore.exempt)")
            } else {
                victims.append((badness(process, snapshot), process))
            }
        }
        victims.sort { a, b in
            (a.score, a.process.residentSize, b.process.pid) > (b.score, b.process.residentSize, a.process.pid)
        }
        decision.ranking = victims.map { score, process in
            let pid = process.pid
            var candidate = Candidate(
                mustKill ? .terminate(pid) : .terminatePolitely(pid), score: score,
                reason: "the highest oom_score, its oom_score_adj is \(process.oomScoreAdj)")
            if !mustKill { candidate.grace = grace }
            return candidate
        }
        return decision
    }

    /// The process's `oom_score`, changed by preference.
    private func badness(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Int64 {
        var badness = snapshot.linuxScore(of: process)
        if prefer.contains(process.name) { badness += Self.preference }
        if avoid.contains(process.name) { badness -= Self.preference }
        return badness
    }
}

extension Decision {
    /// Acts on this process alone, because the daemon waits for its end: every other process is spared.
    fileprivate mutating func keepOnly(_ process: ProcessSnapshot) {
        for candidate in ranking where candidate.action.target != process.pid {
            spared.append(Spared(candidate.action.target, reason: "\(process.name) is ending"))
        }
        ranking.removeAll { $0.action.target != process.pid }
    }
}
