import Lifecycle
import Pressure
import Quantities

/// XNU's freezer as rules: which suspended processes it moves to flash, in which order, how many, and which of them
/// lose their place in band 75 again.
///
/// Of the kernel's own rules, two need facts that a simulated device lacks: how much memory processes share, and how
/// likely the system thinks that an app is used soon (it then names the apps and their order). Without those the kernel
/// goes by the places in band 0, longest there first, as here.
///
/// Source: xnu-11417.101.15, bsd/kern/kern_memorystatus_freeze.c and kern_memorystatus_policy.c.
public struct FreezerRules: Hashable, Sendable {
    /// How many processes may be frozen at once.
    public var slots = 20
    /// An app with a smaller footprint is left alone (`memorystatus_freeze_pages_min`).
    public var minimum = ByteCount.mebibytes(8)
    /// The freezer works while more suspended processes than this are not frozen
    /// (`memorystatus_freeze_suspended_threshold`).
    public var suspendedAbove = 4
    /// With so many thawed processes, one of them is frozen anew (`memorystatus_min_thaw_refreeze_threshold`).
    public var refreezeAfter = 3
    /// How many processes lose their place when a day is over (`memorystatus_max_frozen_demotions_daily`).
    public var demotionsPerDay = 2

    /// Apps above this band are not frozen: something has elevated them (`FREEZE_MAX_CANDIDATE_BAND`).
    public static let highestBand = JetsamBand.ageing
    /// A process that was thawed so often keeps its place (`MIN_THAW_DEMOTION_THRESHOLD_DEFAULT`).
    public static let enoughThaws = 5
    /// At most so many members of a group are frozen with its leader (`MAX_XPC_SERVICE_PIDS`).
    public static let mostMembers = 10

    /// The rules of an iPhone.
    public init() {}

    // MARK: What it looks at

    /// Why a process is not frozen. The raw values are those of a report's `freeze_skip_reason:`.
    public enum SkipReason: String, CaseIterable, Sendable {
        case belowMinPages = "below-min-pages"
        case elevated
        case outOfSlots = "out-of-slots"
        case outOfBudget = "out-of-budget"
        case noCompressorSpace = "no-compressor-space"
        case noSwapSpace = "no-swap-space"
    }

    /// What the freezer knows of a live process.
    public struct Candidate: Hashable, Sendable {
        /// Its process number.
        public var pid: ProcessID
        /// Its band.
        public var band: JetsamBand
        /// When it got its place in its band.
        public var positionedAt: Instant
        /// Its footprint.
        public var footprint: ByteCount
        /// Whether it is an app, and no helper, extension or daemon.
        public var isApp = true
        /// Whether it is suspended and not ending.
        public var isSuspended = true
        /// Its group; nil: it stands alone.
        public var group: Int?
        /// What it is in its group.
        public var role = GroupRole.undefined
        /// Whether it was frozen, and still has its slot.
        public var isFrozen = false
        /// Whether it has run since it was frozen last.
        public var isThawed = false
        /// How often it was thawed.
        public var thaws = 0
        /// Whether freezing it has failed: it is not tried again (`P_MEMSTAT_FREEZE_IGNORE`).
        public var hasFailed = false

        /// A suspended app that was never frozen.
        public init(_ pid: ProcessID, band: JetsamBand = .idle, positionedAt: Instant, footprint: ByteCount) {
            self.pid = pid
            self.band = band
            self.positionedAt = positionedAt
            self.footprint = footprint
        }

        /// Whether it is in the frozen processes' band: it was frozen, and neither demoted nor lifted above it.
        fileprivate var hasPlace: Bool { isFrozen && band == .freezer }

        /// Whether it is one of those that the freezer considers for the first time.
        fileprivate var isConsidered: Bool { isApp && isSuspended && !isFrozen }
    }

    /// What to freeze next.
    public enum Choice: Hashable, Sendable {
        /// An app, then the members of its group that there are slots for.
        case freeze(ProcessID, members: [ProcessID])
        /// A process that was frozen before and has run since. It keeps its slot.
        case refreeze(ProcessID)
    }

    // MARK: When

    /// Whether enough processes are suspended, and a slot or a thawed process is there.
    public func mayWork(on processes: [Candidate]) -> Bool {
        let frozen = processes.count(where: \.isFrozen)
        guard processes.count(where: \.isSuspended) - frozen > suspendedAbove else { return false }
        return frozen < slots || thawed(processes) >= refreezeAfter
    }

    private func thawed(_ processes: [Candidate]) -> Int { processes.count { $0.isFrozen && $0.isThawed } }

    // MARK: Whom

    /// Why the freezer leaves a suspended app alone whatever its slots and its budget; nil: it does not, or it does not
    /// consider the process at all.
    public func skipReason(for process: Candidate) -> SkipReason? {
        guard process.isConsidered else { return nil }
        if process.footprint < minimum { return .belowMinPages }
        return process.band > FreezerRules.highestBand ? .elevated : nil
    }

    /// Whether the app may be frozen, if there is a slot.
    public func isEligible(_ process: Candidate) -> Bool {
        process.isConsidered && !process.hasFailed && skipReason(for: process) == nil
    }

    /// What to freeze next; nil: nothing.
    public func next(of processes: [Candidate]) -> Choice? {
        let free = slots - processes.count(where: \.isFrozen)
        guard free > 0 else { return refreeze(processes) }
        // A demoted process is among the others in band 0. It needs no further slot.
        let candidates = processes.filter { isEligible($0) || isDemotedAndThawed($0) }
        guard let first = candidates.min(by: FreezerRules.isBefore) else {
            return thawed(processes) >= refreezeAfter ? refreeze(processes) : nil
        }
        return first.isFrozen ? .refreeze(first.pid) : .freeze(first.pid, members: members(of: first, processes, free))
    }

    private func isDemotedAndThawed(_ process: Candidate) -> Bool {
        process.isApp && process.isFrozen && process.isThawed && process.isSuspended
            && process.band <= FreezerRules.highestBand
    }

    /// The members of an app's group that are frozen with it: the youngest first, whatever their sizes.
    private func members(of leader: Candidate, _ processes: [Candidate], _ free: Int) -> [ProcessID] {
        guard let group = leader.group else { return [] }
        let members = processes.filter { $0.group == group && !$0.isApp && $0.isSuspended && !$0.isFrozen }
        let known = members.sorted { $0.pid < $1.pid }.prefix(FreezerRules.mostMembers)
        return known.reversed().prefix(free - 1).map(\.pid)
    }

    private func refreeze(_ processes: [Candidate]) -> Choice? {
        let thawed = processes.filter { $0.hasPlace && $0.isThawed && $0.isSuspended }
        return thawed.min(by: FreezerRules.isBefore).map { .refreeze($0.pid) }
    }

    /// By the places in a band, the head first.
    private static func isBefore(_ a: Candidate, _ b: Candidate) -> Bool {
        (a.band, a.positionedAt, a.pid) < (b.band, b.positionedAt, b.pid)
    }

    // MARK: Demotion

    /// The processes that lose their place when a day is over: those in band 75 that were seldom thawed, the longest
    /// there first. None ends.
    public func demotedDaily(_ processes: [Candidate]) -> [ProcessID] {
        let seldom = processes.filter { $0.hasPlace && $0.thaws < FreezerRules.enoughThaws }
        return seldom.sorted(by: FreezerRules.isBefore).prefix(demotionsPerDay).map(\.pid)
    }

    /// The process that loses its place because the budget is spent: a thawed one, whose pages stay in memory now.
    public func demotedWithoutBudget(_ processes: [Candidate]) -> ProcessID? {
        processes.filter { $0.hasPlace && $0.isThawed }.min(by: FreezerRules.isBefore)?.pid
    }

    // MARK: A reset

    /// The processes that end when the freezer is reset, in the order of their ends: suspended frozen processes, from
    /// the head of band 0 up to band 75. A frozen process that runs, or that stands above band 75, lives on and keeps
    /// its slot.
    ///
    /// Source: xnu-11417.101.15, bsd/kern/kern_memorystatus_freeze.c (`memorystatus_freezer_reset_state`).
    public func endedByReset(_ processes: [Candidate]) -> [ProcessID] {
        let reached = processes.filter { $0.isFrozen && $0.isSuspended && $0.band <= .freezer }
        return reached.sorted(by: FreezerRules.isBefore).map(\.pid)
    }
}

/// Whether the device's freezer can freeze a process now, as policies see it.
public enum FreezerState: Sendable {
    /// The device has none.
    case none
    /// It can.
    case ready
    /// It is at work on a process, the store is, or it pauses after a thaw that a policy asked for.
    case busy
    /// All its slots are taken. A thawed process needs no further one.
    case outOfSlots
    /// The budget of the day is spent.
    case outOfBudget
    /// The store on flash has no room.
    case outOfSpace

    /// Why it cannot freeze a process with this place, for people; nil: it can.
    func obstacle(toFreezing place: FreezerPlace) -> String? {
        switch self {
        case .none: "the device has no freezer"
        case .ready: nil
        case .busy: "the freezer is at work, or pauses"
        case .outOfSlots: place == .thawed ? nil : "all slots of the freezer are taken"
        case .outOfBudget: "what may be written to flash within a day is written"
        case .outOfSpace: "there is no room on flash"
        }
    }
}

/// What the freezer has done with a process. The raw values are the words that rules use for `frozen`.
public enum FreezerPlace: String, CaseIterable, Sendable {
    /// It has no slot.
    case none = "no"
    /// It has a slot.
    case frozen = "yes"
    /// It has a slot, but has run since it was frozen, or a policy has brought it back.
    case thawed
}

/// How much the freezer may write to flash within a day.
///
/// The kernel also has a mode with less budget, which is out of use: it begins below a quarter of a figure that is
/// always zero (`freeze_daily_pageouts_max` in `memorystatus_freeze_update_throttle`).
///
/// Source: xnu-11417.101.15, bsd/kern/kern_memorystatus_freeze.c.
public struct FreezerBudget: Hashable, Sendable {
    /// How long an interval lasts (`NORMAL_WINDOW_MINS`).
    public static let interval = TimeSpan.minutes(24 * 60)

    /// What a day brings; nil: there is no bound, as with app swap.
    public let daily: ByteCount?
    /// What may be written in this interval.
    public private(set) var allowed: ByteCount
    /// What was written in it.
    public private(set) var spent = ByteCount.zero
    /// When it ends.
    public private(set) var ends: Instant

    /// The budget of a device that has just booted.
    public init(daily: ByteCount?, at now: Instant) {
        self.daily = daily
        allowed = daily ?? .zero
        ends = now + FreezerBudget.interval
    }

    /// What may still be written; nil: there is no bound.
    public var left: ByteCount? { daily == nil ? nil : max(.zero, allowed - spent) }

    /// This much was written, in bytes of compressed contents.
    public mutating func spend(_ bytes: ByteCount) { spent += bytes }

    /// Begins a new interval if the last one is over. Returns whether it did.
    public mutating func renew(at now: Instant) -> Bool {
        guard now >= ends else { return false }
        let rest = max(.zero, allowed - spent)
        begin(FreezerBudget.renewed(daily: daily ?? .zero, expired: now - ends, rollover: rest), at: now)
        return true
    }

    /// Forgets what was written, and begins an interval with the budget of a day: the freezer was reset.
    public mutating func reset(at now: Instant) {
        spent = .zero
        begin(FreezerBudget.renewed(daily: daily ?? .zero, expired: .zero, rollover: .zero), at: now)
    }

    private mutating func begin(_ budget: ByteCount, at now: Instant) {
        allowed = budget
        // What an interval writes too much counts in the next one, as far as that exceeds it, too.
        spent = spent > budget ? spent - budget : .zero
        ends = now + FreezerBudget.interval
    }

    /// A new interval's budget (`memorystatus_freeze_calculate_new_budget`).
    ///
    /// - Parameters:
    ///   - expired: The time since the last interval ended. It counts in hundredths of a day.
    ///   - rollover: What the last interval left.
    public static func renewed(daily: ByteCount, expired: TimeSpan, rollover: ByteCount) -> ByteCount {
        let hundredths = expired.microseconds / 1_000_000 * 100 / 86_400
        return rollover + daily + ByteCount(Int(scaled(hundredths, by: Int64(daily.bytes), over: 100)))
    }
}

/// What the freezer remembers of the processes that it has frozen: how often each was thawed.
///
/// Source: xnu-11417.101.15, `memorystatus_on_resume` in bsd/kern/kern_memorystatus.c.
public struct FreezerLedger: Hashable, Sendable {
    /// One process that was frozen.
    private struct Entry: Hashable {
        var thaws = 0
        /// The interval of its last thaw.
        var lastThaw: Int?
        var isThawed = false
    }

    /// By the process; only looked up, never gone through.
    private var entries: [ProcessID: Entry] = [:]
    /// The number of the present interval.
    private var interval = 0
    /// Processes that were frozen at some time of this interval.
    public private(set) var frozenInInterval = 0
    /// Those of them that were thawed in it, each counted once.
    public private(set) var thawedInInterval = 0
    /// All thaws of the run.
    public private(set) var thaws = 0

    /// A ledger without processes.
    public init() {}

    /// The share of the frozen processes that were thawed in this interval (`memorystatus_freezer_thaw_percentage`).
    public var thawedShare: Ratio {
        Ratio(partsPerMillion: Int64(thawedInInterval) * 1_000_000 / Int64(max(1, frozenInInterval)))
    }

    /// How often the process was thawed.
    public func thaws(of pid: ProcessID) -> Int { entries[pid]?.thaws ?? 0 }

    /// Whether the process has run since it was frozen last.
    public func isThawed(_ pid: ProcessID) -> Bool { entries[pid]?.isThawed ?? false }

    /// The process was frozen, for the first time or anew.
    public mutating func freeze(_ pid: ProcessID) {
        if entries[pid] == nil { frozenInInterval += 1 }
        entries[pid, default: Entry()].isThawed = false
    }

    /// A frozen process is resumed. It stays frozen: part of it is still on flash.
    public mutating func thaw(_ pid: ProcessID) {
        guard var entry = entries[pid] else { return }
        if entry.lastThaw != interval { thawedInInterval += 1 }
        entry.lastThaw = interval
        entry.thaws += 1
        entry.isThawed = true
        thaws += 1
        entries[pid] = entry
    }

    /// A policy has brought the process back into memory. That is no use of it, but it may be frozen anew.
    public mutating func bringBack(_ pid: ProcessID) { entries[pid]?.isThawed = true }

    /// The process is demoted: the freezer sees it as any other, until it runs again.
    public mutating func demote(_ pid: ProcessID) { entries[pid]?.isThawed = false }

    /// The process has ended.
    public mutating func forget(_ pid: ProcessID) { entries[pid] = nil }

    /// A new interval begins. Processes that are frozen stay so.
    public mutating func beginInterval() {
        interval += 1
        frozenInInterval = entries.count
        thawedInInterval = 0
    }
}
