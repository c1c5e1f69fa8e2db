import DequeModule
import Lifecycle
import Memory
import Metrics
import Plan
import Pressure
import Quantities
import Reclaim

/// Watches the device for the monitor: takes its measurements, tracks how long each level holds, and chooses the
/// process to warn next.
final class PressureWatch {
    private var monitor: PressureMonitor
    /// The instant for which the next warning is queued. Queued warnings at other instants belong to rounds that are
    /// over.
    private var warningDue: Instant?
    /// The last sample. The time at each level has been counted up to this instant.
    private(set) var lastSampleAt: Instant = .zero
    private let settings: MonitorSettings
    private let device: Device
    private let memory: any DeviceMemory
    private let supply: MemorySupply
    private let processes: ProcessTable
    private let waiters: MemoryWaiters
    private let recorder: RunRecorder
    private let agenda: Agenda
    private var lapses: MonitorLapses
    /// Warnings under way to their processes, in the order in which they arrive.
    private var late: Deque<LateWarning> = []

    /// A warning that has not reached its process yet.
    struct LateWarning {
        let process: ProcessReference
        let reason: String
        let comparison: Comparison
    }

    init(
        _ settings: MonitorSettings, of device: Device, memory: any DeviceMemory, supply: MemorySupply,
        processes: ProcessTable, waiters: MemoryWaiters, recorder: RunRecorder, agenda: Agenda, seed: UInt64
    ) {
        self.settings = settings
        self.device = device
        self.memory = memory
        self.supply = supply
        self.processes = processes
        self.waiters = waiters
        self.recorder = recorder
        self.agenda = agenda
        monitor = PressureMonitor(settings, ceiling: memory.books.ceiling)
        lapses = MonitorLapses(settings.faults, seed: seed)
    }

    var level: PressureLevel { monitor.level }

    var measureConcernsDevice: Bool { settings.measure.concernsDevice }

    // MARK: Levels

    /// Adds the time since the last sample to the level that was in force.
    func closeLevelTime() {
        let span = agenda.now - lastSampleAt
        switch monitor.level {
        case .normal: recorder.tally.levels.normal += span
        case .warning: recorder.tally.levels.warning += span
        case .critical: recorder.tally.levels.critical += span
        }
        lastSampleAt = agenda.now
    }

    /// Takes the monitor's sample.
    ///
    /// - Returns: The change of the level, if it changes.
    func observe() -> LevelChange? {
        guard let change = monitor.sample(at: agenda.now, observation()) else { return nil }
        recorder.event(
            .pressureLevel, at: agenda.now, change.to.rawValue, reason: change.reading.text, fact: .level(change))
        return change
    }

    /// Whether a faulty monitor misses the sample that is due now.
    func missesSample() -> Bool {
        guard lapses.misses(at: agenda.now) else { return false }
        recorder.event(
            .fault, at: agenda.now, Lapse.missedSample.rawValue, reason: "the monitor did not look (monitor.missed)")
        return true
    }

    /// Whether a faulty monitor's warning does not reach the process.
    func losesWarning(to process: LiveProcess, _ reason: String) -> Bool {
        guard lapses.losesWarning() else { return false }
        process.warnings.wasLost(at: agenda.now)
        recorder.event(
            .fault, at: agenda.now, app: process.profile.name, pid: process.pid, Lapse.lostWarning.rawValue,
            reason: "\(reason) (monitor.warnings_lost)")
        return true
    }

    /// Whether a faulty monitor's warning reaches the process later.
    func delaysWarning(to process: LiveProcess, _ reason: String, _ comparison: Comparison) -> Bool {
        let span = settings.faults.warningsLate
        guard span > .zero else { return false }
        process.warnings.isLate(since: agenda.now)
        late.append(LateWarning(process: process.reference, reason: reason, comparison: comparison))
        agenda.schedule(.warningArrives, after: span)
        recorder.event(
            .fault, at: agenda.now, app: process.profile.name, pid: process.pid, Lapse.lateWarning.rawValue,
            reason: "\(reason); it arrives after \(span) (monitor.warnings_late)")
        return true
    }

    /// Takes the late warning that arrives now.
    func takeLate() -> LateWarning? { late.popFirst() }

    /// How many samples were missed shortly before now.
    var recentlyMissed: Int { lapses.recentlyMissed(at: agenda.now) }

    /// The memory that is missing until the monitor leaves its level. Nil if none is missing, even if the level still
    /// lasts a while.
    func demand() -> PressureDemand? {
        guard monitor.level > .normal else { return nil }
        return monitor.demand(observation())
    }

    /// The observation that the monitor's measure needs.
    private func observation() -> PressureObservation {
        var observation = PressureObservation(available: supply.obtainable)
        observation.processes = processes.live.count
        switch settings.measure {
        case .available: break
        case .uncompressed:
            let books = memory.books
            if memory.compressor != nil {
                // The system's own processes are in nobody's books, but part of `reserved`.
                let managed = books.ceiling - books.reserved + device.ofSystemProcesses
                let compressed = books.compressor + device.systemCompressed
                observation.uncompressed = (managed - compressed).share(of: managed)
                break
            }
            let suspended = processes.live.reduce(ByteCount.zero) {
                $1.phase.restsInMemory ? $0 + memory.books(of: $1.slot).footprint : $0
            }
            observation.uncompressed = PressureObservation.uncompressedShare(
                suspended: suspended, of: memory.books.ceiling)
        case .stall:
            let lost = waiters.stalls.lostWithinWindow
            observation.some = lost.some.share(of: StallMeter.window)
            observation.full = lost.full.share(of: StallMeter.window)
        case .process:
            // A process that runs no code cannot be warned and cannot free memory.
            for process in processes.live where process.phase.runsCode {
                observation.process = max(observation.process, limitShare(of: process))
            }
        }
        return observation
    }

    /// The share of its own limit that a process holds, as it reports it; of the whole device if it has none.
    private func limitShare(of process: LiveProcess) -> Ratio {
        reported(process).share(of: process.presentLimit?.bytes ?? memory.books.ceiling)
    }

    /// The footprint that the process reports.
    private func reported(_ process: LiveProcess) -> ByteCount {
        process.profile.faults.reported(memory.books(of: process.slot).footprint)
    }

    // MARK: Warnings

    /// Queues the monitor's next warning, once. When a round ends early, its event stays in the queue. A later round
    /// has a different instant, so the old event is recognized and ignored.
    func scheduleWarning() {
        // At the normal level no process is warned, so the round need not be looked at.
        guard monitor.level > .normal, let due = monitor.nextWarning, due != warningDue else { return }
        warningDue = due
        agenda.schedule(.warnNext, at: due)
    }

    /// Whether a warning is due now. Afterwards none is due until one is queued again.
    func takeDue() -> Bool {
        guard warningDue == agenda.now else { return false }
        warningDue = nil
        guard let due = monitor.nextWarning else { return false }
        return due <= agenda.now
    }

    func putOffWarning() {
        monitor.putOffWarning(to: agenda.now + max(settings.warningSpacing, .milliseconds(1)))
        scheduleWarning()
    }

    /// Chooses the process that is warned next, and why; nil when the round is over.
    func nextWarned() -> (process: LiveProcess, reason: String, comparison: Comparison)? {
        let candidates = processes.live.map { process in
            var candidate = WarningCandidate(
                pid: process.pid, phase: process.phase, band: process.naturalBand, footprint: reported(process))
            candidate.limitShare = limitShare(of: process)
            return candidate
        }
        let (next, verdicts) = monitor.warn(candidates, at: agenda.now)
        guard let next, let process = processes.process(next) else { return nil }
        // The measure at this instant, against the threshold of the level in force.
        let observation = observation()
        var reading = monitor.reading(observation)
        record(next, verdicts, reading)
        if reading.measure == .process { reading.observed = limitShare(of: process).partsPerMillion }
        let seen = reading.measure == .available ? "\(supply.obtainable.readable) available" : reading.text
        return (process, seen + (monitor.isMet(observation) ? "" : "; \(whatHoldsTheLevel)"), Comparison(reading))
    }

    /// Why the level is still in force although the measure has left its threshold.
    private var whatHoldsTheLevel: String {
        "\(monitor.level.rawValue) since \(monitor.levelSince), held for \(settings.hold)"
    }

    private func record(
        _ told: ProcessID, _ verdicts: [(WarningCandidate, WarningVerdict)], _ reading: PressureReading
    ) {
        let number = recorder.nextDecision()
        var rank = 0
        for (candidate, verdict) in verdicts {
            let isEligible = verdict == .told
            if isEligible { rank += 1 }
            var row = DecisionRow(
                at: agenda.now, number: number, demand: DecisionRow.warningDemand,
                app: processes.process(candidate.pid)?.profile.name,
                pid: candidate.pid, band: candidate.band,
                reason: isEligible && candidate.pid != told ? "waits for its turn" : verdict.rawValue,
                evidence: Evidence(
                    reading.column,
                    observed: reading.measure == .process ? candidate.limitShare.partsPerMillion : reading.observed,
                    threshold: reading.threshold, rule: reading.text),
                outcome: candidate.pid == told ? .chosen : isEligible ? .ranked : .spared)
            if isEligible {
                row.action = .warn(candidate.pid)
                (row.rank, row.score) = (rank, Int64(candidate.footprint.bytes))
            }
            recorder.decision(row)
        }
    }
}
