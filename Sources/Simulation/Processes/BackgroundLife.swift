import Lifecycle
import Quantities
import Reclaim
import Workload

/// How a process ends, with the system's explanation.
struct ProcessEnding {
    let reason: ExitReason
    let explanation: String

    init(_ reason: ExitReason, _ explanation: String) {
        self.reason = reason
        self.explanation = explanation
    }

    /// The end of a process that was asked to end and cannot finish.
    init(_ quit: QuitReason, because why: String) {
        self.init(quit.reason, "\(quit.explanation); \(why)")
    }

    /// The end of a process that was asked to end and did not in its time: the watchdog's, whoever asked (0x8badf00d;
    /// public logs of `process-exit` show 5.00 s).
    ///
    /// If a policy asked, for the sake of memory, the end is still the one that the policy wanted. It keeps the
    /// policy's reason, so that it counts as the policy's.
    init(overdue quit: QuitReason, because why: String) {
        self.init(quit.reason == .memoryPressure ? .memoryPressure : .appWatchdog, "\(quit.explanation); \(why)")
    }
}

/// The rules of life off screen: what keeps a process running, for how long, and when it has to end.
///
/// They set the timers and return what follows; the engine carries it out.
struct BackgroundLife {
    /// How long a process may run off screen without a background mode.
    let time: TimeSpan
    let display: Display
    let scheduler: Scheduler
    let agenda: Agenda
    let recorder: RunRecorder

    // MARK: Stays

    func begin(of process: LiveProcess, from before: ProcessPhase) {
        process.stay.begin(at: agenda.now)
        if before != .suspended { process.stay.enter(at: agenda.now) }
        // A process that was launched or woken while the device is locked meets closed files too.
        if !display.protectedDataIsAvailable { process.missed.protectedData = true }
        switch before {
        case .suspended:
            process.reasons.endModes()
            tellWhatWasMissed(process)
        case .notRunning, .prewarmed: process.reasons.endModes()
        case .inactive, .active, .background: leaveScreen(process)
        }
        scheduleExpiry(of: process)
    }

    /// The process has left the screen: every app gets a few seconds, modes and tasks give more.
    private func leaveScreen(_ process: LiveProcess) {
        let profile = process.profile.background
        if !process.reasons.hasModes {
            let id = process.reasons.begin(.finishing)
            agenda.schedule(.assertionEnds(id: id), of: process, after: min(profile.work, time))
        } else if let span = profile.modesLast {
            agenda.schedule(.modesOver(serial: process.stay.serial), of: process, after: span)
        }
        process.stay.expectTelling()
    }

    /// The app's delegate is told that the app has entered the background. There the app asks for more time.
    func beginOwnTask(of process: LiveProcess) {
        let profile = process.profile.background
        guard process.phase == .background, process.stay.tell(), !process.reasons.holdsTask else { return }
        if profile.task != nil || profile.leaksTask {
            beginTask(of: process, lasting: profile.leaksTask ? nil : profile.task)
        }
    }

    /// The process is on screen again: nothing of the stay in the background remains except its tasks.
    func end(of process: LiveProcess) {
        process.stay.end()
        process.reasons.resumeModes()
        process.course.forgetSuspension()
        process.reasons.endFinishing()
    }

    func suspend(_ process: LiveProcess) {
        recorder.tally.suspensions += 1
        recorder.count(of: process) { $0.suspensions += 1 }
        process.stay.suspend(at: agenda.now)
        process.course.forgetSuspension()
        process.reasons.endModes()
        process.reasons.clear()
        // 0xdead10cc, whether or not the device is locked. Source: Apple TN2151.
        if holdsFileLock(process) {
            process.thread.append(
                .exit(.suspendedWithLockedFile, "suspended while it held a lock on a file or an SQLite database"))
        }
    }

    /// Whether the process has not released its lock on a file yet. It takes the lock when it enters the background or
    /// is launched there, and no more when it is woken.
    private func holdsFileLock(_ process: LiveProcess) -> Bool {
        let profile = process.profile.background
        guard profile.holdsFileLock, let time = profile.fileLockTime else { return profile.holdsFileLock }
        return process.stay.entered.map { agenda.now - $0 < time } ?? false
    }

    /// Counts a suspension under way up to now.
    func countSuspension(of process: LiveProcess) {
        guard let since = process.stay.resume() else { return }
        recorder.tally.lives.suspended += agenda.now - since
    }

    // MARK: Assertions

    /// Ends an assertion; false if the process no longer held it.
    func endAssertion(_ id: Int, of process: LiveProcess) -> Bool {
        guard let kind = process.reasons.end(id) else { return false }
        if kind == .task { recordTask("ends", of: process) } else { process.followBand(at: agenda.now) }
        return true
    }

    /// The background modes have no more work. False if the timer belongs to an earlier stay.
    func endModes(of process: LiveProcess, _ serial: Int) -> Bool {
        guard process.stay.serial == serial else { return false }
        process.reasons.endModes()
        process.stay.restart(at: agenda.now)
        scheduleExpiry(of: process)
        return true
    }

    /// What kept the process running is over; a process that still has modes or is on screen goes on.
    func modesAreOver(of process: LiveProcess) {
        process.followBand(at: agenda.now)
        guard process.phase == .background, !process.reasons.hasModes else { return }
        process.stay.restart(at: agenda.now)
        scheduleExpiry(of: process)
    }

    // MARK: Background tasks

    /// Records that a task has begun or ended, or that its time is nearly over.
    func recordTask(_ what: String, of process: LiveProcess, why: String? = nil) {
        process.followBand(at: agenda.now)
        recorder.event(
            .backgroundTask, at: agenda.now, app: process.profile.name, pid: process.pid, what, reason: why)
    }

    /// `beginBackgroundTask`, called by the app itself or by the scenario.
    func beginTask(of process: LiveProcess, lasting span: TimeSpan?) {
        let id = process.reasons.begin(.task)
        recordTask("begins", of: process)
        if let span { agenda.schedule(.assertionEnds(id: id), of: process, after: span) }
        if let since = process.stay.since, agenda.now - since >= time { process.stay.restart(at: agenda.now) }
        process.stay.expectExpiry()
        scheduleExpiry(of: process)
    }

    /// The time for tasks begins when the app enters the background. It does not run out while a background mode keeps
    /// the app running.
    private func scheduleExpiry(of process: LiveProcess) {
        guard process.reasons.holdsTask, !process.reasons.hasModes, let since = process.stay.since else { return }
        let end = since + time
        let (serial, now) = (process.stay.serial, agenda.now)
        let notice = RunAssertions.expiryNotice(of: time)
        agenda.schedule(.tasksExpire(serial: serial), of: process, at: max(now, end - notice))
        agenda.schedule(.taskTimeOver(serial: serial), of: process, at: max(now, end))
    }

    private func holdsExpiringTask(_ process: LiveProcess, _ serial: Int) -> Bool {
        process.stay.serial == serial && process.reasons.holdsTask && !process.reasons.hasModes
    }

    /// Calls the expiry handlers; false if nothing expires or they were called before.
    func expireTasks(of process: LiveProcess, _ serial: Int) -> Bool {
        guard holdsExpiringTask(process, serial), process.stay.beginExpiring() else { return false }
        recordTask("expires", of: process, why: "its expiry handler is called")
        process.thread.append(.expiryHandler)
        return true
    }

    /// The handlers run: they end every task, unless the app forgets to.
    func endExpiredTasks(of process: LiveProcess) {
        process.stay.endExpiring()
        guard !process.profile.background.leaksTask else { return }
        while process.reasons.endLastTask() { recordTask("ends", of: process, why: "in its expiry handler") }
    }

    func taskTimeout(of process: LiveProcess, _ serial: Int) -> ProcessEnding? {
        guard holdsExpiringTask(process, serial), let since = process.stay.since, agenda.now - since >= time else {
            return nil
        }
        return ProcessEnding(
            .backgroundTaskAssertionTimeout, "still holds a background task when its time of \(time) is over")
    }

    // MARK: Events

    /// Delivers the event that the app was launched or woken for; it keeps the app running for a while.
    func receive(_ reason: LaunchReason, lasting span: TimeSpan, _ process: LiveProcess) {
        recorder.event(.backgroundEvent, at: agenda.now, app: process.profile.name, pid: process.pid, reason.rawValue)
        let id = process.reasons.begin(.event(reason))
        process.reasons.stopAwaitingEvent()
        process.followBand(at: agenda.now)
        let lasts = reason == .demand && process.profile.part?.kind.worksOnDemand == true
        let isLimited = reason != .processing && reason != .call && !lasts
        agenda.schedule(.assertionEnds(id: id), of: process, after: isLimited ? min(span, time) : span)
    }

    // MARK: News

    /// Tells the process what happened while it was suspended, if it still holds.
    private func tellWhatWasMissed(_ process: LiveProcess) {
        guard !process.record.isPart else { return }
        if process.missed.protectedData && display.protectedDataIsAvailable { tellThatProtectedDataIsBack(process) }
        if process.missed.timeChange { tellOfTimeChange(process) }
        if process.missed.endedWebContent { tellOfEndedWebContent(process) }
        // A process that wakes only to lose a scene does nothing else.
        if process.missed.deferredWork && process.course.reclaiming.isEmpty {
            process.missed.deferredWork = false
            process.thread.append(.deferredWork)
        }
    }

    /// The time has jumped. A process that runs no code misses this, and is told when it runs again.
    func tellOfTimeChange(_ process: LiveProcess) {
        guard !process.record.isPart, process.phase != .prewarmed else { return }
        process.missed.timeChange = !process.phase.runsCode
        guard process.phase.runsCode else { return }
        process.thread.append(.tell(.applicationSignificantTimeChange, nil))
        process.thread.append(.post(.significantTimeChange))
    }

    /// The process with the contents of the app's pages has ended alone. An app that runs no code is told when it runs
    /// again.
    func tellOfEndedWebContent(_ process: LiveProcess) {
        process.missed.endedWebContent = !process.phase.runsCode
        if process.phase.runsCode { process.thread.append(.tell(.webContentDidTerminate, nil)) }
    }

    /// Work that the app has moved off its main thread is done. A process that runs no code misses this, and adds the
    /// memory when it runs again.
    ///
    /// - Returns: Whether the main thread now has something to do.
    func finishDeferredWork(of process: LiveProcess) -> Bool {
        guard process.phase.runsCode else {
            process.missed.deferredWork = true
            return false
        }
        process.thread.append(.deferredWork)
        return true
    }

    func tellThatProtectedDataGoes(_ process: LiveProcess) {
        guard !process.isEnding, !process.record.isPart else { return }
        process.missed.protectedData = true
        process.thread.append(.tell(.applicationProtectedDataWillBecomeUnavailable, nil))
        process.thread.append(.post(.protectedDataWillBecomeUnavailable))
    }

    func tellThatProtectedDataIsBack(_ process: LiveProcess) {
        process.missed.protectedData = false
        guard !process.record.isPart else { return }
        process.thread.append(.tell(.applicationProtectedDataDidBecomeAvailable, nil))
        process.thread.append(.post(.protectedDataDidBecomeAvailable))
    }

    // MARK: Audio

    /// A call pauses the audio of the process, on screen or off. Off screen the process then has the few seconds of an
    /// app that has left the screen.
    func pauseAudio(of process: LiveProcess) {
        guard process.phase.runsCode, process.reasons.playsAudio, !process.isEnding else { return }
        process.thread.append(.audioInterruption(begins: true))
        process.reasons.pauseAudio(runsOn: process.record.rules.pausedAudioRuns)
        process.followBand(at: agenda.now)
        guard process.phase == .background, !process.reasons.hasModes else { return }
        let id = process.reasons.begin(.finishing)
        agenda.schedule(.assertionEnds(id: id), of: process, after: min(process.profile.background.work, time))
        process.stay.restart(at: agenda.now)
        scheduleExpiry(of: process)
    }

    /// The call is over: the process plays again. Off screen its modes have as much work as before.
    func resumeAudio(of process: LiveProcess) {
        process.reasons.resumeAudio()
        if process.phase == .background {
            process.reasons.resumeModes()
            process.reasons.endFinishing()
            if let span = process.profile.background.modesLast {
                agenda.schedule(.modesOver(serial: process.stay.serial), of: process, after: span)
            }
        }
        process.followBand(at: agenda.now)
    }

    // MARK: Deadlines

    func beginDeadline(_ kind: Deadline, of process: LiveProcess) {
        guard let serial = process.thread.begin(kind) else { return }
        agenda.schedule(.deadline(serial: serial), of: process, after: kind.span(process.record.rules))
    }

    /// The process was told to end. Its deadlines normally begin with their steps. But a main thread that waits for
    /// memory, or hangs, takes no steps, so for such a process the time begins here.
    func expectEnd(of process: LiveProcess) {
        agenda.schedule(.overdue, of: process, after: Deadline.terminationTime)
    }

    /// The process is to leave the screen and has the time for entering the background. A deadline of one of its steps
    /// takes precedence.
    func expectLeaving(of process: LiveProcess) {
        guard let since = process.course.leavingSince, process.isLeavingScreen else { return }
        let due = max(agenda.now, since + process.record.rules.enterBackgroundTime)
        agenda.schedule(.overdue, of: process, at: due)
    }

    /// The end of a process that waits for memory, or hangs, and has run out of time; nil: it has time left.
    func overdue(_ process: LiveProcess) -> ProcessEnding? {
        let what = process.thread.hangsSince == nil ? "waits for memory" : "does not answer"
        if let quit = process.course.quit {
            guard agenda.now - quit.since >= quit.time else { return nil }
            return ProcessEnding(overdue: quit, because: "\(what) and did not end within \(quit.time)")
        }
        let span = process.record.rules.enterBackgroundTime
        guard process.isLeavingScreen, process.thread.deadline == nil, let since = process.course.leavingSince,
            agenda.now - since >= span
        else { return nil }
        return ProcessEnding(.appWatchdog, "\(what) and did not leave the screen within \(span)")
    }

    func missedDeadline(of process: LiveProcess, _ serial: Int) -> ProcessEnding? {
        guard let deadline = process.thread.deadline, deadline.serial == serial else { return nil }
        let wait = scheduler.wait(ofMainThread: process)
        let kept = wait > .zero ? "; its present work was kept from a core for \(wait)" : ""
        let span = deadline.kind.span(process.record.rules)
        let explanation = "\(deadline.kind.rawValue) took longer than \(span)\(kept)"
        if let quit = process.course.quit {
            // The process ends when its time is over, and not before.
            return quit.hasGrace ? nil : ProcessEnding(overdue: quit, because: explanation)
        }
        return ProcessEnding(.appWatchdog, explanation)
    }
}
