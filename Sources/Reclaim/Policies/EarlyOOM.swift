import Lifecycle
import Quantities

/// earlyoom: a small daemon that acts before the kernel does.
///
/// At each look the policy compares available memory and free swap with two shares each. If both are at or below their
/// higher shares (`terminate`, `swap_terminate`), it asks a process to end. If both are at or below their lower shares,
/// it kills the process. The victim has the highest `oom_score` (`LinuxScore`). Of several processes with that score,
/// it has most in RAM. With `sort_by_rss` it has most in RAM, whatever its score. Available memory counts as a share of
/// the memory that processes have or can get, without what the system keeps.
///
/// While a process that was asked to end lives, the policy waits up to `wait` and then asks again. Time alone makes it
/// kill nothing: only the lower shares do. It notices every 100 ms whether the victim is gone, then sleeps for
/// `poll_fastest` and looks again, whether or not the victim's memory is back. Only after a SIGKILL, on Linux 5.15 or
/// later, it waits for that memory (`process_mrelease`). It sleeps between two looks, the longer the more memory and
/// swap there is above the higher shares. Nothing wakes it, not even an allocation that waits. The scenario's limits on
/// background apps are none of earlyoom's; for them the policy kills at once.
///
/// Source: earlyoom 1.9, `kill.c`, `main.c` and `meminfo.c`. On a device without swap, swap counts as used up. The
/// option `--ignore-root-user` is missing, because no process has a user here: `ignore` with the names of root's
/// processes does the same.
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
            field, name,
            meaning: "apps whose oom_score counts as 300 \(change), which is 45% of RAM and swap, or with sort_by_rss "
                + "what they have in RAM as 3 GiB \(change)",
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
        Parameter(
            \.ignore, "ignore", meaning: "apps that are never victims (--ignore)",
            source: "earlyoom 1.9; there a regular expression"),
        Parameter(
            \.sortByRSS, "sort_by_rss",
            meaning: "whether the victim is the process that has most in RAM, whatever its oom_score (--sort-by-rss)",
            source: "earlyoom 1.9; off there, too"),
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
    private var ignore: [String] = []
    private var sortByRSS = false

    /// What `prefer` adds to an `oom_score` and `avoid` subtracts.
    private static let preference: Int64 = 300
    /// What they add to and subtract from the memory in RAM, with `sort_by_rss`.
    private static let preferredSize = ByteCount.gibibytes(3)
    /// How often it looks whether its victim is gone.
    private static let victimPoll = TimeSpan.milliseconds(100)
    /// The first release of Linux with `process_mrelease`.
    private static let releasesAtOnce = KernelRelease(5, 15)

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
        if !snapshot.isAboutLimits, let why = sleepsAfterVictim(snapshot) { return .nothing(.waiting(why), snapshot) }
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

    /// Why it does not look yet although its last victim is gone; nil: it looks.
    private func sleepsAfterVictim(_ snapshot: SystemSnapshot) -> String? {
        guard let last = snapshot.history.kills.last, let ended = last.endedAt else { return nil }
        let poll = Self.victimPoll.microseconds
        let polls = ((ended - last.at).microseconds + poll - 1) / poll
        let noticed = last.at + TimeSpan(microseconds: polls * poll)
        if snapshot.now < noticed + fastest { return "it sleeps after the end of its victim" }
        guard last.isForced, snapshot.measures.returning > .zero,
            snapshot.device.linux.badness.release >= Self.releasesAtOnce
        else { return nil }
        return "the memory of its victim is being released"
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

    // MARK: The victim

    /// A process as it compares them: `oom_score` and the memory in RAM, both changed by preference.
    private struct Victim {
        let process: ProcessSnapshot
        var score: Int64
        var size: ByteCount
    }

    private func ranking(_ snapshot: SystemSnapshot, mustKill: Bool) -> Decision {
        var decision = Decision()
        var victims: [Victim] = []
        for process in snapshot.processes {
            if ignore.contains(process.name) {
                decision.spare(process, because: "it is ignored by name")
            } else if process.oomScoreAdj == LinuxScore.exempt {
                decision.spare(process, because: "its oom_score_adj is \(LinuxScore.exempt)")
            } else {
                victims.append(victim(process, snapshot))
            }
        }
        decision.ranking = inOrder(victims).map { victim in
            let (process, pid) = (victim.process, victim.process.pid)
            var candidate = Candidate(
                mustKill ? .terminate(pid) : .terminatePolitely(pid),
                score: sortByRSS ? Int64(victim.size.bytes) : victim.score,
                reason: sortByRSS
                    ? "has most in RAM" : "the highest oom_score, its oom_score_adj is \(process.oomScoreAdj)")
            if !mustKill { candidate.grace = grace }
            return candidate
        }
        return decision
    }

    private func victim(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Victim {
        var victim = Victim(process: process, score: snapshot.linuxScore(of: process), size: process.residentSize)
        for (names, sign) in [(prefer, Int64(1)), (avoid, -1)] where names.contains(process.name) {
            if sortByRSS {
                victim.size += ByteCount(Self.preferredSize.bytes * Int(sign))
            } else {
                victim.score += Self.preference * sign
            }
        }
        return victim
    }

    /// The order in which it would take them. By memory in RAM, a process with none in RAM is compared by its
    /// `oom_score`, so the order depends on that in which it meets them: by rising number, as in `/proc`.
    private func inOrder(_ victims: [Victim]) -> [Victim] {
        guard sortByRSS else {
            return victims.sorted { a, b in
                (a.score, a.size, b.process.pid) > (b.score, b.size, a.process.pid)
            }
        }
        var (left, order) = (victims, [Victim]())
        while !left.isEmpty {
            var best = 0
            for index in left.indices where index > best && isLarger(left[index], than: left[best]) { best = index }
            order.append(left.remove(at: best))
        }
        return order
    }

    /// With `sort_by_rss`: whether `other` takes the place of the victim so far.
    private func isLarger(_ other: Victim, than victim: Victim) -> Bool {
        other.size > .zero && victim.size > .zero
            ? (other.size, other.score) > (victim.size, victim.score)
            : (other.score, other.size) > (victim.score, victim.size)
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
