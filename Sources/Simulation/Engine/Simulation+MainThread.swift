import Lifecycle
import Metrics
import Quantities
import Workload

// One main thread per process. Steps run one after the other; each pays its cost on a core and does its memory work.
extension Simulation {
    /// Runs the main thread until it has to wait or has nothing left to do.
    func advance(_ process: LiveProcess) {
        let planner = Planner(process: process, display: display)
        while faults.failure == nil, !process.thread.isRunning, processes.isAlive(process) {
            if let step = process.thread.next() {
                begin(step, of: process)
            } else if !planner.next() {
                return settle(process)
            }
        }
    }

    /// Advances every process that has something to do. A process may end another's wait, so the list is a copy.
    func advanceAll() {
        for process in processes.live where processes.isAlive(process) { advance(process) }
    }

    /// The process has reached its goal. Actions and taps that wait for this go on.
    private func settle(_ process: LiveProcess) {
        process.thread.settle()
        process.thread.meet(.launch)
        armTick(process)
    }

    private func begin(_ step: MainThreadStep, of process: LiveProcess) {
        switch step {
        case .spawn: spawn(process)
        case .process(let signal, let event): play(signal, of: event, process)
        case .scene(let scene, let signal, let event): play(signal, of: event, scene, process)
        case .discardSession(let scene): discardSession(scene, of: process)
        case .memoryWarning: receiveMemoryWarning(process)
        case .firstFrame: finishLaunch(of: process)
        case .exit(let reason, let explanation): end(process, reason, explanation)
        case .reclaimed(let scene): reclaimer.stopWaiting(for: scene, of: process)
        case .tell(let callback, let scene): run(callback, scene: scene, process)
        case .post(let notification): post(notification, scene: nil, process)
        case .observe(let notification): observe(notification, process)
        case .windows(let callback, let scene): duties.showWindows(after: callback, scene: scene, of: process)
        case .externalWindow(let window, let appears): changeExternalWindow(window, of: process, appears: appears)
        case .audioInterruption(let begins): interruptAudio(of: process, begins: begins)
        case .snapshot(let scene): takeSnapshot(of: scene, process)
        case .backgroundEvent(let reason, let span): receive(reason, lasting: span, process)
        case .expiryHandler: runExpiryHandler(of: process)
        case .taskExpiration: services.expireProcessing(of: process)
        case .deferredWork: addDeferredMemory(of: process)
        case .footprint(let goal): reach(goal, of: process)
        case .hang: hangs.hang(process)
        case .deadline(let deadline): background.beginDeadline(deadline, of: process)
        case .deadlineMet(let deadline): process.thread.meet(deadline)
        }
    }

    private func play(_ signal: Signal, of event: ProcessEvent, _ process: LiveProcess) {
        switch signal {
        case .callback(let callback): run(callback, scene: nil, process)
        case .notification(let notification): post(notification, scene: nil, process)
        case .change: apply(event, to: process, reason: event.rawValue)
        case .application: announce(process)
        }
    }

    private func play(_ signal: Signal, of event: SceneEvent, _ scene: SceneID, _ process: LiveProcess) {
        switch signal {
        case .callback(let callback): run(callback, scene: scene, process)
        case .notification(let notification): post(notification, scene: scene, process)
        case .change: apply(event, to: scene, of: process)
        case .application: announce(process)
        }
    }

    /// Posts the notifications of the application that a scene's change has caused.
    private func announce(_ process: LiveProcess) {
        for notification in process.announcements { post(notification, scene: nil, process) }
        process.announcements = []
    }

    // MARK: Callbacks and notifications

    private var duties: DutyRows { DutyRows(isOn: plan.showsDuties, recorder: recorder, agenda: agenda) }

    private func run(_ callback: Callback, scene: SceneID?, _ process: LiveProcess) {
        process.thread.begin(
            recorder.callback(
                callback, at: now, of: process, scene: scene,
                reason: launchOptions(of: callback, scene: scene, process)))
        if callback == .stateRestorationActivity, let scene {
            process.record.update(scene) { $0.storeActivity() }
        }
        if callback == .configurationForConnecting || callback == .sceneWillConnect, let scene {
            process.record.update(scene) { $0.tell() }
        }
        duties.record(in: callback, scene: scene, process)
        if callback == .sceneDidBecomeActive || callback == .applicationDidBecomeActive {
            process.wasRefreshed = false
            if plan.showsDuties { process.thread.prepend([.windows(callback, scene)]) }
        }
        if callback == .didFinishLaunching { beginDeferredWork(of: process) }
        if callback == .main { process.launch.didFinishLaunching() }
        if callback == .sceneDidEnterBackground || callback == .applicationDidEnterBackground {
            background.beginOwnTask(of: process)
        }
        let work = process.workload.work(
            for: callback, costs: process.costs, scene: scene ?? SceneID(1),
            cache: memory.requested(in: process.pools.cache), isFirstLaunch: process.launch.isFirst,
            isOnScreen: process.phase.isForeground, using: &process.record.duty)
        if let footprint = process.workload.takeFootprint(after: callback) {
            process.thread.prepend([.footprint(FootprintGoal(footprint * memory.scale, isExact: true))])
        }
        start(work, of: process)
    }

    /// Posts the notification; the app's objects that observe it do their work next.
    func post(_ notification: AppNotification, scene: SceneID?, _ process: LiveProcess, what: String? = nil) {
        if notification == .didFinishLaunching { process.launch.didFinishLaunching() }
        let observers = process.profile.observers.count { $0.notification == notification }
        recorder.event(
            .notification, at: now, app: process.profile.name, pid: process.pid, scene: scene, notification.rawValue,
            reason: observers > 0 ? "\(what.map { "\($0); " } ?? "")observers: \(observers)" : what)
        if observers > 0 { process.thread.prepend([.observe(notification)]) }
    }

    private func observe(_ notification: AppNotification, _ process: LiveProcess) {
        let cache = memory.requested(in: process.pools.cache)
        start(
            process.workload.work(ofObserversOf: notification, cache: cache), of: process,
            isDueToWarning: notification == .didReceiveMemoryWarning)
    }

    private func changeExternalWindow(_ window: SceneID, of process: LiveProcess, appears: Bool) {
        post(appears ? .screenDidConnect : .screenDidDisconnect, scene: nil, process)
        if appears && process.phase == .active { duties.showWindow(window, of: process) }
        if !appears { duties.hideWindows(window, of: process) }
        start(process.workload.windowWork(window, appears: appears), of: process)
        // What it held is free: that takes no time.
        if !appears { process.record.discard(window) }
    }

    private func interruptAudio(of process: LiveProcess, begins: Bool) {
        if !begins { background.resumeAudio(of: process) }
        post(.audioInterruption, scene: nil, process, what: begins ? "began" : "ended")
    }

    private func takeSnapshot(of scene: SceneID?, _ process: LiveProcess) {
        let size = process.profile.background.snapshot * memory.scale
        recorder.event(
            .snapshot, at: now, app: process.profile.name, pid: process.pid, scene: scene, size.readable,
            fact: .amount("snapshot_bytes", size))
        start(process.workload.snapshotWork(), of: process)
    }

    /// Delivers the event that the app was launched or woken for.
    private func receive(_ reason: LaunchReason, lasting span: TimeSpan, _ process: LiveProcess) {
        background.receive(reason, lasting: span, process)
        if reason == .backgroundFetch { process.wasRefreshed = true }
        switch reason {
        case .remoteNotification:
            let isService = process.profile.part?.kind == .notificationService
            process.thread.prepend(
                [.tell(isService ? .notificationServiceDidReceive : .didReceiveRemoteNotification, nil)])
        case .call: process.thread.prepend([.tell(.pushRegistryDidReceive, nil)])
        case .urlSession:
            process.thread.prepend(
                [.tell(.handleEventsForBackgroundURLSession, nil), .tell(.urlSessionDidFinishEvents, nil)])
        case .location, .bluetoothCentrals, .backgroundFetch, .processing, .userTap, .url, .userActivity,
            .shortcutItem, .notification, .demand:
            start(CallbackWork(cost: process.costs.event), of: process)
        }
    }

    private func runExpiryHandler(of process: LiveProcess) {
        background.endExpiredTasks(of: process)
        start(CallbackWork(cost: process.costs.event), of: process)
    }

    // MARK: Transitions

    func apply(_ event: ProcessEvent, to process: LiveProcess, reason: String) {
        let (before, read) = (process.phase, process.readPhase)
        do {
            try process.apply(event)
        } catch {
            return faults.fail("\(process.profile.name): \(error)")
        }
        if !before.awaitsLaunch { process.launch.endAwaitingScene() }
        if before.awaitsLaunch || process.readPhase != read { recordPhase(of: process, reason: reason) }
        phaseChanged(process, from: before)
    }

    func recordPhase(of process: LiveProcess, reason: String) {
        let phase = process.readPhase
        recorder.count(of: process) { $0.enter(phase, at: now) }
        recorder.event(
            .processState, at: now, app: process.profile.name, pid: process.pid, phase.rawValue, reason: reason,
            fact: .entered(phase))
    }

    private func apply(_ event: SceneEvent, to scene: SceneID, of process: LiveProcess) {
        var refusal: IllegalTransition?
        process.record.update(scene) { session in
            do throws(IllegalTransition) {
                try session.apply(event, at: now)
            } catch {
                refusal = error
            }
        }
        if let refusal { return faults.fail("\(process.profile.name), scene \(scene.number): \(refusal)") }
        let session = process.record.session(scene)
        recorder.event(
            .sceneState, at: now, app: process.profile.name, pid: process.pid, scene: scene,
            session.machine.phase.rawValue, reason: reason(of: event, scene, process),
            fact: .entered(session.machine.phase))
        followConnection(event, of: scene, process)
        followScenes(process)
        idleScenes(of: process)
        expectExpiry(of: session, process)
        if event == .enterBackground { duties.hideWindows(scene, of: process) }
        if event == .resignActive && !session.isExternal { releaseDisplay(by: process) }
        if session.isExternal && session.machine.phase != .foregroundActive { releaseSecondDisplay(by: process) }
    }

    private func followConnection(_ event: SceneEvent, of scene: SceneID, _ process: LiveProcess) {
        switch event {
        case .connectToForeground, .connectToBackground:
            process.record.update(scene) { if $0.connected() { recorder.tally.scenesReconnected += 1 } }
        case .disconnect:
            if process.course.reclaiming.contains(scene) {
                recorder.tally.scenesDisconnected += 1
                recorder.count(of: process) { $0.scenesDisconnected += 1 }
            } else {
                reclaimer.stopWaiting(for: scene, of: process)
            }
        case .activate, .resignActive, .enterBackground, .enterForeground, .suspend, .resume: break
        }
    }

    /// Derives a scene-based process's own state from its scenes, one neighbouring state at a time.
    private func followScenes(_ process: LiveProcess) {
        let scenes = process.record.sessions.map(\.machine.phase)
        let target = processPhase(followingFrom: scenes, hasReasonToRun: process.phase.runsCode)
        // Swiped away, it ends without having been in the background.
        if process.course.quit?.entersBackground == false && process.phase.isForeground && !target.isForeground {
            return
        }
        guard let event = process.phase.event(towards: target) else {
            faults.claim(
                process.phase == target,
                "\(process.profile.name) is \(process.phase.rawValue), but its scenes make it \(target.rawValue)")
            if process.launch.awaitsScene && target.isForeground { enterForegroundAtLaunch(process) }
            return
        }
        var hasChanged = false
        for signal in event.signals(in: .sceneBased) {
            if hasChanged, case .notification(let notification) = signal {
                process.announcements.append(notification)
            } else {
                play(signal, of: event, process)
            }
            if signal == .change { hasChanged = true }
        }
    }

    /// The first scene of a launch comes to the foreground, where the system has had the process from the tap on.
    private func enterForegroundAtLaunch(_ process: LiveProcess) {
        let read = process.readPhase
        process.launch.endAwaitingScene()
        process.stateDidChange()
        if plan.lifecycle.foregroundNotificationAtLaunch { post(.willEnterForeground, scene: nil, process) }
        if process.readPhase != read { recordPhase(of: process, reason: ProcessEvent.enterForeground.rawValue) }
    }

    /// Scenes off screen of an app that another scene keeps in front have the time of an app that leaves the screen.
    private func idleScenes(of process: LiveProcess) {
        guard plan.lifecycle.idleScenes == .suspended, process.phase.isForeground else { return }
        for session in process.record.sessions where session.machine.phase == .background && !session.becomesIdle {
            guard !session.isIdle else { continue }
            process.record.update(session.id) { $0.beginIdling() }
            agenda.schedule(
                .sceneIdles(session.id, serial: session.serial), of: process,
                after: process.profile.background.work)
        }
    }

    func endIdling(of scene: SceneID, _ process: LiveProcess, _ serial: Int) {
        guard let session = process.record.sessions.first(where: { $0.id == scene }), session.serial == serial,
            session.becomesIdle
        else { return }
        process.record.update(scene) { $0.endIdling(isInFront: process.phase.isForeground) }
        advance(process)
    }

    /// The reason in the row of a scene's new state.
    private func reason(of event: SceneEvent, _ scene: SceneID, _ process: LiveProcess) -> String {
        guard event == .disconnect, process.course.expired.contains(scene),
            let time = plan.lifecycle.idleSceneDisconnect
        else { return event.rawValue }
        return "\(event.rawValue); off screen for \(time), without pressure"
    }

    /// The system keeps a scene off screen for some time only, if the rules say so. The second display's scene stays.
    private func expectExpiry(of session: SceneSession, _ process: LiveProcess) {
        guard let time = plan.lifecycle.idleSceneDisconnect, session.offScreenSince == now, !session.isExternal else {
            return
        }
        agenda.schedule(.sceneExpires(session.id, since: now), of: process, after: time)
    }

    /// The scene has been off screen for long: it disconnects, its session is kept, and no policy had a part in it.
    func disconnectIdle(_ scene: SceneID, of process: LiveProcess, _ since: Instant) {
        guard let session = process.record.sessions.first(where: { $0.id == scene }), session.offScreenSince == since,
            !process.isEnding, process.course.goal != .foreground(scene), process.course.connecting != scene,
            !process.course.closing.contains(scene), !process.course.reclaiming.contains(scene)
        else { return }
        process.course.expire(scene)
        advance(process)
    }

    private func phaseChanged(_ process: LiveProcess, from before: ProcessPhase) {
        let after = process.phase
        if before.isForeground || after.isForeground { process.wasSeen(at: now) }
        // The app saves its data when it is told that it resigns being active.
        if after == .active && !process.record.isPart {
            process.unsavedSince = now
        } else if after == .inactive {
            process.unsavedSince = nil
        }
        if before.restsInMemory {
            background.countSuspension(of: process)
            if before == .suspended {
                worker.compressor?.noteResume(of: process)
                freezer?.noteResume(of: process)
            }
        }
        if before == .background && after.isForeground { process.reasons.endPicture() }
        if process.course.standing != nil { process.course.leaveStanding() }
        process.followBand(at: now)
        if !process.profile.scenes.support && before == .active { releaseDisplay(by: process) }
        switch after {
        case .background:
            background.begin(of: process, from: before)
            if !process.profile.scenes.support && !process.record.isPart { duties.hideWindows(nil, of: process) }
        case .inactive, .active: background.end(of: process)
        case .suspended:
            background.suspend(process)
            parts.isIdle(process)
        case .prewarmed: process.stay.suspend(at: now)
        case .notRunning: break
        }
        parts.watchAgeing(process)
        if !process.record.requests.isEmpty { services.phaseChanged(process) }
        if display.hasPresentations || !process.record.membership.helpers.isEmpty { parts.appHasMoved(process) }
        use.restart(of: process)
        armTick(process)
    }

    /// The process gives up the display, if it owns it.
    func releaseDisplay(by owner: LiveProcess) {
        guard display.release(by: owner.pid) else { return }
        offerScreen(to: display.frontApp)
        if display.besideApp != nil { offerScreen(to: display.besideApp) }
    }

    /// The process gives up the second display, if it owns it.
    func releaseSecondDisplay(by owner: LiveProcess) {
        if display.releaseExternal(by: owner.pid) { offerScreen(to: display.externalApp) }
    }

    /// A process that waits for a screen may take it at this instant. It does so in a separate event, so that this step
    /// and the work under way are finished first.
    private func offerScreen(to app: AppID?) {
        guard let process = app.flatMap({ processes.process(of: $0) }), process.isQuiet else { return }
        process.thread.lookAgain()
        agenda.schedule(.mainThread(serial: process.thread.serial), of: process, at: now)
    }
}
