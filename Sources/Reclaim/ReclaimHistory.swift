import Lifecycle
import Pressure
import Quantities

/// What happened before this moment, as far as a policy may want to know: facts that the simulation keeps, so that a
/// policy needs no memory of its own.
public struct ReclaimHistory: Hashable, Sendable {
    /// Since when the monitor's level is what it is.
    public var levelSince: Instant = .zero
    /// Since when the level has not been normal; nil while it is.
    public var notNormalSince: Instant?
    /// What the policy ended, oldest first, for `memory` back.
    public var kills: [Kill] = []
    /// When the last action of any kind was carried out.
    public var lastAction: Instant?
    /// Since when the policy has been asking for actions without finding all well in between.
    public var sessionSince: Instant?
    /// Whether a report was written in this session.
    public var sessionHasReport = false
    /// How many processes were in band 0 when the first of this episode's sustained-pressure kills was made.
    public var idleAtSustained: Int?
    /// How many of those kills were made in this episode, however long it lasts.
    public var sustainedKills = 0

    /// By rule, for a policy that has rules.
    public var rules: [RuleMemory] = []

    /// Kills older than this are forgotten.
    public static let memory = TimeSpan.minutes(10)

    public struct Kill: Hashable, Sendable {
        public var at: Instant
        public var pid: ProcessID
        public var band: JetsamBand
        public var cause: KillCause?
        public var footprint: ByteCount

        public init(at: Instant, pid: ProcessID, band: JetsamBand, cause: KillCause?, footprint: ByteCount) {
            self.at = at
            self.pid = pid
            self.band = band
            self.cause = cause
            self.footprint = footprint
        }
    }

    public init() {}

    /// The last kill, whatever its cause.
    public var lastKill: Instant? { kills.last?.at }

    /// A process is being ended. It counts once, as what it was ended for last: who was asked may be made to.
    public mutating func noteKill(_ kill: Kill) {
        kills.removeAll { kill.at - $0.at > ReclaimHistory.memory || $0.pid == kill.pid }
        kills.append(kill)
        if kill.cause == .sustainedPressure { sustainedKills += 1 }
    }

    /// The level is normal again: the episode is over.
    public mutating func endEpisode() {
        notNormalSince = nil
        idleAtSustained = nil
        sustainedKills = 0
    }

    /// A rule's action was carried out.
    public mutating func noteAction(ofRule rule: Int, at now: Instant, freed: ByteCount) {
        guard rules.indices.contains(rule) else { return }
        rules[rule].actions += 1
        rules[rule].freed += freed
        rules[rule].lastAction = now
    }

    /// The kills with this cause since an instant, that instant included.
    public func kills(_ cause: KillCause, since: Instant) -> Int {
        kills.count { $0.cause == cause && $0.at >= since }
    }
}

/// What the device measures beside the bytes that are free. A measure that this device does not have (file cache,
/// swap, reading pages in again) is zero in a run; tables of tests set it.
public struct SystemMeasures: Hashable, Sendable {
    /// Pages of files that can be dropped.
    public var fileBacked: ByteCount = .zero
    /// Pages that can be taken without asking.
    public var purgeable: ByteCount = .zero
    public var swapTotal: ByteCount = .zero
    public var swapFree: ByteCount = .zero
    /// File pages that had to be read again, as a share of the file cache.
    public var thrashing: Ratio = .zero
    /// A process reclaims for itself because it found no page: it waits.
    public var directReclaim = false
    /// Time lost to waiting for memory.
    public var some = StallAverages()
    public var full = StallAverages()
    /// Of the last second.
    public var someLost: TimeSpan = .zero
    public var fullLost: TimeSpan = .zero
    /// The averages of the last minutes, oldest first.
    public var stallUpdates: ArraySlice<StallMeter.Update> = []

    public init() {}
}

/// When each app is wanted next. Only `foresight` reads it: nobody else can know.
public struct Oracle: Hashable, Sendable {
    /// By `AppID`; nil: never again.
    public var nextLaunch: [Instant?]
    /// By `AppID`, every instant at which it is wanted from now on, rising; empty: only the next is known.
    public var launches: [[Instant]] = []
    /// By `AppID`, what it is expected to hold when it has been in front the next time; empty: nothing is expected.
    public var sizes: [ByteCount] = []
    /// The limits that will demand something, too.
    public var backgroundProcesses: Int?
    public var backgroundMemory: ByteCount?

    public init(nextLaunch: [Instant?]) { self.nextLaunch = nextLaunch }

    /// Every instant at which an app is wanted, as far as it is known.
    func wanted(_ app: AppID) -> [Instant] {
        app.index < launches.count ? launches[app.index] : nextLaunch(of: app).map { [$0] } ?? []
    }

    public func nextLaunch(of app: AppID) -> Instant? {
        app.index < nextLaunch.count ? nextLaunch[app.index] : nil
    }
}

/// How likely an app is to be launched again soon after it was ended.
public enum RelaunchLikelihood: String, CaseIterable, Sendable {
    case unknown
    case low
    case medium
    case high

    /// By majority of the last ten intervals between end and relaunch: below 5 s high, below 10 s medium, else low; of
    /// equal numbers the more likely one. Source: xnu-11417.101.15.
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
    public var bytes: ByteCount
    /// Ended at once, on the allocation that crosses it; a soft one is told, and pays only below the soft threshold.
    public var isFatal: Bool

    public init(bytes: ByteCount, isFatal: Bool) {
        self.bytes = bytes
        self.isFatal = isFatal
    }

    /// -1, 0 and the default itself stand for the default, which is always fatal. Source: xnu-11417.101.15.
    public init(requested: ByteCount, isFatal: Bool, standard: ByteCount) {
        let isStandard = requested.bytes <= 0 || requested == standard
        self.init(bytes: isStandard ? standard : requested, isFatal: isFatal || isStandard)
    }

    /// The process is told when it comes this near to an explicit limit.
    static let nearShare = Ratio.percent(80)

    public var near: ByteCount { bytes * MemoryLimit.nearShare }
}
