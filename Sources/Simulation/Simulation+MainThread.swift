import Lifecycle
import Metrics
import Quantities
import Workload

// One main thread per process: steps run one after the other; each pays its cost on a core and does its work on memory.
extension Simulation {
    /// Runs the main thread until it has to wait or has nothing left to do.
    func advance(_ process: LiveProcess) {
        while failure == nil, !process.isRunning, isAlive(process) {
            process.hasArrived = false
            if let step = process.steps.popFirst() {
                begin(step, of: process)
            } else if !planNext(for: process) {
                return settle(process)
            }
        }
    }

    func isAlive(_ process: LiveProcess) -> Bool { processes[process.slot.index] === process }

    private func begin(_ step: Step, of process: LiveProcess) {
        switch step {
        case .spawn: spawn(process)
        case .process(let signal, let event): play(signal, of: event, process)
        case .scene(let scene, let signal, let event): play(signal, of: event, scene, process)
        case .discardSession(let scene): discardSession(scene, of: process)
        case .memoryWarning: receiveMemoryWarning(process)
        case .firstFrame: finishLaunch(of: process)
        case .exit(let reason, let explanation): end(process, reason, explanation)
        case .reclaimed(let scene): stopWaiting(for: scene, of: process)
        case .tell(let callback, let scene): run(callback, scene: scene, process)
        case .post(let notification): post(notification, scene: nil, process)
        case .observe(let notification): observe(notification, process)
        case .snapshot(let scene): takeSnapshot(of: scene, process)
        case .backgroundEvent(let reason, let span): receive(reason, lasting: span, process)
        case .expiryHandler: runExpiryHandler(of: process)
        case .deferredWork: addDeferredMemory(of: process)
        case .deadline(let deadline): beginDeadline(deadline, of: process)
        case .deadlineMet(let deadline): meetDeadline(deadline, of: process)
        }
    }

    private func play(_ signal: Signal, of event: ProcessEvent, _ process: LiveProcess) {
        switch signal {
        case .callback(let callback): run(callback, scene: nil, process)
        case .notification(let notification): post(notification, scene: nil, process)
        case .change: apply(event, to: process, reason: event.rawValue)
        }
    }

    private func play(_ signal: Signal, of event: SceneEvent, _ scene: SceneID, _ process: LiveProcess) {
        switch signal {
        case .callback(let callback): run(callback, scene: scene, process)
        case .notification(let notification): post(notification, scene: scene, process)
        case .change: apply(event, to: scene, of: process)
        }
    }

    // MARK: Callbacks and notifications

    private func run(_ callback: Callback, scene: SceneID?, _ process: LiveProcess) {
        recorder.event(
            .callback, at: now, app: process.profile.name, pid: process.pid, scene: scene, callback.rawValue,
            reason: options(of: callback, scene: scene, process))
        if callback == .stateRestorationActivity, let scene {
            update(scene, of: process.app) { $0.hasRestorationActivity = true }
        }
        if callback == .configurationForConnecting || callback == .sceneWillConnect, let scene {
            update(scene, of: process.app) { $0.isTold = true }
        }
        if callback == .didFinishLaunching { beginDeferredWork(of: process) }
        let work = process.workload.work(
            for: callback, scene: scene ?? SceneID(1), cache: memory.requested(in: process.cache),
            isFirstLaunch: process.isFirstLaunch, isOnScreen: process.phase.isForeground, using: &process.record.duty)
        start(work, of: process)
    }

    /// The notification posts; the app's objects that observe it do their work next.
    func post(_ notification: AppNotification, scene: SceneID?, _ process: LiveProcess) {
        if notification == .didFinishLaunching { process.hasFinishedLaunching = true }
        let observers = process.profile.observers.count { $0.notification == notification }
        recorder.event(
            .notification, at: now, app: process.profile.name, pid: process.pid, scene: scene, notification.rawValue,
            reason: observers > 0 ? "observers: \(observers)" : nil)
        if observers > 0 { process.steps.prepend(.observe(notification)) }
    }

    private func observe(_ notification: AppNotification, _ process: LiveProcess) {
        let cache = memory.requested(in: process.cache)
        start(
            process.workload.work(ofObserversOf: notification, cache: cache), of: process,
            isDueToWarning: notification == .didReceiveMemoryWarning)
    }

    private func takeSnapshot(of scene: SceneID?, _ process: LiveProcess) {
        recorder.event(
            .snapshot, at: now, app: process.profile.name, pid: process.pid, scene: scene,
            "\((process.profile.background.snapshot * scale).bytes)")
        start(process.workload.snapshotWork(), of: process)
    }

    // MARK: Transitions

    func apply(_ event: ProcessEvent, to process: LiveProcess, reason: String) {
        let before = process.phase
        do {
            try process.machine.apply(event)
        } catch {
            return fail("\(process.profile.name): \(error)")
        }
        recorder.event(
            .processState, at: now, app: process.profile.name, pid: process.pid, process.phase.rawValue, reason: reason)
        phaseChanged(process, from: before)
    }

    private func apply(_ event: SceneEvent, to scene: SceneID, of process: LiveProcess) {
        var refusal: IllegalTransition?
        update(scene, of: process.app) { session in
            let before = session.machine.phase
            do throws(IllegalTransition) {
                try session.machine.apply(event)
            } catch {
                refusal = error
            }
            let after = session.machine.phase
            if after.isConnected { session.wasConnected = true }
            if before.isForeground || after.isForeground { session.lastForeground = now }
            // Only for a new process: when it was seen before counts no more.
            if event == .connectToBackground { session.lastForeground = nil }
        }
        if let refusal { return fail("\(process.profile.name), scene \(scene.number): \(refusal)") }
        let session = session(scene, of: process.app)
        recorder.event(
            .sceneState, at: now, app: process.profile.name, pid: process.pid, scene: scene,
            session.machine.phase.rawValue, reason: event.rawValue)
        noteConnection(event, of: scene, process)
        followScenes(process)
        if event == .resignActive && !session.isExternal && displayOwner == process.pid { releaseDisplay() }
    }

    private func noteConnection(_ event: SceneEvent, of scene: SceneID, _ process: LiveProcess) {
        switch event {
        case .connectToForeground, .connectToBackground:
            update(scene, of: process.app) { ($0.reason, $0.isTold) = (.userTap, false) }
            if session(scene, of: process.app).wasReclaimed {
                recorder.tally.scenesReconnected += 1
                update(scene, of: process.app) { $0.wasReclaimed = false }
            }
        case .disconnect:
            if process.reclaiming.contains(scene) {
                recorder.tally.scenesDisconnected += 1
            } else {
                stopWaiting(for: scene, of: process)
            }
        case .activate, .resignActive, .enterBackground, .enterForeground, .suspend, .resume: break
        }
    }

    /// A scene-based process's own state follows from its scenes, one neighbour at a time.
    private func followScenes(_ process: LiveProcess) {
        let scenes = process.record.sessions.map(\.machine.phase)
        let target = processPhase(followingFrom: scenes, hasReasonToRun: process.phase.runsCode)
        guard let event = process.phase.event(towards: target) else {
            return claim(
                process.phase == target,
                "\(process.profile.name) is \(process.phase.rawValue), but its scenes make it \(target.rawValue)")
        }
        for signal in event.signals(in: .sceneBased) { play(signal, of: event, process) }
    }

    private func phaseChanged(_ process: LiveProcess, from before: ProcessPhase) {
        let after = process.phase
        if before.isForeground || after.isForeground { process.lastForeground = now }
        if before == .suspended { noteSuspension(of: process) }
        followBand(of: process)
        let isAppBased = !process.profile.scenes.support
        if isAppBased && before == .active && displayOwner == process.pid { releaseDisplay() }
        switch after {
        case .background: beginBackground(of: process, from: before)
        case .inactive, .active: endBackground(of: process)
        case .suspended: beginSuspension(of: process)
        case .notRunning: break
        }
        armTick(process)
    }

    func releaseDisplay() {
        displayOwner = nil
        // Whoever wants the screen may have it at this very instant, but not in the middle of this step, and not before
        // the work is done that it is in the middle of: it looks for the screen then.
        if let process = foregroundApp.flatMap({ process(of: $0) }), process.isQuiet {
            process.hasArrived = false
            queue.schedule(.mainThread(process.reference, serial: process.serial), at: now)
        }
    }
}
