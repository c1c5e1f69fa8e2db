import Lifecycle
import Memory
import Plan
import Quantities
import Workload

// What the user does. An action that is not possible is recorded as refused, never silently dropped.
extension Simulation {
    func perform(_ action: UserAction) {
        if let app = action.openedOrWokenApp { processes[app].drawCosts() }  // promise: same-draws
        switch action {
        case .launch(let app): tap(processes[app], name: "launch")
        // An app that the switcher does not show yet is found on the home screen, by the same path.
        case .switchTo(let app): tap(processes[app], name: "switch")
        case .home: goHome()
        case .beside(let app): placeBeside(processes[app])
        case .openScene(let app): openScene(processes[app])
        case .closeScene(let app): closeScene(processes[app])
        case .showScene(let app, let scene): showScene(scene, of: processes[app])
        case .hideScene(let app, let scene): hideScene(scene, of: processes[app])
        case .quit(let app): quit(processes[app])
        case .interrupt(let kind, let span): interrupt(kind, lasting: span)
        case .lock(let span): lock(lasting: span)
        case .open(let app, let reason): open(processes[app], for: reason)
        case .wake(let app, let reason, let span): wake(processes[app], for: reason, lasting: span)
        case .timeChange(let change): changeTime(change)
        case .beginBackgroundTask(let app): beginTask(processes[app])
        case .endBackgroundTask(let app): endTask(processes[app])
        case .showOnDisplay(let app): showOnDisplay(processes[app])
        case .unplugDisplay: unplugDisplay()
        case .restart(let span): restart(lasting: span)
        case .resetFreezer: resetFreezer()
        case .crash(let app): crash(processes[app])
        case .terminate(let app): terminate(processes[app])
        case .present(let part, let span): parts.present(processes[part], lasting: span)
        case .holdAssertion(let part, let band): parts.hold(processes[part], band)
        case .releaseAssertion(let part): parts.release(processes[part])
        case .prewarm(let app): prewarming.begin(processes[app])
        case .submit(let app, let task, let span): services.submit(processes[app], task, after: span ?? .zero)
        case .download(let app, let span): services.download(processes[app], lasting: span)
        case .liveActivity(let app, let span): services.showLiveActivity(of: processes[app], lasting: span)
        case .pictureInPicture(let app, let span): services.showPicture(of: processes[app], lasting: span)
        }
    }

    /// - Parameter other: The app that prevents a refused action, if one does.
    func record(
        _ name: String, _ app: AppRecord?, refused refusal: UserRefusal? = nil, by other: AppID? = nil,
        why: String? = nil
    ) {
        let pid = app?.process?.pid
        recorder.event(.user, at: now, app: app?.profile.name, pid: pid, name, reason: why)
        guard let refusal else { return }
        let reason = other.map { "\(refusal.rawValue) \(processes[$0].profile.name)" } ?? refusal.rawValue
        recorder.event(.refused, at: now, app: app?.profile.name, pid: pid, name, reason: reason)
    }

    /// The process of the app, if it is in front, alone or beside another app, and not ending.
    private func processInFront(_ app: AppRecord) -> LiveProcess? {
        guard let process = app.process, !process.isEnding, display.isShown(app.id) else { return nil }
        return process
    }

    private func tap(_ app: AppRecord, name: String) {
        guard !display.isLocked else { return record(name, app, refused: .deviceIsLocked) }
        if processInFront(app) != nil {
            // From the switcher it comes back, with the app beside it.
            guard display.showsSwitcher else { return record(name, app, refused: .isInFront) }
            record(name, app)
            leaveSwitcher()
            return advanceFront()
        }
        record(name, app)
        bringToFront(app, scene: app.sceneToShow, for: .userTap)
    }

    /// A URL, a handed-off activity or a shortcut: a tap with more information for the app.
    private func open(_ app: AppRecord, for reason: LaunchReason) {
        let name = reason.actionName
        guard app.profile.supports(reason) else { return record(name, app, refused: .isNotSupported) }
        guard !display.isLocked else { return record(name, app, refused: .deviceIsLocked) }
        record(name, app)
        if let process = processInFront(app) {
            leaveSwitcher()
            process.deliver(reason, to: app.sceneToShow)
            return advanceFront()
        }
        bringToFront(app, scene: app.sceneToShow, for: reason)
    }

    /// The app comes to the screen beside the one in front. An app that was there before leaves.
    private func placeBeside(_ app: AppRecord) {
        let name = "beside"
        guard !display.isLocked else { return record(name, app, refused: .deviceIsLocked) }
        guard display.frontApp != nil else { return record(name, app, refused: .noAppIsInFront) }
        guard !display.isShown(app.id) else { return record(name, app, refused: .isInFront) }
        record(name, app)
        leaveSwitcher()
        if let other = display.besideApp { sendAway(other) }
        display.showBeside(app.id)
        advanceFront()
        open(app, scene: app.sceneToShow, for: .userTap)
    }

    /// The path of every tap: launches what the app lacks, and sends other apps off the screen. An app that is on the
    /// screen beside another one keeps its place.
    private func bringToFront(_ app: AppRecord, scene: SceneID?, for reason: LaunchReason) {
        leaveSwitcher()
        if display.besideApp == nil || !display.isShown(app.id) {
            sendToBackground(except: app.id)
            display.show(app.id)
        } else {
            advanceFront()
        }
        open(app, scene: scene, for: reason)
    }

    /// Launches the app that the display is to show, or resumes its process.
    private func open(_ app: AppRecord, scene: SceneID?, for reason: LaunchReason) {
        guard let process = app.launchedProcess else { return launchCold(app, scene: scene, tapped: now, for: reason) }
        if process.isEnding {
            if let earlier = app.keepTap(at: now, reason) { abandonTap(at: earlier, on: app) }
        } else {
            resume(process, scene: scene ?? app.newSession(), for: reason)
        }
    }

    private func resume(_ process: LiveProcess, scene: SceneID, for reason: LaunchReason) {
        countWish(for: process.record, tapped: now)
        abandonLaunch(of: process, outcome: .abandoned)
        let isThere = process.isInMemory(scene)
        process.launch.begin(isThere ? .hot : .warm, tapped: now, at: now)
        process.stateDidChange()
        if worker.compressor?.isMostlyCompressed(process) == true { process.launch.resumesCompressed() }
        if freezer?.isMostlyFrozen(process) == true { process.launch.resumesFrozen() }
        process.course.show(scene)
        // A scene that has not connected yet gets the reason in its connection options. These hold only one reason.
        if isThere || !process.profile.scenes.support || hasOptions(process.record.session(scene)) {
            process.deliver(reason, to: scene)
        } else {
            process.record.update(scene) { $0.ask(for: reason) }
        }
        process.record.open(scene)
        advance(process)
    }

    /// Whether the scene's connection options can no longer change: the scene has received them, or they already hold a
    /// reason.
    private func hasOptions(_ session: SceneSession) -> Bool {
        session.isTold || session.reason.delivery(in: .sceneBased) != nil
    }

    private func sendToBackground(except app: AppID?) {
        let old = display.shownApps.filter { $0 != app }
        guard !old.isEmpty else { return }
        display.show(nil)
        for app in old { sendAway(app) }
    }

    /// The app leaves the screen. An app beside it has the whole screen.
    private func sendAway(_ app: AppID) {
        display.leave(app)
        guard let process = processes.process(of: app), process.course.goal != .background else { return }
        leaveScreen(process)
        advance(process)
    }

    /// The process is to leave the screen. There is a deadline for this, also while its main thread is stuck.
    private func leaveScreen(_ process: LiveProcess) {
        abandonLaunch(of: process, outcome: .abandoned)
        process.course.leaveScreen(at: now)
        if isStuck(process) { background.expectLeaving(of: process) }
    }

    private func goHome() {
        guard !display.isLocked else { return record("home", nil, refused: .deviceIsLocked) }
        record("home", nil)
        leaveSwitcher()
        sendToBackground(except: nil)
    }

    // MARK: Scenes

    private func openScene(_ app: AppRecord) {
        guard plan.lifecycle.scenes else { return record("open_scene", app, refused: .systemHasNoScenes) }
        guard app.profile.scenes.multiple && app.profile.scenes.support else {
            return record("open_scene", app, refused: .hasOneScene)
        }
        guard plan.device.windows == .many || app.closableScene == nil else {
            return record("open_scene", app, refused: .deviceShowsOneWindow)
        }
        guard !display.isLocked else { return record("open_scene", app, refused: .deviceIsLocked) }
        record("open_scene", app)
        bringToFront(app, scene: app.newSession(), for: .userTap)
    }

    /// Why the app cannot have this scene on the device's own screen; nil: it can.
    private func refusal(of scene: SceneID, _ app: AppRecord) -> UserRefusal? {
        if !plan.lifecycle.scenes { return .systemHasNoScenes }
        if !app.profile.scenes.support { return .isWithoutScenes }
        if app.process?.course.closing.contains(scene) == true { return .hasNoSuchScene }
        if !app.sessions.contains(where: { $0.id == scene && !$0.isExternal }) { return .hasNoSuchScene }
        return display.isLocked ? .deviceIsLocked : nil
    }

    /// Whether the user wants to see this scene.
    private func isInFront(_ scene: SceneID, of app: AppRecord) -> Bool {
        processInFront(app)?.course.goal == .foreground(scene)
    }

    private func showScene(_ scene: SceneID, of app: AppRecord) {
        if let refusal = refusal(of: scene, app) { return record("show_scene", app, refused: refusal) }
        guard !isInFront(scene, of: app) || display.showsSwitcher else {
            return record("show_scene", app, refused: .isInFront)
        }
        record("show_scene", app)
        bringToFront(app, scene: scene, for: .userTap)
    }

    private func hideScene(_ scene: SceneID, of app: AppRecord) {
        if let refusal = refusal(of: scene, app) { return record("hide_scene", app, refused: refusal) }
        guard isInFront(scene, of: app) else { return record("hide_scene", app, refused: .isNotOnScreen) }
        record("hide_scene", app)
        leaveSwitcher()
        sendAway(app.id)
        advanceFront()
    }

    private func closeScene(_ app: AppRecord) {
        guard plan.lifecycle.scenes else { return record("close_scene", app, refused: .systemHasNoScenes) }
        guard let scene = app.closableScene else { return record("close_scene", app, refused: .hasNoScene) }
        guard app.profile.scenes.support else { return record("close_scene", app, refused: .isWithoutScenes) }
        record("close_scene", app)
        guard let process = app.launchedProcess else { return app.discardWhileDead(scene) }
        if plan.lifecycle.lastWindow == .ends && app.isLast(scene) && !process.isEnding {
            leaveToUser(scene, of: process)
            process.course.close(scene)
            return sendOff(process, "its last window was closed")
        }
        // In front, or due to come back there when the device is unlocked.
        let isInFront = display.isShown(app.id) && display.isLocked && app.sceneToShow == scene
        if isInFront || process.course.goal == .foreground(scene) {
            leaveScreen(process)
            display.leave(app.id)
        }
        if process.course.connecting == scene {
            // The system's reason to launch the app is gone with the scene.
            process.thread.append(Array(process.course.endConnecting().dropFirst()))
            process.reasons.stopAwaitingEvent()
        }
        leaveToUser(scene, of: process)
        process.course.close(scene)
        advance(process)
    }

    /// The user closes the scene, so the system need not take it away. If an action was to do so, the action is over
    /// when the scene is gone.
    func leaveToUser(_ scene: SceneID, of process: LiveProcess) {
        process.course.keep(scene)
        guard !process.record.session(scene).machine.phase.isConnected else { return }
        reclaimer.stopWaiting(for: scene, of: process)
    }

    private func quit(_ app: AppRecord) {
        let process = app.launchedProcess
        // The card of an app that has ended stays in the switcher until it is swiped away.
        guard process != nil || app.wasLaunched && !app.wasSwipedAway else {
            return record("quit", app, refused: .isNotInSwitcher)
        }
        record("quit", app)
        guard let process else {
            app.swipeAway()
            if let process = app.process {
                end(process, .userTerminated, "swiped away while prewarmed: no code ran")
            }
            return app.discardAllSessions()
        }
        sendOff(process, "swiped away")
    }

    /// The user ends the app: its card leaves the switcher.
    private func sendOff(_ process: LiveProcess, _ why: String) {
        process.record.swipeAway()
        process.reasons.endPicture()
        process.course.swipeAway()
        abandonLaunch(of: process, outcome: .abandoned)
        display.leave(process.app)
        // A process that is already ending keeps its reason and its time.
        guard !process.isEnding else { return }
        if process.phase == .suspended && process.isQuiet {
            return end(process, .userTerminated, "\(why) while suspended: no code ran")
        }
        askToEnd(
            process,
            QuitReason(.userTerminated, why, since: now, entersBackground: plan.lifecycle.swipeEntersBackground))
    }

    /// Asks the process to end: it is called back and has some seconds.
    func askToEnd(_ process: LiveProcess, _ quit: QuitReason) {
        process.course.end(quit)
        background.expectEnd(of: process)
        advance(process)
    }

    // MARK: What covers the screen

    private var nameInFront: String? { display.frontApp.map { processes[$0].profile.name } }

    /// Advances the apps that the display shows.
    private func advanceFront() {
        for app in display.shownApps {
            if let process = processes.process(of: app) { advance(process) }
        }
    }

    private func interrupt(_ kind: Interruption, lasting span: TimeSpan) {
        recorder.event(.user, at: now, app: nameInFront, "interrupt", reason: kind.rawValue)
        let covers = kind != .call || plan.lifecycle.call == .covers
        agenda.schedule(.interruptionEnds(serial: display.interrupt(kind, covers: covers)), after: span)
        guard kind == .call else { return advanceFront() }
        for process in processes.live { background.pauseAudio(of: process) }
        advanceAll()
    }

    func endInterruption(_ serial: Int) {
        guard let kind = display.endInterruption(serial) else { return }
        recordEnd(of: kind)
        guard kind == .call && !display.showsCall else { return advanceFront() }
        for process in processes.live where process.reasons.audioIsPaused && !process.isEnding {
            if process.phase == .suspended { Planner(process: process, display: display).queueProcess(.resume) }
            process.thread.append(.audioInterruption(begins: false))
        }
        advanceAll()
    }

    /// The user has chosen where to go, and that ends the switcher; a call or an alert goes on.
    private func leaveSwitcher() {
        while display.leaveSwitcher() { recordEnd(of: .switcher) }
    }

    private func recordEnd(of kind: Interruption) {
        recorder.event(.user, at: now, app: nameInFront, "interruption_ends", reason: kind.rawValue)
    }

    private func lock(lasting span: TimeSpan) {
        guard !display.isLocked else { return record("lock", nil, refused: .deviceIsLockedAlready) }
        record("lock", nil)
        let lock = display.lock()
        agenda.schedule(.unlock, after: span)
        let delay = plan.lifecycle.protectedDataDelay
        if delay == .zero {
            closeProtectedData(lock)
        } else {
            agenda.schedule(.protectedDataGoes(lock: lock), after: delay)
        }
        services.deviceIsIdle()
        for app in display.shownApps {
            guard let process = processes.process(of: app) else { continue }
            leaveScreen(process)
            // A tap that waits for the end of this process is given up, like a launch under way.
            if process.isEnding { display.leave(app) }
        }
        advanceAll()
    }

    /// Protected data becomes unavailable, unless the device was unlocked meanwhile. Running apps are told.
    func closeProtectedData(_ lock: Int) {
        guard display.closeProtectedData(lock) else { return }
        for process in processes.live where process.phase.runsCode {
            background.tellThatProtectedDataGoes(process)
            advance(process)
        }
    }

    /// The app that was in front when the device locked comes back, if its process still lives, and so does the app
    /// beside it.
    func unlock() {
        display.unlock()
        recorder.event(.user, at: now, "unlock")
        services.userPicksUp()
        for process in processes.live where process.phase.runsCode && process.missed.protectedData {
            background.tellThatProtectedDataIsBack(process)
        }
        for app in display.shownApps {
            if let process = processes.process(of: app), !process.isEnding, let scene = processes[app].sceneToShow {
                process.course.show(scene)
            } else {
                display.leave(app)
            }
        }
        advanceAll()
    }
}
