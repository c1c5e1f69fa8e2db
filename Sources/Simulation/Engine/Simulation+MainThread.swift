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

    private func begin(_ step: Step, of process: LiveProcess) {
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
        case .snapshot(let scene): takeSnapshot(of: scene, process)
        case .backgroundEvent(let reason, let span): receive(reason, lasting: span, process)
        case .expiryHandler: runExpiryHandler(of: process)
        case .deferredWork: addDeferredMemory(of: process)
        case .deadline(let deadline): background.beginDeadline(deadline, of: process)
        case .deadlineMet(let deadline): process.thread.meet(deadline)
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
            reason: launchOptions(of: callback, scene: scene, process))
        if callback == .stateRestorationActivity, let scene {
            process.record.update(scene) { $0.storeActivity() }
        }
        if callback == .configurationForConnecting || callback == .sceneWillConnect, let scene {
            process.record.update(scene) { $0.tell() }
        }
        if callback == .didFinishLaunching { beginDeferredWork(of: process) }
        let work = process.workload.work(
            for: callback, scene: scene ?? SceneID(1), cache: memory.requested(in: process.pools.cache),
            isFirstLaunch: process.launch.isFirst, isOnScreen: process.phase.isForeground, using: &process.record.duty)
        start(work, of: process)
    }

    /// Posts the notification; the app's objects that observe it do their work next.
    func post(_ notification: AppNotification, scene: SceneID?, _ process: LiveProcess) {
        if notification == .didFinishLaunching { process.launch.didFinishLaunching() }
        let observers = process.profile.observers.count { $0.notification == notification }
        recorder.event(
            .notification, at: now, app: process.profile.name, pid: process.pid, scene: scene, notification.rawValue,
            reason: observers > 0 ? "observers: \(observers)" : nil)
        if observers > 0 { process.thread.prepend([.observe(notification)]) }
    }

    private func observe(_ notification: AppNotification, _ process: LiveProcess) {
        let cache = memory.requested(in: process.pools.cache)
        start(
            process.workload.work(ofObserversOf: notification, cache: cache), of: process,
            isDueToWarning: notification == .didReceiveMemoryWarning)
    }

    private func takeSnapshot(of scene: SceneID?, _ process: LiveProcess) {
        recorder.event(
            .snapshot, at: now, app: process.profile.name, pid: process.pid, scene: scene,
            "\((process.profile.background.snapshot * memory.scale).bytes)")
        start(process.workload.snapshotWork(), of: process)
    }

    /// Delivers the event that the app was launched or woken for.
    private func receive(_ reason: LaunchReason, lasting span: TimeSpan, _ process: LiveProcess) {
        background.receive(reason, lasting: span, process)
        if reason == .remoteNotification {
            process.thread.prepend([.tell(.didReceiveRemoteNotification, nil)])
        } else {
            start(CallbackWork(cost: process.profile.costs.event), of: process)
        }
    }

    private func runExpiryHandler(of process: LiveProcess) {
        background.endExpiredTasks(of: process)
        start(CallbackWork(cost: process.profile.costs.event), of: process)
    }

    // MARK: Transitions

    func apply(_ event: ProcessEvent, to process: LiveProcess, reason: String) {
        let before = process.phase
        do {
            try process.apply(event)
        } catch {
            return faults.fail("\(process.profile.name): \(error)")
        }
        recorder.count(of: process) { $0.enter(process.phase, at: now) }
        recorder.event(
            .processState, at: now, app: process.profile.name, pid: process.pid, process.phase.rawValue, reason: reason,
            fact: .entered(process.phase))
        phaseChanged(process, from: before)
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
            session.machine.phase.rawValue, reason: event.rawValue, fact: .entered(session.machine.phase))
        followConnection(event, of: scene, process)
        followScenes(process)
        if event == .resignActive && !session.isExternal { releaseDisplay(by: process) }
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
        guard let event = process.phase.event(towards: target) else {
            return faults.claim(
                process.phase == target,
                "\(process.profile.name) is \(process.phase.rawValue), but its scenes make it \(target.rawValue)")
        }
        for signal in event.signals(in: .sceneBased) { play(signal, of: event, process) }
    }

    private func phaseChanged(_ process: LiveProcess, from before: ProcessPhase) {
        let after = process.phase
        if before.isForeground || after.isForeground { process.wasSeen(at: now) }
        if before == .suspended { background.countSuspension(of: process) }
        process.followBand(at: now)
        if !process.profile.scenes.support && before == .active { releaseDisplay(by: process) }
        switch after {
        case .background: background.begin(of: process, from: before)
        case .inactive, .active: background.end(of: process)
        case .suspended: background.suspend(process)
        case .notRunning: break
        }
        armTick(process)
    }

    /// The process gives up the display, if it owns it.
    func releaseDisplay(by owner: LiveProcess) {
        guard display.release(by: owner.pid) else { return }
        // A process that waits for the screen may take it at this instant. It does so in a separate event, so that this
        // step and the work under way are finished first.
        if let process = display.frontApp.flatMap({ processes.process(of: $0) }), process.isQuiet {
            process.thread.lookAgain()
            agenda.schedule(.mainThread(process.reference, serial: process.thread.serial), at: now)
        }
    }
}
