import Lifecycle
import Quantities

/// A process as the monitor sees it when it decides who is told.
public struct WarningCandidate: Hashable, Sendable {
    public var pid: ProcessID
    public var phase: ProcessPhase
    public var band: JetsamBand
    public var footprint: ByteCount
    /// Of its own limit.
    public var limitShare = Ratio.zero

    public init(pid: ProcessID, phase: ProcessPhase, band: JetsamBand, footprint: ByteCount) {
        self.pid = pid
        self.phase = phase
        self.band = band
        self.footprint = footprint
    }
}

/// A change of level, with what was observed and what it was compared with.
public struct LevelChange: Hashable, Sendable {
    public var from: PressureLevel
    public var to: PressureLevel
    public var reading: PressureReading
}

/// What the monitor asks for.
public struct PressureDemand: Hashable, Sendable {
    /// The level that a policy should act at.
    public var level: PressureLevel
    /// So much must become available before the pressure ends, and the threshold: as headroom in bytes, of the
    /// measure's whole where it is not bytes itself.
    public var deficit: ByteCount
    public var threshold: ByteCount
    public var reading: PressureReading
}

/// Why a process is not told of a level.
public enum WarningVerdict: String, CaseIterable, Sendable {
    case told = "next in turn"
    case notRunning = "suspended: no code runs"
    case belowMinimum = "its footprint is below the smallest that is told"
    case alreadyTold = "was told in this round"
    case withinLimit = "is far from its own limit"
}

/// Watches the memory that is available: three levels with hysteresis, and whose turn it is to be warned.
///
/// It acts on nothing. Rising levels count at once and may jump; a falling one must hold. Warnings go out one process
/// at a time, lowest band first, ties largest footprint, then the lower process number; after a round the level
/// rests. Source of the rules: xnu-11417.101.15 (see `MonitorSettings.ios`); falling levels warn nobody, because
/// UIKit knows one kind of warning only.
public struct PressureMonitor: Sendable {
    public let settings: MonitorSettings
    public let ceiling: ByteCount
    public private(set) var level: PressureLevel = .normal
    /// Since when a lower level than `level` has been observed without a break.
    private var lowerSince: Instant?
    /// When the level last fell.
    private var fellAt: Instant?
    /// How many processes there were at the last look.
    private var lastProcesses = 0
    /// Since when the level is in force.
    private var levelSince: Instant = .zero
    private var round: Round?
    /// When the last round of a level ended: from then on it rests.
    private var toldAt: [PressureLevel: Instant] = [:]
    private let warning: Bounds
    private let critical: Bounds

    /// Where a level begins and ends, as headroom.
    private struct Bounds: Sendable {
        let enter: ByteCount
        let leave: ByteCount

        /// For a measure that rises with pressure the rest up to its whole.
        init(_ thresholds: LevelThresholds, _ measure: PressureMeasure, of ceiling: ByteCount) {
            func headroom(_ threshold: Threshold) -> ByteCount {
                let bytes = threshold.bytes(of: ceiling)
                return measure.risesWithPressure ? ceiling - bytes : bytes
            }
            enter = headroom(thresholds.enter)
            leave = headroom(thresholds.leave)
        }
    }

    private struct Round: Sendable {
        var level: PressureLevel
        var told: [ProcessID] = []
        var nextAt: Instant
    }

    /// The level in force was entered during its rest: it is told when the rest is over, if it still holds then.
    private var owesRound = false

    public init(_ settings: MonitorSettings, ceiling: ByteCount) {
        self.settings = settings
        self.ceiling = ceiling
        warning = Bounds(settings.warning, settings.measure, of: ceiling)
        critical = Bounds(settings.critical, settings.measure, of: ceiling)
    }

    // MARK: Levels

    /// Looks at the available memory alone.
    public mutating func sample(at now: Instant, available: ByteCount) -> LevelChange? {
        sample(at: now, PressureObservation(available: available))
    }

    /// Looks at what is observed; the change of level, if there is one.
    public mutating func sample(at now: Instant, _ observation: PressureObservation) -> LevelChange? {
        let observed = observedLevel(observation)
        let old = level
        let mayRise = mayRise(at: now, observation)
        lastProcesses = observation.processes
        if observed > level && !mayRise {
            lowerSince = nil
        } else if observed >= level {
            lowerSince = nil
            level = observed
        } else {
            let since = lowerSince ?? now
            lowerSince = since
            if now - since >= settings.hold {
                level = observed
                lowerSince = nil
            }
        }
        guard level != old else {
            repeatIfStuck(at: now)
            return nil
        }
        levelSince = now
        endRound(at: now)
        if level > old {
            beginRound(at: now)
        } else {
            fellAt = now
            owesRound = false
        }
        let decisive = decisive(from: old, to: level)
        return LevelChange(
            from: old, to: level, reading: reading(observation, decisive.level, against: decisive.threshold))
    }

    private func mayRise(at now: Instant, _ observation: PressureObservation) -> Bool {
        if let fellAt, now - fellAt < settings.coolDown { return false }
        return !settings.riseNeedsFewerProcesses || observation.processes < lastProcesses
    }

    private func headroom(_ observation: PressureObservation, _ level: PressureLevel) -> ByteCount {
        observation.headroom(settings.measure, for: level, of: ceiling)
    }

    private func reading(
        _ observation: PressureObservation, _ level: PressureLevel, against threshold: Threshold
    ) -> PressureReading {
        observation.reading(settings.measure, for: level, against: threshold, of: ceiling)
    }

    /// What is observed, against the threshold beyond which the level in force is entered.
    public func reading(_ observation: PressureObservation) -> PressureReading {
        let thresholds = level == .critical ? settings.critical : settings.warning
        return reading(observation, level, against: thresholds.enter)
    }

    private func isEntered(_ bounds: Bounds, _ level: PressureLevel, _ observation: PressureObservation) -> Bool {
        headroom(observation, level) < bounds.enter - settings.debounce
    }

    private func isLeft(_ bounds: Bounds, _ level: PressureLevel, _ observation: PressureObservation) -> Bool {
        headroom(observation, level) > bounds.leave + settings.debounce
    }

    /// The level that the observation stands for, given the one that is in force.
    private func observedLevel(_ observation: PressureObservation) -> PressureLevel {
        let isCritical = isEntered(critical, .critical, observation)
        let isFree = isLeft(warning, .warning, observation)
        switch level {
        case .normal:
            if isCritical { return .critical }
            return isEntered(warning, .warning, observation) ? .warning : .normal
        case .warning:
            if isCritical { return .critical }
            return isFree ? .normal : .warning
        case .critical:
            guard isLeft(critical, .critical, observation) else { return .critical }
            return isFree ? .normal : .warning
        }
    }

    /// The threshold that a change of level was decided by, and the level that it belongs to: whose measure counted.
    private func decisive(
        from old: PressureLevel, to new: PressureLevel
    ) -> (level: PressureLevel, threshold: Threshold) {
        switch (old, new) {
        case (_, .critical): (.critical, settings.critical.enter)
        case (.critical, .warning): (.critical, settings.critical.leave)
        case (_, .warning): (.warning, settings.warning.enter)
        case (_, .normal): (.warning, settings.warning.leave)
        }
    }

    /// The same for available memory alone.
    public func demand(available: ByteCount) -> PressureDemand? {
        demand(PressureObservation(available: available))
    }

    /// What must become available before the pressure ends, and the level that a policy should act at: critical only
    /// while critical's own threshold is not left. Nil when nothing is missing, or nothing that others could give.
    public func demand(_ observation: PressureObservation) -> PressureDemand? {
        guard level > .normal, settings.measure.concernsDevice else { return nil }
        let missing = warning.leave - headroom(observation, .warning)
        if level == .critical && !isLeft(critical, .critical, observation) {
            return PressureDemand(
                level: .critical, deficit: max(missing, critical.leave - headroom(observation, .critical)),
                threshold: critical.leave,
                reading: reading(observation, .critical, against: settings.critical.leave))
        }
        if level >= .warning && !isLeft(warning, .warning, observation) {
            return PressureDemand(
                level: .warning, deficit: missing, threshold: warning.leave,
                reading: reading(observation, .warning, against: settings.warning.leave))
        }
        return nil
    }

    // MARK: Warnings

    /// A round ends with its level, also when not all have been told.
    private mutating func endRound(at now: Instant) {
        if let round, !round.told.isEmpty { toldAt[round.level] = now }
        round = nil
    }

    private func rests(at now: Instant) -> Bool {
        toldAt[level].map { now - $0 < settings.warningRest } ?? false
    }

    private mutating func beginRound(at now: Instant) {
        owesRound = rests(at: now)
        if !owesRound { round = Round(level: level, nextAt: now) }
    }

    /// A level that is owed a round has it after its rest. One that sticks is told again: it is so old, and so long ago
    /// was it told of.
    private mutating func repeatIfStuck(at now: Instant) {
        guard level > .normal, round == nil else { return }
        if owesRound {
            guard !rests(at: now) else { return }
        } else {
            guard now - max(levelSince, toldAt[level] ?? levelSince) >= settings.warningRepeat else { return }
        }
        owesRound = false
        round = Round(level: level, nextAt: now)
    }

    /// When the next warning is due; nil when nobody is to be told.
    public var nextWarning: Instant? { round?.nextAt }

    /// The round waits: nobody is told before `instant`.
    public mutating func putOffWarning(to instant: Instant) { round?.nextAt = instant }

    /// Whose turn it is at `now`, with the verdict on everybody, in the order of telling. After the last one the
    /// round ends.
    public mutating func warn(
        _ candidates: [WarningCandidate], at now: Instant
    ) -> (next: ProcessID?, verdicts: [(WarningCandidate, WarningVerdict)]) {
        guard var current = round, current.nextAt <= now else { return (nil, []) }
        let ordered = candidates.sorted {
            ($0.band, $1.footprint, $0.pid) < ($1.band, $0.footprint, $1.pid)
        }
        var next: ProcessID?
        var verdicts: [(WarningCandidate, WarningVerdict)] = []
        for candidate in ordered {
            let verdict = verdict(on: candidate, told: current.told)
            verdicts.append((candidate, verdict))
            if verdict == .told && next == nil { next = candidate.pid }
        }
        if let next {
            current.told.append(next)
            current.nextAt = now + settings.warningSpacing
            round = current
        } else {
            toldAt[current.level] = now
            round = nil
        }
        return (next, verdicts)
    }

    /// With a measure of single processes, who is above this share of its limit is told.
    private var limitShare: Ratio {
        let enter = level == .critical ? settings.critical.enter : settings.warning.enter
        return enter.bytes(of: ceiling).share(of: ceiling)
    }

    private func verdict(on candidate: WarningCandidate, told: [ProcessID]) -> WarningVerdict {
        if !candidate.phase.runsCode || candidate.band < .ageing { return .notRunning }
        if told.contains(candidate.pid) { return .alreadyTold }
        if settings.measure == .process && candidate.limitShare <= limitShare { return .withinLimit }
        if candidate.footprint < settings.warningMinimumFootprint { return .belowMinimum }
        return .told
    }
}
