import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

/// What the simulation remembers between two decisions.
struct ReclaimState {
    /// The action under way; nobody is asked before it is done.
    var acting: (serial: Int, action: ReclaimAction)?
    var serial = 0
    var decisions = 0
    /// The last demand for which nobody was left: said once, not at every sample.
    var unanswered: String?
    var dryAction: ReclaimAction?

    /// Pages are on their way back to the device: a purge or a termination is under way.
    var isFreeing: Bool {
        switch acting?.action {
        case .purge, .terminate: true
        case .suspend, .disconnectScene, nil: false
        }
    }
}

// The policy ranks, the limits check, one action is carried out, and the question is asked again.
extension Simulation {
    /// Asks the policy if there is anything to ask for. One action at a time.
    func considerReclaim() {
        guard failure == nil, reclaim.acting == nil else { return }
        guard let snapshot = currentSnapshot() else {
            if monitor.level == .normal { guardrails.forgetFruitless() }
            reclaim.unanswered = nil
            reclaim.dryAction = nil
            return
        }
        recorder.tally.decisions += 1
        let decision = policy.decide(snapshot)
        let refusals = decision.ranking.map { guardrails.refusal(of: $0.action, in: snapshot) }
        let chosen = refusals.firstIndex { $0 == nil }
        record(decision, refusals: refusals, chosen: chosen, snapshot)
        if let chosen, !dryRun { return perform(decision.ranking[chosen], snapshot) }
        guard case .allocation(let pid, let wanted) = snapshot.demand else { return }
        noVictim(for: pid, wanted: wanted, mayWait: refusals.contains { $0?.isTemporary == true })
    }

    // MARK: Demand

    /// Why the policy is asked: a waiting allocation first, then pressure, then the limits. Nil: all is well.
    private func currentSnapshot() -> SystemSnapshot? {
        let books = memory.books
        if let process = waiters.lazy.compactMap({ self.process($0) }).first {
            return snapshot(
                .allocation(by: process.pid, wanted: process.wanted), level: max(monitor.level, .warning),
                threshold: process.wanted)
        }
        if let demand = monitor.demand(available: books.available) {
            return snapshot(.pressure(deficit: demand.deficit), level: demand.level, threshold: demand.threshold)
        }
        return limitDemand()
    }

    private func limitDemand() -> SystemSnapshot? {
        let offScreen = live.filter { $0.phase == .background || $0.phase == .suspended }
        if let most = plan.limits.backgroundProcesses, offScreen.count > most {
            return snapshot(
                .backgroundProcesses(excess: offScreen.count - most), level: monitor.level, threshold: .zero)
        }
        guard let most = plan.limits.backgroundMemory else { return nil }
        let held = offScreen.reduce(ByteCount.zero) { $0 + memory.books(of: $1.slot).footprint }
        guard held > most else { return nil }
        return snapshot(.backgroundMemory(excess: held - most), level: monitor.level, threshold: most)
    }

    private func snapshot(_ demand: ReclaimDemand, level: PressureLevel, threshold: ByteCount) -> SystemSnapshot {
        let books = memory.books
        return SystemSnapshot(
            now: now, demand: demand, level: level, ceiling: books.ceiling, resident: books.resident,
            available: books.available, threshold: threshold, processes: live.map(snapshot), monitor: plan.monitor)
    }

    func snapshot(_ process: LiveProcess) -> ProcessSnapshot {
        let books = memory.books(of: process.slot)
        let profile = process.profile
        let modes = process.phase == .suspended ? [] : process.keepAliveModes
        return ProcessSnapshot(
            app: process.app, name: profile.name, pid: process.pid, phase: process.phase,
            band: JetsamBand.band(of: process.phase, modes: modes), footprint: books.footprint, dirty: books.dirty,
            cache: memory.requested(in: process.cache), launchedAt: process.launchedAt,
            lastForeground: process.lastForeground, modes: modes, warnedAt: process.warnedAt,
            answersWarning: process.answersWarning,
            isBusy: !process.isQuiet || process.launch != nil || process.quitReason != nil
                || process.assertions.holdsMoreThanFinishing,
            relaunchCost: relaunchCost(of: profile), scenes: sceneSnapshots(of: process))
    }

    private func relaunchCost(of profile: AppProfile) -> TimeSpan {
        let costs = profile.costs
        let declared = costs.process + costs.launch + costs.connect + costs.enterForeground + costs.activate
        return declared + plan.device.fillRate.time(for: profile.memory.base + profile.memory.scene)
    }

    private func sceneSnapshots(of process: LiveProcess) -> [SceneSnapshot] {
        guard process.profile.scenes.support else { return [] }
        return apps[process.app.index].sessions.filter(\.machine.phase.isConnected).map {
            SceneSnapshot(
                scene: $0.id, phase: $0.machine.phase, size: $0.pool.map { memory.requested(in: $0) } ?? .zero)
        }
    }

    // MARK: Action

    private func perform(_ candidate: Candidate, _ snapshot: SystemSnapshot) {
        guard let process = process(candidate.action.target) else {
            return fail("the limits let pass an action on process \(candidate.action.target.number), which is dead")
        }
        let action = candidate.action
        recorder.event(
            .action, at: now, app: process.profile.name, pid: process.pid, scene: scene(of: action), action.name,
            reason: "\(candidate.reason); \(snapshot.why)")
        reclaim.serial += 1
        reclaim.acting = (reclaim.serial, action)
        switch action {
        case .purge:
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
        case .terminate:
            let footprint = memory.books(of: process.slot).footprint
            guardrails.noteTermination(at: now)
            recorder.tally.bytesReclaimed += footprint
            // The serial keeps the end of this process from ending the action: its pages come back at the rate.
            end(process, .memoryPressure, "\(candidate.reason); \(snapshot.why)", bySystem: true)
            actionTakes(plan.device.terminationTime + plan.device.reclaimRate.time(for: footprint))
        }
    }

    private func scene(of action: ReclaimAction) -> SceneID? {
        guard case .disconnectScene(_, let scene) = action else { return nil }
        return scene
    }

    private func actionTakes(_ span: TimeSpan) {
        queue.schedule(.reclaimDone(serial: reclaim.serial), at: now + max(span, TimeSpan(microseconds: 100)))
    }

    func finishReclaim(_ serial: Int) {
        guard let acting = reclaim.acting, acting.serial == serial else { return }
        reclaim.acting = nil
        retryWaiters()
    }

    /// A step on the victim's own main thread was the action: it is done.
    func finishReclaimStep(on process: LiveProcess) {
        guard let acting = reclaim.acting, acting.action.target == process.pid else { return }
        actionTakes(.zero)
    }

    /// A victim that died by itself ends the action that waited for it.
    func endReclaim(on process: LiveProcess) {
        guard let acting = reclaim.acting, case .disconnectScene(process.pid, _) = acting.action else { return }
        actionTakes(.zero)
    }

    /// Nobody is left. If memory may still come by itself the requester waits; otherwise it ends, by the rules.
    private func noVictim(for pid: ProcessID, wanted: ByteCount, mayWait: Bool) {
        let somethingComes = live.contains {
            $0.pid != pid && ($0.answersWarning || $0.quitReason != nil) && $0.waitingSince == nil
        }
        if mayWait || somethingComes { return }
        guard let process = process(pid) else { return }
        let books = memory.books
        let fragmented =
            books.available >= wanted ? ", of which the longest run is \(memory.longestFreeRun) (fragmentation)" : ""
        end(
            process, .memoryResourceLimit,
            "no room for \(wanted), \(books.available) free\(fragmented), and nobody left to reclaim", bySystem: true)
    }

    // MARK: Record

    private func record(
        _ decision: Decision, refusals: [Refusal?], chosen: Int?, _ snapshot: SystemSnapshot
    ) {
        let demand = snapshot.demand.name
        recorder.tally.actionsRefused += refusals.prefix(chosen ?? refusals.count).count { $0 != nil }
        if let chosen {
            reclaim.unanswered = nil
            let action = decision.ranking[chosen].action
            if dryRun && reclaim.dryAction == action { return }
            reclaim.dryAction = action
        } else {
            if reclaim.unanswered == demand { return }
            reclaim.unanswered = demand
        }
        reclaim.decisions += 1
        var row = DecisionRow(
            decision: reclaim.decisions, chosen: false, reason: "", observed: snapshot.available,
            threshold: snapshot.threshold, demand: demand)
        for (index, candidate) in decision.ranking.enumerated() {
            let process = snapshot.processes.first { $0.pid == candidate.action.target }
            (row.app, row.pid, row.scene) = (process?.name, candidate.action.target, scene(of: candidate.action))
            (row.action, row.rank, row.score) = (candidate.action.name, index + 1, candidate.score)
            row.chosen = index == chosen
            row.reason = refusals[index].map { "refused by \($0.rule): \($0.explanation)" } ?? candidate.reason
            recorder.decision(row, at: now)
        }
        (row.action, row.rank, row.score, row.scene, row.chosen) = (nil, nil, nil, nil, false)
        for spared in decision.spared {
            (row.app, row.pid) = (snapshot.processes.first { $0.pid == spared.pid }?.name, spared.pid)
            row.reason = spared.reason
            recorder.decision(row, at: now)
        }
        guard chosen == nil else { return }
        (row.app, row.pid, row.reason) = (nil, nil, "no victim: nobody is left who may be reclaimed")
        recorder.decision(row, at: now)
    }
}

extension ReclaimDemand {
    /// The demand's name in the CSV.
    var name: String {
        switch self {
        case .pressure: "pressure"
        case .allocation: "allocation"
        case .backgroundProcesses: "background_processes"
        case .backgroundMemory: "background_memory"
        }
    }
}

extension SystemSnapshot {
    /// What was observed against which threshold, for people.
    var why: String {
        switch demand {
        case .pressure:
            "\(level.rawValue): \(available.readable) available, \(threshold.readable) needed"
        case .allocation(let pid, let wanted):
            "process \(pid.number) waits for \(wanted.readable), \(available.readable) available"
        case .backgroundProcesses(let excess): "\(excess) more background processes than allowed"
        case .backgroundMemory(let excess):
            "background memory is \(excess.readable) above its limit of \(threshold.readable)"
        }
    }
}
