import Lifecycle
import Memory
import Quantities
import Workload

// What the user and the system do. An action that is not possible is recorded as refused, never silently dropped.
extension Simulation {
    func perform(_ action: UserAction) {
        switch action {
        case .launch(let app): tap(app, name: "launch")
        case .switchTo(let app): switchTo(app)
        case .home: goHome()
        case .openScene(let app): openScene(app)
        case .closeScene(let app): closeScene(app)
        case .quit(let app): quit(app)
        case .interrupt(let kind, let span): interrupt(kind, lasting: span)
        case .lock(let span): lock(lasting: span)
        }
    }

    private func note(_ name: String, _ app: AppID?, refused reason: String? = nil) {
        let appName = app.map { apps[$0.index].profile.name }
        let pid = app.flatMap { process(of: $0)?.pid }
        recorder.event(.user, at: now, app: appName, pid: pid, name)
        if let reason { recorder.event(.refused, at: now, app: appName, pid: pid, name, reason: reason) }
    }

    private func tap(_ app: AppID, name: String) {
        guard lockedUntil == nil else { return note(name, app, refused: "the device is locked") }
        if let process = process(of: app), process.quitReason == nil, foregroundApp == app {
            return note(name, app, refused: "it is in the foreground already, or on the way")
        }
        note(name, app)
        bringToFront(app, scene: apps[app.index].preferredScene)
    }

    private func switchTo(_ app: AppID) {
        guard apps[app.index].wasLaunched else {
            return note("switch", app, refused: "it was never launched, so the switcher does not show it")
        }
        tap(app, name: "switch")
    }

    /// The road of every tap: what is missing of the app is launched, the others leave the screen.
    private func bringToFront(_ app: AppID, scene: SceneID?) {
        sendToBackground(except: app)
        foregroundApp = app
        if let process = process(of: app) {
            if process.quitReason != nil {
                apps[app.index].tapAfterExit = now
            } else {
                resume(process, scene: scene ?? newSession(of: app))
            }
        } else {
            launchCold(app, scene: scene, tapped: now)
        }
    }

    private func resume(_ process: LiveProcess, scene: SceneID) {
        abandonLaunch(of: process, outcome: "abandoned")
        let session = session(scene, of: process.app)
        let isThere = process.profile.scenes.support ? session.machine.phase.isConnected : true
        process.launch = PendingLaunch(kind: isThere ? .hot : .warm, tapped: now)
        process.goal = .foreground(scene)
        apps[process.app.index].frontScene = scene
        advance(process)
    }

    /// Starts a process for the app.
    func launchCold(_ app: AppID, scene: SceneID?, tapped: Instant) {
        let slot: MemorySlot
        do {
            slot = try memory.makeProcess()
        } catch {
            return fail("\(error)")
        }
        lastPid += 1
        noteRelaunch(of: app, tapped: tapped)
        let scene = scene ?? newSession(of: app)
        let process = LiveProcess(
            app: app, pid: ProcessID(lastPid), slot: slot, now: now,
            workload: AppWorkload(apps[app.index].profile), goal: .foreground(scene),
            isFirstLaunch: !apps[app.index].wasLaunched, memory: memory)
        apps[app.index].wasLaunched = true
        apps[app.index].frontScene = scene
        apps[app.index].slot = slot.index
        while processes.count <= slot.index { processes.append(nil) }
        processes[slot.index] = process
        live.append(process)
        process.launch = PendingLaunch(kind: .cold, tapped: tapped)
        process.steps.append(.spawn)
        advance(process)
    }

    /// The user wants an app back that the system ended a short while ago: that termination was felt.
    private func noteRelaunch(of app: AppID, tapped: Instant) {
        guard let last = apps[app.index].lastTermination else { return }
        apps[app.index].lastTermination = nil
        if tapped - last.at <= plan.perceivedWithin { recorder.tally.terminations[last.fact].wasPerceived = true }
    }

    func newSession(of app: AppID) -> SceneID {
        apps[app.index].lastScene += 1
        let id = SceneID(apps[app.index].lastScene)
        apps[app.index].sessions.append(SceneSession(id: id))
        return id
    }

    func sendToBackground(except app: AppID?) {
        guard let old = foregroundApp, old != app else { return }
        foregroundApp = nil
        guard let process = process(of: old), process.goal != .background else { return }
        abandonLaunch(of: process, outcome: "abandoned")
        process.goal = .background
        advance(process)
    }

    private func goHome() {
        guard lockedUntil == nil else { return note("home", nil, refused: "the device is locked") }
        note("home", nil)
        sendToBackground(except: nil)
    }

    private func openScene(_ app: AppID) {
        guard apps[app.index].profile.scenes.multiple && apps[app.index].profile.scenes.support else {
            return note("open_scene", app, refused: "the app does not support multiple scenes")
        }
        guard lockedUntil == nil else { return note("open_scene", app, refused: "the device is locked") }
        note("open_scene", app)
        bringToFront(app, scene: newSession(of: app))
    }

    private func closeScene(_ app: AppID) {
        guard let session = apps[app.index].sessions.last else {
            return note("close_scene", app, refused: "it has no scene")
        }
        guard apps[app.index].profile.scenes.support else {
            return note("close_scene", app, refused: "the app does not support scenes")
        }
        note("close_scene", app)
        guard let process = process(of: app) else {
            apps[app.index].sessions.removeLast()
            apps[app.index].discardedWhileDead += 1
            return
        }
        if process.goal == .foreground(session.id) {
            abandonLaunch(of: process, outcome: "abandoned")
            process.goal = .background
            if foregroundApp == app { foregroundApp = nil }
        }
        if !process.closing.contains(session.id) { process.closing.append(session.id) }
        advance(process)
    }

    private func quit(_ app: AppID) {
        guard let process = process(of: app) else { return note("quit", app, refused: "it is not running") }
        note("quit", app)
        abandonLaunch(of: process, outcome: "abandoned")
        if foregroundApp == app { foregroundApp = nil }
        if process.phase == .suspended && process.isQuiet {
            return end(process, .userTerminated, "swiped away while suspended: no code ran", bySystem: false)
        }
        process.goal = .background
        process.quitReason = (.userTerminated, "swiped away")
        advance(process)
    }

    private func interrupt(_ kind: Interruption, lasting span: TimeSpan) {
        recorder.event(
            .user, at: now, app: foregroundApp.map { apps[$0.index].profile.name }, "interrupt", reason: kind.rawValue)
        interruptionSerial += 1
        interruption = interruptionSerial
        queue.schedule(.interruptionEnds(serial: interruptionSerial), at: now + span)
        if let process = foregroundApp.flatMap({ process(of: $0) }) { advance(process) }
    }

    func endInterruption(_ serial: Int) {
        guard interruption == serial else { return }
        interruption = nil
        recorder.event(.user, at: now, app: foregroundApp.map { apps[$0.index].profile.name }, "interruption_ends")
        if let process = foregroundApp.flatMap({ process(of: $0) }) { advance(process) }
    }

    private func lock(lasting span: TimeSpan) {
        guard lockedUntil == nil else { return note("lock", nil, refused: "the device is locked already") }
        note("lock", nil)
        lockedUntil = now + span
        queue.schedule(.unlock, at: now + span)
        guard let process = foregroundApp.flatMap({ process(of: $0) }) else { return }
        abandonLaunch(of: process, outcome: "abandoned")
        process.goal = .background
        advance(process)
    }

    /// The app that was in front when the device locked comes back, if it still lives.
    func unlock() {
        lockedUntil = nil
        recorder.event(.user, at: now, "unlock")
        guard let app = foregroundApp else { return }
        guard let process = process(of: app), process.quitReason == nil else {
            foregroundApp = nil
            return
        }
        process.goal = .foreground(apps[app.index].preferredScene ?? newSession(of: app))
        advance(process)
    }
}
