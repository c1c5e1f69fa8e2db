import Lifecycle
import Metrics
import Quantities
import Reclaim

// Carries out what the reclaimer orders, and asks again.
extension Simulation {
    /// An allocation that gets no memory is given up after this time. Otherwise a policy that only waits would stop the
    /// run.
    static let patience = TimeSpan.seconds(60)

    /// Asks the policy if there is a demand. If an allocation finds nothing even then, the kernel acts, on a device
    /// that has one (`device.fallback`).
    func considerReclaim() {
        guard faults.failure == nil else { return }
        askPolicy()
        letKernelAct()
    }

    /// One action at a time.
    private func askPolicy() {
        if reclaimer.isActing { return follow(reclaimer.goOn()) }
        guard let question = reclaimer.question() else { return reclaimer.endDemand() }
        follow(reclaimer.decide(question))
        // The limits are asked about even if the policy does nothing about pressure.
        guard case .pressure = question.demand, let second = reclaimer.questionOfLimits() else { return }
        follow(reclaimer.decide(second))
    }

    func follow(_ answer: ReclaimAnswer) {
        switch answer {
        case .nothing: break
        case .order(let order): carryOut(order)
        case .unserved(let allocation): if !reclaimer.kernel.isBehindPolicy { leaveUnserved(allocation) }
        }
    }

    private func carryOut(_ order: ReclaimOrder) {
        let (action, process) = (order.candidate.action, order.target)
        if action.isTermination { reclaimer.note(beneficiary(of: order.demand, ending: process)) }
        switch action {
        case .warn:
            process.warnings.expectByPolicy()
            warn(process, "the policy asks for it", .policy)
            reclaimer.actionTakes(.milliseconds(1))
        case .purge:
            reclaimer.beginFreeing()
            let bytes = purge(process)
            if bytes == .zero { reclaimer.forbid(fruitless: action) }
            recorder.tally.bytesReclaimed += bytes
            reclaimer.takeBack(bytes)
        case .discard: takeBack(supply.discard(process), by: action)
        case .dropFiles: takeBack(supply.files?.giveBack(all: process.app) ?? .zero, by: action)
        case .compress: takeFrames(by: action) { worker.compressor?.compress(all: process) }
        case .freeze:
            takeFrames(by: action) { freezer?.freeze(process) }
            if memory.books(of: process.slot).swapped == .zero { reclaimer.forbid(fruitless: action) }
        case .thaw: thaw(process, by: action)
        case .suspend:
            process.course.suspend()
            advance(process)
            reclaimer.actionTakes(.milliseconds(1))
        case .disconnectScene(_, let scene):
            process.course.takeAway(scene)
            advance(process)
        case .terminatePolitely where !process.phase.restsInMemory:
            endPolitely(process, order.why, grace: order.candidate.grace)
        case .terminate, .terminatePolitely:
            ending(process, with: order.candidate.groupEnd) { process in
                if process !== order.target {
                    reports.reportKill(
                        of: process, order.candidate.cause ?? .jettisoned, opensReport: order.candidate.isReported)
                }
                end(process, .memoryPressure, order.why)
            }
        }
    }

    /// Ends a process and, where its control group ends with it, the others of the group.
    ///
    /// - Parameter end: Ends one of them.
    private func ending(_ victim: LiveProcess, with group: GroupEnd?, _ end: (LiveProcess) -> Void) {
        let others = group.map { group in
            worker.groups.processes(of: group.group).filter {
                $0 !== victim && group.includes(snapshots.preview($0))
            }
        }
        end(victim)
        for other in others ?? [] where processes.isAlive(other) { end(other) }
    }

    /// An action has freed this much; the device takes it back at its rate.
    private func takeBack(_ bytes: ByteCount, by action: ReclaimAction) {
        reclaimer.beginFreeing()
        if bytes == .zero { reclaimer.forbid(fruitless: action) }
        recorder.tally.bytesReclaimed += bytes
        reclaimer.takeBack(bytes)
    }

    /// Takes frames from the pages of a process. The action is done when a core has had the time for it.
    ///
    /// - Parameter take: Takes them, and returns that time.
    private func takeFrames(by action: ReclaimAction, _ take: () -> TimeSpan?) {
        reclaimer.beginFreeing()
        let before = memory.available
        let time = take() ?? .zero
        let freed = memory.available - before
        if time == .zero { reclaimer.forbid(fruitless: action) }
        if freed > .zero { recorder.tally.bytesReclaimed += freed }
        reclaimer.work(for: time)
    }

    /// Brings the process's pages back from flash. The action is done when the store has delivered them and a core has
    /// had the time to decompress them, which it does meanwhile.
    private func thaw(_ process: LiveProcess, by action: ReclaimAction) {
        let thaw = freezer?.thaw(process)
        if memory.books(of: process.slot).swapped > .zero { reclaimer.forbid(fruitless: action) }
        reclaimer.work(for: thaw?.time ?? .zero, notBefore: thaw?.delivered ?? now)
    }

    /// For whose sake the policy ends the process: see `RunTally.Beneficiary`.
    private func beneficiary(of demand: ReclaimDemand, ending victim: LiveProcess) -> RunTally.Beneficiary? {
        switch demand {
        case .backgroundProcesses, .backgroundMemory: nil
        case .allocation(let pid, _):
            processes.process(pid).map { beneficiary($0, $0 === victim ? .ownAllocation : .allocation) }
        case .pressure, .nothing:
            worker.taken.most(of: processes.live, besides: victim.app, at: now).map {
                beneficiary($0.process, .level, taken: $0.bytes)
            }
        }
    }

    /// A process's app, with what it is doing.
    func beneficiary(
        _ process: LiveProcess, _ need: RunTally.Need, taken: ByteCount? = nil
    ) -> RunTally.Beneficiary {
        let stage: RunTally.Stage =
            process.isComing ? .launch : process.phase.isForeground ? .front : .offScreen
        return .init(app: process.profile.name, need: need, stage: stage, taken: taken)
    }

    /// The process is called back and has some seconds; then it is ended. The action is done when the process is gone.
    private func endPolitely(_ process: LiveProcess, _ why: String, grace: TimeSpan?) {
        reclaimer.expectEnd(of: process)
        let quit = QuitReason(.memoryPressure, why, since: now, grace: grace)
        process.course.end(quit)
        agenda.schedule(.politenessEnds, of: process, after: quit.time)
        advance(process)
    }

    func endPoliteness(of process: LiveProcess) {
        guard let quit = process.course.quit else { return }
        end(process, ProcessEnding(quit, because: "it did not end within \(quit.time)"))
    }

    func finishReclaim(_ serial: Int) {
        if reclaimer.finish(serial) { retryWaiters() }
    }

    /// A piece of an ended process's memory is back. Who waits for memory tries again, unless the action is not done.
    func returnMemory(_ serial: Int) {
        if let done = reclaimer.takeReturned(serial) { return finishReclaim(done) }
        if !reclaimer.isFreeing { waiters.serve() }
    }

    // MARK: No process is left to reclaim from

    /// The policy does nothing for a waiting allocation. If memory may still come back by itself, the process goes on
    /// waiting. Otherwise the process ends.
    private func leaveUnserved(_ allocation: UnservedAllocation) {
        guard let process = processes.process(allocation.pid) else { return }
        let isPatient = waiters.since(process).map { now - $0 < Simulation.patience } ?? true
        let mayWait = allocation.mayWait || reclaimer.isExpectingPages
        if isPatient && (mayWait || processes.live.contains { mayStillFree($0, for: process) }) { return }
        giveUp(process, allocation)
    }

    /// Whether memory of this process may soon come back by itself or become reclaimable. This is so if it has dirty
    /// pages that will decay, has yet to answer a warning, is leaving the screen, or is ending.
    private func mayStillFree(_ process: LiveProcess, for requester: LiveProcess) -> Bool {
        if process.ticker.decayIsScheduled && memory.hasDirtyPages(process.slot) { return true }
        guard process !== requester, !waiters.isWaiting(process) || process.isEnding else { return false }
        return process.warnings.isAnswering || process.isEnding || process.isLeavingScreen
    }

    private func giveUp(_ process: LiveProcess, _ allocation: UnservedAllocation) {
        let (wanted, why) = (allocation.wanted, allocation.why)
        let free = waiters.shortage(of: process)?.free ?? .zero
        let explanation = "\(missing(wanted, by: process)), and \(why)"
        if let quit = process.course.quit, quit.reason != .memoryPressure {
            // It was ending already and cannot continue.
            return end(process, ProcessEnding(quit, because: explanation))
        }
        endForRoom(process, explanation, .noRoom(for: wanted, free: free))
    }

    /// What a waiting allocation found.
    private func missing(_ wanted: ByteCount, by process: LiveProcess) -> String {
        let shortage = waiters.shortage(of: process)
        let (free, longestRun) = (shortage?.free ?? .zero, shortage?.longestRun ?? .zero)
        let fragmented = free >= wanted ? ", of which the longest run is \(longestRun) (fragmentation)" : ""
        return "no room for \(wanted), \(free) free\(fragmented)"
    }

    private func endForRoom(_ process: LiveProcess, _ explanation: String, _ fact: ExitFact) {
        reports.reportKill(of: process, .pageShortage)
        end(process, .memoryPressure, explanation, fact)
        closeReportOutsideSession()
    }

    // MARK: The kernel behind the policy

    /// An allocation has found nothing, and the policy frees nothing: Linux's kernel ends the process with most
    /// badness. If it may end none, it panics; here the process that waits ends.
    private func letKernelAct() {
        let kernel = reclaimer.kernel
        guard kernel.isBehindPolicy, faults.failure == nil, reclaimer.isFreeingNothing, !waiters.areAboutToTry,
            let requester = waiters.first, !reclaimer.leavesWaiting(requester), let choice = kernel.choose()
        else { return }
        let found = missing(choice.wanted, by: requester)
        guard let kill = choice.kill, let victim = processes.process(kill.pid) else {
            let allocation = UnservedAllocation(
                pid: requester.pid, wanted: choice.wanted, mayWait: false, why: "the kernel may end no process")
            return giveUp(requester, allocation)
        }
        endByKernel(kill, victim, "\(found) for \(requester.profile.name), and the policy freed nothing", requester)
    }

    private func endByKernel(
        _ kill: KernelFallback.Kill, _ victim: LiveProcess, _ found: String, _ requester: LiveProcess
    ) {
        let why = "\(found); the kernel ends the process with the \(kill.reason)"
        let (own, need) = (beneficiary(requester, .ownAllocation), beneficiary(requester, .allocation))
        ending(victim, with: kill.groupEnd) { process in
            var fact = ExitFact.kernelOOM(kill, for: process === requester ? own : need)
            if process !== victim { fact.standing = DecidedEnd.withGroup }
            endForRoom(process, process === victim ? why : why + ", and with it all of its control group", fact)
        }
    }

    /// An allocation of the process has taken its control group beyond the group's limit: Linux's kernel ends the
    /// process of the group with most badness. If it may end none, the process that allocates ends; Linux would let it
    /// wait.
    func endInGroup(_ crossing: ControlGroups.Crossing, for requester: LiveProcess) {
        let found =
            "the control group \(crossing.name) holds \(crossing.held), more than its memory_max of \(crossing.limit)"
        guard let kill = reclaimer.kernel.choose(in: crossing), let victim = processes.process(kill.pid) else {
            let fact = ExitFact(
                cause: .kernelOOM,
                comparison: Comparison(
                    ControlGroup.measure, Int64(crossing.held.bytes), Int64(crossing.limit.bytes)),
                beneficiary: beneficiary(requester, .ownAllocation))
            return endForRoom(requester, "\(found), and the kernel may end no process of it", fact)
        }
        endByKernel(kill, victim, found, requester)
    }
}
