import Lifecycle
import Pressure
import Quantities

/// systemd-oomd: acts when swap is used up, or when pressure lasts.
///
/// If more than a share of memory and more than that share of swap are used, it kills the process that has most in
/// swap, but none with at most `candidate_swap` of all swap. It looks every 150 ms and takes one process at a look. As
/// long as a victim that is being taken apart has more in swap than any other process, a look takes that one again,
/// which changes nothing.
///
/// If full stalls take more than a share of the time for `duration`, it kills the process from which most memory was
/// reclaimed since the last look (`MemorySnapshot.recentlyReclaimed`), and among equals the largest, but only if memory
/// was reclaimed within `reclaim_within`. It looks every second. After such a kill it ignores pressure for `pause`; it
/// goes on to look at swap.
///
/// A process with the preference `avoid` comes after all others, and one with `omit` is never killed
/// (`ManagedOOMPreference`). Nothing wakes the daemon, not even an allocation that waits, and it waits for no victim's
/// memory. The scenario's limits on background apps are none of systemd-oomd's; for them the policy kills at once.
///
/// Source: systemd v261, `oomd-manager.c` and `oomd-util.c`. Without swap the first rule never holds, as on a real
/// machine without swap. systemd-oomd kills control groups: a group of the scenario ends as one, with its own
/// preference; every process that is in no group is a group by itself.
public struct SystemdOOMD: ReclaimPolicy {
    public static let name = "systemd-oomd"
    public static let summary = "Linux's systemd-oomd: swap used up, or pressure that lasts (systemd v261)"
    public static let needs: PolicyNeeds = [.everySample, .ownTimes, .looksOn]

    private static let source = "systemd v261"

    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.used, "used", from: .zero, to: .one,
            meaning: "memory and swap count as used up if more than this share of each is used",
            source: "systemd v261, SwapUsedLimit"
        ).about(.swap),
        Parameter(
            \.candidateSwap, "candidate_swap", from: .zero, to: .one,
            meaning: "if swap is used up, a process is a candidate only if it has more than this share of swap",
            source: "systemd v261, THRESHOLD_SWAP_USED_PERCENT"
        ).about(.swap),
        Parameter(
            \.pressure, "pressure", from: .zero, to: .one,
            meaning: "pressure counts as too high if full stalls, averaged over 10 s, take more than this share",
            source: "systemd v261, DefaultMemoryPressureLimit; Fedora 44 has 80%"),
        Parameter(
            \.duration, "duration", from: .zero, to: .minutes(5),
            meaning: "how long pressure must stay too high before it acts",
            source: "systemd v261, DefaultMemoryPressureDurationSec; Fedora 44 has 20 s"),
        Parameter(
            \.reclaimWithin, "reclaim_within", from: .zero, to: .minutes(10),
            meaning: "it acts on pressure only if memory was reclaimed within this time",
            source: "systemd v261, RECLAIM_DURATION_USEC"),
        Parameter(
            \.pause, "pause", from: .zero, to: .minutes(10),
            meaning: "how long it ignores pressure after it has killed for pressure",
            source: "systemd v261, POST_ACTION_DELAY_USEC"),
    ]

    private var used = Ratio.percent(90)
    private var candidateSwap = Ratio.percent(5)
    private var pressure = Ratio.percent(60)
    private var duration = TimeSpan.seconds(30)
    private var reclaimWithin = TimeSpan.seconds(30)
    private var pause = TimeSpan.seconds(15)

    /// `SWAP_INTERVAL_USEC` and `MEM_PRESSURE_INTERVAL_USEC`.
    private static let swapInterval = TimeSpan.milliseconds(150)
    private static let pressureInterval = TimeSpan.seconds(1)

    /// The numbers of its two rules in `ReclaimHistory.Kill.rule`.
    private enum Rule: Int {
        case swap
        case pressure
    }

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        var decision = answer(snapshot)
        decision.nextLook = snapshot.measures.swapTotal > .zero ? Self.swapInterval : Self.pressureInterval
        return decision
    }

    private func answer(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return ranking(snapshot, because: "a limit is exceeded") { ($0.recentlyReclaimed, $0.footprint) }
        }
        let joined = snapshot.joiningGroups
        var decision = answerAboutGroups(joined)
        decision.endGroups(of: joined)
        return decision
    }

    /// - Parameter snapshot: Each control group is one process.
    private func answerAboutGroups(_ snapshot: SystemSnapshot) -> Decision {
        let bySwap = usedUp(snapshot).map { self.bySwap(snapshot, $0) }
        if let bySwap, !bySwap.ranking.isEmpty { return bySwap }
        if let evidence = lastingPressure(snapshot) { return byPressure(snapshot, evidence) }
        return bySwap ?? .notDue("swap is not used up, and no pressure lasts", snapshot)
    }

    // MARK: Swap

    private func usedUp(_ snapshot: SystemSnapshot) -> Evidence? {
        let measures = snapshot.measures
        let swap = measures.swapTotal - measures.swapFree
        guard measures.swapTotal > .zero, swap > measures.swapTotal * used,
            snapshot.ceiling - snapshot.obtainable > snapshot.ceiling * used
        else { return nil }
        return Evidence(
            "swap_used_bytes", observed: Int64(swap.bytes), threshold: Int64((measures.swapTotal * used).bytes),
            rule: "memory and swap are used up above \(used)")
    }

    private func bySwap(_ snapshot: SystemSnapshot, _ evidence: Evidence) -> Decision {
        let least = snapshot.measures.swapTotal * candidateSwap
        var decision = ranking(snapshot, for: .swap, because: "has most in swap") { process in
            process.swapped > least ? (process.swapped, process.footprint) : nil
        }
        decision.justify(by: evidence)
        if isDyingFirst(decision, snapshot, least) {
            return .nothing(.waiting("its last victim still has most in swap"), snapshot)
        }
        if decision.ranking.isEmpty { return .notDue("no process has more than \(candidateSwap) of swap", snapshot) }
        return decision
    }

    /// Whether a victim that is being taken apart heads the list.
    private func isDyingFirst(_ decision: Decision, _ snapshot: SystemSnapshot, _ least: ByteCount) -> Bool {
        let dying = snapshot.measures.returningSwap
        guard dying > least else { return false }
        guard let first = decision.ranking.first, let process = snapshot.process(first.action.target) else {
            return true
        }
        return process.linux.preference != .none || process.swapped <= dying
    }

    // MARK: Pressure

    /// Holds if every update of the last `duration` is above the threshold and the updates reach that far back.
    private func lastingPressure(_ snapshot: SystemSnapshot) -> Evidence? {
        let begin = snapshot.now - duration
        var holds = false
        for update in snapshot.measures.stallUpdates.reversed() {
            guard update.full.avg10 > pressure else { break }
            if update.at <= begin {
                holds = true
                break
            }
        }
        guard holds else { return nil }
        return Evidence(
            "psi_full_avg10_ppm", observed: snapshot.measures.full.avg10.partsPerMillion,
            threshold: pressure.partsPerMillion, rule: "full stalls above \(pressure) for \(duration)")
    }

    private func byPressure(_ snapshot: SystemSnapshot, _ evidence: Evidence) -> Decision {
        let last = snapshot.history.kills.last { $0.rule == Rule.pressure.rawValue }
        if let last, snapshot.now - last.at < pause {
            return .nothing(.waiting("it rests after its last kill for pressure"), snapshot)
        }
        guard let reclaim = snapshot.measures.lastReclaim, snapshot.now - reclaim <= reclaimWithin else {
            return .nothing(.waiting("no memory was reclaimed within \(reclaimWithin)"), snapshot)
        }
        var decision = ranking(snapshot, for: .pressure, because: "most memory was reclaimed from it") {
            ($0.recentlyReclaimed, $0.footprint)
        }
        decision.justify(by: evidence)
        return decision
    }

    // MARK: The order

    /// - Parameter measure: What is compared, the first first; nil: the process is no candidate.
    private func ranking(
        _ snapshot: SystemSnapshot, for rule: Rule? = nil, because why: String,
        by measure: (ProcessSnapshot) -> (ByteCount, ByteCount)?
    ) -> Decision {
        var decision = Decision()
        var candidates: [(process: ProcessSnapshot, size: (ByteCount, ByteCount))] = []
        for process in snapshot.processes {
            if process.linux.preference == .omit {
                decision.spare(process, because: "its ManagedOOMPreference is omit")
            } else if let size = measure(process) {
                candidates.append((process, size))
            } else {
                decision.spare(process, because: "it has at most \(candidateSwap) of swap")
            }
        }
        candidates.sort { a, b in
            let (x, y) = (a.process, b.process)
            return (y.linux.preference, a.size.0, a.size.1, y.pid) > (x.linux.preference, b.size.0, b.size.1, x.pid)
        }
        for (process, size) in candidates {
            decision.rank(.terminate(process.pid), score: Int64(size.0.bytes), because: why)
        }
        for index in decision.ranking.indices { decision.ranking[index].rule = rule?.rawValue }
        return decision
    }
}
