import Lifecycle
import Memory
import Metrics
import Pressure
import Quantities
import Reclaim
import Workload

/// What the simulation remembers between two decisions.
struct ReclaimState {
    /// Nobody is asked for another one before it is done.
    var acting: ActionUnderWay?
    var serial = 0
    var decisions = 0
    /// Questions that nothing was done about since the last action, with their answers: said once, not at every sample.
    var said: [String] = []
    /// What a policy may know of the past.
    var history = ReclaimHistory()
    var stalls = StallMeter()
    /// When the averages of footprints were last updated.
    var growthAt: Instant = .zero
    /// Band and cause of everything that the policy ended.
    var kills = KillTable()
    /// That of the session under way, if anybody wants reports and somebody was ended; and how many there were.
    var report: KillReport?
    var reports = 0
    /// The policy does not want to be asked before this instant.
    var nextLook: Instant = .zero
    /// What policies were shown last, by rising process number; the latest processes may not be among them yet.
    var shown: [ProcessSnapshot] = []
    /// By app, the instants at which it is wanted, rising; only for a policy that knows the future.
    var wanted: [[Instant]] = []
    /// Likewise: how long each app is in front.
    var visits = Visits()

    /// Pages are on their way back to the device: a purge or a termination is under way.
    var isFreeing: Bool { acting?.isFreeing ?? false }
}

/// One question to the policy with everything that led to its answer and to what was done: for `explain`.
public struct DecisionRecord: Sendable {
    /// The number in `decisions.csv`.
    public let number: Int
    public let snapshot: SystemSnapshot
    public let decision: Decision
    /// By rank: why the limits do not let it pass.
    public let refusals: [Refusal?]
    /// The rank that was carried out.
    public let chosen: Int?
    /// The limits as they stood, to ask them again.
    public let guardrails: Guardrails
}

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
        let refusals = decision.ranking.map { guardrails.refusal(of: $0.action, in: snapshot) }
        let chosen = refusals.firstIndex { $0 == nil }
        record(decision, refusals: refusals, chosen: chosen, snapshot)
        if let chosen, !dryRun { return perform(decision, chosen, snapshot) }
        guard case .allocation(let pid, let wanted) = snapshot.demand else { return }
        noVictim(
            for: pid, wanted: wanted,
            mayWait: refusals.contains { $0?.isTemporary == true } || decision.isWaiting,
            because: chosen.map { isNotDone(decision.ranking[$0].action) } ?? "nobody left to reclaim")
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
        let refusals = decision.ranking.map { guardrails.refusal(of: $0.action, in: snapshot) }
        guard let chosen = refusals.firstIndex(where: { $0 == nil }) else { return }
        recorder.tally.decisions += 1
        record(decision, refusals: refusals, chosen: chosen, snapshot)
        perform(decision, chosen, snapshot)
    }

    /// Ends the suspended app that was idle for longest, before anybody who runs is told; true while there is one, an
    /// action is under way, or nothing is missing any more although the level still holds.
    func endSuspended() -> Bool {
        guard !dryRun, monitor.level > .normal else { return false }
        guard plan.monitor.measure.concernsDevice else { return false }
        guard reclaim.acting == nil, let question = pressureQuestion() else { return true }
        let snapshot = snapshot(question)
        var decision = Decision()
        for process in snapshot.processes where process.phase == .suspended {
            decision.ranking.append(
                Candidate(
                    .terminate(process.pid), score: process.idleTime(at: now).microseconds,
                    reason: "suspended apps end before running apps are warned", cause: .jettisoned))
        }
        decision.ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
        let refusals = decision.ranking.map { guardrails.refusal(of: $0.action, in: snapshot) }
        guard let chosen = refusals.firstIndex(where: { $0 == nil }) else { return false }
        record(decision, refusals: refusals, chosen: chosen, snapshot)
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

    // MARK: Demand

    /// Why the policy is asked.
    private struct Question {
        var demand: ReclaimDemand
        var level: PressureLevel
        var threshold = ByteCount.zero
        var reading: PressureReading?
    }

    /// A waiting allocation first, then pressure, then the limits. Nil: all is well.
    private func currentQuestion() -> Question? {
        if !waiters.isEmpty, let process = waiters.lazy.compactMap({ self.process($0) }).first {
            return Question(
                demand: .allocation(by: process.pid, wanted: process.wanted), level: max(monitor.level, .warning),
                threshold: process.wanted)
        }
        if let question = pressureQuestion() ?? limitQuestion() { return question }
        guard needs.contains(.everySample) else { return nil }
        if isPolicyContent {
            // A question would have brought them up to date.
            for reference in notedProcesses() { if let process = process(reference) { followBand(of: process) } }
            if auditsEverySample { checkContent() }
            return nil
        }
        return Question(demand: .nothing, level: monitor.level)
    }

    /// What is missing before the monitor's level is left; nil: nothing, though the level may hold on for a while.
    private func pressureQuestion() -> Question? {
        guard monitor.level > .normal, let demand = monitor.demand(observation()) else { return nil }
        return Question(
            demand: .pressure(deficit: demand.deficit), level: demand.level, threshold: demand.threshold,
            reading: demand.reading)
    }

    /// So much is available that the policy need not be asked.
    private var isPolicyContent: Bool {
        guard let enough = contentAbove, monitor.level == .normal, reclaim.history.notNormalSince == nil else {
            return false
        }
        return memory.available >= enough
    }

    /// What the policy says of itself is so: with `--verify`.
    private func checkContent() {
        let decision = policy.decide(snapshot(Question(demand: .nothing, level: monitor.level)))
        guard case .content = decision.standstill, decision.ranking.isEmpty, decision.nextLook == nil else {
            return fail("\(plan.policy.title) was to be content, but answers \(decision)")
        }
    }

    private func limitQuestion() -> Question? {
        let limits = plan.limits
        // With fewer processes than the limit, or less memory in all, nobody needs to be counted.
        if let most = limits.backgroundProcesses, live.count > most {
            let count = live.count(where: \.countsInBackground)
            if count > most {
                return Question(demand: .backgroundProcesses(excess: count - most), level: monitor.level)
            }
        }
        guard let most = limits.backgroundMemory else { return nil }
        let books = memory.books
        guard books.resident - books.reserved > most else { return nil }
        let held = live.lazy.filter(\.countsInBackground).reduce(ByteCount.zero) {
            $0 + memory.books(of: $1.slot).footprint
        }
        guard held > most else { return nil }
        return Question(demand: .backgroundMemory(excess: held - most), level: monitor.level, threshold: most)
    }

    private func snapshot(_ question: Question) -> SystemSnapshot {
        let books = memory.books
        var snapshot = SystemSnapshot(
            now: now, demand: question.demand, level: question.level, ceiling: books.ceiling,
            resident: books.resident, available: books.available, threshold: question.threshold,
            processes: processSnapshots(), monitor: plan.monitor)
        snapshot.reading = question.reading
        snapshot.measures = measures()
        snapshot.history = reclaim.history
        snapshot.device = deviceSize
        if needs.contains(.oracle) {
            snapshot.oracle = oracle()
        }
        return snapshot
    }

    /// This device has neither a file cache nor swap: what they would tell stays zero.
    private func measures() -> SystemMeasures {
        var measures = SystemMeasures()
        measures.directReclaim = !waiters.isEmpty
        measures.some = reclaim.stalls.some
        measures.full = reclaim.stalls.full
        (measures.someLost, measures.fullLost) = reclaim.stalls.lostWithinWindow
        measures.stallUpdates = reclaim.stalls.updates
        return measures
    }

    /// Every live process. Who has not changed since the last question is shown as it was: a question costs what has
    /// happened since the one before it.
    private func processSnapshots() -> [ProcessSnapshot] {
        _ = changedProcesses()
        for index in live.indices {
            let process = live[index]
            if index == reclaim.shown.count {
                reclaim.shown.append(snapshot(process))
            } else if !process.isShownAsItIs {
                reclaim.shown[index] = snapshot(process)
            } else {
                followMainThread(of: process, in: &reclaim.shown[index])
                continue
            }
            process.isShownAsItIs = process.bands.isSettled(at: now)
        }
        if auditsEverySample {
            claim(reclaim.shown == live.map(snapshot), "policies are shown a process as it is no more")
        }
        return reclaim.shown
    }

    /// What changes too often to be told.
    private func followMainThread(of process: LiveProcess, in snapshot: inout ProcessSnapshot) {
        snapshot.isBusy = isBusy(process)
        snapshot.isEnding = process.quitReason != nil
        snapshot.warnedAt = process.warnedAt
        snapshot.answersWarning = process.answersWarning
        if process.averageFootprint > .zero { snapshot.growth = snapshot.footprint.share(of: process.averageFootprint) }
    }

    private func isBusy(_ process: LiveProcess) -> Bool {
        !process.isQuiet || process.launch != nil || process.quitReason != nil
            || process.assertions.holdsMoreThanFinishing
    }

    func snapshot(_ process: LiveProcess) -> ProcessSnapshot {
        followBand(of: process)
        return snapshot(process, in: process.bands)
    }

    func snapshot(_ process: LiveProcess, in bands: BandMachine) -> ProcessSnapshot {
        let books = memory.books(of: process.slot)
        let modes = process.phase == .suspended ? [] : process.keepAliveModes
        var snapshot = ProcessSnapshot(
            app: process.app, name: process.profile.name, pid: process.pid, phase: process.phase,
            band: bands.band(at: now), footprint: books.footprint, dirty: books.dirty,
            cache: memory.requested(in: process.cache) * scale, launchedAt: process.launchedAt,
            lastForeground: process.lastForeground, modes: modes, warnedAt: process.warnedAt,
            answersWarning: process.answersWarning, isBusy: isBusy(process),
            relaunchCost: process.relaunchCost, scenes: sceneSnapshots(of: process))
        snapshot.positionedAt = bands.position(at: now)
        snapshot.limit = process.explicitLimit.map {
            MemoryLimit(bytes: $0, isFatal: process.profile.limits.fatal)
        }
        snapshot.isEnding = process.quitReason != nil
        snapshot.relaunchIntervals = process.record.relaunchIntervals
        snapshot.like = process.profile.like
        if process.averageFootprint > .zero { snapshot.growth = books.footprint.share(of: process.averageFootprint) }
        return snapshot
    }

    /// Its band follows from what it does; a change puts it at the tail of its new band.
    func followBand(of process: LiveProcess) {
        let band = process.naturalBand
        if process.bands.requested != band { process.bands.set(band, at: now) }
    }

    /// The time since the last event: whoever waits for memory has waited all of it.
    func accountStalls(until instant: Instant) {
        let isWorking = waiters.isEmpty || live.contains { $0.isRunning && $0.waitingSince == nil }
        reclaim.stalls.advance(to: instant, isWaiting: !waiters.isEmpty, isWorking: isWorking)
    }

    /// What is to come: every launch of the scenario, what each app is likely to hold, and the limits.
    private func oracle() -> Oracle {
        let launches = reclaim.wanted.map { instants in instants.filter { $0 > now } }
        var oracle = Oracle(nextLaunch: launches.map(\.first))
        oracle.launches = launches
        oracle.sizes = expectedSizes()
        oracle.backgroundProcesses = plan.limits.backgroundProcesses
        oracle.backgroundMemory = plan.limits.backgroundMemory
        return oracle
    }

    /// When each app will be wanted, for a policy that knows the future.
    func wantedInstants() -> [[Instant]] {
        var wanted: [[Instant]] = Array(repeating: [], count: plan.apps.count)
        for event in user {
            if let app = event.action.wantedApp { wanted[app.index].append(event.at) }
        }
        return wanted.map { $0.sorted() }
    }

    func relaunchCost(of profile: AppProfile) -> TimeSpan {
        let costs = profile.costs
        let declared = costs.process + costs.launch + costs.connect + costs.enterForeground + costs.activate
        return declared + plan.device.fillRate.time(for: profile.memory.base + profile.memory.scene)
    }

    private func sceneSnapshots(of process: LiveProcess) -> [SceneSnapshot] {
        guard process.profile.scenes.support else { return [] }
        var scenes: [SceneSnapshot] = []
        for session in process.record.sessions where session.machine.phase.isConnected {
            scenes.append(
                SceneSnapshot(
                    scene: session.id, phase: session.machine.phase,
                    size: session.pool.map { memory.requested(in: $0) * scale } ?? .zero))
        }
        return scenes
    }

    // MARK: Action

    private func perform(_ decision: Decision, _ chosen: Int, _ snapshot: SystemSnapshot) {
        let candidate = decision.ranking[chosen]
        guard let process = process(candidate.action.target) else {
            return fail("the limits let pass an action on process \(candidate.action.target.number), which is dead")
        }
        let action = candidate.action
        let why = "\(candidate.reason); \((candidate.evidence ?? decision.evidence)?.text ?? snapshot.why)"
        if candidate.isReported { writeReport(decision, snapshot) }
        recorder.event(
            .action, at: now, app: process.profile.name, pid: process.pid, scene: scene(of: action), action.name,
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
            reportKill(of: process, candidate.cause ?? .jettisoned)
        }
        noteRule(candidate, snapshot)
        carryOut(action, on: process, why)
    }

    private func carryOut(_ action: ReclaimAction, on process: LiveProcess, _ why: String) {
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
        case .terminatePolitely where process.phase != .suspended: askToEnd(process, why)
        case .terminate, .terminatePolitely: end(process, .memoryPressure, why, bySystem: true)
        }
    }

    /// It is called back and has some seconds; then it is ended. The action is done when it is gone.
    private func askToEnd(_ process: LiveProcess, _ why: String) {
        guardrails.ending = process.pid
        process.goal = .background
        process.quitReason = QuitReason(.memoryPressure, why, since: now)
        queue.schedule(.politenessEnds(process.reference), at: now + Simulation.politeTime)
        advance(process)
    }

    /// UIKit gives an app about 5 s to return from `applicationWillTerminate`.
    static let politeTime = TimeSpan.seconds(5)

    func endPoliteness(_ reference: ProcessReference) {
        guard let process = process(reference), let quit = process.quitReason else { return }
        end(
            process, quit.reason, "\(quit.explanation); it did not end within \(Simulation.politeTime)",
            bySystem: quit.reason == .memoryPressure)
    }

    /// What the rule is about to have freed.
    private func noteRule(_ candidate: Candidate, _ snapshot: SystemSnapshot) {
        guard let rule = candidate.rule,
            let target = snapshot.processes.first(where: { $0.pid == candidate.action.target })
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
        guard let victim = snapshot.processes.first(where: { $0.pid == candidate.action.target }) else { return }
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
            snapshot.processes.first { $0.pid == pid }.map { "\($0.name) \($0.band.number)" }
        }
        recorder.event(
            .report, at: now, "\(report.count) processes",
            reason: "by band and place in it: " + lines.joined(separator: "; "))
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
        recorder.tally.reclaimTimes.append(now - acting.since)
        retryWaiters()
    }

    /// A step on the victim's own main thread was the action: it is done.
    func finishReclaimStep(on process: LiveProcess) {
        guard let acting = reclaim.acting, acting.action.target == process.pid else { return }
        actionTakes(.zero)
    }

    /// The user was faster, or the display is gone: the scene is not taken away, and no action waits for it.
    func stopTakingAway(_ scene: SceneID, of process: LiveProcess) {
        process.reclaiming.removeAll { $0 == scene }
        guard case .disconnectScene(process.pid, scene)? = reclaim.acting?.action else { return }
        actionTakes(.zero)
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
        let isLeaving = process.phase.isForeground && process.goal == .background
        return process.answersWarning || process.quitReason != nil || isLeaving
    }

    private func giveUp(_ pid: ProcessID, wanted: ByteCount, _ why: String) {
        guard let process = process(pid) else { return }
        let (free, longestRun) = process.found
        let fragmented = free >= wanted ? ", of which the longest run is \(longestRun) (fragmentation)" : ""
        let explanation = "no room for \(wanted), \(free) free\(fragmented), and \(why)"
        if let quit = process.quitReason, quit.reason != .memoryPressure {
            // It was on its way out, and gets no further.
            return end(process, quit.reason, "\(quit.explanation); \(explanation)", bySystem: false)
        }
        reportKill(of: process, .pageShortage)
        end(process, .memoryPressure, explanation, bySystem: true)
        closeReportOutsideSession()
    }

    /// What was observed against which threshold: the policy's own evidence, else what the demand is about.
    private func measure(
        of evidence: Evidence?, _ snapshot: SystemSnapshot
    ) -> (name: String, observed: Int64, threshold: Int64) {
        if let evidence { return (evidence.measure, evidence.observed, evidence.threshold) }
        if let reading = snapshot.reading { return (reading.column, reading.observed, reading.threshold) }
        let threshold = Int64(snapshot.threshold.bytes)
        switch snapshot.demand {
        case .backgroundProcesses(let excess):
            let most = Int64(plan.limits.backgroundProcesses ?? 0)
            return ("background_processes", most + Int64(excess), most)
        case .backgroundMemory(let excess):
            return ("background_memory_bytes", threshold + Int64(excess.bytes), threshold)
        case .pressure, .allocation, .nothing: return ("available_bytes", Int64(snapshot.available.bytes), threshold)
        }
    }

    // MARK: Record

    private func record(
        _ decision: Decision, refusals: [Refusal?], chosen: Int?, _ snapshot: SystemSnapshot
    ) {
        let demand = snapshot.demand.name
        if chosen != nil && !dryRun {
            forgetAnswers()
        } else {
            let answer = chosen.map { "\(decision.ranking[$0].action)" } ?? decision.standstillText
            let said = "\(demand) \(snapshot.demand.requester?.number ?? 0): \(answer)"
            if reclaim.said.contains(said) { return }
            reclaim.said.append(said)
        }
        recorder.tally.actionsRefused += refusals.prefix(chosen ?? refusals.count).count { $0 != nil }
        reclaim.decisions += 1
        observer?(
            DecisionRecord(
                number: reclaim.decisions, snapshot: snapshot, decision: decision, refusals: refusals,
                chosen: chosen, guardrails: guardrails))
        let measured = measure(of: decision.evidence, snapshot)
        var row = DecisionRow(
            decision: reclaim.decisions, chosen: false, reason: "",
            observed: measured.observed, threshold: measured.threshold, demand: demand, measure: measured.name)
        for (index, candidate) in decision.ranking.enumerated() {
            row.describe(snapshot.processes.first { $0.pid == candidate.action.target })
            (row.pid, row.scene) = (candidate.action.target, scene(of: candidate.action))
            (row.action, row.rank, row.score) = (candidate.action.name, index + 1, candidate.score)
            (row.chosen, row.cause) = (index == chosen, candidate.cause?.rawValue)
            row.reason = refusals[index].map { "refused by \($0.rule): \($0.explanation)" } ?? candidate.reason
            if let own = candidate.evidence {
                (row.measure, row.observed, row.threshold) = (own.measure, own.observed, own.threshold)
            }
            recorder.decision(row, at: now)
        }
        (row.action, row.rank, row.score, row.scene, row.chosen, row.cause) = (nil, nil, nil, nil, false, nil)
        for spared in decision.spared {
            row.pid = spared.pid
            row.describe(snapshot.processes.first { $0.pid == spared.pid })
            row.reason = spared.reason
            recorder.decision(row, at: now)
        }
        guard chosen == nil else { return }
        (row.app, row.pid, row.band, row.reason) = (nil, nil, nil, decision.standstillText)
        recorder.decision(row, at: now)
    }
}

extension DecisionRow {
    fileprivate mutating func describe(_ process: ProcessSnapshot?) {
        app = process?.name
        band = process?.band.number
    }
}

extension Decision {
    fileprivate var isWaiting: Bool {
        if case .waiting = standstill { return true }
        return false
    }

    /// Why nothing is done.
    fileprivate var standstillText: String {
        switch standstill {
        case .content(let reason): "nothing to do: \(reason)"
        case .waiting(let reason): "waits: \(reason)"
        case nil: "no victim: nobody is left who may be reclaimed"
        }
    }
}

extension Evidence {
    /// For people.
    public var text: String {
        guard measure.hasSuffix("_bytes") else { return "\(rule) (\(measure) \(observed), threshold \(threshold))" }
        return "\(rule) (\(ByteCount(Int(observed)).readable), threshold \(ByteCount(Int(threshold)).readable))"
    }
}

extension ReclaimDemand {
    /// Who waits for the answer.
    fileprivate var requester: ProcessID? {
        guard case .allocation(let pid, _) = self else { return nil }
        return pid
    }
}

extension LiveProcess {
    /// In memory, not in front of the user, and not on its way out: what is ending answers a limit by itself.
    fileprivate var countsInBackground: Bool { (phase == .background || phase == .suspended) && quitReason == nil }
}

extension UserAction {
    /// The app that the user wants to see.
    var wantedApp: AppID? {
        switch self {
        case .launch(let app), .switchTo(let app), .openScene(let app), .open(let app, _): app
        default: nil
        }
    }
}

extension SystemSnapshot {
    /// Nobody waits for the answer.
    fileprivate var mayBePutOff: Bool {
        switch demand {
        case .nothing, .pressure: true
        case .allocation, .backgroundProcesses, .backgroundMemory: false
        }
    }
}

extension SystemSnapshot {
    /// What was observed against which threshold, for people.
    public var reason: String { why }

    var why: String {
        switch demand {
        case .nothing: "\(available.readable) available"
        case .pressure:
            if let reading, reading.measure != .available {
                "\(level.rawValue): \(reading.text)"
            } else {
                "\(level.rawValue): \(available.readable) available, \(threshold.readable) needed"
            }
        case .allocation(let pid, let wanted):
            "process \(pid.number) waits for \(wanted.readable), \(available.readable) available"
        case .backgroundProcesses(let excess): "\(excess) more background processes than allowed"
        case .backgroundMemory(let excess):
            "background memory is \(excess.readable) above its limit of \(threshold.readable)"
        }
    }
}
