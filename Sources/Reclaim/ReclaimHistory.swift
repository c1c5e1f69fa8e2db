import Lifecycle
import Pressure
import Quantities

/// What happened before the decision, as far as policies need it. The simulation keeps these facts, so that a policy
/// needs no memory of its own.
public struct ReclaimHistory: Hashable, Sendable {
    /// Since when the monitor has been at its present level.
    public var levelSince: Instant = .zero
    /// Since when the level has not been normal; nil while it is.
    public var notNormalSince: Instant?
    /// The processes that the policy ended within the last `memory`, oldest first.
    public var kills: ArraySlice<Kill> = []
    /// When the last action of any kind was carried out.
    public var lastAction: Instant?
    /// When the present session began. Since then the policy has asked for actions, and was never content.
    public var sessionSince: Instant?
    /// When the present session began. Since then the policy has asked for actions and has not been content.
    public var sessionHasReport = false
    /// The number of processes in band 0 at the first sustained-pressure kill of this episode.
    public var idleAtSustained: Int?
    /// The number of sustained-pressure kills in this episode, however long it lasts.
    public var sustainedKills = 0

    /// What jetsam has under way, as its last decision said (`Decision.course`).
    public var course = JetsamCourse()
    /// What lmkd remembers, as its last decision said (`Decision.lmkd`).
    public var lmkd = LMKDCourse()
    /// What the policy remembers, as its last decisions said (`Decision.memory`).
    public var policy = PolicyMemory()
    /// One entry per rule, for a policy that has rules.
    public var rules: [RuleMemory] = []

    /// Kills older than this are forgotten.
    public static let memory = TimeSpan.minutes(10)

    /// One termination.
    public struct Kill: Hashable, Sendable {
        /// When the kill was ordered.
        public var at: Instant
        /// The process that was ended.
        public var pid: ProcessID
        /// The process's band when the kill was ordered.
        public var band: JetsamBand
        /// Why, in jetsam's words; nil if none fits.
        public var cause: KillCause?
        /// What the process held.
        public var footprint: ByteCount
        /// Whether it was ended at once; false: it was asked to end.
        public var isForced = true
        /// The rule of the policy that ended it (`Candidate.rule`); nil: the policy has one rule, or a limit asked.
        public var rule: Int?
        /// When the process was gone; nil: it still lives, as far as the simulation knows.
        public var endedAt: Instant?

        /// A termination at an instant.
        public init(at: Instant, pid: ProcessID, band: JetsamBand, cause: KillCause?, footprint: ByteCount) {
            self.at = at
            self.pid = pid
            self.band = band
            self.cause = cause
            self.footprint = footprint
        }
    }

    /// An empty history.
    public init() {}

    /// When the last kill was made, whatever its cause.
    public var lastKill: Instant? { kills.last?.at }

    /// Records that a process is being ended. It counts once, with its last cause: a process that was asked to end may
    /// be forced to.
    public mutating func noteKill(_ kill: Kill) {
        kills = kills.drop { kill.at - $0.at > ReclaimHistory.memory }
        if let known = kills.lastIndex(where: { $0.pid == kill.pid }) { kills.remove(at: known) }
        kills.append(kill)
        if kill.cause == .sustainedPressure { sustainedKills += 1 }
    }

    /// The level is normal again: the episode is over.
    public mutating func endEpisode() {
        notNormalSince = nil
        idleAtSustained = nil
        sustainedKills = 0
    }

    /// Records that the process of a recorded kill is gone.
    public mutating func noteEnd(of pid: ProcessID, at now: Instant) {
        guard let index = kills.lastIndex(where: { $0.pid == pid }) else { return }
        kills[index].endedAt = now
    }

    /// Records that a rule's action was carried out.
    public mutating func noteAction(ofRule rule: Int, at now: Instant, freed: ByteCount) {
        guard rules.indices.contains(rule) else { return }
        rules[rule].actions += 1
        rules[rule].freed += freed
        rules[rule].lastAction = now
    }

    /// The number of kills with this cause since an instant, that instant included.
    public func kills(_ cause: KillCause, since: Instant) -> Int {
        kills.reversed().prefix { $0.at >= since }.count { $0.cause == cause }
    }
}

/// How the compressor fares.
public enum CompressorState: String, CaseIterable, Sendable {
    /// The device has none.
    case none
    /// It can compress more.
    case working
    /// Too much of what it took from running processes comes back (XNU: 50 pages in 10 ms, over half a second).
    case thrashing
    /// Its pool, or what it may hold, is at 98 % of its limit or beyond (XNU's figure).
    case full
}

/// Linux's watermarks of free memory.
public struct KernelWatermarks: Hashable, Sendable {
    /// Below it, allocations make room themselves: *min*.
    public var least: ByteCount
    /// Below it, kswapd begins to work: *low*.
    public var low: ByteCount

    /// These watermarks.
    public init(least: ByteCount, low: ByteCount) { (self.least, self.low) = (least, low) }
}

/// What the device measures besides free memory. A device without a file cache, purgeable memory or a compressor
/// measures zero for these, and so does a device without swap.
public struct SystemMeasures: Hashable, Sendable {
    /// File pages that can be dropped.
    public var fileBacked: ByteCount = .zero
    /// Pages that can be taken without asking.
    public var purgeable: ByteCount = .zero
    /// Pages of processes that are compressed, at their full size.
    public var compressed: ByteCount = .zero
    /// What the compressor's pool takes.
    public var pool: ByteCount = .zero
    /// How the compressor fares.
    public var compressor = CompressorState.none
    /// Whether the freezer can freeze a process.
    public var freezer = FreezerState.none
    /// How much of the compressor's limits is used.
    public var compressorUse = Ratio.zero
    /// What was taken from running processes and came back from the compressor within the last half second.
    public var refaulted = ByteCount.zero
    /// The most of `refaulted` that is not thrashing.
    public var refaultedAtMost = ByteCount.zero
    /// Resident pages of processes that have ended, on their way back to the device.
    public var returning: ByteCount = .zero
    /// The most that one process which has ended still has in swap.
    public var returningSwap: ByteCount = .zero
    /// When the system last took pages of processes or of files, or a process waited while it did (Linux: `pgscan`
    /// grew); nil: never.
    public var lastReclaim: Instant?
    /// The size of swap.
    public var swapTotal: ByteCount = .zero
    /// Unused swap.
    public var swapFree: ByteCount = .zero
    /// Linux's watermarks of free memory; nil on a device that does not make room like Linux.
    public var watermarks: KernelWatermarks?
    /// File pages that had to be read again, as a share of the file cache.
    public var thrashing: Ratio = .zero
    /// Whether a process found no page and waits while it reclaims memory itself (direct reclaim).
    public var directReclaim = false
    /// What the kernel has scanned since the run began; nil: unknown.
    public var scans: PageScans?
    /// The share of time in which at least one process waited for memory.
    public var some = StallAverages()
    /// The share of time in which all work waited for memory.
    public var full = StallAverages()
    /// Time that `some` counts, in the last second.
    public var someLost: TimeSpan = .zero
    /// Time that `full` counts, in the last second.
    public var fullLost: TimeSpan = .zero
    /// The averages of the last minutes, oldest first.
    public var stallUpdates: ArraySlice<StallMeter.Update> = []

    /// All measures zero.
    public init() {}

    /// At this use of its limits, XNU's compressor counts as out of space (`vm_compressor.c`, xnu-11417).
    public static let compressorIsFull = Ratio.percent(98)
}

/// When each app is wanted next. Only the policy `foresight` reads it; no real system could know it.
public struct Oracle: Hashable, Sendable {
    /// By `AppID`, when the app is next wanted; nil: never again.
    public var nextLaunch: [Instant?]
    /// By `AppID`, every instant from now on at which the app is wanted, rising; empty: only the next one is known.
    public var launches: [[Instant]] = []
    /// By `AppID`, the expected footprint after the app has next been in front; empty: nothing is expected.
    public var sizes: [ByteCount] = []
    /// The limit on the number of background processes, which will make demands, too.
    public var backgroundProcesses: Int?
    /// The limit on background memory, which will make demands, too.
    public var backgroundMemory: ByteCount?

    /// An oracle that knows only the next launch of each app, by `AppID`.
    public init(nextLaunch: [Instant?]) { self.nextLaunch = nextLaunch }

    /// Every known instant at which the app is wanted.
    func wanted(_ app: AppID) -> [Instant] {
        app.index < launches.count ? launches[app.index] : nextLaunch(of: app).map { [$0] } ?? []
    }

    /// When the app is wanted next; nil: never again.
    public func nextLaunch(of app: AppID) -> Instant? {
        app.index < nextLaunch.count ? nextLaunch[app.index] : nil
    }
}

/// How likely a process is to be launched again soon after it was ended.
public enum RelaunchLikelihood: String, CaseIterable, Sendable {
    case unknown
    case low
    case medium
    case high

    /// The majority of the last ten intervals between end and relaunch: below 5 s high, below 10 s medium, else low.
    /// Ties go to the more likely. Source: xnu-11417.101.15.
    public init(intervals: [TimeSpan]) {
        let last = intervals.suffix(10)
        let high = last.count { $0 < .seconds(5) }
        let medium = last.count { $0 >= .seconds(5) && $0 < .seconds(10) }
        let low = last.count - high - medium
        if last.isEmpty {
            self = .unknown
        } else if high >= medium && high >= low {
            self = .high
        } else {
            self = medium >= low ? .medium : .low
        }
    }
}

/// A limit on one process, as the kernel understands a request for one.
public struct MemoryLimit: Hashable, Sendable {
    /// The footprint that the process may not exceed.
    public var bytes: ByteCount
    /// Whether the process is ended at once, on the allocation that crosses the limit. With a soft limit it is warned,
    /// and ended only when available memory is below the soft threshold.
    public var isFatal: Bool
    /// How far below the limit the process is warned; nil: at `explicitShare` of it.
    private var margin: ByteCount?

    /// A limit as it is, without the kernel's default.
    public init(bytes: ByteCount, isFatal: Bool) {
        self.bytes = bytes
        self.isFatal = isFatal
    }

    /// The default limit of a device's apps, which is always fatal.
    ///
    /// - Parameter margin: The process is warned this far below the limit, but never below 80 % of it. The kernel has
    ///   100 MB, or 50 MB on devices of less than 1 GB, and cuts the result to a whole percentage: 95 % of 2098 MB.
    ///   Source: xnu-11417.101.15, `task_init`.
    public init(standard: ByteCount, warnedBefore margin: ByteCount) {
        self.init(bytes: standard, isFatal: true)
        self.margin = margin
    }

    /// Whether this is the default limit of the device's apps.
    public var isStandard: Bool { margin != nil }

    /// If the request is -1, 0 or equal to the default, the limit is the default, which is always fatal. Source:
    /// xnu-11417.101.15.
    public init(requested: ByteCount, isFatal: Bool, standard: ByteCount) {
        let isStandard = requested.bytes <= 0 || requested == standard
        self.init(bytes: isStandard ? standard : requested, isFatal: isFatal || isStandard)
    }

    /// A process is warned when its footprint reaches this share of an explicit limit.
    static let explicitShare = Ratio.percent(80)

    /// The footprint at which the process is warned.
    public var near: ByteCount { bytes * nearShare }

    /// The share of the limit at which the process is warned. Of the default limit that is a whole percentage, cut off:
    /// 92 % of 1400 MB, 1288.0 MB. Source: xnu-11417.101.15, `task_init`; a device was seen to warn at 1289 MB.
    public var nearShare: Ratio {
        guard let margin else { return MemoryLimit.explicitShare }
        // A scale model's limit and margin are each rounded to a byte.
        let percent = (bytes - margin + ByteCount(2)).bytes * 100 / max(1, bytes.bytes)
        return max(MemoryLimit.explicitShare, .percent(Int64(percent)))
    }
}
