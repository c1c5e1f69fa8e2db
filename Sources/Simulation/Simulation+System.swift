import Lifecycle
import Quantities
import Workload

// What the system does to apps, and what it lets everybody know.
extension Simulation {
    /// Goes on with everybody who has something to do. A process may end another's wait, so the list is a copy.
    func advanceAll() {
        for process in live where isAlive(process) { advance(process) }
    }

    // MARK: Off screen

    /// The system has an event for the app: it is launched, or woken and suspended again.
    func wake(_ app: AppID, for reason: LaunchReason, lasting span: TimeSpan?) {
        let name = reason.actionName
        let record = apps[app.index]
        guard record.profile.supports(reason) else {
            return note(name, app, refused: .modeIsNotDeclared)
        }
        let time = span ?? record.profile.background.eventWork
        guard let process = process(of: app) else {
            guard !record.wasSwipedAway || reason.reachesQuitApps else {
                return note(name, app, refused: .wasSwipedAway)
            }
            note(name, app)
            return launchToBackground(app, for: reason, lasting: time)
        }
        guard process.quitReason == nil else { return note(name, app, refused: .isBeingEnded) }
        note(name, app)
        if process.connecting != nil {
            // It is being launched for an event: this one comes after that, when there is a scene.
            process.launchEvents.append(.backgroundEvent(reason, lasting: time))
            return
        }
        if process.phase == .suspended { queueProcess(.resume, process) }
        process.steps.append(.backgroundEvent(reason, lasting: time))
        advance(process)
    }

    func beginTask(_ app: AppID) {
        let name = "begin_background_task"
        guard let process = running(app, for: name) else { return }
        note(name, app)
        beginTask(of: process, lasting: nil)
    }

    func endTask(_ app: AppID) {
        let name = "end_background_task"
        guard let process = running(app, for: name) else { return }
        guard process.assertions.endLastTask() else {
            return note(name, app, refused: .holdsNoTask)
        }
        note(name, app)
        noteTask("ends", of: process)
        advance(process)
    }

    /// The app's process, if code of it runs; else the refusal is recorded.
    private func running(_ app: AppID, for name: String) -> LiveProcess? {
        guard let process = process(of: app) else {
            note(name, app, refused: .isNotRunning)
            return nil
        }
        guard process.phase.runsCode else {
            note(name, app, refused: .isSuspended)
            return nil
        }
        return process
    }

    // MARK: News for everybody

    func changeTime(_ change: TimeChange) {
        note("time_change", nil, why: change.rawValue)
        for process in live where process.quitReason == nil {
            if process.phase.runsCode { tellOfTimeChange(process) } else { process.missedTimeChange = true }
        }
        advanceAll()
    }

    func tellOfTimeChange(_ process: LiveProcess) {
        process.missedTimeChange = false
        process.steps.append(.tell(.applicationSignificantTimeChange, nil))
        process.steps.append(.post(.significantTimeChange))
    }

    func tellThatProtectedDataGoes(_ process: LiveProcess) {
        guard process.quitReason == nil else { return }
        process.missesProtectedData = true
        process.steps.append(.tell(.applicationProtectedDataWillBecomeUnavailable, nil))
        process.steps.append(.post(.protectedDataWillBecomeUnavailable))
    }

    func tellThatProtectedDataIsBack(_ process: LiveProcess) {
        process.missesProtectedData = false
        process.steps.append(.tell(.applicationProtectedDataDidBecomeAvailable, nil))
        process.steps.append(.post(.protectedDataDidBecomeAvailable))
    }

    // MARK: The second display

    func showOnDisplay(_ app: AppID) {
        let name = "show_on_display"
        let scenes = apps[app.index].profile.scenes
        guard scenes.support && scenes.multiple else {
            return note(name, app, refused: .hasOneScene)
        }
        guard lockedUntil == nil else { return note(name, app, refused: .deviceIsLocked) }
        if let externalApp {
            return note(name, app, refused: .displayIsTaken, by: externalApp)
        }
        guard let process = process(of: app), process.quitReason == nil else {
            return note(name, app, refused: .isNotRunning)
        }
        note(name, app)
        externalApp = app
        process.externalScene = newSession(of: app, isExternal: true)
        advance(process)
    }

    func unplugDisplay() {
        guard let app = externalApp, let process = process(of: app), let scene = process.externalScene else {
            return note("unplug_display", nil, refused: .hasNoSecondDisplay)
        }
        note("unplug_display", app)
        externalApp = nil
        process.externalScene = nil
        leaveToUser(scene, of: process)
        process.closing.append(scene)
        advance(process)
    }

    // MARK: Ends

    func crash(_ app: AppID) {
        guard let process = running(app, for: "crash") else { return }
        note("crash", app)
        end(process, .abnormal, "crashed")
    }

    /// Nobody is told who is suspended; the others say goodbye.
    func terminate(_ app: AppID) {
        guard let process = process(of: app), process.quitReason == nil else {
            return note("terminate", app, refused: .isNotRunning)
        }
        note("terminate", app)
        abandonLaunch(of: process, outcome: "abandoned")
        if foregroundApp == app { foregroundApp = nil }
        if process.phase == .suspended && process.isQuiet {
            return end(process, .normalApp, "ended in good order while suspended: no code ran")
        }
        process.goal = .background
        process.quitReason = QuitReason(.normalApp, "ended in good order", since: now)
        expectEnd(of: process)
        advance(process)
    }
}

extension LaunchReason {
    /// The action's name in scenarios and in `events.csv`.
    public var actionName: String {
        switch self {
        case .userTap: "launch"
        case .location: "location"
        case .remoteNotification: "push"
        case .url: "open_url"
        case .userActivity: "hand_off"
        case .shortcutItem: "shortcut"
        case .bluetoothCentrals: "bluetooth"
        case .backgroundFetch: "background_refresh"
        case .processing: "processing"
        }
    }
}
