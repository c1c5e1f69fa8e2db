import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim

/// An action that the engine carries out for the reclaimer.
struct ReclaimOrder {
    let candidate: Candidate
    let target: LiveProcess
    let why: String
    /// The demand that the action is to meet.
    let demand: ReclaimDemand
}

/// An allocation for which the policy and the limits allowed no action.
struct UnservedAllocation {
    let pid: ProcessID
    let wanted: ByteCount
    /// Whether an action for it may become possible later.
    let mayWait: Bool
    let why: String
}

/// The outcome of a question to the policy.
enum ReclaimAnswer {
    /// No action now.
    case nothing
    case order(ReclaimOrder)
    case unserved(UnservedAllocation)
}

/// Asks the policy, checks its ranking against the limits, and remembers what was done. It takes a question and
/// returns an order for the engine. Only one action is under way at a time; the next question waits until it is done.
final class Reclaimer {
    private let policy: any ReclaimPolicy
    private let needs: PolicyNeeds
    /// With at least this much memory available and without a demand, the policy is not asked.
    private let contentAbove: ByteCount?
    private var guardrails: Guardrails
    /// The action under way; no other action begins before it is done.
    private var acting: ActionUnderWay?
    private var lastAction = 0
    /// The questions since the last action that led to none, with their answers. Such a question is recorded only
    /// once, not at every sample.
    private var said: [String] = []
    /// The facts of the past that a policy may know.
    private var history = ReclaimHistory()
    /// Band and cause of every process that the policy ended.
    private(set) var kills = KillTable()
    /// The policy is not to be asked before this instant.
    private var nextLook: Instant = .zero
    /// Whether this is a dry run: the policy is asked and recorded, but none of its actions is carried out.
    private let dryRun: Bool
    private let verifies: Bool
    /// Called for every recorded decision.
    private let observer: ((DecisionRecord) -> Void)?
    private let demands: Demands
    /// Linux's kernel, behind the policy or for control groups.
    let kernel: KernelFallback
    private let snapshots: Snapshots
    private let reports: KillReporter
    /// The memory of what the policy has ended.
    let returning: ReturningMemory
    private let processes: ProcessTable
    private let scheduler: Scheduler
    private let recorder: RunRecorder
    private let agenda: Agenda
    private let faults: RunFaults
    private var errors: PolicyErrors

    /// How a run treats its policy.
    struct Mode {
        let dryRun: Bool
        let verifies: Bool
        let observer: ((DecisionRecord) -> Void)?
    }

    init(
        _ policy: any ReclaimPolicy, contentAbove: ByteCount?, mode: Mode, demands: Demands,
        kernel: KernelFallback, snapshots: Snapshots, reports: KillReporter, returning: ReturningMemory,
        scheduler: Scheduler, recorder: RunRecorder,
        agenda: Agenda, faults: RunFaults, errors: PolicyErrors
    ) {
        self.errors = errors
        self.returning = returning
        self.policy = policy
        self.contentAbove = contentAbove
        self.demands = demands
        self.kernel = kernel
        self.snapshots = snapshots
        self.reports = reports
        self.scheduler = scheduler
        self.recorder = recorder
        self.agenda = agenda
        self.faults = faults
        needs = type(of: policy).needs
        guardrails = Guardrails(demands.limits)
        dryRun = mode.dryRun
        verifies = mode.verifies
        observer = mode.observer
        processes = demands.processes
    }

    private var now: Instant { agenda.now }

    /// Whether an action is under way.
    var isActing: Bool { acting != nil }

    /// Whether the action under way brings pages back to the device, by a purge or a termination.
    var isFreeing: Bool { acting?.isFreeing ?? false }

    /// Whether pages are on their way back, for this action or for earlier ones.
    var isExpectingPages: Bool { isFreeing || !returning.isEmpty }

    /// Whether nothing that frees memory is under way: no pages are on their way back, and the policy at most waits for
    /// a process that it has asked to end.
    var isFreeingNothing: Bool { !isExpectingPages && (acting == nil || acting?.asked != nil) }

    /// Whether the kernel behind the policy leaves this process waiting, because the policy acts on such waits.
    func leavesWaiting(_ process: LiveProcess) -> Bool {
        guard needs.contains(.actsOnStalls), !dryRun, let since = demands.worker.waiters.since(process) else {
            return false
        }
        return now - since < KernelFallback.stall
    }

    /// Whether a session of actions is under way.
    var isInSession: Bool { history.sessionSince != nil }

    // MARK: Questions

    /// What to ask the policy now; nil: nothing.
    func question() -> PolicyQuestion? {
        if let question = demands.current() { return question }
        guard needs.contains(.everySample) else { return nil }
        guard isPolicyContent else { return PolicyQuestion(demand: .nothing, level: demands.level) }
        // A question would have brought the bands up to date.
        snapshots.followBands()
        if verifies { checkContent() }
        return nil
    }

    /// The demand that the limits make, even if there is also pressure. Nil if there is none, or if an action is
    /// under way.
    func questionOfLimits() -> PolicyQuestion? { acting == nil ? demands.byLimits() : nil }

    /// Whether available memory is above the threshold at which the policy says that it does not act.
    private var isPolicyContent: Bool {
        guard let enough = contentAbove, demands.level == .normal, history.notNormalSince == nil else { return false }
        guard !policy.isBusy(history) else { return false }
        let there = needs.contains(.obtainable) ? demands.worker.supply.obtainable : demands.memory.available
        return there >= enough && !demands.worker.isInTrouble
    }

    /// With `--verify`: checks that the policy is in fact content above its own threshold.
    private func checkContent() {
        let decision = policy.decide(snapshot(PolicyQuestion(demand: .nothing, level: demands.level)))
        guard case .content = decision.standstill, decision.ranking.isEmpty, decision.nextLook == nil else {
            return faults.fail("\(type(of: policy).name) was to be content, but answers \(decision)")
        }
    }

    private func snapshot(_ question: PolicyQuestion) -> SystemSnapshot {
        var snapshot = snapshots.snapshot(question, history)
        snapshot.measures.returning = returning.books.reduce(.zero) { $0 + $1.resident }
        if snapshot.measures.swapTotal > .zero { snapshot.measures.returningSwap = returning.mostInSwap }
        return snapshot
    }

    // MARK: Decisions

    func decide(_ question: PolicyQuestion) -> ReclaimAnswer {
        let snapshot = snapshot(question)
        if now < nextLook && isPutOff(snapshot) { return .nothing }
        var decision = policy.decide(snapshot)
        errors.change(&decision)
        if needs.contains(.ruleMemory) { history.rules = policy.follow(snapshot) }
        if let course = decision.course, !dryRun { history.course = course }
        if let lmkd = decision.lmkd { history.lmkd = lmkd }
        if let memory = decision.memory { history.policy = memory }
        nextLook = decision.nextLook.map { now + $0 } ?? .zero
        if decision.ranking.isEmpty {
            if case .content = decision.standstill { endSession() }
            if case .nothing = snapshot.demand {
                forgetAnswers()
                return .nothing
            }
        }
        recorder.tally.decisions += 1
        let verdict = verdict(on: decision, snapshot)
        record(decision, verdict, snapshot)
        if let chosen = verdict.chosen, !dryRun { return order(decision, chosen, snapshot) }
        guard case .allocation(let pid, let wanted) = snapshot.demand else { return .nothing }
        // In a dry run no action is carried out, so waiting for the policy is useless.
        let mayWait = verdict.refusals.contains { $0?.isTemporary == true } || decision.isWaiting
        return .unserved(
            UnservedAllocation(
                pid: pid, wanted: wanted, mayWait: mayWait && !dryRun,
                why: verdict.chosen.map { isNotDone(decision.ranking[$0].action) } ?? "no process left to reclaim"))
    }

    /// Whether the question waits until the policy looks next. In a dry run an allocation does not wait for a policy.
    private func isPutOff(_ snapshot: SystemSnapshot) -> Bool {
        snapshot.mayBePutOff || snapshot.requester != nil && needs.contains(.ownTimes) && !dryRun
    }

    /// The guardrails' answers to a ranking.
    private struct Verdict {
        /// For each rank, the refusal or nil. The ranks after the chosen one are left out, unless they are needed.
        var refusals: [Refusal?] = []
        /// The first rank that is allowed.
        var chosen: Int?
    }

    private func verdict(on decision: Decision, _ snapshot: SystemSnapshot) -> Verdict {
        let asksForAll = recorder.decisions.isRead || observer != nil
        var verdict = Verdict()
        for (rank, candidate) in decision.ranking.enumerated() {
            let refusal = guardrails.refusal(of: candidate, in: snapshot)  // promise: guardrails
            verdict.refusals.append(refusal)
            if refusal == nil && verdict.chosen == nil { verdict.chosen = rank }
            if verdict.chosen != nil && !asksForAll { break }
        }
        return verdict
    }

    private func isNotDone(_ action: ReclaimAction) -> String {
        let name = processes.process(action.target)?.profile.name ?? "process \(action.target.number)"
        return "a dry run does not carry out what was chosen: \(action.name) \(name)"
    }

    /// Continues while an action is under way: durations run on, and a process that was asked to end may now be ended
    /// at once.
    func goOn() -> ReclaimAnswer {
        let asked = acting?.asked
        guard asked != nil || needs.contains(.ruleMemory), let question = question() else { return .nothing }
        let snapshot = snapshot(question)
        if needs.contains(.ruleMemory) { history.rules = policy.follow(snapshot) }
        return asked == nil ? .nothing : hasten(snapshot)
    }

    /// The policy may end a process by force before the time it was given is over. Until that process is gone, no
    /// other process is touched. A limit on background apps needs no further action, because the ending process no
    /// longer counts.
    private func hasten(_ snapshot: SystemSnapshot) -> ReclaimAnswer {
        switch snapshot.demand {
        case .backgroundProcesses, .backgroundMemory: return .nothing
        case .allocation, .pressure, .nothing: break
        }
        let decision = policy.decide(snapshot)
        let verdict = verdict(on: decision, snapshot)
        guard let chosen = verdict.chosen else { return .nothing }
        recorder.tally.decisions += 1
        record(decision, verdict, snapshot)
        return order(decision, chosen, snapshot)
    }

    /// Ends the suspended process that has been idle longest, before a running one is warned. Nil if there is no such
    /// process, if an action is under way, or if no memory is missing any more although the level holds.
    func endSuspended() -> ReclaimAnswer? {
        guard demands.level > .normal, demands.measureConcernsDevice else { return nil }
        guard acting == nil, let question = demands.byPressure() else { return .nothing }
        let snapshot = snapshot(question)
        var decision = Decision()
        decision.isByMonitor = true
        for process in snapshot.processes where process.phase.restsInMemory {
            decision.ranking.append(
                Candidate(
                    .terminate(process.pid), score: process.idleTime(at: now).microseconds,
                    reason: "suspended apps end before running apps are warned", cause: .jettisoned))
        }
        decision.sortByScore()
        let verdict = verdict(on: decision, snapshot)
        guard let chosen = verdict.chosen else { return nil }
        record(decision, verdict, snapshot)
        return order(decision, chosen, snapshot)
    }

    // MARK: Sessions

    /// There is no demand any more.
    func endDemand() {
        endSession()
        forgetAnswers()
    }

    /// The next question is recorded even if its answer is the same.
    private func forgetAnswers() { said.removeAll() }

    /// The policy is content: every process may be tried again.
    private func endSession() {
        if demands.level == .normal { guardrails.forgetFruitless() }
        history.sessionSince = nil
        history.sessionHasReport = false
        reports.close()
    }

    /// For a policy whose rules refer to growth.
    func followGrowth() {
        if needs.contains(.ruleMemory) { snapshots.followGrowth() }
    }

    func follow(_ change: LevelChange) {
        history.levelSince = now
        if change.to == .normal {
            history.endEpisode()
        } else if change.from == .normal {
            history.notNormalSince = now
        }
    }

    /// The action freed nothing, so it is not tried again before the pressure is over.
    func forbid(fruitless action: ReclaimAction) { guardrails.noteFruitless(action) }

    // MARK: Orders

    private func order(_ decision: Decision, _ chosen: Int, _ snapshot: SystemSnapshot) -> ReclaimAnswer {
        let candidate = decision.ranking[chosen]
        let action = candidate.action
        guard let process = processes.process(action.target) else {
            faults.fail("the limits let pass an action on process \(action.target.number), which is dead")
            return .nothing
        }
        let why = "\(candidate.reason); \(candidate.evidence?.text ?? snapshot.reason)"
        let comparison = Comparison(candidate.evidence ?? snapshot.demanded(under: guardrails.limits))
        if let first = decision.erredFrom.flatMap({ snapshot.process($0) }), chosen == 0 {
            recorder.event(
                .fault, at: now, app: process.profile.name, pid: process.pid, Lapse.policyErred.rawValue,
                reason: "the policy's first choice was \(first.name) (limits.policy_errs)")
        }
        if candidate.isReported { writeReport(decision, snapshot) }
        recorder.event(
            .action, at: now, app: process.profile.name, pid: process.pid, scene: action.scene, action.name,
            reason: why, fact: .action(action.kind, candidate.cause, comparison))
        begin(action, snapshot.victims(of: candidate).map(\.pid))
        history.lastAction = now
        history.sessionSince = history.sessionSince ?? now
        if action.isTermination {
            rememberKill(candidate, snapshot, comparison)
            reports.reportKill(of: process, candidate.cause ?? .jettisoned, opensReport: candidate.isReported)
        }
        rememberRule(candidate, snapshot)
        return .order(ReclaimOrder(candidate: candidate, target: process, why: why, demand: snapshot.demand))
    }

    /// Begins an action. If the process was asked to end before, the same action continues in a harder form.
    private func begin(_ action: ReclaimAction, _ victims: [ProcessID]) {
        defer { acting?.victims = victims }
        if acting?.asked == action.target {
            acting?.action = action
        } else {
            lastAction += 1
            acting = ActionUnderWay(serial: lastAction, action: action, since: now)
        }
    }

    /// Records how much the rule is about to free.
    private func rememberRule(_ candidate: Candidate, _ snapshot: SystemSnapshot) {
        guard let rule = candidate.rule, let target = snapshot.process(candidate.action.target) else { return }
        let (kind, scene) = (candidate.action.kind, candidate.action.scene)
        history.noteAction(ofRule: rule, at: now, freed: target.mayFree(by: kind, of: scene))
    }

    /// Records that a termination is ordered. What it frees is counted when the process has ended.
    private func rememberKill(_ candidate: Candidate, _ snapshot: SystemSnapshot, _ comparison: Comparison) {
        guard let victim = snapshot.process(candidate.action.target) else { return }
        for ended in snapshot.victims(of: candidate) { guardrails.noteTermination(of: ended.pid, at: now) }
        acting?.kill = DecidedEnd(
            candidate.cause ?? .jettisoned, of: victim, decision: recorder.lastDecision, snapshot,
            standing: candidate.standing, comparison)
        if candidate.cause == .sustainedPressure && history.idleAtSustained == nil {
            history.idleAtSustained = snapshot.processes.count { $0.band == .idle }
        }
        if needs.contains(.thrashingAnew) { demands.worker.supply.files?.beginThrashingAnew(at: now) }
        var kill = ReclaimHistory.Kill(
            at: now, pid: victim.pid, band: victim.band, cause: candidate.cause, footprint: victim.footprint)
        kill.isForced = candidate.action.kind == .terminate
        kill.rule = candidate.rule
        history.noteKill(kill)
    }

    /// Writes the state of all processes before the first kill of a session, once.
    private func writeReport(_ decision: Decision, _ snapshot: SystemSnapshot) {
        guard let report = decision.report, !history.sessionHasReport else { return }
        history.sessionHasReport = true
        let lines = report.compactMap { pid in
            snapshot.process(pid).map { "\($0.name) \($0.band.number)" }
        }
        recorder.event(
            .report, at: now, "\(report.count) processes",
            reason: "by band and place in it: " + lines.joined(separator: "; "))
    }

    // MARK: The action under way

    /// The process was asked to end: no other process is touched until it is gone.
    func expectEnd(of process: LiveProcess) { guardrails.ending = process.pid }

    /// Notes the app for whose sake the action under way ends a process. If the process is decided on twice, because
    /// it was asked to end and did not, the last decision counts.
    func note(_ beneficiary: RunTally.Beneficiary?) { acting?.beneficiary = beneficiary }

    /// What the policy decided about the process that ends for this reason, and for whose sake; nil if something else
    /// ends it.
    func decided(on process: LiveProcess, _ reason: ExitReason) -> (end: DecidedEnd, for: RunTally.Beneficiary?)? {
        guard reason == .memoryPressure, let acting, acting.ends(process), let kill = acting.kill else { return nil }
        return (kill, acting.beneficiary)
    }

    /// Pages go back to the device from now on.
    func beginFreeing() { acting?.isFreeing = true }

    /// Ends the action under way after this time.
    func actionTakes(_ span: TimeSpan) {
        agenda.schedule(
            .reclaimDone(serial: lastAction), after: max(span, TimeSpan(microseconds: 100)))
    }

    /// Ends the action under way when the device has taken back this much.
    func takeBack(_ bytes: ByteCount) { scheduler.takeBack(bytes, workOrder) }

    /// Ends the action under way when a core has worked for this long, but not before an instant.
    func work(for span: TimeSpan, notBefore: Instant = .zero) {
        acting?.notBefore = notBefore
        scheduler.run(max(span, TimeSpan(microseconds: 100)), workOrder)
    }

    private var workOrder: WorkOrder { WorkOrder(kind: .reclaim, owner: nil, serial: lastAction, purpose: .reclaim) }

    /// - Returns: Whether the action was still expected.
    func finish(_ serial: Int) -> Bool {
        guard let acting, acting.serial == serial else { return false }
        guard now >= acting.notBefore else {
            agenda.schedule(.reclaimDone(serial: serial), at: acting.notBefore)
            return false
        }
        self.acting = nil
        recorder.tally.reclaimTimes.append(now - acting.since)
        return true
    }

    /// Ends an action that waits for the scene to go: the system has taken the scene away, the user has closed it, or
    /// the app has quit. The action waits for nothing else.
    func stopWaiting(for scene: SceneID, of process: LiveProcess) {
        guard case .disconnectScene(process.pid, scene)? = acting?.action else { return }
        actionTakes(.zero)
    }

    /// A process that waits for memory cannot give a scene back, so no action waits for it.
    func stopWaiting(forScenesOf process: LiveProcess) {
        guard case .disconnectScene(process.pid, _)? = acting?.action else { return }
        actionTakes(.zero)
    }

    /// Whether the action under way is to end this process.
    func isEnding(_ process: LiveProcess) -> Bool { acting?.ends(process) ?? false }

    /// A process has ended. If the action under way was to end it, its memory returns to the device, at the device's
    /// rate. For most policies the action lasts as long, and waiting processes continue after that. A policy that looks
    /// on may act again before.
    ///
    /// - Parameter pools: Its pools, if its memory returns at that rate: it ended by the action or by the kernel.
    func processEnded(_ process: LiveProcess, _ reason: ExitReason, held footprint: ByteCount, _ pools: [PoolID]?) {
        stopWaiting(forScenesOf: process)
        let group = process.record.membership.controlGroup
        let serial = pools.map {
            returning.begin(process.slot, $0, of: process.profile.name, in: group, after: refusal(of: process))
        }
        history.noteEnd(of: process.pid, at: now)
        guard let acting, acting.ends(process) else { return }
        if reason == .memoryPressure, let kill = acting.kill {
            kills.count(kill.cause, in: kill.band(of: process, at: now))
            recorder.tally.bytesReclaimed += footprint
        }
        guardrails.ending = nil
        beginFreeing()
        if looksOn(acting) { actionTakes(.zero) } else if let serial { self.acting?.returns.append(serial) }
    }

    /// The processes that have ended and refuse to die.
    var refusals: [RunTally.RefusedExit] { returning.refusals }

    /// How long an ended process refuses to die.
    private func refusal(of process: LiveProcess) -> TimeSpan {
        let span = process.profile.faults.slowExit
        if span > .zero {
            recorder.event(
                .fault, at: now, app: process.profile.name, pid: process.pid, Lapse.slowExit.rawValue,
                reason: "its memory begins to come back after \(span)")
        }
        return span
    }

    /// Whether the policy acts again before the memory of its victim is back. The scenario's limits on background apps
    /// are none of its original's, so their ends take their time; and only so many victims are on their way at once.
    private func looksOn(_ acting: ActionUnderWay) -> Bool {
        guard needs.contains(.looksOn), returning.count < ReturningMemory.mostAtOnce else { return false }
        switch acting.kill?.demand {
        case .backgroundProcesses, .backgroundMemory: return false
        case .pressure, .allocation, .nothing, nil: return true
        }
    }

    /// A piece of an ended process's memory is back.
    ///
    /// - Returns: The action that is done with it; nil if none is.
    func takeReturned(_ serial: Int) -> Int? {
        guard returning.goOn(serial), let place = acting?.returns.firstIndex(of: serial) else { return nil }
        acting?.returns.remove(at: place)
        return acting?.returns.isEmpty == true ? acting?.serial : nil
    }

    // MARK: Record

    /// Records the answer, unless the same question was answered in the same way before.
    private func record(_ decision: Decision, _ verdict: Verdict, _ snapshot: SystemSnapshot) {
        let chosen = verdict.chosen
        if chosen != nil && (!dryRun || decision.isByMonitor) {
            forgetAnswers()
        } else {
            let answer = chosen.map { "\(decision.ranking[$0].action)" } ?? decision.standstillText
            let text = "\(snapshot.demand.name) \(snapshot.requester?.number ?? 0): \(answer)"
            if said.contains(text) { return }
            said.append(text)
        }
        recorder.tally.actionsRefused += verdict.refusals.prefix(chosen ?? verdict.refusals.count).count { $0 != nil }
        let record = DecisionRecord(
            number: recorder.nextDecision(), snapshot: snapshot, decision: decision, refusals: verdict.refusals,
            chosen: chosen, guardrails: guardrails)
        observer?(record)
        recorder.decision(record)
    }

    // MARK: Claims

    /// Checks that a process that was asked to end is alive.
    func check() {
        for pid in [guardrails.ending, acting?.asked].compactMap(\.self) {
            faults.claim(
                processes.process(pid) != nil, "process \(pid.number) was asked to end, and is dead")
        }
    }
}
