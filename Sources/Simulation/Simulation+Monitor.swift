import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

// What the monitor sees, whom it warns, and the rows of a sample.
extension Simulation {
    func sample() {
        closeLevelTime()
        observe()
        warnNearLimits()
        followGrowth()
        recordSample()
        auditIfDue()
        retryWaiters()
        queue.schedule(.sample, at: now + plan.monitor.interval)
    }

    /// The time since the last sample belongs to the level that was in force.
    func closeLevelTime() {
        let span = now - lastSampleAt
        switch monitor.level {
        case .normal: recorder.tally.timeNormal += span
        case .warning: recorder.tally.timeWarning += span
        case .critical: recorder.tally.timeCritical += span
        }
        lastSampleAt = now
    }

    private func observe() {
        if let change = monitor.sample(at: now, observation()) {
            recorder.event(
                .pressureLevel, at: now, change.to.rawValue,
                reason: change.reading.text)
            noteLevel(change)
        }
        scheduleWarning()
    }

    /// What the monitor's measure needs to know.
    func observation() -> PressureObservation {
        var observation = PressureObservation(available: memory.available)
        observation.processes = live.count
        switch plan.monitor.measure {
        case .available: break
        case .uncompressed:
            let suspended = live.reduce(ByteCount.zero) {
                $1.phase == .suspended ? $0 + memory.books(of: $1.slot).footprint : $0
            }
            observation.uncompressed = PressureObservation.uncompressedShare(
                suspended: suspended, of: memory.books.ceiling)
        case .stall:
            let lost = reclaim.stalls.lostWithinWindow
            observation.some = lost.some.share(of: StallMeter.window)
            observation.full = lost.full.share(of: StallMeter.window)
        case .process:
            // Who runs no code can neither be told nor shrink.
            for process in live where process.phase.runsCode {
                observation.process = max(observation.process, limitShare(of: process))
            }
        }
        return observation
    }

    /// What the measure shows at this instant, against the threshold of the level in force.
    private func readingNow() -> PressureReading { monitor.reading(observation()) }

    /// How much of its own limit a process holds; of the whole device where it has none.
    private func limitShare(of process: LiveProcess) -> Ratio {
        memory.books(of: process.slot).footprint.share(of: process.explicitLimit?.bytes ?? memory.books.ceiling)
    }

    private func noteLevel(_ change: LevelChange) {
        reclaim.history.levelSince = now
        if change.to == .normal {
            reclaim.history.endEpisode()
        } else if change.from == .normal {
            reclaim.history.notNormalSince = now
        }
    }

    // MARK: Warnings

    /// Queues the monitor's next warning, once. A round that ends leaves its event behind; one that begins in its
    /// place has an instant of its own.
    private func scheduleWarning() {
        // Nobody is told while all is well: that spares a look at the round.
        guard monitor.level > .normal, let due = monitor.nextWarning, due != warningDue else { return }
        warningDue = due
        queue.schedule(.warnNext, at: due)
    }

    func warnNext() {
        guard warningDue == now else { return }
        warningDue = nil
        guard let due = monitor.nextWarning, due <= now else { return }
        if plan.monitor.endSuspendedFirst && endSuspended() {
            monitor.putOffWarning(to: now + max(plan.monitor.warningSpacing, .milliseconds(1)))
            return scheduleWarning()
        }
        let candidates = live.map { process in
            var candidate = WarningCandidate(
                pid: process.pid, phase: process.phase,
                band: process.naturalBand,
                footprint: memory.books(of: process.slot).footprint)
            candidate.limitShare = limitShare(of: process)
            return candidate
        }
        let (next, verdicts) = monitor.warn(candidates, at: now)
        guard let next, let process = process(next) else { return }
        var reading = readingNow()
        recordWarning(next, verdicts, reading)
        if reading.measure == .process { reading.observed = limitShare(of: process).partsPerMillion }
        warn(process, reading.measure == .available ? "\(memory.available.readable) available" : reading.text)
        scheduleWarning()
    }

    /// Tells one process that memory is short.
    func warn(_ process: LiveProcess, _ reason: String, detail: String? = nil) {
        recorder.tally.warnings += 1
        process.warnedAt = now
        process.answersWarning = true
        recorder.event(
            .warning, at: now, app: process.profile.name, pid: process.pid, detail ?? monitor.level.rawValue,
            reason: reason)
        process.steps.append(.memoryWarning)
        advance(process)
    }

    /// oomd's moving average of a footprint: every 5 s a quarter of the new one, and three quarters of the old average.
    private func followGrowth() {
        guard needs.contains(.memory), now - reclaim.growthAt >= .seconds(5) else { return }
        reclaim.growthAt = now
        for process in live {
            let footprint = memory.books(of: process.slot).footprint
            let average = process.averageFootprint
            process.averageFootprint =
                average == .zero ? footprint : ByteCount((average.bytes * 3 + footprint.bytes) / 4)
        }
    }

    /// Whoever comes near its own limit is told, once per approach; also who is above a soft one without having
    /// allocated, for another limit applies than before. Who has not changed is where it was.
    private func warnNearLimits() {
        guard hasLimits else { return }
        for reference in changedProcesses() {
            guard let process = process(reference) else { continue }
            let footprint = memory.books(of: process.slot).footprint
            process.forgetLimits(above: footprint)
            guard let limit = process.explicitLimit else { continue }
            let told = process.toldOfLimit
            if footprint >= limit.near && process.phase.runsCode && !process.answersWarning {
                let isAbove = footprint > limit.bytes
                if isAbove && !limit.isFatal {
                    if !told.above { crossLimit(process, footprint) }
                } else if !told.near {
                    process.toldOfLimit.near = true
                    warn(
                        process,
                        "its footprint \(footprint.readable) is \(isAbove ? "above" : "near") its "
                            + "\(process.limitName) limit of \(limit.bytes.readable)",
                        detail: "near_limit")
                }
            }
        }
    }

    private func recordWarning(
        _ told: ProcessID, _ verdicts: [(WarningCandidate, WarningVerdict)], _ reading: PressureReading
    ) {
        reclaim.decisions += 1
        var rank = 0
        for (candidate, verdict) in verdicts {
            let isEligible = verdict == .told
            if isEligible { rank += 1 }
            var row = DecisionRow(
                number: reclaim.decisions, demand: "warning", app: process(candidate.pid)?.profile.name,
                pid: candidate.pid, band: candidate.band,
                reason: isEligible && candidate.pid != told ? "waits for its turn" : verdict.rawValue,
                evidence: Evidence(
                    reading.column,
                    observed: reading.measure == .process ? candidate.limitShare.partsPerMillion : reading.observed,
                    threshold: reading.threshold, rule: reading.text))
            if isEligible {
                row.action = .warn(candidate.pid)
                (row.rank, row.score) = (rank, Int64(candidate.footprint.bytes))
            }
            row.isChosen = candidate.pid == told
            recorder.decision(row, at: now)
        }
    }

    func receiveMemoryWarning(_ process: LiveProcess) {
        recorder.event(
            .callback, at: now, app: process.profile.name, pid: process.pid,
            Callback.applicationDidReceiveMemoryWarning.rawValue)
        post(.didReceiveMemoryWarning, scene: nil, process)
        let cache = memory.requested(in: process.cache)
        let answer = process.workload.answerToWarning(
            cache: cache, using: &process.record.behaviour)
        start(answer, of: process, answersWarning: cache, isDueToWarning: true)
    }

    func noteAnswer(of process: LiveProcess, cacheBefore: ByteCount) {
        process.answersWarning = false
        let freed = (cacheBefore - memory.requested(in: process.cache)) * scale
        if freed > .zero { recorder.tally.warningsAnswered += 1 }
        if freed == .zero && process.warnedByPolicy { guardrails.noteFruitless(.warn(process.pid)) }
        process.warnedByPolicy = false
        recorder.event(
            .warningAnswered, at: now, app: process.profile.name, pid: process.pid, "\(freed.bytes)",
            reason: freed > .zero ? "freed \(freed.readable) of its cache" : "freed nothing")
        serveWaiters()
    }

    // MARK: Books

    private func auditIfDue() {
        if auditsEverySample { checkSamples() }
        flushIfDue()
        let isDue = now - auditedAt >= Simulation.auditInterval(processes: live.count)
        if auditsEverySample || isDue { auditBooks(refreshingMetadata: isDue) }
        if auditsEverySample { checkInvariants() }
    }

    /// A run that is killed without warning leaves all but the last five minutes, or the last half one where somebody
    /// watches: more often, the host would take longer over so many small pieces than over their bytes.
    private func flushIfDue() {
        guard now - flushedAt >= .seconds(recorder.kept == nil ? 300 : 30) else { return }
        flushedAt = now
        recorder.flush()
    }

    /// Compares the books with jemalloc's refreshed statistics; they agree to the byte or the run stops.
    func auditBooks(refreshingMetadata: Bool) {
        if refreshingMetadata { auditedAt = now }
        do {
            try memory.audit(refreshingMetadata: refreshingMetadata)
        } catch {
            switch error {
            case .disagreement(let difference): fail("\(difference)")
            case .allocator(let refusal): fail("\(refusal)")
            }
        }
    }
}
