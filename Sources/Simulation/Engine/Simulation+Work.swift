import Lifecycle
import Memory
import Quantities
import Workload

// Work of a process: its cost on the device, its memory slice by slice, waiting if there is no room, ticks and decay.
extension Simulation {
    /// What apps use of the cores as time passes.
    var use: UseOfCPU { UseOfCPU(scheduler: scheduler, recorder: recorder, agenda: agenda) }

    /// The main thread pays the cost on a core, then does the work.
    ///
    /// - Parameters:
    ///   - answersWarning: What the cache held before, if the work answers a memory warning.
    ///   - isDueToWarning: Whether a memory warning causes the work. Such work does not count as part of a launch's own
    ///     cost.
    func start(
        _ work: CallbackWork, of process: LiveProcess, answersWarning: ByteCount? = nil, isDueToWarning: Bool = false
    ) {
        process.work.begin(work.memory, fillsAtDeviceRate: true, answersWarning: answersWarning)
        process.beginRunning(at: now, isDueToWarning: isDueToWarning)
        worker.compressor?.bringBackAtResume(of: process)
        guard work.cost > .zero else { return continueWork(of: process) }
        scheduler.run(portion(of: work.cost, for: process), order(.callback, for: process))
    }

    /// What of a callback's cost runs at once. In a launch off screen with an allowance of CPU it is what the slowest
    /// core does in the rest of it, so that the allowance ends at the right instant; what remains follows.
    private func portion(of cost: TimeSpan, for process: LiveProcess) -> TimeSpan {
        guard let rest = use.restOfLaunch(of: process) else { return cost }
        let slowest = plan.device.cores.clusters.last?.speed ?? .one
        let portion = min(cost, rest * slowest + TimeSpan(microseconds: 1))
        process.use.owe(cost - portion)
        return portion
    }

    /// Starts work that takes no time on the main thread, because its cost was paid elsewhere.
    func startAtOnce(_ items: [MemoryWork], of process: LiveProcess) {
        process.work.begin(items, fillsAtDeviceRate: false)
        process.beginRunning(at: now)
        continueWork(of: process)
    }

    /// Does what a process has done before the run, at once. What finds no room is left undone.
    func fillAtOnce(_ items: [MemoryWork], of process: LiveProcess) -> Bool {
        process.work.begin(items, fillsAtDeviceRate: false)
        process.beginRunning(at: now)
        while true {
            switch worker.goOn(process, isFreeing: reclaimer.isExpectingPages) {
            case .limitCrossed(let footprint):
                crossLimit(process, footprint)
                guard processes.isAlive(process) else { return true }
            case .noRoom:
                finishWork(of: process)
                return false
            // Work before the run neither takes time nor plays traces.
            case .finished, .filling, .decompressing, .reading, .traceIsOver, .failed:
                finishWork(of: process)
                return true
            }
        }
    }

    // MARK: The device

    /// An order for work that the main thread waits for; it makes an earlier order void.
    private func order(_ kind: WorkOrder.Kind, for process: LiveProcess) -> WorkOrder {
        WorkOrder(
            kind: kind, owner: process.reference, serial: process.thread.expectContinuation(),
            purpose: process.launch.isUnderWay ? .launch : .callbacks)
    }

    /// The device reports that a piece of work is done. If what waited for it is gone, nothing goes on.
    func finish(_ piece: WorkDone) {
        if let process = piece.order.owner.flatMap({ processes.process($0) }) {
            process.hasWorked(piece, at: now)
            if let ending = use.charge(piece, to: process) { return end(process, ending) }
            if piece.order.kind == .callback, let owed = process.use.takeOwed() {
                return scheduler.run(portion(of: owed, for: process), order(.callback, for: process))
            }
        }
        handle(piece.order.completion)
    }

    func continueMainThread(_ process: LiveProcess, _ serial: Int) {
        guard process.thread.serial == serial else { return }
        waiters.endStall(of: process)
        if let since = supply.reads.finish(process, at: now) {
            process.launch.addReading(from: since, until: now)
        }
        if process.thread.isRunning && !waiters.isWaiting(process) { continueWork(of: process) }
        advance(process)
    }

    // MARK: Memory

    /// Continues the work until it is done, time has to pass, or memory is missing.
    func continueWork(of process: LiveProcess) {
        while true {
            switch worker.goOn(process, isFreeing: reclaimer.isExpectingPages) {
            case .finished: return finishWork(of: process)
            case .filling(let bytes):
                return scheduler.fill(bytes, order(.fill, for: process))
            case .decompressing(let time): return spend(time, onRoomFor: process, isDirect: false)
            case .reading(let until):
                let serial = process.thread.expectContinuation()
                return agenda.schedule(.mainThread(serial: serial), of: process, at: until)
            case .noRoom(let shortage):
                if let time = supply.makeRoom(for: shortage) ?? worker.compressor?.reclaimDirectly(for: shortage) {
                    waiters.end(process)
                    return spend(time, onRoomFor: process, isDirect: true)
                }
                return beginWaiting(process, shortage)
            case .limitCrossed(let footprint):
                crossLimit(process, footprint)
                guard processes.isAlive(process) else { return }
            case .traceIsOver(let trace): finishTrace(trace, of: process)
            case .failed: return
            }
        }
    }

    /// The main thread makes room itself, or brings pages back. On a device like Linux it is stalled meanwhile.
    private func spend(_ time: TimeSpan, onRoomFor process: LiveProcess, isDirect: Bool) {
        scheduler.run(time, order(.fill, for: process))
        waiters.beginStall(of: process, isDirect: isDirect)
    }

    private func finishWork(of process: LiveProcess) {
        let answered = process.work.answersWarning
        process.work.end()
        process.endRunning(at: now)
        if let callback = process.thread.takeCallback() { recorder.end(callback, at: now) }
        armDecay(process)
        if let answered { finishAnswer(of: process, cacheBefore: answered) }
    }

    private func finishTrace(_ trace: TracePlayback, of process: LiveProcess) {
        let books = memory.books(of: process.slot)
        recorder.event(
            .trace, at: now, app: process.profile.name, pid: process.pid, trace.profile.ends.rawValue,
            reason: "\(trace.played) operations; at most \(trace.peakRequested.bytes) B requested in "
                + "\(trace.peakObjects) objects; the process holds \(books.requested.bytes) B in \(books.objects)")
        guard trace.profile.ends == .exit, !process.isEnding else { return }
        display.leave(process.app)
        process.course.end(QuitReason(.normalApp, "its trace is over", since: now))
    }

    // MARK: Waiting for memory

    private func beginWaiting(_ process: LiveProcess, _ shortage: MemoryWaiters.Shortage) {
        guard waiters.begin(process, shortage) else { return }
        // An action waits for this process to give back a scene. A process that waits for memory cannot do that.
        reclaimer.stopWaiting(forScenesOf: process)
        background.expectLeaving(of: process)
        worker.compressor?.consider()
    }

    /// The system wires more memory, or less: who waits for memory may find some.
    func changeWired() {
        supply.wired?.follow(at: now)
        if !reclaimer.isFreeing { waiters.serve() }
    }

    /// The compressor has compressed a batch of pages.
    func finishCompression(_ serial: Int) {
        guard let compressor = worker.compressor, compressor.finish(serial), !waiters.isEmpty else { return }
        retryWaiters()
    }

    /// Lets every waiting process try again, the most urgent first; then asks the policy for those that still wait.
    ///
    /// For memory that an action frees they wait until the action is done, so that its time is part of the waiting.
    func retryWaiters() {
        guard !reclaimer.isFreeing else { return }
        for process in waiters.takeAll() where processes.isAlive(process) && waiters.isWaiting(process) {
            continueWork(of: process)
            advance(process)
        }
        considerReclaim()
    }

    // MARK: Limits

    /// A fatal limit ends the process. At a soft one the process is warned, unless it is answering a warning already.
    func crossLimit(_ process: LiveProcess, _ footprint: ByteCount) {
        if let crossing = worker.groups.crossing(by: process) { endInGroup(crossing, for: process) }
        guard processes.isAlive(process), let limit = process.presentLimit, footprint > limit.bytes,
            !process.toldOfLimit.above
        else { return }
        let reason = "footprint \(footprint) crossed its \(process.limitName) limit of \(limit.bytes)"
        let comparison = Comparison.footprint(footprint, limit: limit.bytes)
        guard limit.isFatal else {
            process.tellOfLimit(ToldOfLimit(near: true, above: true))
            guard process.phase.runsCode && !process.warnings.isAnswering else {
                return recorder.event(
                    .softLimit, at: now, app: process.profile.name, pid: process.pid, "not told", reason: reason,
                    fact: .crossed(comparison))
            }
            return warn(process, reason, .limit, comparison)
        }
        reports.reportKill(of: process, .perProcessLimit)
        end(process, .memoryResourceLimit, reason, .limit(limit.bytes, footprint: footprint))
        closeReportOutsideSession()
    }

    /// A process's own limit ended it. Outside a session the report is complete with that.
    func closeReportOutsideSession() {
        if !reclaimer.isInSession { reports.close() }
    }

    // MARK: Decay

    /// Dirty pages go back to the device by themselves after a while of virtual time.
    private func armDecay(_ process: LiveProcess) {
        guard !process.ticker.decayIsScheduled, memory.hasDirtyPages(process.slot) else { return }
        process.ticker.scheduleDecay()
        agenda.schedule(.decay, of: process, after: plan.device.dirtyDecay)
    }

    func decay(_ process: LiveProcess) {
        process.ticker.decay()
        _ = purge(process)
    }

    /// - Returns: How much went back to the device.
    func purge(_ process: LiveProcess) -> ByteCount {
        do {
            let bytes = try memory.purge(process.slot)
            recorder.tally.bytesPurged += bytes
            snapshots.add(reclaimed: bytes, from: process)
            if bytes > .zero { waiters.serve() }
            return bytes
        } catch {
            faults.fail("\(error)")
            return .zero
        }
    }

    // MARK: Ticks

    /// Schedules the next movement of the app's memory, if the app runs and anything will move.
    func armTick(_ process: LiveProcess) {
        guard process.mayTick else { return process.ticker.disarm() }
        let serial = process.ticker.arm(at: now)
        let cache = process.phase == .active ? memory.requested(in: process.pools.cache) : .zero
        guard let span = process.workload.nextWork(phase: process.phase, cache: cache) else { return }
        agenda.schedule(.tick(serial: serial), of: process, at: max(now, process.ticker.at + span))
    }

    func tick(_ process: LiveProcess, _ serial: Int) {
        guard process.ticker.serial == serial else { return }
        guard process.isQuiet else {
            // The main thread is busy, so the app's memory does not move yet. The next tick makes up for the time.
            let serial = process.ticker.postpone()
            return agenda.schedule(.tick(serial: serial), of: process, after: AppWorkload.interval)
        }
        worker.beginTick(of: process, lasting: process.ticker.pass(to: now))
        process.beginRunning(at: now)
        continueWork(of: process)
        if !process.thread.isRunning { worker.endTick(of: process) }
        if !process.thread.hasArrived || !process.isQuiet {
            if processes.isAlive(process) { advance(process) }
            return
        }
        // The process has reached its goal (see above), so the planner need not be asked again.
        if verifies {
            faults.claim(
                !Planner(process: process, display: display).next(), "\(process.profile.name) has not arrived")
        }
        armTick(process)
    }
}
