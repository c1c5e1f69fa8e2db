import Lifecycle
import Quantities
import Workload

// Life off screen: what keeps a process running, for how long, and what happens when it does not let go.
extension Simulation {
    /// More than so much of a core over a minute is a violation off screen. Source: the CPU usage exceptions in Apple's
    /// crash reports ("exceeded limit of 80% cpu over 60 seconds": 48 s of CPU time).
    static let backgroundCPU = Ratio.percent(80)
    static let backgroundCPUTime: TimeSpan = .seconds(48)

    func beginBackground(of process: LiveProcess, from before: ProcessPhase) {
        process.backgroundSince = now
        process.backgroundSerial += 1
        // Also who was launched or woken meanwhile meets closed files.
        if lockedUntil != nil { process.missesProtectedData = true }
        switch before {
        case .suspended:
            process.modesAreActive = false
            tellWhatWasMissed(process)
        case .notRunning: process.modesAreActive = false
        case .inactive, .active, .background: beginStay(of: process)
        }
        let profile = process.profile.background
        if profile.cpu > Simulation.backgroundCPU {
            // The time after which so large a share has used up the minute's allowance.
            let span = TimeSpan(
                microseconds: Simulation.backgroundCPUTime.microseconds * 1_000_000 / profile.cpu.partsPerMillion)
            queue.schedule(.cpuLimit(process.reference, serial: process.backgroundSerial), at: now + span)
        }
        scheduleExpiry(of: process)
    }

    /// It has left the screen: a few seconds for everybody, more for modes and tasks.
    private func beginStay(of process: LiveProcess) {
        let profile = process.profile.background
        let serial = process.backgroundSerial
        if !process.hasKeepAliveModes {
            let id = process.assertions.begin(.finishing)
            let span = min(profile.work, plan.limits.backgroundTime)
            queue.schedule(.assertionEnds(process.reference, id: id), at: now + span)
        } else if let span = profile.modesLast {
            queue.schedule(.modesOver(process.reference, serial: serial), at: now + span)
        }
        // At once, not after the snapshot: who asks for time asks while it leaves.
        if (profile.task != nil || profile.leaksTask) && !process.assertions.holdsTask {
            beginTask(of: process, lasting: profile.leaksTask ? nil : profile.task)
        }
    }

    /// It is on screen again: nothing of the stay in the background counts any more, its tasks excepted.
    func endBackground(of process: LiveProcess) {
        process.backgroundSince = nil
        process.backgroundSerial += 1
        process.modesAreActive = true
        process.wantsSuspension = false
        process.assertions.endAll(.finishing)
    }

    func beginSuspension(of process: LiveProcess) {
        recorder.tally.suspensions += 1
        process.suspendedSince = now
        process.wantsSuspension = false
        process.backgroundSince = nil
        process.backgroundSerial += 1
        process.modesAreActive = false
        process.assertions.clear()
        // 0xdead10cc, whether the device is locked or not. Source: Apple TN2151.
        if process.profile.background.holdsProtectedFile {
            process.steps.append(
                .exit(.suspendedWithLockedFile, "suspended while it held a lock on a file or an SQLite database"))
        }
    }

    /// What happened while it was suspended and is still true.
    private func tellWhatWasMissed(_ process: LiveProcess) {
        if process.missesProtectedData && lockedUntil == nil { tellThatProtectedDataIsBack(process) }
        if process.missedTimeChange { tellOfTimeChange(process) }
        // What wakes it to take a scene away wakes it for nothing else.
        if process.missedDeferredWork && process.reclaiming.isEmpty {
            process.missedDeferredWork = false
            process.steps.append(.deferredWork)
        }
    }

    // MARK: Assertions

    func endAssertion(_ reference: ProcessReference, _ id: Int) {
        guard let process = process(reference), let kind = process.assertions.end(id) else { return }
        if kind == .task { noteTask("ends", of: process) } else { followBand(of: process) }
        advance(process)
    }

    func endModes(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), process.backgroundSerial == serial else { return }
        process.modesAreActive = false
        process.backgroundSince = now
        scheduleExpiry(of: process)
        advance(process)
    }

    func crossCPULimit(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), process.backgroundSerial == serial else { return }
        let cpu = process.profile.background.cpu
        end(
            process, .cpuResourceLimit,
            "used \(Simulation.backgroundCPUTime) of CPU off screen at \(cpu), "
                + "above \(Simulation.backgroundCPU) over 60s")
    }

    // MARK: Background tasks

    /// A task has begun or ended, or its time is nearly over.
    func noteTask(_ what: String, of process: LiveProcess, why: String? = nil) {
        followBand(of: process)
        recorder.event(
            .backgroundTask, at: now, app: process.profile.name, pid: process.pid, what, reason: why)
    }

    /// `beginBackgroundTask`, by the app itself or by the scenario.
    func beginTask(of process: LiveProcess, lasting span: TimeSpan?) {
        let id = process.assertions.begin(.task)
        noteTask("begins", of: process)
        if let span { queue.schedule(.assertionEnds(process.reference, id: id), at: now + span) }
        if let since = process.backgroundSince, now - since >= plan.limits.backgroundTime {
            process.backgroundSince = now
        }
        // This task has a handler of its own, unless those that are due come after it.
        if !process.isExpiring { process.expiryCalled = nil }
        scheduleExpiry(of: process)
    }

    /// The time for tasks runs from entering the background; while a mode keeps the app running, it has no end.
    private func scheduleExpiry(of process: LiveProcess) {
        guard process.assertions.holdsTask, !process.hasKeepAliveModes, let since = process.backgroundSince else {
            return
        }
        let end = since + plan.limits.backgroundTime
        let serial = process.backgroundSerial
        let notice = RunAssertions.expiryNotice(of: plan.limits.backgroundTime)
        queue.schedule(.tasksExpire(process.reference, serial: serial), at: max(now, end - notice))
        queue.schedule(.taskTimeOver(process.reference, serial: serial), at: max(now, end))
    }

    private func holdsExpiringTask(_ reference: ProcessReference, _ serial: Int) -> LiveProcess? {
        guard let process = process(reference), process.backgroundSerial == serial, process.assertions.holdsTask,
            !process.hasKeepAliveModes
        else { return nil }
        return process
    }

    func expireTasks(_ reference: ProcessReference, _ serial: Int) {
        guard let process = holdsExpiringTask(reference, serial), process.expiryCalled != serial else { return }
        process.expiryCalled = serial
        process.isExpiring = true
        noteTask("expires", of: process, why: "its expiry handler is called")
        process.steps.append(.expiryHandler)
        advance(process)
    }

    func runExpiryHandler(of process: LiveProcess) {
        process.isExpiring = false
        if !process.profile.background.leaksTask {
            while process.assertions.endLastTask() { noteTask("ends", of: process, why: "in its expiry handler") }
        }
        start(CallbackWork(cost: process.profile.costs.event), of: process)
    }

    func endTaskTime(_ reference: ProcessReference, _ serial: Int) {
        guard let process = holdsExpiringTask(reference, serial), let since = process.backgroundSince,
            now - since >= plan.limits.backgroundTime
        else { return }
        end(
            process, .backgroundTaskAssertionTimeout,
            "still holds a background task when its time of \(plan.limits.backgroundTime) is over")
    }

    // MARK: Events

    /// What the app was launched or woken for reaches it.
    func receive(_ reason: LaunchReason, lasting span: TimeSpan, _ process: LiveProcess) {
        recorder.event(.backgroundEvent, at: now, app: process.profile.name, pid: process.pid, reason.rawValue)
        let isLimited = reason != .processing
        let id = process.assertions.begin(.event(reason))
        process.awaitsEvent = false
        followBand(of: process)
        let time = isLimited ? min(span, plan.limits.backgroundTime) : span
        queue.schedule(.assertionEnds(process.reference, id: id), at: now + time)
        if reason == .remoteNotification {
            process.steps.prepend(.tell(.didReceiveRemoteNotification, nil))
        } else {
            start(CallbackWork(cost: process.profile.costs.event), of: process)
        }
    }

    // MARK: Deadlines

    func beginDeadline(_ kind: Deadline, of process: LiveProcess) {
        guard process.deadline == nil else { return }
        process.deadlineSerial += 1
        process.deadline = (kind, process.deadlineSerial)
        queue.schedule(.deadline(process.reference, serial: process.deadlineSerial), at: now + kind.span)
    }

    func meetDeadline(_ kind: Deadline, of process: LiveProcess) {
        if process.deadline?.kind == kind { process.deadline = nil }
    }

    /// It was told to end. The deadlines of what follows begin with its own steps, and a main thread that waits for
    /// memory takes none: for such a one the time runs from here on.
    func expectEnd(of process: LiveProcess) {
        queue.schedule(.overdue(process.reference), at: now + Deadline.terminate.span)
    }

    /// Likewise for who is to leave the screen: it has the time of entering the background. While a step of it has a
    /// deadline, that one holds.
    func expectLeaving(of process: LiveProcess) {
        guard let since = process.leavingSince, isLeavingScreen(process) else { return }
        queue.schedule(.overdue(process.reference), at: max(now, since + Deadline.enterBackground.span))
    }

    /// Who is on the second display alone has left already.
    func isLeavingScreen(_ process: LiveProcess) -> Bool {
        guard process.goal == .background, process.phase.isForeground else { return false }
        let shown = process.record.sessions.filter { $0.machine.phase.isForeground }
        return shown.isEmpty || shown.contains { !$0.isExternal }
    }

    func endWaiter(_ reference: ProcessReference) {
        guard let process = process(reference), process.waitingSince != nil else { return }
        if let quit = process.quitReason {
            guard now - quit.since >= quit.time else { return }
            return end(process, quit, because: "waits for memory and did not end within \(quit.time)")
        }
        let span = Deadline.enterBackground.span
        guard isLeavingScreen(process), process.deadline == nil, let since = process.leavingSince, now - since >= span
        else { return }
        end(process, .appWatchdog, "waits for memory and did not leave the screen within \(span)")
    }

    func missDeadline(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), let deadline = process.deadline, deadline.serial == serial else {
            return
        }
        let explanation = "\(deadline.kind.rawValue) took longer than \(deadline.kind.span)"
        if let quit = process.quitReason {
            // Then it ends when its time is over, and not before.
            if quit.hasGrace { return }
            return end(process, quit, because: explanation)
        }
        end(process, .appWatchdog, explanation)
    }
}
