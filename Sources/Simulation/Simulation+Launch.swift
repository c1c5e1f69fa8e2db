import Lifecycle
import Memory
import Metrics
import Quantities
import Workload

// Launches and sessions: how a process comes to be, what it is told about it, and when it is done.
extension Simulation {
    /// The user wants an app that has no process.
    func launchCold(_ app: AppID, scene: SceneID?, tapped: Instant, for reason: LaunchReason) {
        noteRelaunch(of: app, tapped: tapped)
        let scene = scene ?? newSession(of: app)
        guard let process = makeProcess(for: app, goal: .foreground(scene), reason) else { return }
        apps[app.index].frontScene = scene
        apps[app.index].wasSwipedAway = false
        update(scene, of: app) { $0.reason = reason }
        process.launch = PendingLaunch(kind: .cold, tapped: tapped)
        if !process.profile.scenes.support { deliver(reason, to: scene, of: process) }
        process.steps.append(.spawn)
        advance(process)
    }

    /// The system wants an app off screen that has no process.
    func launchToBackground(_ app: AppID, for reason: LaunchReason, lasting span: TimeSpan) {
        let isSceneBased = apps[app.index].profile.scenes.support
        let scene = sceneToShow(of: app) ?? newSession(of: app)
        guard let process = makeProcess(for: app, goal: .background, reason) else { return }
        update(scene, of: app) { $0.reason = reason }
        process.awaitsEvent = true
        process.steps.append(.spawn)
        if isSceneBased {
            process.connecting = scene
            process.launchEvents = [.backgroundEvent(reason, lasting: span)]
        } else {
            process.steps.append(.deadlineMet(.launch))
            process.steps.append(.backgroundEvent(reason, lasting: span))
            process.steps.append(.snapshot(nil))
        }
        advance(process)
    }

    private func makeProcess(for app: AppID, goal: Goal, _ reason: LaunchReason) -> LiveProcess? {
        let slot: MemorySlot
        do {
            slot = try memory.makeProcess()
        } catch {
            fail("\(error)")
            return nil
        }
        lastPid += 1
        let trace = openTrace(of: apps[app.index].profile)
        let process = LiveProcess(
            record: apps[app.index], pid: ProcessID(lastPid), slot: slot, position: live.count, now: now,
            workload: AppWorkload(apps[app.index].profile, traceLength: trace?.length ?? 0), goal: goal,
            launchReason: reason, isFirstLaunch: !apps[app.index].wasLaunched,
            relaunchCost: relaunchCost(of: apps[app.index].profile), memory: memory, changes: samples.changed,
            trace: trace)
        apps[app.index].wasLaunched = true
        apps[app.index].process = process
        while processes.count <= slot.index { processes.append(nil) }
        processes[slot.index] = process
        live.append(process)
        process.stateDidChange()
        return process
    }

    /// The user wants the app: every time the system ended it a short while ago was felt. Also where a push or a
    /// refresh has brought it back since: what it had on screen is gone all the same.
    func noteWanted(_ app: AppID, tapped: Instant) {
        for end in apps[app.index].unfelt where tapped - end.at <= plan.perceivedWithin {
            recorder.tally.terminations[end.fact].wasPerceived = true
        }
        apps[app.index].unfelt.removeAll()
    }

    /// The user wants an app back that the system may have ended; a push or a refresh may have launched it since.
    func noteRelaunch(of app: AppID, tapped: Instant) {
        noteWanted(app, tapped: tapped)
        guard let last = apps[app.index].lastTermination else { return }
        apps[app.index].lastTermination = nil
        // A tap on a process that was being ended came before its end.
        let interval = max(.zero, tapped - last)
        apps[app.index].relaunchIntervals = apps[app.index].relaunchIntervals.suffix(9) + [interval]
    }

    // MARK: The new process

    /// The process is there from the tap on: nobody takes it for one that may be ended.
    func spawn(_ process: LiveProcess) {
        let event: ProcessEvent = process.goal == .background ? .launchToBackground : .launchToForeground
        let signals = event.signals(in: process.profile.scenes.world).filter { $0 != .change }
        tellOfDiscardedSessions(process)
        process.steps.prepend(contentsOf: signals.map { .process($0, event) })
        let isToForeground = event == .launchToForeground
        let set = process.isFirstLaunch ? "; first launch ever" : ""
        recorder.event(
            .launch, at: now, app: process.profile.name, pid: process.pid,
            isToForeground ? "foreground" : "background", reason: process.launchReason.rawValue + set)
        if isToForeground {
            recorder.event(.launchScreen, at: now, app: process.profile.name, pid: process.pid, "until the first frame")
        }
        apply(event, to: process, reason: event.rawValue)
        beginDeadline(.launch, of: process)
        start(CallbackWork(cost: process.profile.costs.process), of: process)
    }

    /// Sessions that the user closed while the app was dead are told after the launch.
    private func tellOfDiscardedSessions(_ process: LiveProcess) {
        guard process.record.discardedWhileDead > 0 else { return }
        process.record.discardedWhileDead = 0
        process.steps.prepend(.tell(.didDiscardSceneSessions, nil))
    }

    /// What a launch callback is told about the reason. A scene's reason comes with the scene; what only launches the
    /// process comes with the launch options, too.
    func options(of callback: Callback, scene: SceneID?, _ process: LiveProcess) -> String? {
        if callback == .willFinishLaunching || callback == .didFinishLaunching {
            let reason = process.launchReason
            let isOfTheScene = reason.isForeground && process.profile.scenes.support
            return isOfTheScene ? nil : reason.launchOptionsKey
        }
        guard callback == .configurationForConnecting || callback == .sceneWillConnect, let scene else { return nil }
        let session = session(scene, of: process.app)
        let activity = session.hasRestorationActivity ? "; stored restoration activity" : ""
        return session.reason.rawValue + activity
    }

    func finishLaunch(of process: LiveProcess) {
        meetDeadline(.launch, of: process)
        guard let launch = process.launch else { return }
        process.launch = nil
        process.isFirstLaunch = false
        claim(
            launch.accounted <= now - launch.tapped,
            "\(process.profile.name) is ready \(now - launch.tapped) after the tap, but needed \(launch.accounted)")
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

    /// The tap waited for the end of the old process, and the user has gone on: no new one was made for it.
    func abandonTap(at tapped: Instant, on app: AppID) {
        recorder.launch(
            PendingLaunch(kind: .cold, tapped: tapped), app: apps[app.index].profile.name, pid: nil, ready: nil,
            outcome: "abandoned")
    }

    // MARK: Work moved off the main thread

    /// It takes a core of its own and delays nobody's first frame.
    func beginDeferredWork(of process: LiveProcess) {
        let deferred = process.profile.deferred
        guard deferred.work > .zero || deferred.memory > .zero else { return }
        let finish = cores.occupy(for: deferred.work, by: process.reference, .deferredWork, at: now)
        expectDeferredWork(of: process, at: finish)
    }

    /// An earlier expectation is void.
    func expectDeferredWork(of process: LiveProcess, at instant: Instant) {
        process.deferredSerial += 1
        queue.schedule(.deferredWorkDone(process.reference, serial: process.deferredSerial), at: instant)
    }

    func finishDeferredWork(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), process.deferredSerial == serial else { return }
        guard process.phase.runsCode else {
            process.missedDeferredWork = true
            return
        }
        process.steps.append(.deferredWork)
        advance(process)
    }

    func addDeferredMemory(of process: LiveProcess) {
        let memory = process.profile.deferred.memory
        recorder.event(
            .deferredWork, at: now, app: process.profile.name, pid: process.pid, "\((memory * scale).bytes)")
        startAtOnce([.allocate(.base, memory)], of: process)
    }

    // MARK: Sessions

    func newSession(of app: AppID, isExternal: Bool = false) -> SceneID {
        apps[app.index].lastScene += 1
        let id = SceneID(apps[app.index].lastScene)
        apps[app.index].sessions.append(SceneSession(id: id, isExternal: isExternal))
        return id
    }

    /// The scene that a tap brings back: the one in front last, else the youngest. One that is being closed is as
    /// good as gone, and the second display's is not meant.
    func sceneToShow(of app: AppID) -> SceneID? {
        let closing = process(of: app)?.closing ?? []
        let open = apps[app.index].sessions.filter { !$0.isExternal && !closing.contains($0.id) }
        if let front = apps[app.index].frontScene, open.contains(where: { $0.id == front }) { return front }
        return open.last?.id
    }

    /// The youngest scene of the device's own display that the user can still close.
    func closableScene(of app: AppID) -> SceneID? {
        let closing = process(of: app)?.closing ?? []
        return apps[app.index].sessions.last { !$0.isExternal && !closing.contains($0.id) }?.id
    }

    func discardSession(_ scene: SceneID, of process: LiveProcess) {
        process.record.sessions.removeAll { $0.id == scene }
        process.closing.removeAll { $0 == scene }
        process.steps.prepend(.tell(.didDiscardSceneSessions, scene))
    }

    func session(_ scene: SceneID, of app: AppID) -> SceneSession {
        guard let found = apps[app.index].sessions.first(where: { $0.id == scene }) else {
            fail("\(apps[app.index].profile.name) has no session \(scene.number)")
            return SceneSession(id: scene)
        }
        return found
    }

    func update(_ scene: SceneID, of app: AppID, _ change: (inout SceneSession) -> Void) {
        guard let index = apps[app.index].sessions.firstIndex(where: { $0.id == scene }) else {
            return fail("\(apps[app.index].profile.name) has no session \(scene.number)")
        }
        change(&apps[app.index].sessions[index])
    }
}
