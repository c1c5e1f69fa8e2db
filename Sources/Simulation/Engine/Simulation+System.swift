import Lifecycle
import Quantities
import Workload

// The system's actions on single apps, and its notifications to all apps.
extension Simulation {
    // MARK: Off screen

    /// The system has an event for the app: the app is launched, or woken and suspended again.
    func wake(_ app: AppRecord, for reason: LaunchReason, lasting span: TimeSpan?) {
        let name = reason.actionName
        guard app.profile.supports(reason) else { return record(name, app, refused: .modeIsNotDeclared) }
        guard !display.isOff else { return record(name, app, refused: .deviceIsRestarting) }
        let time = span ?? app.profile.background.eventWork
        guard let process = app.launchedProcess else {
            guard !app.wasSwipedAway || reason.reachesQuitApps(plan.lifecycle) else {
                return record(name, app, refused: .wasSwipedAway)
            }
            record(name, app)
            return launchToBackground(app, for: reason, lasting: time)
        }
        guard !process.isEnding else { return record(name, app, refused: .isBeingEnded) }
        record(name, app)
        if process.course.connecting != nil {
            // The app is being launched for an earlier event. This event waits until the app's scene has connected, and
            // is delivered after the earlier one.
            return process.course.addLaunchEvent(.backgroundEvent(reason, lasting: time))
        }
        if process.phase == .suspended { Planner(process: process, display: display).queueProcess(.resume) }
        process.thread.append(.backgroundEvent(reason, lasting: time))
        advance(process)
    }

    func beginTask(_ app: AppRecord) {
        let name = "begin_background_task"
        guard let process = running(app, for: name) else { return }
        record(name, app)
        background.beginTask(of: process, lasting: nil)
    }

    func endTask(_ app: AppRecord) {
        let name = "end_background_task"
        guard let process = running(app, for: name) else { return }
        guard process.reasons.endLastTask() else { return record(name, app, refused: .holdsNoTask) }
        record(name, app)
        background.recordTask("ends", of: process)
        advance(process)
    }

    /// The app's process, if its code runs; otherwise the refusal is recorded.
    func running(_ app: AppRecord, for name: String) -> LiveProcess? {
        guard let process = app.launchedProcess else {
            record(name, app, refused: .isNotRunning)
            return nil
        }
        guard process.phase.runsCode else {
            record(name, app, refused: .isSuspended)
            return nil
        }
        return process
    }

    // MARK: News

    func changeTime(_ change: TimeChange) {
        record("time_change", nil, why: change.rawValue)
        for process in processes.live where !process.isEnding { background.tellOfTimeChange(process) }
        advanceAll()
    }

    // MARK: The second display

    func showOnDisplay(_ app: AppRecord) {
        let name = "show_on_display"
        let scenes = app.profile.scenes
        guard !scenes.support || scenes.multiple else { return record(name, app, refused: .hasOneScene) }
        guard !display.isLocked else { return record(name, app, refused: .deviceIsLocked) }
        if let other = display.externalApp { return record(name, app, refused: .displayIsTaken, by: other) }
        guard let process = app.launchedProcess, !process.isEnding else {
            return record(name, app, refused: .isNotRunning)
        }
        guard scenes.support || process.phase.runsCode else { return record(name, app, refused: .isSuspended) }
        record(name, app)
        display.showExternally(app.id)
        let scene = app.newSession(isExternal: true)
        process.course.showExternally(scene)
        // Without scenes, it is a window of the app: it is shown and hidden with the other one.
        if !scenes.support { process.thread.append(.externalWindow(scene, appears: true)) }
        advance(process)
    }

    func unplugDisplay() {
        guard let app = display.externalApp, let process = processes.process(of: app),
            let scene = process.course.leaveExternalDisplay()
        else { return record("unplug_display", nil, refused: .hasNoSecondDisplay) }
        record("unplug_display", processes[app])
        display.showExternally(nil)
        if process.profile.scenes.support {
            leaveToUser(scene, of: process)
            process.course.close(scene)
        } else {
            if process.phase == .suspended { Planner(process: process, display: display).queueProcess(.resume) }
            process.thread.append(.externalWindow(scene, appears: false))
        }
        advance(process)
    }

    // MARK: A restart

    /// The device restarts: every process ends, and none is told. Scenes keep their sessions. The device is off, then
    /// locked; the user can use it after this time. Before that the system launches apps off screen, if the boot takes
    /// less time.
    func restart(lasting span: TimeSpan) {
        record("restart", nil)
        display.show(nil)
        let serial = display.turnOff()
        for process in processes.live where processes.isAlive(process) {
            end(process, .normalApp, "the device restarts: no code runs")
        }
        if let time = plan.lifecycle.bootTime, time < span { agenda.schedule(.booted(serial: serial), after: time) }
        guard !display.isLocked else { return }
        _ = display.lock()
        agenda.schedule(.unlock, after: span)
    }

    /// The device is on again, and locked: what must live starts, and what has waited for the system is looked at.
    func finishBoot(_ serial: Int) {
        guard display.turnOn(serial) else { return }
        recorder.event(
            .user, at: now, "booted", reason: "protected data is unavailable until the first unlock")
        for app in processes.apps where app.profile.part?.keepsAlive == true { parts.keepAlive(app) }
        services.deviceHasBooted()
    }

    // MARK: The freezer

    /// A daemon of the system resets the freezer, as it does when it gets another policy. The kernel ends the processes
    /// by SIGKILL. Its cause is the generic one, `jettisoned`.
    func resetFreezer() {
        let name = "reset_freezer"
        guard let freezer else { return record(name, nil, refused: .hasNoFreezer) }
        record(name, nil)
        for pid in freezer.reset() {
            // The end of an app is also that of its helpers.
            guard let process = processes.process(pid) else { continue }
            end(process, .memoryPressure, "the freezer was reset: no code ran", .decided(.jettisoned))
        }
    }

    // MARK: Ends

    func crash(_ app: AppRecord) {
        guard let process = running(app, for: "crash") else { return }
        record("crash", app)
        end(process, .abnormal, "crashed")
    }

    /// A suspended process ends without notice; any other gets its termination callback first.
    func terminate(_ app: AppRecord) {
        guard let process = app.process, !process.isEnding else {
            return record("terminate", app, refused: .isNotRunning)
        }
        record("terminate", app)
        abandonLaunch(of: process, outcome: .abandoned)
        display.leave(app.id)
        if process.phase.restsInMemory && (process.isQuiet || process.phase == .prewarmed) {
            return end(process, .normalApp, "ended in good order while \(process.phase.rawValue): no code ran")
        }
        askToEnd(process, QuitReason(.normalApp, "ended in good order", since: now))
    }
}
