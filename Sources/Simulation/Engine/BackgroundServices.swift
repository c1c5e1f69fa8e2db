import Lifecycle
import Quantities
import Workload

/// The flow of what an app asks the system to do for it off screen: tasks of BGTaskScheduler, transfers of a background
/// `URLSession`, a Live Activity, picture in picture.
///
/// Sources: Apple's documentation of BackgroundTasks and "Downloading files in the background". A refresh has at most
/// 30 s (`limits.background_time`); a processing task runs while the device is idle, which is here while it is locked.
struct BackgroundServices {
    let engine: any EngineSteps
    let agenda: Agenda
    let processes: ProcessTable
    let display: Display
    let background: BackgroundLife
    let recorder: RunRecorder

    private var now: Instant { agenda.now }

    // MARK: Tasks

    func submit(_ app: AppRecord, _ task: LaunchReason, after span: TimeSpan) {
        let name = task.submissionName
        guard app.profile.supports(task) else { return engine.record(name, app, refused: .modeIsNotDeclared) }
        guard asks(app, name) != nil else { return }
        let earliest = now + span
        guard app.requests.submit(task, notBefore: earliest) else {
            return engine.record(name, app, refused: .hasTooManyRequests)
        }
        engine.record(name, app, why: "not before \(earliest)")
        agenda.schedule(.backgroundDue(app.id), at: earliest)
    }

    /// The app's process, if it can ask the system for something; otherwise the refusal is recorded.
    private func asks(_ app: AppRecord, _ name: String) -> LiveProcess? {
        guard let process = engine.running(app, for: name) else { return nil }
        guard !process.isEnding else {
            engine.record(name, app, refused: .isBeingEnded)
            return nil
        }
        return process
    }

    /// Grants what is due. What cannot be granted now stays pending: each event that may change this looks again.
    func look(at app: AppRecord) {
        guard !display.isOff, app.process?.isEnding != true else { return }
        if app.requests.awaitsDelivery { deliver(to: app) }
        let rules = app.rules
        if display.isLocked, !app.wasSwipedAway || LaunchReason.processing.reachesQuitApps(rules),
            app.requests.grantProcessing(at: now)
        {
            engine.wake(app, for: .processing, lasting: nil)
        }
        guard let due = app.requests.refreshDue(rules) else { return }
        guard due <= now else { return agenda.schedule(.backgroundDue(app.id), at: due) }
        guard app.process?.phase.isForeground != true, app.process?.isEnding != true, !app.wasSwipedAway else { return }
        app.requests.grantRefresh(at: now)
        engine.wake(app, for: .backgroundFetch, lasting: nil)
    }

    private func lookSoon(at app: AppRecord) { agenda.schedule(.backgroundDue(app.id), at: now) }

    /// The user has locked the device.
    func deviceIsIdle() {
        for app in processes.apps where !app.requests.processing.isEmpty { lookSoon(at: app) }
    }

    /// The device is on again after a restart, and locked.
    func deviceHasBooted() {
        for app in processes.apps where !app.requests.isEmpty { lookSoon(at: app) }
    }

    /// The user unlocks the device: processing tasks end. After a restart, what has waited is looked at.
    func userPicksUp() {
        for app in processes.apps where !app.requests.isEmpty {
            lookSoon(at: app)
            guard app.requests.runsProcessing else { continue }
            app.requests.endProcessing()
            guard let process = app.process, process.reasons.holds(.processing), !process.isEnding else { continue }
            recorder.event(
                .backgroundTask, at: now, app: process.profile.name, pid: process.pid, "expires",
                reason: "the user picks up the device: the expiration handler of the processing task is called")
            process.thread.append(.taskExpiration)
        }
    }

    /// The expiration handler runs, and the task is over.
    func expireProcessing(of process: LiveProcess) {
        if process.reasons.endAll(of: .processing) { process.followBand(at: now) }
        engine.start(CallbackWork(cost: process.costs.event), of: process)
    }

    func phaseChanged(_ process: LiveProcess) {
        if process.phase.isForeground { process.record.requests.resetDelay() } else { lookSoon(at: process.record) }
    }

    func processEnded(of app: AppRecord) {
        app.requests.endProcessing()
        lookSoon(at: app)
    }

    // MARK: Transfers

    func download(_ app: AppRecord, lasting span: TimeSpan) {
        let name = LaunchReason.urlSession.actionName
        guard let process = asks(app, name) else { return }
        let start = app.requests.beginTransfer(at: now, isOnScreen: process.phase.isForeground, app.rules)
        engine.record(name, app, why: start > now ? "starts at \(start): the app was woken for transfers" : nil)
        agenda.schedule(.transferDone(app.id, serial: app.requests.transferSerial), at: start + span)
    }

    /// The app hears of it when all its transfers are done.
    func finishTransfer(of app: AppRecord, _ serial: Int) {
        if app.requests.endTransfer(serial) { look(at: app) }
    }

    private func deliver(to app: AppRecord) {
        app.requests.wasDelivered()
        guard let process = app.launchedProcess, process.phase.runsCode else {
            app.requests.wasWoken(at: now)
            return engine.wake(app, for: .urlSession, lasting: nil)
        }
        process.thread.append(.tell(.urlSessionDidFinishEvents, nil))
        engine.advance(process)
    }

    // MARK: Reasons to stay

    /// The system shows the activity, and the app need not run for it. The process is worth more meanwhile.
    func showLiveActivity(of app: AppRecord, lasting span: TimeSpan) {
        let name = "live_activity"
        guard let process = asks(app, name) else { return }
        guard process.phase.isForeground else { return engine.record(name, app, refused: .isNotOnScreen) }
        engine.record(name, app)
        agenda.schedule(.liveActivityEnds(app.id, serial: app.requests.showLiveActivity()), after: span)
    }

    func endLiveActivity(of app: AppRecord, _ serial: Int) {
        guard app.requests.endLiveActivity(serial) else { return }
        app.process?.followBand(at: now)
    }

    /// The video goes on over other apps: the process keeps running off screen, whatever its audio mode does.
    func showPicture(of app: AppRecord, lasting span: TimeSpan) {
        let name = "picture_in_picture"
        guard app.profile.backgroundModes.contains(.audio) else {
            return engine.record(name, app, refused: .modeIsNotDeclared)
        }
        guard let process = asks(app, name) else { return }
        guard process.phase.isForeground else { return engine.record(name, app, refused: .isNotOnScreen) }
        engine.record(name, app)
        agenda.schedule(.pictureEnds(serial: process.reasons.showPicture()), of: process, after: span)
    }

    func endPicture(of process: LiveProcess, _ serial: Int) {
        guard process.reasons.showsPicture, process.reasons.pictureSerial == serial else { return }
        process.reasons.endPicture()
        background.modesAreOver(of: process)
        engine.advance(process)
    }
}
