import Quantities

/// Android's low-memory killer by pressure stall information.
///
/// A stall of `partial_stall` within a second wakes it; it then looks at every sample for `poll_window`. The first
/// condition that holds gives the floor of importance, and one process goes per look; while the last victim dies it
/// waits. The limit of thrashing decays with every kill. Reproduces AOSP lmkd android-13, and android-14's last
/// condition behind a flag. This device has no file cache and no swap: of the conditions, a run meets stalls and
/// watermarks; the others are reached by tables of facts.
public struct LMKD: ReclaimPolicy {
    public static let name = "lmkd"
    public static let summary = "Android's killer by pressure stalls and watermarks (lmkd android-13)"
    public static let needs: PolicyNeeds = .everySample

    private static let source = "AOSP lmkd android-13"
    private static let ours = "ours; Linux derives it from min_free_kbytes"

    public static let parameters: [PolicyParameter] = [
        PolicyParameter(
            "partial_stall", .time(.milliseconds(70)), from: .time(.zero), to: .time(.seconds(1)),
            meaning: "some process waited so long within a second: it wakes", source: source),
        PolicyParameter(
            "complete_stall", .time(.milliseconds(700)), from: .time(.zero), to: .time(.seconds(1)),
            meaning: "all processes waited so long within a second: anybody may go", source: source),
        PolicyParameter(
            "poll_window", .time(.seconds(1)), from: .time(.zero), to: .time(.minutes(1)),
            meaning: "after an action it keeps looking for so long", source: source),
        PolicyParameter(
            "kill_wait", .time(.milliseconds(100)), from: .time(.zero), to: .time(.minutes(1)),
            meaning: "how long it waits for the last victim to die", source: source),
        PolicyParameter(
            "swap_low", .ratio(.percent(10)), from: .ratio(.zero), to: .ratio(.one),
            meaning: "swap is low below this share free", source: source),
        PolicyParameter(
            "thrashing", .ratio(.one), from: .ratio(.zero), to: .ratio(.percent(1_000)),
            meaning: "file pages read again, as a share of the file cache, that count as thrashing", source: source),
        PolicyParameter(
            "thrashing_decay", .ratio(.percent(10)), from: .ratio(.zero), to: .ratio(.one),
            meaning: "how much the limit of thrashing falls with every kill", source: source),
        PolicyParameter(
            "thrashing_critical", .count(2), from: .count(1), to: .count(100),
            meaning: "so many times the limit: anybody may go", source: source),
        PolicyParameter(
            "file_cache_low", .ratio(.percent(5)), from: .ratio(.zero), to: .ratio(.one),
            meaning: "the file cache is low below this share of RAM", source: "ours; lmkd compares file pages"),
        PolicyParameter(
            "watermark_min", .ratio(.percent(1)), from: .ratio(.zero), to: .ratio(.one),
            meaning: "the kernel's min watermark as a share of RAM", source: ours),
        PolicyParameter(
            "watermark_low", .ratio(.percent(3)), from: .ratio(.zero), to: .ratio(.one),
            meaning: "the kernel's low watermark as a share of RAM", source: ours),
        PolicyParameter(
            "heaviest_at", .count(200), from: .count(0), to: .count(1_000),
            meaning: "of one score at or below this the largest goes first, else the oldest", source: source),
        PolicyParameter(
            "low_watermark_alone", .flag(false), from: .flag(false), to: .flag(true),
            meaning: "only the low watermark is crossed: scores from 701 on may go", source: "AOSP lmkd android-14"),
    ]

    private let partialStall: TimeSpan
    private let completeStall: TimeSpan
    private let pollWindow: TimeSpan
    private let killWait: TimeSpan
    private let swapLow: Ratio
    private let thrashing: Ratio
    private let thrashingDecay: Ratio
    private let thrashingCritical: Int
    private let fileCacheLow: Ratio
    private let watermarkMin: Ratio
    private let watermarkLow: Ratio
    private let heaviestAt: Int
    private let lowWatermarkAlone: Bool

    public init(_ values: ParameterValues) {
        partialStall = values.time("partial_stall")
        completeStall = values.time("complete_stall")
        pollWindow = values.time("poll_window")
        killWait = values.time("kill_wait")
        swapLow = values.ratio("swap_low")
        thrashing = values.ratio("thrashing")
        thrashingDecay = values.ratio("thrashing_decay")
        thrashingCritical = values.count("thrashing_critical")
        fileCacheLow = values.ratio("file_cache_low")
        watermarkMin = values.ratio("watermark_min")
        watermarkLow = values.ratio("watermark_low")
        heaviestAt = values.count("heaviest_at")
        lowWatermarkAlone = values.flag("low_watermark_alone")
    }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return snapshot.rankingByScore(floor: 0, heaviestAt: heaviestAt, because: "a limit is exceeded")
        }
        let history = snapshot.history
        let polls = history.lastAction.map { snapshot.now - $0 <= pollWindow } ?? false
        guard snapshot.measures.someLost >= partialStall || polls else {
            let reason = "processes waited less than \(partialStall) within the last second"
            return .nothing(snapshot.requester == nil ? .content(reason) : .waiting(reason), snapshot)
        }
        if let last = history.lastKill, snapshot.now - last < killWait {
            return .nothing(.waiting("the last victim is still dying"), snapshot)
        }
        guard let finding = finding(snapshot) else {
            let reason = "no condition holds"
            return .nothing(snapshot.requester == nil ? .content(reason) : .waiting(reason), snapshot)
        }
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
        func free(_ share: Ratio, _ rule: String) -> Evidence {
            Evidence(
                "available_bytes", observed: Int64(snapshot.available.bytes),
                threshold: Int64((snapshot.ceiling * share).bytes), rule: rule)
        }
        let isBelowMin = snapshot.available < snapshot.ceiling * watermarkMin
        let isBelowLow = snapshot.available < snapshot.ceiling * watermarkLow
        let limit = thrashingLimit(snapshot)
        let isThrashing = measures.thrashing > limit
        let again = Evidence(
            "thrashing_ppm", observed: measures.thrashing.partsPerMillion, threshold: limit.partsPerMillion,
            rule: "file pages are read again and again")
        let isSwapLow = measures.swapFree < measures.swapTotal * swapLow
        let harsh = isBelowMin || measures.thrashing.partsPerMillion >= limit.partsPerMillion * Int64(thrashingCritical)
        let wasKill = snapshot.history.lastKill.map { snapshot.now - $0 <= pollWindow } ?? false
        if wasKill && isBelowMin { return (0, free(watermarkMin, "below the min watermark after a kill")) }
        if measures.fullLost >= completeStall {
            return (
                0,
                Evidence(
                    "full_stall_us", observed: measures.fullLost.microseconds, threshold: completeStall.microseconds,
                    rule: "all processes waited")
            )
        }
        if isSwapLow && isThrashing { return (harsh ? 0 : 201, again) }
        if isSwapLow && isBelowLow { return (harsh ? 0 : 201, free(watermarkLow, "swap and free memory are low")) }
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
        if lowWatermarkAlone && isBelowLow { return (701, free(watermarkLow, "below the low watermark")) }
        return nil
    }

    /// Falls with every kill of the last poll window.
    private func thrashingLimit(_ snapshot: SystemSnapshot) -> Ratio {
        var limit = thrashing.partsPerMillion
        for kill in snapshot.history.kills where snapshot.now - kill.at <= pollWindow {
            limit -= limit * thrashingDecay.partsPerMillion / 1_000_000
        }
        return Ratio(partsPerMillion: limit)
    }
}
