import Lifecycle
import Quantities

/// A process as the monitor sees it when it decides which process to warn.
public struct WarningCandidate: Hashable, Sendable {
    /// Breaks ties: the lower number is warned first.
    public var pid: ProcessID
    /// A process whose phase runs no code is not warned.
    public var phase: ProcessPhase
    /// Lower bands are warned first.
    public var band: JetsamBand
    /// Active plus dirty pages; within a band, larger footprints are warned first.
    public var footprint: ByteCount
    /// The footprint as a share of the process's own limit; only `PressureMeasure.process` uses it.
    public var limitShare = Ratio.zero

    /// `limitShare` starts at zero.
    public init(pid: ProcessID, phase: ProcessPhase, band: JetsamBand, footprint: ByteCount) {
        self.pid = pid
        self.phase = phase
        self.band = band
        self.footprint = footprint
    }
}

/// A change of level and the reading that caused it.
public struct LevelChange: Hashable, Sendable {
    /// The level before.
    public var from: PressureLevel
    /// The level from now on.
    public var to: PressureLevel
    /// The observed value and the threshold that it crossed.
    public var reading: PressureReading
}

extension PressureReading {
    /// The same value against the threshold at which its level begins, if it is beyond that; otherwise the reading
    /// itself. What a monitor asks for is the end of a level, and people ask why it began.
    ///
    /// - Parameter ceiling: All RAM of the device.
    public func decisive(under settings: MonitorSettings, of ceiling: ByteCount) -> PressureReading {
        let enter = (level == .critical ? settings.critical : settings.warning).enter
        var other = self
        other.threshold =
            measure == .available ? Int64(enter.bytes(of: ceiling).bytes) : enter.share(of: ceiling).partsPerMillion
        other.isOfEnd = false
        let isBeyond = measure.risesWithPressure ? observed > other.threshold : observed < other.threshold
        return isBeyond ? other : self
    }
}

/// What the monitor asks a policy for.
public struct PressureDemand: Hashable, Sendable {
    /// The level that a policy should act at.
    public var level: PressureLevel
    /// How much headroom is missing until the pressure ends. A measure that is a share is converted to bytes of the
    /// device.
    public var deficit: ByteCount
    /// The headroom at which the level ends, in bytes like `deficit`.
    public var threshold: ByteCount
    /// The observed value and the threshold.
    public var reading: PressureReading
}

/// Whether a process is warned of a level, and if not, why.
public enum WarningVerdict: String, CaseIterable, Sendable {
    case told = "next in turn"
    case notRunning = "suspended: no code runs"
    case belowMinimum = "its footprint is below the smallest that is warned"
    case alreadyTold = "was warned in this round"
    case withinLimit = "is far from its own limit"
}

/// Watches memory pressure: keeps three levels with hysteresis and chooses the next process to warn.
///
/// It only gives answers; the caller acts. A rise of the level takes effect at once and may skip a level; a fall must
/// hold for `MonitorSettings.hold`. Warnings go to one process at a time: lowest band first, then largest footprint,
/// then lowest process number. After a round, no new round of that level begins for `MonitorSettings.warningRest`. A
/// falling level sends no warnings, because UIKit knows only one kind of warning. Source of the rules:
/// xnu-11417.101.15 (see `MonitorSettings.ios`).
public struct PressureMonitor: Sendable {
    /// When levels change and how warnings go out.
    public let settings: MonitorSettings
    /// The device's memory; shares are taken of it.
    public let ceiling: ByteCount
    /// The level in force.
    public private(set) var level: PressureLevel = .normal
    /// When the observed level fell below `level`, if it has stayed below since.
    private var lowerSince: Instant?
    /// When the level last fell.
    private var fellAt: Instant?
    /// The number of processes at the last sample.
    private var lastProcesses = 0
    /// When the level in force began.
    public private(set) var levelSince: Instant = .zero
    private var round: Round?
    /// For each level, when its last round ended and its rest began.
    private var toldAt: [PressureLevel: Instant] = [:]
    private let warning: Bounds
    private let critical: Bounds

    /// A level's thresholds as headroom.
    private struct Bounds: Sendable {
        let enter: ByteCount
        let leave: ByteCount

        /// If a measure rises with pressure, headroom is 100 % minus the measure.
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

    /// Whether the level in force began while its last round was still resting. Its new round then begins after the
    /// rest, if the level still holds.
    private var owesRound = false

    /// A monitor at the normal level.
    public init(_ settings: MonitorSettings, ceiling: ByteCount) {
        self.settings = settings
        self.ceiling = ceiling
        warning = Bounds(settings.warning, settings.measure, of: ceiling)
        critical = Bounds(settings.critical, settings.measure, of: ceiling)
    }

    // MARK: Levels

    /// Samples free memory only; see `sample(at:_:)`.
    public mutating func sample(at now: Instant, available: ByteCount) -> LevelChange? {
        sample(at: now, PressureObservation(available: available))
    }

    /// Takes a sample, which may begin or end a round of warnings. Returns the change of level, nil without one.
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
        var reading = reading(observation, decisive.level, against: decisive.threshold)
        reading.isOfEnd = level < old
        return LevelChange(from: old, to: level, reading: reading)
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

    /// The observed value and the threshold at which the level ends.
    private func reading(_ observation: PressureObservation, untilEndOf level: PressureLevel) -> PressureReading {
        let thresholds = level == .critical ? settings.critical : settings.warning
        var reading = reading(observation, level, against: thresholds.leave)
        reading.isOfEnd = true
        return reading
    }

    /// The observed value and the threshold for entering the level in force. At the normal level the threshold is
    /// that of the warning level.
    public func reading(_ observation: PressureObservation) -> PressureReading {
        let thresholds = level == .critical ? settings.critical : settings.warning
        return reading(observation, level, against: thresholds.enter)
    }

    /// Whether an observation of this kind would make the level in force begin. If not, only the hysteresis or `hold`
    /// keeps it.
    public func isMet(_ observation: PressureObservation) -> Bool {
        switch level {
        case .normal: true
        case .warning: isEntered(warning, .warning, observation)
        case .critical: isEntered(critical, .critical, observation)
        }
    }

    private func isEntered(_ bounds: Bounds, _ level: PressureLevel, _ observation: PressureObservation) -> Bool {
        headroom(observation, level) < bounds.enter - settings.debounce
    }

    private func isLeft(_ bounds: Bounds, _ level: PressureLevel, _ observation: PressureObservation) -> Bool {
        headroom(observation, level) > bounds.leave + settings.debounce
    }

    /// The level that the observation calls for, given the level in force.
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

    /// The threshold that decided a change of level, and the level that it belongs to.
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

    /// The demand for an observation of free memory only; see `demand(_:)`.
    public func demand(available: ByteCount) -> PressureDemand? {
        demand(PressureObservation(available: available))
    }

    /// The memory that must become free before the pressure ends, and the level that a policy should act at. That
    /// level stays critical until the observation has crossed the critical level's `leave`. Nil if no memory is
    /// missing, or if freed memory would not help.
    public func demand(_ observation: PressureObservation) -> PressureDemand? {
        guard level > .normal, settings.measure.concernsDevice else { return nil }
        let missing = warning.leave - headroom(observation, .warning)
        if level == .critical && !isLeft(critical, .critical, observation) {
            return PressureDemand(
                level: .critical, deficit: max(missing, critical.leave - headroom(observation, .critical)),
                threshold: critical.leave,
                reading: reading(observation, untilEndOf: .critical))
        }
        if level >= .warning && !isLeft(warning, .warning, observation) {
            return PressureDemand(
                level: .warning, deficit: missing, threshold: warning.leave,
                reading: reading(observation, untilEndOf: .warning))
        }
        return nil
    }

    // MARK: Warnings

    /// Ends the round when its level ends, even if some processes have not been warned.
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

    /// Begins a round that was delayed by a rest. Otherwise begins another round if the level has lasted for
    /// `warningRepeat` and the last round ended at least `warningRepeat` ago.
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

    /// When the next warning is due; nil without a round.
    public var nextWarning: Instant? { round?.nextAt }

    /// Delays the round's next warning to `instant`.
    public mutating func putOffWarning(to instant: Instant) { round?.nextAt = instant }

    /// The process to warn at `now`, and the verdict on each candidate in the order of warning.
    ///
    /// If no process is left to warn, `next` is nil and the round ends. Before `nextWarning`, `next` is nil and there
    /// are no verdicts.
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

    /// With `PressureMeasure.process`, only processes above this share of their limits are warned.
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
