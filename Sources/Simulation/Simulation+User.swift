import Lifecycle
import Memory
import Quantities
import Workload

// What the user and the system do. An action that is not possible is recorded as refused, never silently dropped.
extension Simulation {
    func perform(_ action: UserAction) {
        switch action {
        case .launch(let app): tap(app, name: "launch")
        // An app that the switcher does not show yet is found on the home screen: the road is the same.
        case .switchTo(let app): tap(app, name: "switch")
        case .home: goHome()
        case .openScene(let app): openScene(app)
        case .closeScene(let app): closeScene(app)
        case .quit(let app): quit(app)
        case .interrupt(let kind, let span): interrupt(kind, lasting: span)
        case .lock(let span): lock(lasting: span)
        case .open(let app, let reason): open(app, for: reason)
        case .wake(let app, let reason, let span): wake(app, for: reason, lasting: span)
        case .timeChange(let change): changeTime(change)
        case .beginBackgroundTask(let app): beginTask(app)
        case .endBackgroundTask(let app): endTask(app)
        case .showOnDisplay(let app): showOnDisplay(app)
        case .unplugDisplay: unplugDisplay()
        case .crash(let app): crash(app)
        case .terminate(let app): terminate(app)
        }
    }

    /// - Parameter other: The app that stands in the way of a refused action, if one does.
    func note(
        _ name: String, _ app: AppID?, refused refusal: UserRefusal? = nil, by other: AppID? = nil, why: String? = nil
    ) {
        let appName = app.map { apps[$0.index].profile.name }
        let pid = app.flatMap { process(of: $0)?.pid }
        recorder.event(.user, at: now, app: appName, pid: pid, name, reason: why)
        guard let refusal else { return }
        let reason = other.map { "\(refusal.rawValue) \(apps[$0.index].profile.name)" } ?? refusal.rawValue
        recorder.event(.refused, at: now, app: appName, pid: pid, name, reason: reason)
    }

    private func tap(_ app: AppID, name: String) {
        guard lockedUntil == nil else { return note(name, app, refused: .deviceIsLocked) }
        if let process = process(of: app), process.quitReason == nil, foregroundApp == app {
            // From the switcher it comes back.
            guard interruptions.contains(where: { $0.kind == .switcher }) else {
                return note(name, app, refused: .isInFront)
            }
            note(name, app)
            leaveSwitcher()
            return advance(process)
        }
        note(name, app)
        bringToFront(app, scene: sceneToShow(of: app), for: .userTap)
    }

    /// A URL, a handed-off activity or a shortcut: a tap that the app is told more about.
    private func open(_ app: AppID, for reason: LaunchReason) {
        let name = reason.actionName
        guard apps[app.index].profile.supports(reason) else {
            return note(name, app, refused: .isNotSupported)
        }
        guard lockedUntil == nil else { return note(name, app, refused: .deviceIsLocked) }
        note(name, app)
        if let process = process(of: app), process.quitReason == nil, foregroundApp == app {
            leaveSwitcher()
            deliver(reason, to: sceneToShow(of: app), of: process)
            return advance(process)
        }
        bringToFront(app, scene: sceneToShow(of: app), for: reason)
    }

    /// The road of every tap: what is missing of the app is launched, the others leave the screen.
    private func bringToFront(_ app: AppID, scene: SceneID?, for reason: LaunchReason) {
        leaveSwitcher()
        sendToBackground(except: app)
        foregroundApp = app
        if let process = process(of: app) {
            if process.quitReason != nil {
                if let earlier = apps[app.index].tapAfterExit { abandonTap(at: earlier.at, on: app) }
                apps[app.index].tapAfterExit = (now, reason)
            } else {
                resume(process, scene: scene ?? newSession(of: app), for: reason)
            }
        } else {
            launchCold(app, scene: scene, tapped: now, for: reason)
        }
    }

    private func resume(_ process: LiveProcess, scene: SceneID, for reason: LaunchReason) {
        noteRelaunch(of: process.app, tapped: now)
        abandonLaunch(of: process, outcome: "abandoned")
        let isThere = isInMemory(scene, of: process)
        process.launch = PendingLaunch(kind: isThere ? .hot : .warm, tapped: now)
        process.goal = .foreground(scene)
        // A scene that has still to connect is told by its connection options, which know one reason.
        if isThere || !process.profile.scenes.support || hasOptions(scene, of: process) {
            deliver(reason, to: scene, of: process)
        } else {
            update(scene, of: process.app) { $0.reason = reason }
        }
        process.record.frontScene = scene
        process.record.wasSwipedAway = false
        advance(process)
    }

    /// A scene is in memory while it is connected; an app without scenes has its own from the end of its launch on.
    private func isInMemory(_ scene: SceneID, of process: LiveProcess) -> Bool {
        guard process.profile.scenes.support else { return process.hasFinishedLaunching }
        let phase = session(scene, of: process.app).machine.phase
        // One that is being taken away is, before it comes back.
        return phase.isForeground || phase.isConnected && !process.reclaiming.contains(scene)
    }

    /// Whether its connection options are settled: it was told of them, or something that it is opened with is in them.
    private func hasOptions(_ scene: SceneID, of process: LiveProcess) -> Bool {
        let session = session(scene, of: process.app)
        return session.isTold || session.reason.delivery(in: .sceneBased) != nil
    }

    func sendToBackground(except app: AppID?) {
        guard let old = foregroundApp, old != app else { return }
        foregroundApp = nil
        guard let process = process(of: old), process.goal != .background else { return }
        leaveScreen(process)
        advance(process)
    }

    /// It is to leave the screen; also a main thread that waits for memory has a deadline for that.
    private func leaveScreen(_ process: LiveProcess) {
        abandonLaunch(of: process, outcome: "abandoned")
        process.goal = .background
        process.leavingSince = now
        if process.waitingSince != nil { expectLeaving(of: process) }
    }

    private func goHome() {
        guard lockedUntil == nil else { return note("home", nil, refused: .deviceIsLocked) }
        note("home", nil)
        leaveSwitcher()
        sendToBackground(except: nil)
    }

    private func openScene(_ app: AppID) {
        guard apps[app.index].profile.scenes.multiple && apps[app.index].profile.scenes.support else {
            return note("open_scene", app, refused: .hasOneScene)
        }
        guard lockedUntil == nil else { return note("open_scene", app, refused: .deviceIsLocked) }
        note("open_scene", app)
        bringToFront(app, scene: newSession(of: app), for: .userTap)
    }

    private func closeScene(_ app: AppID) {
        guard let scene = closableScene(of: app) else {
            return note("close_scene", app, refused: .hasNoScene)
        }
        guard apps[app.index].profile.scenes.support else {
            return note("close_scene", app, refused: .isWithoutScenes)
        }
        note("close_scene", app)
        guard let process = process(of: app) else {
            apps[app.index].sessions.removeAll { $0.id == scene }
            apps[app.index].discardedWhileDead += 1
            return
        }
        // In front, or to come back there when the device is unlocked.
        let isInFront = foregroundApp == app && lockedUntil != nil && sceneToShow(of: app) == scene
        if isInFront || process.goal == .foreground(scene) {
            leaveScreen(process)
            if foregroundApp == app { foregroundApp = nil }
        }
        if process.connecting == scene {
            // The system's reason to launch it is gone with the scene.
            process.connecting = nil
            process.steps.append(contentsOf: process.launchEvents.dropFirst())
            process.launchEvents.removeAll()
            process.awaitsEvent = false
        }
        leaveToUser(scene, of: process)
        process.deliveries.removeAll { $0.scene == scene }
        if !process.closing.contains(scene) { process.closing.append(scene) }
        advance(process)
    }

    private func quit(_ app: AppID) {
        let record = apps[app.index]
        let process = process(of: app)
        // The card of an app that has ended stays until it is swiped away.
        guard process != nil || record.wasLaunched && !record.wasSwipedAway else {
            return note("quit", app, refused: .isNotInSwitcher)
        }
        note("quit", app)
        record.wasSwipedAway = true
        // Nobody wants back any more what the system ended before.
        record.lastTermination = nil
        guard let process else { return discardSessions(of: record) }
        process.isSwipedAway = true
        abandonLaunch(of: process, outcome: "abandoned")
        if foregroundApp == app { foregroundApp = nil }
        // Who ends already does so for the reason, and in the time, that it was given.
        guard process.quitReason == nil else { return }
        if process.phase == .suspended && process.isQuiet {
            return end(process, .userTerminated, "swiped away while suspended: no code ran")
        }
        process.goal = .background
        process.quitReason = QuitReason(.userTerminated, "swiped away", since: now)
        expectEnd(of: process)
        advance(process)
    }

    private func interrupt(_ kind: Interruption, lasting span: TimeSpan) {
        recorder.event(
            .user, at: now, app: foregroundApp.map { apps[$0.index].profile.name }, "interrupt", reason: kind.rawValue)
        interruptionSerial += 1
        interruptions.append((interruptionSerial, kind))
        queue.schedule(.interruptionEnds(serial: interruptionSerial), at: now + span)
        if let process = foregroundApp.flatMap({ process(of: $0) }) { advance(process) }
    }

    func endInterruption(_ serial: Int) {
        guard let index = interruptions.firstIndex(where: { $0.serial == serial }) else { return }
        noteEnd(of: interruptions.remove(at: index).kind)
        if let process = foregroundApp.flatMap({ process(of: $0) }) { advance(process) }
    }

    /// The user has chosen where to go, and that ends the switcher; a call or an alert goes on.
    private func leaveSwitcher() {
        while let index = interruptions.firstIndex(where: { $0.kind == .switcher }) {
            noteEnd(of: interruptions.remove(at: index).kind)
        }
    }

    private func noteEnd(of kind: Interruption) {
        recorder.event(
            .user, at: now, app: foregroundApp.map { apps[$0.index].profile.name }, "interruption_ends",
            reason: kind.rawValue)
    }

    private func lock(lasting span: TimeSpan) {
        guard lockedUntil == nil else { return note("lock", nil, refused: .deviceIsLockedAlready) }
        note("lock", nil)
        lockedUntil = now + span
        queue.schedule(.unlock, at: now + span)
        for process in live where process.phase.runsCode { tellThatProtectedDataGoes(process) }
        if let process = foregroundApp.flatMap({ process(of: $0) }) {
            leaveScreen(process)
            // A tap that waits for the end of this process is given up, as a launch under way is.
            if process.quitReason != nil { foregroundApp = nil }
        }
        advanceAll()
    }

    /// The app that was in front when the device locked comes back, if it still lives.
    func unlock() {
        lockedUntil = nil
        recorder.event(.user, at: now, "unlock")
        for process in live where process.phase.runsCode && process.missesProtectedData {
            tellThatProtectedDataIsBack(process)
        }
        if let app = foregroundApp {
            if let process = process(of: app), process.quitReason == nil, let scene = sceneToShow(of: app) {
                process.goal = .foreground(scene)
            } else {
                foregroundApp = nil
            }
        }
        advanceAll()
    }
}
