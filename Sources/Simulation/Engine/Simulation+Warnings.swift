import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

// A sample of the device, the warnings that follow from it, and the apps' answers.
extension Simulation {
    func sample() {
        watch.closeLevelTime()
        let isMissed = watch.missesSample()
        if !isMissed, let change = watch.observe() { reclaimer.follow(change) }
        watch.scheduleWarning()
        warnNearLimits()
        if !isMissed { reclaimer.followGrowth() }
        sampler.record(level: watch.level, waiters.stalls)
        sampleDevice()
        supply.keepMemoryFree(at: now)
        worker.compressor?.consider()
        check()
        // It may move processes between bands, which the rows of this sample do not show.
        freezer?.consider()
        retryWaiters()
        agenda.schedule(.sample, after: plan.monitor.interval)
    }

    /// Writes the rows of `cores.csv`, `pages.csv` and `freezer.csv`.
    func sampleDevice() {
        scheduler.sample()
        guard recorder.hasPages else { return }
        let activity = worker.compressor?.sample() ?? CompressorActivity()
        recorder.tally.sampled.compressor.add(activity)
        let (figures, before) = supply.sample()
        recorder.sample(PageRow(at: now, device: memory.books, activity: activity, supply: figures, before: before))
        if let freezer { recorder.sample(freezer.sample()) }
    }

    /// Compares the books at intervals; with `--verify` at every sample, with all invariants.
    private func check() {
        if verifies { sampler.check() }
        auditor.flushIfDue()
        auditor.auditIfDue(always: verifies)
        if verifies { invariants.check() }
    }

    func warnNext() {
        guard watch.takeDue() else { return }
        if plan.monitor.endSuspendedFirst, let answer = reclaimer.endSuspended() {
            follow(answer)
            return watch.putOffWarning()
        }
        guard let (process, reason, comparison) = watch.nextWarned() else { return }
        if !watch.losesWarning(to: process, reason) && !watch.delaysWarning(to: process, reason, comparison) {
            warn(process, reason, .level, comparison)
        }
        watch.scheduleWarning()
    }

    /// A warning that the monitor sent earlier arrives, if there still is somebody to tell.
    func warnLate() {
        guard let warning = watch.takeLate(), let process = processes.process(warning.process) else { return }
        process.warnings.lateHasArrived()
        guard process.phase.runsCode, !process.isEnding, !process.warnings.isAnswering else { return }
        warn(process, warning.reason, .level, warning.comparison)
    }

    /// Sends one process a memory warning.
    func warn(_ process: LiveProcess, _ reason: String, _ cause: WarningCause, _ comparison: Comparison? = nil) {
        recorder.tally.warnings += 1
        recorder.count(of: process) { $0.warnings += 1 }
        process.warnings.warn(at: now)
        let fact = EventFact.told(cause, at: watch.level, comparison)
        recorder.event(
            .warning, at: now, app: process.profile.name, pid: process.pid, fact.level?.rawValue ?? cause.rawValue,
            reason: reason, fact: fact)
        process.thread.append(.memoryWarning)
        advance(process)
    }

    /// Warns a process that comes near its own limit, once per approach. It also warns a process that is above a soft
    /// limit although it has not allocated: a different limit has begun to apply. It looks only at changed processes.
    private func warnNearLimits() {
        guard worker.hasLimits else { return }
        for reference in changes.all() {
            guard let process = processes.process(reference) else { continue }
            let footprint = memory.books(of: process.slot).footprint
            process.warnings.forget(process.record.limits, above: footprint)
            guard let limit = process.presentLimit, footprint >= limit.near, process.phase.runsCode,
                !process.warnings.isAnswering
            else { continue }
            let told = process.toldOfLimit
            let isAbove = footprint > limit.bytes
            if isAbove && !limit.isFatal {
                if !told.above { crossLimit(process, footprint) }
            } else if !told.near {
                process.tellOfLimit(ToldOfLimit(near: true, above: told.above))
                warn(
                    process,
                    "its footprint \(footprint.readable) is \(isAbove ? "above" : "near") its "
                        + "\(process.limitName) limit of \(limit.bytes.readable)",
                    .nearLimit, .footprint(footprint, limit: limit.near))
            }
        }
    }

    func receiveMemoryWarning(_ process: LiveProcess) {
        if !process.record.isPart {
            process.thread.begin(recorder.callback(.applicationDidReceiveMemoryWarning, at: now, of: process))
            post(.didReceiveMemoryWarning, scene: nil, process)
        }
        let cache = memory.requested(in: process.pools.cache)
        let answer = process.workload.answerToWarning(cache: cache, using: &process.record.behaviour)
        start(answer, of: process, answersWarning: cache, isDueToWarning: true)
    }

    func finishAnswer(of process: LiveProcess, cacheBefore: ByteCount) {
        let isByPolicy = process.warnings.answer()
        let freed = (cacheBefore - memory.requested(in: process.pools.cache)) * memory.scale
        if freed > .zero { recorder.tally.warningsAnswered += 1 }
        if freed == .zero && isByPolicy { reclaimer.forbid(fruitless: .warn(process.pid)) }
        recorder.event(
            .warningAnswered, at: now, app: process.profile.name, pid: process.pid, freed.readable,
            reason: freed > .zero ? "freed \(freed.readable) of its cache" : "freed nothing",
            fact: .amount("freed_bytes", freed))
        waiters.serve()
    }
}
