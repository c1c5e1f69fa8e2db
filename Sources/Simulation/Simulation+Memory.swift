import BasicContainers
import Lifecycle
import Memory
import Metrics
import Quantities
import Workload

// Work on memory: allocations in slices, waiting when there is no room, per-process limits, decay.
extension Simulation {
    /// So much is filled before time passes and others may act: what the device fills in 1/512 s, 2 MiB at the default
    /// rate.
    static func slice(of device: Device) -> ByteCount {
        max(ByteCount(device.fillRate.bytesPerSecond / 512), .kibibytes(64))
    }

    /// The main thread pays the cost on a core, then does the work.
    ///
    /// - Parameters:
    ///   - answersWarning: The work is the answer to a memory warning: what the cache held before.
    ///   - isDueToWarning: A memory warning is why it is done, so it is no part of what a launch costs by itself.
    func start(
        _ work: CallbackWork, of process: LiveProcess, answersWarning: ByteCount? = nil, isDueToWarning: Bool = false
    ) {
        process.work.begin(work.memory, fillsAtDeviceRate: true, answersWarning: answersWarning)
        process.isRunning = true
        if isDueToWarning {
            process.launch?.answers += work.cost
        } else {
            process.launch?.declared += work.cost
        }
        if work.cost > .zero {
            resume(process, at: occupyCore(for: work.cost, of: process))
        } else {
            continueWork(of: process)
        }
    }

    /// Work that takes no time on the main thread: its cost was paid elsewhere.
    func startAtOnce(_ items: [MemoryWork], of process: LiveProcess) {
        process.work.begin(items, fillsAtDeviceRate: false)
        process.isRunning = true
        continueWork(of: process)
    }

    /// The earliest moment at which a core has done so much work of the main thread, begun no earlier than now.
    private func occupyCore(for span: TimeSpan, of process: LiveProcess) -> Instant {
        cores.occupy(for: span, by: process.reference, .mainThread, at: now)
    }

    /// The process has ended: no core works for it any more, and what was queued behind its work is done earlier.
    func releaseCores(of process: LiveProcess) {
        for advance in cores.release(process.reference, at: now) {
            guard let other = self.process(advance.owner) else { continue }
            switch advance.purpose {
            case .mainThread: resume(other, at: advance.finish)
            case .deferredWork: expectDeferredWork(of: other, at: advance.finish)
            }
        }
    }

    private func resume(_ process: LiveProcess, at instant: Instant) {
        process.serial += 1
        queue.schedule(.mainThread(process.reference, serial: process.serial), at: instant)
    }

    func continueMainThread(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), process.serial == serial else { return }
        if process.isRunning && process.waitingSince == nil { continueWork(of: process) }
        advance(process)
    }

    /// Goes on with the work until it is done, time has to pass, or memory is missing.
    private func continueWork(of process: LiveProcess) {
        while let item = process.work.nextItem {
            switch item {
            case .allocate(let pool, let bytes):
                guard allocateSlice(of: bytes, in: pool, process) else { return }
            case .release(let pool, let bytes): release(bytes, from: pool, of: process)
            case .touch(let pool, let bytes):
                if let pool = existingPool(pool, of: process) {
                    recorder.tally.bytesRewritten += memory.touch(bytes, in: pool)
                }
            case .read(let pool, let bytes):
                if let pool = existingPool(pool, of: process) {
                    recorder.tally.bytesRead += memory.read(bytes, in: pool)
                }
            case .trace(let operations): guard playTrace(operations, of: process) else { return }
            case .releaseShare(let pool, let share):
                if let held = existingPool(pool, of: process).map({ memory.requested(in: $0) }) {
                    release(held * share, from: pool, of: process)
                }
            case .abandonScene(let scene): update(scene, of: process.app) { $0.pool = nil }
            case .endScene(let scene): endScenePool(scene, of: process)
            }
            process.work.position += 1
        }
        finishWork(of: process)
    }

    private func finishWork(of process: LiveProcess) {
        let answered = process.work.answersWarning
        process.work.end()
        process.isRunning = false
        armDecay(process)
        if let answered { noteAnswer(of: process, cacheBefore: answered) }
    }

    /// Allocates the next slice; true when the whole allocation is done and no time has to pass.
    private func allocateSlice(of bytes: ByteCount, in pool: Pool, _ process: LiveProcess) -> Bool {
        var remaining = process.work.remaining ?? bytes
        guard remaining > .zero else {
            process.work.remaining = nil
            return true
        }
        let target = self.pool(pool, of: process)
        drawSizes(upTo: min(remaining, slice), for: process)
        keepBackWhatIsOwed()
        let result = memory.allocate(
            sizes.storage.span.extracting(first: sizes.count), in: target,
            limit: hasLimits ? process.limitToNotice : nil)
        if keptBack > .zero { memory.keepBack(.zero) }
        remaining -= result.requested
        process.work.remaining = remaining
        if result.objects > 0 { endWaiting(of: process) }
        switch result.refusal {
        case .noRoom(let wanted, let free, let longestRun):
            keepRefused(from: result.objects, of: process)
            process.work.unpaid += result.requested
            beginWaiting(process, wanted: wanted, free: free, longestRun: longestRun)
            return false
        case .limitCrossed(let footprint):
            keepRefused(from: result.objects, of: process)
            crossLimit(process, footprint)
            guard isAlive(process) else { return false }
        case nil: break
        }
        if process.work.fillsAtDeviceRate {
            let span = plan.device.fillRate.time(for: result.requested + process.work.unpaid)
            process.work.unpaid = .zero
            process.launch?.fill += span
            resume(process, at: occupyCore(for: span, of: process))
            return false
        }
        guard remaining == .zero else { return allocateSlice(of: bytes, in: pool, process) }
        process.work.remaining = nil
        return true
    }

    /// The sizes of the next slice: what was refused before, else fresh draws.
    private func drawSizes(upTo bytes: ByteCount, for process: LiveProcess) {
        guard !process.work.refused.isEmpty else { return process.record.sizes.fill(&sizes, with: bytes) }
        sizes = SizeBatch(process.work.refused)
        process.work.refused = []
    }

    /// The sizes from this one on are tried again.
    private func keepRefused(from index: Int, of process: LiveProcess) {
        process.work.refused = sizes.suffix(from: index)
    }

    // MARK: Pools

    private func existingPool(_ pool: Pool, of process: LiveProcess) -> PoolID? {
        switch pool {
        case .base: process.base
        case .cache: process.cache
        case .leak: process.leak
        case .transient: process.transient
        case .burst: process.burst
        case .scene(let scene): session(scene, of: process.app).pool
        }
    }

    private func pool(_ pool: Pool, of process: LiveProcess) -> PoolID {
        if let existing = existingPool(pool, of: process) { return existing }
        let fresh = memory.makePool(in: process.slot)
        if case .scene(let scene) = pool { update(scene, of: process.app) { $0.pool = fresh } }
        return fresh
    }

    private func release(_ bytes: ByteCount, from pool: Pool, of process: LiveProcess) {
        guard bytes > .zero, let existing = existingPool(pool, of: process) else { return }
        _ = memory.release(bytes, from: existing, order: .oldestFirst)
    }

    private func endScenePool(_ scene: SceneID, of process: LiveProcess) {
        guard let pool = session(scene, of: process.app).pool else { return }
        _ = memory.endPool(pool)
        update(scene, of: process.app) { $0.pool = nil }
    }

    // MARK: Waiting for memory

    func beginWaiting(_ process: LiveProcess, wanted: ByteCount, free: ByteCount, longestRun: ByteCount) {
        process.wanted = wanted
        process.found = (free, longestRun)
        waiters.append(process.reference)
        guard process.waitingSince == nil else { return }
        process.waitingSince = now
        recorder.tally.stalls += 1
        let owed = min(memory.available, keptBack)
        let kept = owed > .zero ? ", \(owed) more are meant for who waits longer" : ""
        let fragmented = free >= wanted ? ": fragmented, the longest run is \(longestRun)" : ""
        recorder.event(
            .stall, at: now, app: process.profile.name, pid: process.pid, "\(wanted)",
            reason: "no room for \(wanted): \(free) free\(fragmented)\(kept)")
        queue.schedule(.retryWaiters, at: now)
        // A victim that waits itself cannot finish the action that waits for it.
        stopWaiting(forScenesOf: process)
        expectLeaving(of: process)
    }

    func endWaiting(of process: LiveProcess) {
        guard let since = process.waitingSince else { return }
        process.waitingSince = nil
        recorder.tally.stallTime += now - since
        recorder.keptWaits?.append(
            MemoryWait(
                app: process.profile.name, since: since, until: now, wasForeground: process.phase.isForeground))
        // Its memory did not move meanwhile.
        process.tickedAt = process.tickedAt + (now - since)
        // What it waited for before the tap is not part of this launch.
        if let tapped = process.launch?.tapped { process.launch?.memoryWait += now - max(since, tapped) }
    }

    /// Memory came back: whoever waits tries again.
    func serveWaiters() {
        guard !waiters.isEmpty else { return }
        waitersAreDue = true
        queue.schedule(.retryWaiters, at: now)
    }

    /// Before an allocation of somebody who does not wait. From the moment at which pages are freed for those who wait
    /// until they have tried again, what the rest of their slices needs is theirs; else whoever happens to run would
    /// take what somebody died for, and the next one would have to die.
    func keepBackWhatIsOwed() {
        keptBack = .zero
        guard !waiters.isEmpty, reclaim.isFreeing || waitersAreDue else { return }
        keptBack = waiters.reduce(.zero) { owed, reference in
            guard let process = process(reference) else { return owed }
            return owed + max(process.wanted, min(process.work.remaining ?? .zero, slice) * scale)
        }
        memory.keepBack(keptBack)
    }

    /// Everybody who waits tries again, first come first served; then the policy is asked for whoever is left.
    ///
    /// What an action frees is there when the action is done, so that its time is part of the waiting.
    func retryWaiters() {
        guard !reclaim.isFreeing else { return }
        waitersAreDue = false
        let waiting = waiters
        waiters.removeAll(keepingCapacity: true)
        for reference in waiting {
            guard let process = process(reference), process.waitingSince != nil else { continue }
            continueWork(of: process)
            advance(process)
        }
        considerReclaim()
    }

    // MARK: Limits

    /// A fatal limit ends the process; of a soft one it is told, unless it is answering a warning already.
    func crossLimit(_ process: LiveProcess, _ footprint: ByteCount) {
        guard let limit = process.explicitLimit else { return }
        let reason = "footprint \(footprint) crossed its \(process.limitName) limit of \(limit.bytes)"
        guard limit.isFatal else {
            process.toldOfLimit = ToldOfLimit(near: true, above: true)
            guard process.phase.runsCode && !process.answersWarning else {
                return recorder.event(
                    .softLimit, at: now, app: process.profile.name, pid: process.pid, "not told", reason: reason)
            }
            return warn(process, reason, detail: "limit")
        }
        reportKill(of: process, .perProcessLimit)
        end(process, .memoryResourceLimit, reason)
        closeReportOutsideSession()
    }

    // MARK: Decay

    /// Dirty pages go back by themselves after a while of virtual time.
    func armDecay(_ process: LiveProcess) {
        guard !process.decayScheduled, memory.hasDirtyPages(process.slot) else { return }
        process.decayScheduled = true
        queue.schedule(.decay(process.reference), at: now + plan.device.dirtyDecay)
    }

    func decay(_ reference: ProcessReference) {
        guard let process = process(reference) else { return }
        process.decayScheduled = false
        _ = purge(process)
    }

    func purge(_ process: LiveProcess) -> ByteCount {
        do {
            let bytes = try memory.purge(process.slot)
            recorder.tally.bytesPurged += bytes
            process.reclaimed.note(bytes, at: now)
            if bytes > .zero { serveWaiters() }
            return bytes
        } catch {
            fail("\(error)")
            return .zero
        }
    }

    // MARK: Ticks

    /// The next movement of the app's memory, if it runs and anything will move.
    func armTick(_ process: LiveProcess) {
        guard mayTick(process) else {
            process.isTicking = false
            process.tickSerial += 1
            return
        }
        if !process.isTicking { process.tickedAt = now }
        process.isTicking = true
        process.tickSerial += 1
        let cache = process.phase == .active ? memory.requested(in: process.cache) : .zero
        guard let span = process.workload.nextWork(phase: process.phase, cache: cache) else { return }
        let at = max(now, process.tickedAt + span)
        queue.schedule(.tick(process.reference, serial: process.tickSerial), at: at)
    }

    private func mayTick(_ process: LiveProcess) -> Bool { process.phase == .active || process.worksOffScreen }

    /// The scene that the user sees, and what it holds.
    private func frontScene(of process: LiveProcess) -> (scene: SceneID, held: ByteCount)? {
        guard process.phase == .active, let front = process.record.frontScene,
            let pool = process.record.sessions.first(where: { $0.id == front })?.pool
        else { return nil }
        return (front, memory.requested(in: pool))
    }

    func tick(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), process.tickSerial == serial else { return }
        guard process.isQuiet else {
            // The main thread is busy; its memory moves when it is not. The time is not lost, it passes at once then.
            process.tickSerial += 1
            queue.schedule(
                .tick(reference, serial: process.tickSerial), at: now + AppWorkload.interval)
            return
        }
        // Off screen nobody asks for the cache.
        let cache = process.phase == .active ? memory.requested(in: process.cache) : .zero
        let front = frontScene(of: process)
        // All ticks share memory for their items, which the cache knows; who has to wait keeps it.
        swap(&process.work.items, &spareItems)
        process.workload.pass(
            now - process.tickedAt, phase: process.phase, cache: cache, front: front, into: &process.work.items)
        process.tickedAt = now
        process.work.begin(fillsAtDeviceRate: false)
        process.isRunning = true
        continueWork(of: process)
        if !process.isRunning { swap(&process.work.items, &spareItems) }
        if !process.hasArrived || !process.isQuiet {
            if isAlive(process) { advance(process) }
            return
        }
        // As above, without asking the planner what it has been asked.
        if auditsEverySample { claim(!planNext(for: process), "\(process.profile.name) has not arrived") }
        armTick(process)
    }
}

extension WorkInProgress {
    fileprivate var nextItem: MemoryWork? { position < items.count ? items[position] : nil }
}
