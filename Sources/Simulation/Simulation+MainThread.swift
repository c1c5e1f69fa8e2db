import Lifecycle
import Metrics
import Quantities
import Workload

// One main thread per process: steps run one after the other; each pays its cost on a core and does its work on memory.
extension Simulation {
    /// Runs the main thread until it has to wait or has nothing left to do.
    func advance(_ process: LiveProcess) {
        while failure == nil, !process.isRunning, isAlive(process) {
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
        case .reclaimed: finishReclaimStep(on: process)
        case .exit(let reason, let explanation): end(process, reason, explanation, bySystem: false)
        }
    }

    /// The process is there from the tap on: nobody takes it for one that may be ended.
    private func spawn(_ process: LiveProcess) {
        let event = ProcessEvent.launchToForeground
        let signals = event.signals(in: process.profile.scenes.world).filter { $0 != .change }
        process.steps.prepend(contentsOf: signals.map { .process($0, event) })
        tellOfDiscardedSessions(process)
        apply(event, to: process, reason: event.rawValue)
        start(CallbackWork(cost: process.profile.costs.process), of: process)
    }

    /// Sessions that the user closed while the app was dead are told after the launch.
    private func tellOfDiscardedSessions(_ process: LiveProcess) {
        guard apps[process.app.index].discardedWhileDead > 0 else { return }
        apps[process.app.index].discardedWhileDead = 0
        process.steps.append(.process(.callback(.didDiscardSceneSessions), .launchToForeground))
    }

    private func play(_ signal: Signal, of event: ProcessEvent, _ process: LiveProcess) {
        switch signal {
        case .callback(let callback): run(callback, scene: nil, process)
        case .notification(let notification):
            recorder.event(.notification, at: now, app: process.profile.name, pid: process.pid, notification.rawValue)
        case .change: apply(event, to: process, reason: event.rawValue)
        }
    }

    private func play(_ signal: Signal, of event: SceneEvent, _ scene: SceneID, _ process: LiveProcess) {
        switch signal {
        case .callback(let callback): run(callback, scene: scene, process)
        case .notification(let notification):
            recorder.event(
                .notification, at: now, app: process.profile.name, pid: process.pid, scene: scene,
                notification.rawValue)
        case .change: apply(event, to: scene, of: process)
        }
    }

    private func run(_ callback: Callback, scene: SceneID?, _ process: LiveProcess) {
        recorder.event(
            .callback, at: now, app: process.profile.name, pid: process.pid, scene: scene, callback.rawValue)
        if callback == .stateRestorationActivity, let scene {
            update(scene, of: process.app) { $0.hasRestorationActivity = true }
        }
        let work = process.workload.work(
            for: callback, scene: scene ?? SceneID(1), cache: memory.requested(in: process.cache),
            isFirstLaunch: process.isFirstLaunch)
        start(work, of: process)
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
            do throws(IllegalTransition) {
                try session.machine.apply(event)
            } catch {
                refusal = error
            }
            if session.machine.phase.isConnected { session.wasConnected = true }
        }
        if let refusal { return fail("\(process.profile.name), scene \(scene.number): \(refusal)") }
        recorder.event(
            .sceneState, at: now, app: process.profile.name, pid: process.pid, scene: scene,
            session(scene, of: process.app).machine.phase.rawValue, reason: event.rawValue)
        noteConnection(event, of: scene, process)
        followScenes(process)
    }

    private func noteConnection(_ event: SceneEvent, of scene: SceneID, _ process: LiveProcess) {
        switch event {
        case .connectToForeground, .connectToBackground:
            if session(scene, of: process.app).wasReclaimed {
                recorder.tally.scenesReconnected += 1
                update(scene, of: process.app) { $0.wasReclaimed = false }
            }
        case .disconnect:
            if process.reclaiming.contains(scene) { recorder.tally.scenesDisconnected += 1 }
        case .activate, .resignActive, .enterBackground, .enterForeground, .suspend, .resume: break
        }
    }

    /// A scene-based process's own state follows from its scenes, one neighbour at a time.
    private func followScenes(_ process: LiveProcess) {
        let scenes = apps[process.app.index].sessions.map(\.machine.phase)
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
        if after == .active { displayOwner = process.pid }
        if before == .active && displayOwner == process.pid { releaseDisplay() }
        if after == .background { beginBackgroundTime(of: process, resumed: before == .suspended) }
        if after == .suspended {
            recorder.tally.suspensions += 1
            process.wantsSuspension = false
            process.backgroundSince = nil
        }
        armTick(process)
    }

    private func releaseDisplay() {
        displayOwner = nil
        // Whoever wants the screen may have it at this very instant, but not in the middle of this step.
        if let process = foregroundApp.flatMap({ process(of: $0) }), process.isQuiet {
            queue.schedule(.mainThread(process.reference, serial: process.serial), at: now)
        }
    }

    private func discardSession(_ scene: SceneID, of process: LiveProcess) {
        apps[process.app.index].sessions.removeAll { $0.id == scene }
        process.closing.removeAll { $0 == scene }
        recorder.event(
            .callback, at: now, app: process.profile.name, pid: process.pid, scene: scene,
            Callback.didDiscardSceneSessions.rawValue)
    }

    // MARK: Launches

    private func finishLaunch(of process: LiveProcess) {
        guard let launch = process.launch else { return }
        process.launch = nil
        process.isFirstLaunch = false
        recorder.event(
            .firstFrame, at: now, app: process.profile.name, pid: process.pid, launch.kind.rawValue,
            reason: "tapped at \(launch.tapped)")
        recorder.launch(launch, app: process.profile.name, pid: process.pid, ready: now, outcome: "ready")
    }

    /// The first frame will never come.
    func abandonLaunch(of process: LiveProcess, outcome: String) {
        guard let launch = process.launch else { return }
        process.launch = nil
        recorder.launch(launch, app: process.profile.name, pid: process.pid, ready: nil, outcome: outcome)
    }

    // MARK: Sessions

    func session(_ scene: SceneID, of app: AppID) -> SceneSession {
        guard let found = apps[app.index].sessions.first(where: { $0.id == scene }) else {
            preconditionFailure("\(apps[app.index].profile.name) has no session \(scene.number)")
        }
        return found
    }

    func update(_ scene: SceneID, of app: AppID, _ change: (inout SceneSession) -> Void) {
        guard let index = apps[app.index].sessions.firstIndex(where: { $0.id == scene }) else {
            preconditionFailure("\(apps[app.index].profile.name) has no session \(scene.number)")
        }
        change(&apps[app.index].sessions[index])
    }
}
