import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

// The policy ranks, the limits check, one action is carried out, and the question is asked again.
extension Simulation {
    /// An allocation that nothing serves is given up after this: a policy that only waits does not stop the run.
    static let patience = TimeSpan.seconds(60)

    /// Asks the policy if there is anything to ask for. One action at a time.
    func considerReclaim() {
        guard failure == nil else { return }
        if let acting = reclaim.acting { return goOn(acting) }
        guard let question = currentQuestion() else { return endDemand() }
        decide(on: snapshot(question))
        // What the policy does not do about pressure does not excuse it from the limits.
        guard case .pressure = question.demand, reclaim.acting == nil, let second = limitQuestion() else { return }
        decide(on: snapshot(second))
    }

    private func decide(on snapshot: SystemSnapshot) {
        if snapshot.mayBePutOff && now < reclaim.nextLook { return }
        let decision = policy.decide(snapshot)
        if needs.contains(.memory) { reclaim.history.rules = policy.follow(snapshot) }
        reclaim.nextLook = decision.nextLook.map { now + $0 } ?? .zero
        if decision.ranking.isEmpty {
            if case .content = decision.standstill { endSession() }
            if case .nothing = snapshot.demand { return forgetAnswers() }
        }
        recorder.tally.decisions += 1
        let verdict = verdict(on: decision, snapshot)
        record(decision, verdict, snapshot)
        if let chosen = verdict.chosen, !dryRun { return perform(decision, chosen, snapshot) }
        guard case .allocation(let pid, let wanted) = snapshot.demand else { return }
        // In a dry run nothing comes of waiting for the policy.
        let mayWait = verdict.refusals.contains { $0?.isTemporary == true } || decision.isWaiting
        noVictim(
            for: pid, wanted: wanted, mayWait: mayWait && !dryRun,
            because: verdict.chosen.map { isNotDone(decision.ranking[$0].action) } ?? "nobody left to reclaim")
    }

    /// What the limits say to a ranking.
    private struct Verdict {
        /// By rank; those after the chosen one are left out if nobody wants to know them.
        var refusals: [Refusal?] = []
        /// The first rank that they let pass.
        var chosen: Int?
    }

    private func verdict(on decision: Decision, _ snapshot: SystemSnapshot) -> Verdict {
        let asksForAll = recorder.decisions.isRead || observer != nil
        var verdict = Verdict()
        for (rank, candidate) in decision.ranking.enumerated() {
            let refusal = guardrails.refusal(of: candidate.action, in: snapshot)
            verdict.refusals.append(refusal)
            if refusal == nil && verdict.chosen == nil { verdict.chosen = rank }
            if verdict.chosen != nil && !asksForAll { break }
        }
        return verdict
    }

    private func isNotDone(_ action: ReclaimAction) -> String {
        let name = process(action.target)?.profile.name ?? "process \(action.target.number)"
        return "a dry run does not carry out what was chosen: \(action.name) \(name)"
    }

    /// Durations go on while an action is under way, and who was asked to end may still be ended at once.
    private func goOn(_ acting: ActionUnderWay) {
        guard acting.asked != nil || needs.contains(.memory), let question = currentQuestion() else { return }
        let snapshot = snapshot(question)
        if needs.contains(.memory) { reclaim.history.rules = policy.follow(snapshot) }
        if acting.asked != nil { hasten(snapshot) }
    }

    /// The policy may cut the time short that it gave somebody to end; nobody else is touched meanwhile. A limit on
    /// background apps is answered already: by whoever is ending.
    private func hasten(_ snapshot: SystemSnapshot) {
        switch snapshot.demand {
        case .backgroundProcesses, .backgroundMemory: return
        case .allocation, .pressure, .nothing: break
        }
        let decision = policy.decide(snapshot)
        let verdict = verdict(on: decision, snapshot)
        guard let chosen = verdict.chosen else { return }
        recorder.tally.decisions += 1
        record(decision, verdict, snapshot)
        perform(decision, chosen, snapshot)
    }

    /// Ends the suspended app that was idle for longest, before anybody who runs is told; true while there is one, an
    /// action is under way, or nothing is missing any more although the level still holds.
    func endSuspended() -> Bool {
        guard monitor.level > .normal else { return false }
        guard plan.monitor.measure.concernsDevice else { return false }
        guard reclaim.acting == nil, let question = pressureQuestion() else { return true }
        let snapshot = snapshot(question)
        var decision = Decision()
        decision.isByMonitor = true
        for process in snapshot.processes where process.phase == .suspended {
            decision.ranking.append(
                Candidate(
                    .terminate(process.pid), score: process.idleTime(at: now).microseconds,
                    reason: "suspended apps end before running apps are warned", cause: .jettisoned))
        }
        decision.ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
        let verdict = verdict(on: decision, snapshot)
        guard let chosen = verdict.chosen else { return false }
        record(decision, verdict, snapshot)
        perform(decision, chosen, snapshot)
        return true
    }

    /// All is well: nothing is demanded.
    private func endDemand() {
        endSession()
        forgetAnswers()
    }

    /// The next time a question is put it is a new one.
    private func forgetAnswers() {
        reclaim.said.removeAll()
    }

    /// The policy is content: everybody may be tried again.
    private func endSession() {
        if monitor.level == .normal { guardrails.forgetFruitless() }
        reclaim.history.sessionSince = nil
        reclaim.history.sessionHasReport = false
        closeReport()
    }

    /// The time since the last event: whoever waits for memory has waited all of it.
    func accountStalls(until instant: Instant) {
        let isWorking = waiters.isEmpty || live.contains { $0.isRunning && $0.waitingSince == nil }
        reclaim.stalls.advance(to: instant, isWaiting: !waiters.isEmpty, isWorking: isWorking)
    }

    // MARK: Nobody is left

    /// Nothing is done for who waits. If memory may still come by itself the requester waits on; otherwise it ends, by
    /// the rules.
    private func noVictim(for pid: ProcessID, wanted: ByteCount, mayWait: Bool, because why: String) {
        if let since = process(pid)?.waitingSince, now - since >= Simulation.patience {
            return giveUp(pid, wanted: wanted, why)
        }
        if mayWait || live.contains(where: { mayStillFree($0, for: pid) }) { return }
        giveUp(pid, wanted: wanted, why)
    }

    /// Whether memory of this process may come back by itself, or become reclaimable, before long: dirty pages decay,
    /// the warned answer, who is leaving the screen or ending gets there.
    private func mayStillFree(_ process: LiveProcess, for requester: ProcessID) -> Bool {
        if process.decayScheduled && memory.hasDirtyPages(process.slot) { return true }
        guard process.pid != requester, process.waitingSince == nil || process.quitReason != nil else { return false }
        return process.answersWarning || process.quitReason != nil || isLeavingScreen(process)
    }

    private func giveUp(_ pid: ProcessID, wanted: ByteCount, _ why: String) {
        guard let process = process(pid) else { return }
        let (free, longestRun) = process.found
        let fragmented = free >= wanted ? ", of which the longest run is \(longestRun) (fragmentation)" : ""
        let explanation = "no room for \(wanted), \(free) free\(fragmented), and \(why)"
        if let quit = process.quitReason, quit.reason != .memoryPressure {
            // It was on its way out, and gets no further.
            return end(process, quit, because: explanation)
        }
        reportKill(of: process, .pageShortage)
        end(process, .memoryPressure, explanation)
        closeReportOutsideSession()
    }

    // MARK: Record

    /// A question that was answered like the one before it is not written down again.
    private func record(_ decision: Decision, _ verdict: Verdict, _ snapshot: SystemSnapshot) {
        let chosen = verdict.chosen
        if chosen != nil && (!dryRun || decision.isByMonitor) {
            forgetAnswers()
        } else {
            let answer = chosen.map { "\(decision.ranking[$0].action)" } ?? decision.standstillText
            let said = "\(snapshot.demand.name) \(snapshot.requester?.number ?? 0): \(answer)"
            if reclaim.said.contains(said) { return }
            reclaim.said.append(said)
        }
        recorder.tally.actionsRefused += verdict.refusals.prefix(chosen ?? verdict.refusals.count).count { $0 != nil }
        reclaim.decisions += 1
        let record = DecisionRecord(
            number: reclaim.decisions, snapshot: snapshot, decision: decision, refusals: verdict.refusals,
            chosen: chosen, guardrails: guardrails)
        observer?(record)
        recorder.decision(record)
    }
}
