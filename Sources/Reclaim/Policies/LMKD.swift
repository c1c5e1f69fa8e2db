import Quantities

/// Android's low-memory killer, driven by pressure stall information.
///
/// The kernel wakes lmkd with a report once processes have waited for memory for `partial_stall` within a second, or
/// all of them for `complete_stall`: at most one report of each kind a second. From then on lmkd looks every 100 ms for
/// `poll_window`, and longer while processes scan pages themselves; after a kill, and while swap is low, every 10 ms.
/// The first condition that holds sets the lowest score (`OomScore`) that may be killed. Each look kills one process at
/// most. After a kill lmkd waits until the victim's memory is back, but no longer than `kill_wait`, and looks at once.
/// It does nothing as long as the kernel scans no pages.
///
/// Reproduces AOSP lmkd of the release in `version`. Values in the scenario stand for properties of the device
/// (`ro.lmk.…`), and apply under every version, whether it has the property or not. The conditions on thrashing and on
/// the file cache occur on a device with `file_cache`, those on swap on one whose compressor is zram. lmkd compares
/// free memory with the watermarks of the kernel where the device has them (`device.reclaim: linux`). Elsewhere it
/// compares it with the policy's parameters.
///
/// A run asks policies at its samples, when an action is done and when an allocation waits.
/// lmkd can look only then.
public struct LMKD: ReclaimPolicy {
    public static let name = "lmkd"
    public static let summary = "Android's killer by pressure stalls and watermarks (lmkd android-13 to -15)"
    public static let needs: PolicyNeeds = [.everySample, .looksOn, .thrashingAnew, .actsOnStalls]

    private static let source = "AOSP lmkd android-13"
    private static let later = "AOSP lmkd android-14"
    private static let latest = "AOSP lmkd android-15"
    private static let ours = "ours; Linux derives it from min_free_kbytes"

    public static let parameters: [Parameter<Self>] =
        [release] + ActivityManager.parameters(ages: \.manager.ages, home: \.manager.home) + [lowRAM] + stalls + kills
        + pages + memory

    private static let release = Parameter<Self>(
        \.device.version, "version", table: { policy, _ in policy.version },
        meaning: "the release of Android whose lmkd decides; table: 13", source: "ours")
    private static let lowRAM = Parameter<Self>(
        \.device.lowRAMUpTo, "low_ram_up_to", from: .zero, to: .gibibytes(64), isScaled: false,
        meaning: "devices with at most this much RAM have the figures for low-RAM devices (ro.config.low_ram, which "
            + "the maker sets)",
        source: "ours; Android requires it up to 2 GB")

    private static let stalls: [Parameter<Self>] = [
        Parameter(
            \.wait.partial, "partial_stall", table: { $0.figures(on: $1).partialStall },
            from: TimeSpan(microseconds: 1), to: .seconds(1),
            meaning: "it wakes once processes have waited this long within a second (ro.lmk.psi_partial_stall_ms); "
                + "table: 70ms, on low-RAM devices 200ms",
            source: source),
        Parameter(
            \.wait.complete, "complete_stall", from: .zero, to: .seconds(1),
            meaning: "once all processes have waited this long within a second, any process may be killed, at most one "
                + "a second (ro.lmk.psi_complete_stall_ms); 0s: never",
            source: source),
        Parameter(
            \.wait.critical, "stall_limit_critical", from: .zero, to: .one,
            meaning:
                "where some process is to be killed, it may be any if all processes waited for more than this share "
                + "of the last 10 s (ro.lmk.stall_limit_critical)",
            source: source),
        Parameter(
            \.wait.pollWindow, "poll_window", from: .zero, to: .minutes(1),
            meaning: "for how long after a report or a kill it looks on, even without a stall", source: source),
    ]

    private static let kills: [Parameter<Self>] = [
        Parameter(
            \.kill.wait, "kill_wait", from: .zero, to: .minutes(1),
            meaning: "how long it waits at most until the last victim's memory is back (ro.lmk.kill_timeout_ms); "
                + "0s: without end",
            source: source),
        Parameter(
            \.kill.afterKillScore, "pressure_after_kill_min_score", from: 0, to: 1_001,
            meaning: "scores from this on may be killed if free memory is below the min watermark even after a kill "
                + "(ro.lmk.pressure_after_kill_min_score, from android-14 on)",
            source: later),
        Parameter(
            \.kill.heaviestAt, "heaviest_at", from: 0, to: 1_000,
            meaning: "of processes with the same score, the largest goes first if the score is at most this, "
                + "otherwise the least recently used",
            source: source),
        Parameter(
            \.kill.heaviest, "kill_heaviest_task",
            meaning: "of processes with the same score the largest goes first, whatever the score "
                + "(ro.lmk.kill_heaviest_task)",
            source: source),
    ]

    private static let pages: [Parameter<Self>] = [
        Parameter(
            \.swap.low, "swap_low", from: .zero, to: .one,
            meaning: "swap counts as low if less than this share of it is free (ro.lmk.swap_free_low_percentage)",
            source: source
        ).about(.swap),
        Parameter(
            \.swap.utilMax, "swap_util_max", from: .zero, to: .one,
            meaning:
                "any process may be killed if the low watermark is crossed and more than this share of what can be "
                + "swapped is in swap (ro.lmk.swap_util_max); 100%: never",
            source: source
        ).about(.swap),
        Parameter(
            \.swap.compression, "swap_compression_ratio",
            table: { $0.figures(on: $1).swapCompression ?? noCompression },
            from: 1, to: noCompression,
            meaning:
                "swap counts as free only as far as free memory and old pages of files, this many times, have room "
                + "for it (ro.lmk.swap_compression_ratio, from android-15 on); 1000 stands for the property's 0: they "
                + "do not matter; table: 1000, from android-14 on 1",
            source: latest
        ).about(.swap),
        Parameter(
            \.thrash.limit, "thrashing", table: { .percent(Int64($0.figures(on: $1).thrashing)) },
            from: Ratio(partsPerMillion: 1), to: .percent(1_000),
            meaning: "above this share of the file cache, file pages that are read again count as thrashing "
                + "(ro.lmk.thrashing_limit); table: 100%, on low-RAM devices 30%",
            source: source
        ).about(.fileCache),
        Parameter(
            \.thrash.decay, "thrashing_decay", table: { .percent(Int64($0.figures(on: $1).decay)) },
            from: Ratio(partsPerMillion: 1), to: .one,
            meaning: "the share by which a kill for thrashing lowers its limit (ro.lmk.thrashing_limit_decay); "
                + "table: 10%, on low-RAM devices 50%",
            source: source
        ).about(.fileCache),
        Parameter(
            \.thrash.critical, "thrashing_critical", table: { .percent(Int64($0.figures(on: $1).critical)) },
            from: Ratio(partsPerMillion: 1), to: .percent(10_000),
            meaning:
                "at this share of the file cache or more, any process may be killed for thrashing, or because swap "
                + "and free memory are low (ro.lmk.thrashing_limit_critical); table: twice the limit, from android-14 "
                + "on three times",
            source: source
        ).about(.fileCache),
        Parameter(
            \.thrash.fileCacheMin, "filecache_min", from: .zero, to: .gibibytes(64),
            meaning: "after thrashing, scores from 201 on may be killed as long as the file cache is smaller "
                + "(ro.lmk.filecache_min_kb); 0B: never",
            source: source
        ).about(.fileCache),
    ]

    private static let memory: [Parameter<Self>] = [
        Parameter(
            \.free.directReclaim, "direct_reclaim_threshold", from: .zero, to: .minutes(1),
            meaning: "any process may be killed if processes have scanned pages themselves for longer without a break "
                + "(ro.lmk.direct_reclaim_threshold_ms, from android-15 on); 0s: never",
            source: latest),
        Parameter(
            \.free.lowScore, "lowmem_min_oom_score", table: { $0.figures(on: $1).lowMemoryScore }, from: 1, to: 1_001,
            meaning:
                "scores from this on, and in any case from 201 on, may be killed even if only the low watermark is "
                + "crossed (ro.lmk.lowmem_min_oom_score, from android-15 on); table: 1001, which is none, from "
                + "android-14 on 701",
            source: latest),
        Parameter(
            \.free.lowWatermarkAlone, "low_watermark_alone",
            meaning: "android-13 takes lowmem_min_oom_score from android-14", source: later),
        Parameter(
            \.free.watermarkMin, "watermark_min", from: .zero, to: .one,
            meaning: "the kernel's min watermark as a share of RAM, where the device has none of its own",
            source: ours),
        Parameter(
            \.free.watermarkLow, "watermark_low", from: .zero, to: .one,
            meaning: "the kernel's low watermark as a share of RAM, where the device has none of its own",
            source: ours),
    ]

    /// Stands for a `ro.lmk.swap_compression_ratio` of zero.
    private static let noCompression = 1_000

    private struct Device {
        var version: LMKDVersion?
        var lowRAMUpTo = ByteCount.gibibytes(2)
    }

    private struct Wait {
        var partial: TimeSpan?
        var complete = TimeSpan.milliseconds(700)
        var critical = Ratio.one
        var pollWindow = TimeSpan.seconds(1)
    }

    private struct Killing {
        var wait = TimeSpan.milliseconds(100)
        var afterKillScore = 0
        var heaviestAt = OomScore.perceptible
        var heaviest = false
    }

    private struct Swap {
        var low = Ratio.percent(10)
        var utilMax = Ratio.one
        var compression: Int?
    }

    private struct Thrashing {
        var limit: Ratio?
        var decay: Ratio?
        var critical: Ratio?
        var fileCacheMin = ByteCount.zero
    }

    private struct FreeMemory {
        var directReclaim = TimeSpan.zero
        var lowScore: Int?
        var lowWatermarkAlone = false
        var watermarkMin = Ratio.percent(1)
        var watermarkLow = Ratio.percent(3)
    }

    private var device = Device()
    private var wait = Wait()
    private var kill = Killing()
    private var swap = Swap()
    private var thrash = Thrashing()
    private var free = FreeMemory()
    private var manager = ActivityManager()

    public init() {}

    private var version: LMKDVersion { device.version ?? .standard }

    /// The figures on a device: given values as they are, the version's for the rest (13:3705-3744, 14:3755-3798,
    /// 15:4049-4099).
    private func figures(on size: DeviceSize) -> LMKDFigures {
        let isLowRAM = size.meant <= device.lowRAMUpTo
        let limit = thrash.limit?.percent ?? (isLowRAM ? 30 : 100)
        let compression = swap.compression ?? version.swapCompression
        let lowScore = free.lowScore ?? (free.lowWatermarkAlone ? LMKDVersion.android14 : version).lowMemoryScore
        return LMKDFigures(
            partialStall: wait.partial ?? .milliseconds(isLowRAM ? 200 : 70), thrashing: limit,
            decay: thrash.decay?.percent ?? (isLowRAM ? 50 : 10),
            critical: thrash.critical?.percent ?? limit * version.criticalTimes,
            swapCompression: compression == LMKD.noCompression ? nil : compression,
            lowMemoryScore: max(OomScore.perceptible + 1, lowScore), hearsReclaim: version.hearsReclaim)
    }

    // MARK: A decision

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return snapshot.rankingByScore(
                floor: 0, heaviestAt: heaviestAt, by: manager, because: "a limit is exceeded")
        }
        var course = snapshot.history.lmkd
        var decision = decide(snapshot, &course)
        if course != snapshot.history.lmkd { decision.lmkd = course }
        return decision
    }

    /// Up to this score the largest of equals goes first (13:2402-2417).
    private var heaviestAt: Int { kill.heaviest ? OomScore.highest : kill.heaviestAt }

    /// Whether it looks at all (13:2606-2617, 3595-3634).
    private func decide(_ snapshot: SystemSnapshot, _ course: inout LMKDCourse) -> Decision {
        let figures = figures(on: snapshot.device)
        course.followDirectReclaim(snapshot)
        let event = course.takeEvent(snapshot, partial: figures.partialStall, complete: wait.complete)
        if let kill = course.unanswered(snapshot.history, at: snapshot.now) {
            if isPending(kill, snapshot) { return .nothing(.waiting("the last victim is still dying"), snapshot) }
            course.answer(kill, decay: figures.decay, configured: figures.thrashing)
            return look(snapshot, &course, figures, event, isAfterKill: true)
        }
        guard event != nil || course.isPolling(at: snapshot.now, for: wait.pollWindow) else {
            let asleep = "processes waited less than \(figures.partialStall) within the last second"
            let polling = "no report of a stall is new, and the next look is not due"
            return .notDue(course.pollsSince == nil ? asleep : polling, snapshot)
        }
        return look(snapshot, &course, figures, event, isAfterKill: false)
    }

    /// Whether lmkd still waits for its victim. The kernel says that a process is dead when its memory is back
    /// (Linux, kernel/exit.c, `do_exit`), so the wait is for that.
    private func isPending(_ victim: ReclaimHistory.Kill, _ snapshot: SystemSnapshot) -> Bool {
        guard kill.wait == .zero || snapshot.now - victim.at < kill.wait else { return false }
        return snapshot.process(victim.pid) != nil || snapshot.measures.returning > .zero
    }

    /// One look (13:2563-2876, `mp_event_psi`).
    private func look(
        _ snapshot: SystemSnapshot, _ course: inout LMKDCourse, _ figures: LMKDFigures, _ event: LMKDCourse.Event?,
        isAfterKill: Bool
    ) -> Decision {
        let now = snapshot.now
        var view = LMKDView(snapshot, figures, watermarks: watermarks(snapshot), swapLow: swap.low)
        view.isAfterKill = isAfterKill
        view.isComplete = event == .complete
        view.reclaim = course.takeReclaim(
            snapshot.measures, isBelowLow: view.isBelowLow, hears: figures.hearsReclaim)
        let begins = event != nil || isAfterKill || view.reclaim == .direct
        guard view.reclaim != .none else {
            course.endLook(at: now, begins: begins, isFast: view.isSwapLow, window: wait.pollWindow)
            return .notDue("no pages are scanned, and none of a file comes back", snapshot)
        }
        view.limit = course.limit(at: now, beginsAnew: isAfterKill, configured: figures.thrashing)
        view.directFor = course.directSince.map { now - $0 } ?? .zero
        let finding = finding(view, &course)
        guard let finding else {
            course.endLook(at: now, begins: begins, isFast: view.isSwapLow, window: wait.pollWindow)
            return .notDue("no condition holds", snapshot)
        }
        let decision = decision(for: finding, snapshot)
        let kills = !decision.ranking.isEmpty
        course.request = kills ? .init(at: now, lowersLimit: finding.lowersLimit) : nil
        course.endLook(at: now, begins: begins || kills, isFast: view.isSwapLow || kills, window: wait.pollWindow)
        return decision
    }

    private func decision(for finding: LMKDFinding, _ snapshot: SystemSnapshot) -> Decision {
        // The whole system has stood still for long (13:2730-2733, 2831-2834).
        let isCritical = snapshot.measures.full.avg10 > wait.critical
        var decision = snapshot.rankingByScore(
            floor: isCritical ? 0 : finding.floor, heaviestAt: heaviestAt, by: manager,
            because: finding.evidence.rule)
        decision.justify(by: finding.evidence)
        if finding.isThrashing {
            for index in decision.ranking.indices { decision.ranking[index].cause = .fileCacheThrashing }
        }
        return decision
    }

    // MARK: Conditions

    private func watermarks(_ snapshot: SystemSnapshot) -> KernelWatermarks {
        snapshot.measures.watermarks
            ?? KernelWatermarks(
                least: snapshot.ceiling * free.watermarkMin, low: snapshot.ceiling * free.watermarkLow)
    }

    /// The first condition that holds, in the order of the source (13:2734-2819, 14:2764-2859, 15:2901-3001).
    private func finding(_ view: LMKDView, _ course: inout LMKDCourse) -> LMKDFinding? {
        if view.isAfterKill && view.isBelowMin {
            return LMKDFinding(kill.afterKillScore, view.free(view.least, "below the min watermark after a kill"))
        }
        if view.isComplete { return LMKDFinding(0, view.completeStall(wait.complete)) }
        if view.isSwapLow && view.thrashing > view.figures.thrashing {
            course.checksFileCache = true
            return LMKDFinding(view.floorWithLowSwap, view.thrashing(above: view.figures.thrashing), isThrashing: true)
        }
        if view.isSwapLow && view.isBelowLow {
            return LMKDFinding(view.floorWithLowSwap, view.free(view.low, "swap and free memory are low"))
        }
        if view.isBelowLow, swap.utilMax < .one, view.swapUse > swap.utilMax.percent {
            return LMKDFinding(0, view.swapUse(above: swap.utilMax))
        }
        if view.thrashing > view.limit && (view.isBelowLow || view.reclaim == .direct) {
            course.checksFileCache = true
            return LMKDFinding(
                view.isCritical ? 0 : OomScore.perceptible + 1, view.thrashing(above: view.limit), isThrashing: true,
                lowersLimit: true)
        }
        if free.directReclaim > .zero, view.directFor > free.directReclaim {
            return LMKDFinding(0, view.stuck(for: free.directReclaim))
        }
        if course.checksFileCache {
            if view.fileCache < thrash.fileCacheMin {
                return LMKDFinding(OomScore.perceptible + 1, view.lowFileCache(thrash.fileCacheMin))
            }
            course.checksFileCache = false
        }
        guard view.isBelowLow, view.figures.lowMemoryScore <= OomScore.highest else { return nil }
        return LMKDFinding(view.figures.lowMemoryScore, view.free(view.low, "below the low watermark"))
    }
}
