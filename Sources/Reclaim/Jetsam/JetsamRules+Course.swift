import Pressure
import Quantities

// One decision of the kernel. Sources: xnu-11417.101.15, `memorystatus_pick_action` in
// bsd/kern/kern_memorystatus_policy.c for the order of the steps, and bsd/kern/kern_memorystatus.c for the rest.
//
// Left out: what the kernel knows of its last walk through all processes (a sweep may begin later for it), processes
// that an entitlement pins in band 40 (a round ends these first), and the lenient mode of an app in front.
extension JetsamRules {
    /// One decision, and what is under way after it.
    ///
    /// A round goes on before everything else. A victim that has given its purgeable memory comes next. If the limits
    /// keep the victims of an earlier step, later steps follow as usual.
    func decide(_ snapshot: SystemSnapshot) -> Decision {
        if snapshot.isAboutLimits {
            return answer(snapshot, [Step(.jettisoned, "a limit on background apps is exceeded")])
        }
        var course = snapshot.history.course
        var first = roundStep(&course, snapshot)
        if first == nil { first = purgedStep(&course, snapshot) }
        // While one of these goes on, nothing else begins.
        var other = course
        let found = stepsByMemory(&other, snapshot)
        if first == nil { course = other }
        let steps = [first].compactMap(\.self) + found.steps
        var decision =
            found.isHealthy && first == nil ? answerHealthy(snapshot, steps) : answer(snapshot, steps)
        course.purge = purge(decision, snapshot)
        if course != snapshot.history.course { decision.course = course }
        return decision
    }

    /// The steps that apply by what is available now, and whether the system is healthy.
    private func stepsByMemory(
        _ course: inout JetsamCourse, _ snapshot: SystemSnapshot
    ) -> (steps: [Step], isHealthy: Bool) {
        let thresholds = thresholds(for: snapshot.device, hasIdle: !snapshot.idleProcesses.isEmpty)
        func isBelow(_ share: Ratio) -> Bool { snapshot.obtainable < snapshot.ceiling * share }
        followSweep(&course, snapshot, thresholds)
        if let step = spaceStep(snapshot) { return ([step], false) }
        let thrashing = thrashingStep(snapshot)
        if isBelow(thresholds.critical) || snapshot.requester != nil || thrashing != nil {
            let top = thrashing ?? topProcess(snapshot, thresholds)
            // It comes first whenever the system is unhealthy, above `soft`, too.
            var highwater = highwaterStep(below: isBelow(thresholds.soft) ? thresholds.soft : nil)
            if !isBelow(thresholds.soft) { highwater.own = top.evidence(snapshot) }
            let hasHighwater = snapshot.processes.contains { $0.isOverSoftLimit && $0.mayBeVictim }
            let round = newRound(&course, snapshot, begins: !hasHighwater)
            return ([highwater] + [round].compactMap(\.self) + [top], false)
        }
        var steps = isBelow(thresholds.soft) ? [highwaterStep(below: thresholds.soft)] : []
        steps += idleStep(thresholds, isBelow)
        steps += sweepStep(&course, snapshot, thresholds)
        steps += sustainedStep(snapshot)
        return (steps, true)
    }

    /// Whether an action was carried out since the decision of this instant. If not, nothing allowed its victims to
    /// be ended, as if the kernel had tried in vain.
    private func hasActed(since asked: Instant, _ snapshot: SystemSnapshot) -> Bool {
        snapshot.history.lastAction.map { $0 >= asked } ?? false
    }

    // MARK: The reaper's sweep

    /// Ends a sweep that has no victim left, and begins one if it is time: at too little available memory, once no
    /// sweep has looked for a victim for `reaperRest`. A sweep that finds nobody begins and ends at once, and the rest
    /// follows it as well.
    private func followSweep(
        _ course: inout JetsamCourse, _ snapshot: SystemSnapshot, _ thresholds: JetsamThresholds
    ) {
        if let swept = course.swept, !course.sweep.isEmpty {
            let left = course.sweep.filter { snapshot.process($0).map { mayReap($0, snapshot) } ?? false }
            course.sweep = hasActed(since: swept, snapshot) ? left : []
        }
        guard course.sweep.isEmpty, snapshot.obtainable < snapshot.ceiling * thresholds.reaper,
            course.swept.map({ snapshot.now - $0 > reaperRest }) ?? true
        else { return }
        course.sweep = JetsamOrder.sorted(snapshot.processes).filter { mayReap($0, snapshot) }.map(\.pid)
        course.swept = snapshot.now
    }

    private func mayReap(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Bool {
        process.mayBeVictim && whyNotReaped(process, at: snapshot.now) == nil
    }

    /// The sweep goes on, whatever memory has come back.
    private func sweepStep(
        _ course: inout JetsamCourse, _ snapshot: SystemSnapshot, _ thresholds: JetsamThresholds
    ) -> [Step] {
        guard !course.sweep.isEmpty else { return [] }
        course.swept = snapshot.now
        let sweep = course.sweep
        var step = Step(.longIdleExit, "idle for \(reaperIdle) or longer", below: thresholds.reaper) {
            whyNotReaped($0, at: snapshot.now) ?? (sweep.contains($0.pid) ? nil : "too late for this sweep")
        }
        let threshold = snapshot.ceiling * thresholds.reaper
        if snapshot.obtainable >= threshold {
            step.own = Evidence(
                "available_bytes", observed: Int64(snapshot.obtainable.bytes), threshold: Int64(threshold.bytes),
                rule: "a sweep goes on that began below \(thresholds.reaper) of RAM")
        }
        return [step]
    }

    // MARK: The aggressive mode

    /// The round that is under way; nil: none is, or it is over. It does not look at memory.
    private func roundStep(_ course: inout JetsamCourse, _ snapshot: SystemSnapshot) -> Step? {
        guard var round = course.round else { return nil }
        course.round = nil
        let highest = round.highest
        round.victims.removeAll { pid in
            snapshot.process(pid).map { !$0.mayBeVictim || $0.band > highest } ?? true
        }
        guard hasActed(since: round.asked, snapshot), !round.victims.isEmpty,
            snapshot.history.kills(.processThrashing, since: round.began) < round.most
        else { return nil }
        round.asked = snapshot.now
        course.round = round
        return step(of: round, snapshot)
    }

    /// A new round, if all of at least `aggressiveCandidates` processes in bands 0 and 10 are very likely to be
    /// launched again (`memorystatus_check_aggressive_jetsam_needed`).
    ///
    /// - Parameter begins: Whether the round is this decision's action, so that it counts and goes on.
    private func newRound(_ course: inout JetsamCourse, _ snapshot: SystemSnapshot, begins: Bool) -> Step? {
        let candidates = snapshot.processes.filter { $0.band == .idle || $0.band == .daemonAgeing }
        // The kernel does not look before all victims over soft limits have ended.
        if begins && (candidates.isEmpty || course.windowBegan.map { snapshot.now - $0 > aggressiveWindow } ?? true) {
            (course.windowBegan, course.rounds) = (snapshot.now, 0)
        }
        guard snapshot.obtainable <= snapshot.ceiling * aggressiveAvailable,
            candidates.count >= aggressiveCandidates,
            candidates.allSatisfy({ $0.relaunchLikelihood == .high })
        else { return nil }
        let bands = release(on: snapshot.device).roundBands
        let highest = bands[min(course.rounds, bands.count - 1)]
        let reached = JetsamOrder.sorted(snapshot.processes).filter { $0.mayBeVictim && $0.band <= highest }
        let round = JetsamCourse.Round(
            victims: reached.map(\.pid), highest: highest,
            most: JetsamRules.killsPerProcess * snapshot.processes.count { $0.band < highest },
            began: snapshot.now, asked: snapshot.now)
        if begins {
            course.rounds += 1
            course.round = round
        }
        return step(of: round, snapshot)
    }

    /// A round ends after this many kills for each process that was below its band when it began
    /// (`memorystatus_jld_max_kill_loops`, the same in all four releases).
    private static let killsPerProcess = 2

    private func step(of round: JetsamCourse.Round, _ snapshot: SystemSnapshot) -> Step {
        let (highest, victims) = (round.highest, round.victims)
        var step = Step(
            .processThrashing, "all idle apps are likely to be launched again soon", below: aggressiveAvailable
        ) {
            if $0.band > highest { return "above band \(highest.number), which this round reaches" }
            return victims.contains($0.pid) ? nil : "too late for this round"
        }
        let threshold = snapshot.ceiling * aggressiveAvailable
        if snapshot.obtainable > threshold {
            step.own = Evidence(
                "available_bytes", observed: Int64(snapshot.obtainable.bytes), threshold: Int64(threshold.bytes),
                rule: "a round goes on that began at \(aggressiveAvailable) of RAM or below")
        }
        return step
    }

    // MARK: Purgeable memory

    /// The victim whose purgeable memory has been taken ends, unless that was enough: a process over a soft limit must
    /// be below it now, and for any other cause available memory must have reached `soft`. The reaper's sweep ends with
    /// a process that is spared so.
    ///
    /// Source: xnu-11417.101.15, `memorystatus_kill_proc` and the end of `memorystatus_kill_top_process`.
    private func purgedStep(_ course: inout JetsamCourse, _ snapshot: SystemSnapshot) -> Step? {
        guard let purge = course.purge else { return nil }
        course.purge = nil
        guard let process = snapshot.process(purge.pid), process.mayBeVictim, process.band <= purge.band,
            process.memory.purgeable == .zero
        else { return nil }
        let soft = thresholds(for: snapshot.device, hasIdle: false).soft
        let isEnough =
            purge.cause == .highwater
            ? !process.isOverSoftLimit : snapshot.obtainable >= snapshot.ceiling * soft
        guard !isEnough else {
            if purge.cause == .longIdleExit { course.sweep = [] }
            return nil
        }
        let threshold = purge.cause == .highwater ? nil : soft
        return Step(purge.cause, "its purgeable memory was not enough", below: threshold) {
            $0.pid == purge.pid ? nil : "another process gave its purgeable memory"
        }
    }

    /// The victim whose purgeable memory the decision takes first; nil: there is none.
    private func purge(_ decision: Decision, _ snapshot: SystemSnapshot) -> JetsamCourse.Purge? {
        guard case .discard(let pid)? = decision.ranking.first?.action, let process = snapshot.process(pid),
            let cause = decision.ranking.first(where: { $0.action == .terminate(pid) })?.cause
        else { return nil }
        return JetsamCourse.Purge(pid: pid, band: process.band, cause: cause)
    }
}
