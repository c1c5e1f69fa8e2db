import Lifecycle
import Metrics
import Quantities

// The end of a process, whatever the cause.
extension Simulation {
    /// Ends the process now, if there is a reason to.
    func end(_ process: LiveProcess, _ ending: ProcessEnding?) {
        if let ending { end(process, ending.reason, ending.explanation) }
    }

    /// Ends the process now. Its code gets no callback: every callback that was due has been delivered before.
    func end(_ process: LiveProcess, _ reason: ExitReason, _ explanation: String, _ fact: ExitFact? = nil) {
        let (wasForeground, app) = (isOnScreen(process, reason), process.record)
        // A rule may end a process that the policy has asked to end.
        let decided = fact == nil ? reclaimer.decided(on: process, reason) : nil
        let fact = fact ?? decided.map { .decided($0.end.cause) }
        let termination = reason.isBySystem ? termination(of: process, reason, explanation, fact, decided) : nil
        let footprint = memory.books(of: process.slot).footprint
        let isVictim = reclaimer.isEnding(process) || fact?.cause == .kernelOOM
        let pools = isVictim ? process.allPools : []
        waiters.end(process)
        abandonLaunch(of: process, outcome: .terminated)
        recorder.event(
            .exit, at: now, app: process.profile.name, pid: process.pid, reason.rawValue, reason: explanation,
            fact: .exit(reason, fact))
        if let since = process.unsavedSince { recordLostData(of: process, since) }
        leaveScenes(of: process)
        countLife(of: process)
        recorder.count(of: process) { $0.end(reason, inForeground: wasForeground) }
        if process.phase != .notRunning { apply(.terminate, to: process, reason: reason.rawValue) }
        if let termination { record(termination, of: process) }
        releaseEverything(of: process, keepingMemory: isVictim)
        if process.course.isSwipedAway { app.discardAllSessions() }
        parts.ended(process, because: reason)
        reclaimer.processEnded(process, reason, held: footprint, isVictim ? pools : nil)
        waiters.serve()
        if let tap = app.takeTap() {
            if display.isShown(app.id) {
                return launchCold(app, scene: app.sceneToShow, tapped: tap.at, for: tap.reason)
            }
            countWish(for: app, tapped: tap.at)
            abandonTap(at: tap.at, on: app)
        }
        display.leave(app.id)
    }

    /// Whether the user sees the process vanish, or waits for it. If the watchdog ends it after a swipe, the user does
    /// not, whatever state it reads: public logs of such exits say `ProcessVisibility: Background`.
    private func isOnScreen(_ process: LiveProcess, _ reason: ExitReason) -> Bool {
        process.isInFront && !(process.course.isSwipedAway && reason == .appWatchdog)
    }

    /// The process ends before the app has saved what the user did.
    private func recordLostData(of process: LiveProcess, _ since: Instant) {
        recorder.count(of: process) { $0.dataLost += 1 }
        recorder.event(
            .dataLost, at: now, app: process.profile.name, pid: process.pid, "not saved since \(since)",
            reason: "it did not resign being active before its end")
    }

    private func leaveScenes(of process: LiveProcess) {
        for scene in process.record.disconnectAll() {
            recorder.event(
                .sceneState, at: now, app: process.profile.name, pid: process.pid, scene: scene,
                ScenePhase.unattached.rawValue, reason: "process ended", fact: .entered(ScenePhase.unattached))
        }
    }

    /// What is known of the process before it goes.
    private func termination(
        of process: LiveProcess, _ reason: ExitReason, _ explanation: String, _ fact: ExitFact?,
        _ decided: (end: DecidedEnd, for: RunTally.Beneficiary?)?
    ) -> RunTally.TerminationFact {
        var course = RunTally.TerminationCourse()
        if let kind = process.profile.part?.kind { course.kind = kind.rawValue }
        course.state = process.phase
        // The process may have changed its state after the last look at its band.
        process.followBand(at: now)
        course.band = (decided?.end.band(of: process, at: now) ?? process.bands.band(at: now)).number
        course.cause = fact?.cause.name
        course.explanation = explanation
        course.decision = decided?.end.decision
        course.demand = decided?.end.demand.name
        course.level = decided?.end.level.rawValue
        course.standing = decided?.end.standing(of: process) ?? fact?.standing
        if let comparison = decided?.end.comparison ?? fact?.comparison {
            (course.measure, course.observed) = (comparison.measure, comparison.observed)
            course.threshold = comparison.threshold
        }
        if !process.isInFront { course.idle = now - (process.lastForeground ?? process.launch.at) }
        course.warnedBefore = process.warnings.lastAt.map { now - $0 }
        course.failures = failures(before: process)
        var termination = RunTally.TerminationFact(
            app: process.profile.name, pid: process.pid, at: now, reason: reason,
            wasForeground: isOnScreen(process, reason), wasPerceived: process.reasons.showsPicture,
            footprint: memory.books(of: process.slot).footprint,
            beneficiary: decided.map { $0.for } ?? ownNeed(of: process, reason, fact), course: course)
        termination.tell(in: plan)
        return termination
    }

    /// What has failed before the process ends, because the scenario says so.
    private func failures(before process: LiveProcess) -> RunTally.Failures {
        var failures = RunTally.Failures()
        failures.lostWarningBefore = process.warnings.lostAt.map { now - $0 }
        failures.lateWarningBefore = process.warnings.lateSince.map { now - $0 }
        failures.hung = process.thread.hangsSince.map { now - $0 }
        failures.samplesMissed = watch.recentlyMissed
        failures.crashedBefore = process.record.crashedAt.map { now - $0 }
        failures.refusals = reclaimer.refusals
        return failures
    }

    /// What the process itself wanted, if it ends for that.
    private func ownNeed(of process: LiveProcess, _ reason: ExitReason, _ fact: ExitFact?) -> RunTally.Beneficiary? {
        if let known = fact?.beneficiary { return known }
        if reason == .memoryResourceLimit { return beneficiary(process, .ownLimit) }
        guard case .stall? = fact?.cause else { return nil }
        return beneficiary(process, .ownAllocation)
    }

    private func record(_ termination: RunTally.TerminationFact, of process: LiveProcess) {
        recorder.tally.terminations.append(termination)
        // The user cannot tell whether an app was prewarmed.
        if !process.course.isSwipedAway && !process.launch.isPrewarmed {
            process.record.wasTerminated(at: now, fact: recorder.tally.terminations.count - 1)
        }
        // The process itself is still in the list.
        let others = processes.live.count - 1
        recorder.tally.lives.fewest = min(recorder.tally.lives.fewest ?? .max, others)
        if let lead = termination.course.warnedBefore { recorder.tally.warningLeads.append(lead) }
    }

    /// Adds to the tally how long the process lived, how long it was suspended, and its largest footprint. Called when
    /// the process or the run ends.
    func countLife(of process: LiveProcess) {
        recorder.tally.lives.time += now - max(.zero, process.launch.at)
        let peak = memory.peakFootprint(of: process.slot)
        recorder.count(of: process) { $0.peakFootprint = max($0.peakFootprint, peak) }
        background.countSuspension(of: process)
    }

    /// Removes the process from every component; its memory goes back to the device.
    ///
    /// - Parameter keepsMemory: Whether the memory stays, because it returns at the device's rate.
    func releaseEverything(of process: LiveProcess, keepingMemory keepsMemory: Bool = false) {
        process.record.forgetProcess(closing: process.course.closing, external: process.course.externalScene)
        // The second display goes dark.
        if process.course.externalScene != nil { display.showExternally(nil) }
        if let callback = process.thread.takeCallback() { recorder.end(callback, at: nil) }
        processes.remove(process)
        changes.remove(process.position)
        snapshots.forget(process)
        sampler.forget(process)
        waiters.forget(process)
        freezer?.forget(process)
        scheduler.release(process.reference)  // promise: core
        process.retire()
        process.record.processEnded()
        if !process.record.requests.isEmpty { services.processEnded(of: process.record) }
        releaseDisplay(by: process)
        releaseSecondDisplay(by: process)
        guard !keepsMemory else { return }
        do {
            _ = try memory.endProcess(process.slot)
        } catch {
            faults.fail("\(error)")
        }
    }
}
