import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

// What the policy chose, and the limits let pass, is carried out: one action at a time.
extension Simulation {
    func perform(_ decision: Decision, _ chosen: Int, _ snapshot: SystemSnapshot) {
        let candidate = decision.ranking[chosen]
        guard let process = process(candidate.action.target) else {
            return fail("the limits let pass an action on process \(candidate.action.target.number), which is dead")
        }
        let action = candidate.action
        let why = "\(candidate.reason); \(candidate.evidence?.text ?? snapshot.reason)"
        if candidate.isReported { writeReport(decision, snapshot) }
        recorder.event(
            .action, at: now, app: process.profile.name, pid: process.pid, scene: action.scene, action.name,
            reason: why)
        if reclaim.acting?.asked == action.target {
            reclaim.acting?.action = action
        } else {
            reclaim.serial += 1
            reclaim.acting = ActionUnderWay(serial: reclaim.serial, action: action, since: now)
        }
        reclaim.history.lastAction = now
        reclaim.history.sessionSince = reclaim.history.sessionSince ?? now
        if action.isTermination {
            noteKill(candidate, snapshot)
            reportKill(of: process, candidate.cause ?? .jettisoned, opensReport: candidate.isReported)
        }
        noteRule(candidate, snapshot)
        carryOut(candidate, on: process, why)
    }

    private func carryOut(_ candidate: Candidate, on process: LiveProcess, _ why: String) {
        let action = candidate.action
        switch action {
        case .warn:
            process.warnedByPolicy = true
            warn(process, "the policy asks for it")
            actionTakes(.milliseconds(1))
        case .purge:
            reclaim.acting?.isFreeing = true
            let bytes = purge(process)
            if bytes == .zero { guardrails.noteFruitless(action) }
            recorder.tally.bytesReclaimed += bytes
            actionTakes(plan.device.reclaimRate.time(for: bytes))
        case .suspend:
            process.wantsSuspension = true
            advance(process)
            actionTakes(.milliseconds(1))
        case .disconnectScene(_, let scene):
            process.reclaiming.append(scene)
            advance(process)
        case .terminatePolitely where process.phase != .suspended: askToEnd(process, why, grace: candidate.grace)
        case .terminate, .terminatePolitely: end(process, .memoryPressure, why)
        }
    }

    /// It is called back and has some seconds; then it is ended. The action is done when it is gone.
    private func askToEnd(_ process: LiveProcess, _ why: String, grace: TimeSpan?) {
        guardrails.ending = process.pid
        process.goal = .background
        let quit = QuitReason(.memoryPressure, why, since: now, grace: grace)
        process.quitReason = quit
        queue.schedule(.politenessEnds(process.reference), at: now + quit.time)
        advance(process)
    }

    func endPoliteness(_ reference: ProcessReference) {
        guard let process = process(reference), let quit = process.quitReason else { return }
        end(process, quit, because: "it did not end within \(quit.time)")
    }

    /// What the rule is about to have freed.
    private func noteRule(_ candidate: Candidate, _ snapshot: SystemSnapshot) {
        guard let rule = candidate.rule,
            let target = snapshot.process(candidate.action.target)
        else { return }
        let freed: ByteCount =
            switch candidate.action {
            case .warn, .suspend: .zero
            case .purge: target.dirty
            case .disconnectScene(_, let scene): target.scenes.first { $0.scene == scene }?.size ?? .zero
            case .terminatePolitely, .terminate: target.footprint
            }
        reclaim.history.noteAction(ofRule: rule, at: now, freed: freed)
    }

    /// A termination is ordered. What it has brought is booked when the process has ended.
    private func noteKill(_ candidate: Candidate, _ snapshot: SystemSnapshot) {
        guard let victim = snapshot.process(candidate.action.target) else { return }
        guardrails.noteTermination(of: victim.pid, at: now)
        reclaim.acting?.kill = (candidate.cause ?? .jettisoned, victim.band)
        if candidate.cause == .sustainedPressure && reclaim.history.idleAtSustained == nil {
            reclaim.history.idleAtSustained = snapshot.processes.count { $0.band == .idle }
        }
        reclaim.history.noteKill(
            .init(at: now, pid: victim.pid, band: victim.band, cause: candidate.cause, footprint: victim.footprint))
    }

    /// The state of all processes before the first kill of a session, once.
    private func writeReport(_ decision: Decision, _ snapshot: SystemSnapshot) {
        guard let report = decision.report, !reclaim.history.sessionHasReport else { return }
        reclaim.history.sessionHasReport = true
        let lines = report.compactMap { pid in
            snapshot.process(pid).map { "\($0.name) \($0.band.number)" }
        }
        recorder.event(
            .report, at: now, "\(report.count) processes",
            reason: "by band and place in it: " + lines.joined(separator: "; "))
    }

    private func actionTakes(_ span: TimeSpan) {
        queue.schedule(.reclaimDone(serial: reclaim.serial), at: now + max(span, TimeSpan(microseconds: 100)))
    }

    func finishReclaim(_ serial: Int) {
        guard let acting = reclaim.acting, acting.serial == serial else { return }
        reclaim.acting = nil
        recorder.tally.reclaimTimes.append(now - acting.since)
        retryWaiters()
    }

    /// There is nothing of the scene to take away any more, whoever wanted it gone: the system, the user who has closed
    /// it meanwhile, or the app that quits. An action waits for that, and not for what else they do.
    func stopWaiting(for scene: SceneID, of process: LiveProcess) {
        guard case .disconnectScene(process.pid, scene)? = reclaim.acting?.action else { return }
        actionTakes(.zero)
    }

    /// The user closes it, and so it is not taken away; an action that was to do it ends when it is gone.
    func leaveToUser(_ scene: SceneID, of process: LiveProcess) {
        process.reclaiming.removeAll { $0 == scene }
        if !session(scene, of: process.app).machine.phase.isConnected { stopWaiting(for: scene, of: process) }
    }

    /// A process that waits for memory cannot give a scene back: no action waits for it.
    func stopWaiting(forScenesOf process: LiveProcess) {
        guard let acting = reclaim.acting, case .disconnectScene(process.pid, _) = acting.action else { return }
        actionTakes(.zero)
    }

    /// A process has ended: what was to come of it does not come any more, and an action that was to end it has only
    /// to bring its pages back, at the device's rate. Whoever waits goes on when that is done.
    func endReclaim(on process: LiveProcess, _ reason: ExitReason, held footprint: ByteCount) {
        stopWaiting(forScenesOf: process)
        guard let acting = reclaim.acting, acting.ends(process) else { return }
        if reason == .memoryPressure, let kill = acting.kill {
            reclaim.kills.count(kill.cause, in: kill.band)
            recorder.tally.bytesReclaimed += footprint
        }
        guardrails.ending = nil
        reclaim.acting?.isFreeing = true
        actionTakes(plan.device.terminationTime + plan.device.reclaimRate.time(for: footprint))
    }
}
