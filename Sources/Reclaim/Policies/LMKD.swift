import Quantities

/// Android's low-memory killer, driven by pressure stall information.
///
/// The policy looks for a victim if processes have waited for memory for `partial_stall` within a second. After an
/// action it looks at every sample for `poll_window`, even without such a stall. The first condition that holds sets
/// the lowest score (`OomScore`) that may be killed. Each look kills one process at most; for `kill_wait` after a kill,
/// the policy waits for the victim to die, but not for the victim's memory. Every kill within the last `poll_window`
/// lowers the limit of thrashing.
/// Reproduces AOSP lmkd android-13; a flag adds android-14's last condition. The conditions on thrashing and on the
/// file cache occur on a device with `file_cache`, those on swap on one whose compressor is zram. It compares free
/// memory with the watermarks of the kernel where the device has them (`device.reclaim: linux`), as lmkd does,
/// otherwise with its parameters.
public struct LMKD: ReclaimPolicy {
    public static let name = "lmkd"
    public static let summary = "Android's killer by pressure stalls and watermarks (lmkd android-13)"
    public static let needs: PolicyNeeds = [.everySample, .looksOn]

    private static let source = "AOSP lmkd android-13"
    private static let ours = "ours; Linux derives it from min_free_kbytes"

    public static let parameters: [Parameter<Self>] = [
        Parameter(
            \.partialStall, "partial_stall", from: .zero, to: .seconds(1),
            meaning: "it acts once processes have waited this long within a second", source: source),
        Parameter(
            \.completeStall, "complete_stall", from: .zero, to: .seconds(1),
            meaning: "once all processes have waited this long within a second, any process may be killed",
            source: source),
        Parameter(
            \.pollWindow, "poll_window", from: .zero, to: .minutes(1),
            meaning: "for how long after an action it looks at every sample, even without a stall", source: source),
        Parameter(
            \.killWait, "kill_wait", from: .zero, to: .minutes(1),
            meaning: "how long it waits for the last victim to die", source: source),
        Parameter(
            \.swapLow, "swap_low", from: .zero, to: .one,
            meaning: "swap counts as low if less than this share of it is free", source: source
        ).about(.swap),
        Parameter(
            \.thrashing, "thrashing", from: .zero, to: .percent(1_000),
            meaning: "above this share of the file cache, file pages that are read again count as thrashing",
            source: source
        ).about(.fileCache),
        Parameter(
            \.thrashingDecay, "thrashing_decay", from: .zero, to: .one,
            meaning: "the share by which every kill lowers the limit of thrashing", source: source
        ).about(.fileCache),
        Parameter(
            \.thrashingCritical, "thrashing_critical", from: 1, to: 100,
            meaning: "at this many times the limit or more, any process may be killed if swap is low", source: source
        ).about(.fileCache),
        Parameter(
            \.fileCacheLow, "file_cache_low", from: .zero, to: .one,
            meaning: "the file cache counts as low if it is less than this share of RAM",
            source: "ours; lmkd has a fixed size, filecache_min_kb"
        ).about(.fileCache),
        Parameter(
            \.watermarkMin, "watermark_min", from: .zero, to: .one,
            meaning: "the kernel's min watermark as a share of RAM, where the device has none of its own",
            source: ours),
        Parameter(
            \.watermarkLow, "watermark_low", from: .zero, to: .one,
            meaning: "the kernel's low watermark as a share of RAM, where the device has none of its own",
            source: ours),
        Parameter(
            \.heaviestAt, "heaviest_at", from: 0, to: 1_000,
            meaning: "of processes with the same score, the largest goes first if the score is at most this, "
                + "otherwise the least recently used",
            source: source),
        Parameter(
            \.lowWatermarkAlone, "low_watermark_alone",
            meaning: "scores from 701 on may be killed even if only the low watermark is crossed",
            source: "AOSP lmkd android-14"),
    ]

    private var partialStall = TimeSpan.milliseconds(70)
    private var completeStall = TimeSpan.milliseconds(700)
    private var pollWindow = TimeSpan.seconds(1)
    private var killWait = TimeSpan.milliseconds(100)
    private var swapLow = Ratio.percent(10)
    private var thrashing = Ratio.one
    private var thrashingDecay = Ratio.percent(10)
    private var thrashingCritical = 2
    private var fileCacheLow = Ratio.percent(5)
    private var watermarkMin = Ratio.percent(1)
    private var watermarkLow = Ratio.percent(3)
    private var heaviestAt = 200
    private var lowWatermarkAlone = false

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return snapshot.rankingByScore(floor: 0, heaviestAt: heaviestAt, because: "a limit is exceeded")
        }
        let history = snapshot.history
        let polls = history.lastAction.map { snapshot.now - $0 <= pollWindow } ?? false
        guard snapshot.measures.someLost >= partialStall || polls else {
            return .notDue("processes waited less than \(partialStall) within the last second", snapshot)
        }
        if let last = history.lastKill, snapshot.now - last < killWait {
            return .nothing(.waiting("the last victim is still dying"), snapshot)
        }
        guard let finding = finding(snapshot) else { return .notDue("no condition holds", snapshot) }
        var decision = snapshot.rankingByScore(
            floor: finding.floor, heaviestAt: heaviestAt, because: finding.evidence.rule)
        decision.justify(by: finding.evidence)
        if finding.evidence.measure == "thrashing_ppm" {
            for index in decision.ranking.indices { decision.ranking[index].cause = .fileCacheThrashing }
        }
        return decision
    }

    private typealias Finding = (floor: Int, evidence: Evidence)

    /// The first condition that holds.
    private func finding(_ snapshot: SystemSnapshot) -> Finding? {
        let measures = snapshot.measures
        func free(_ watermark: ByteCount, _ rule: String) -> Evidence {
            snapshot.evidence(availableBelow: watermark, rule: rule)
        }
        let least = measures.watermarks?.least ?? snapshot.ceiling * watermarkMin
        let low = measures.watermarks?.low ?? snapshot.ceiling * watermarkLow
        let isBelowMin = snapshot.available < least
        let isBelowLow = snapshot.available < low
        let limit = thrashingLimit(snapshot)
        let isThrashing = measures.thrashing > limit
        let again = Evidence(
            "thrashing_ppm", observed: measures.thrashing.partsPerMillion, threshold: limit.partsPerMillion,
            rule: "file pages are read again and again")
        let isSwapLow = measures.swapFree < measures.swapTotal * swapLow
        let harsh = isBelowMin || measures.thrashing.partsPerMillion >= limit.partsPerMillion * Int64(thrashingCritical)
        let wasKill = snapshot.history.lastKill.map { snapshot.now - $0 <= pollWindow } ?? false
        if wasKill && isBelowMin { return (0, free(least, "below the min watermark after a kill")) }
        if measures.fullLost >= completeStall {
            return (
                0,
                Evidence(
                    "full_stall_us", observed: measures.fullLost.microseconds, threshold: completeStall.microseconds,
                    rule: "all processes waited")
            )
        }
        if isSwapLow && isThrashing { return (harsh ? 0 : 201, again) }
        if isSwapLow && isBelowLow { return (harsh ? 0 : 201, free(low, "swap and free memory are low")) }
        if isBelowLow && isThrashing { return (201, again) }
        if measures.directReclaim && isThrashing { return (201, again) }
        if snapshot.history.kills.last?.cause == .fileCacheThrashing
            && measures.fileBacked < snapshot.ceiling * fileCacheLow
        {
            return (
                201,
                Evidence(
                    "file_backed_bytes", observed: Int64(measures.fileBacked.bytes),
                    threshold: Int64((snapshot.ceiling * fileCacheLow).bytes),
                    rule: "the file cache is low after thrashing")
            )
        }
        if lowWatermarkAlone && isBelowLow { return (701, free(low, "below the low watermark")) }
        return nil
    }

    /// The limit of thrashing, lowered by each kill within the last poll window.
    private func thrashingLimit(_ snapshot: SystemSnapshot) -> Ratio {
        var limit = thrashing.partsPerMillion
        for kill in snapshot.history.kills where snapshot.now - kill.at <= pollWindow {
            limit -= limit * thrashingDecay.partsPerMillion / 1_000_000
        }
        return Ratio(partsPerMillion: limit)
    }
}
