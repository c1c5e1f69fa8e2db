import Lifecycle
import Quantities
import Workload

// What a process does next on the way to its goal. The planner looks at the state as it is, so whatever happened in
// between (a change of mind, an interruption, a lock) needs no case of its own.
extension Simulation {
    /// Queues the next transition; false when the process is where it should be.
    func planNext(for process: LiveProcess) -> Bool {
        process.profile.scenes.support ? planScenes(process) : planWithoutScenes(process)
    }

    /// Whether the user could see and use an app now.
    private var isScreenFree: Bool { interruptions.isEmpty && lockedUntil == nil }

    private func queueScene(_ event: SceneEvent, _ scene: SceneID, _ process: LiveProcess, keepsSession: Bool = true) {
        let isNew = !session(scene, of: process.app).wasConnected
        let signals = event.signals(isNewSession: isNew, keepsSession: keepsSession)
        queue(signals.map { .scene(scene, $0, event) }, within: event.deadline, process)
        if event == .enterBackground { process.steps.append(.snapshot(scene)) }
    }

    func queueProcess(_ event: ProcessEvent, _ process: LiveProcess) {
        let signals = event.signals(in: process.profile.scenes.world)
        queue(signals.map { .process($0, event) }, within: event.deadline, process)
        if event == .enterBackground && !process.profile.scenes.support { process.steps.append(.snapshot(nil)) }
    }

    private func queue(_ steps: [Step], within deadline: Deadline?, _ process: LiveProcess) {
        if let deadline { process.steps.append(.deadline(deadline)) }
        process.steps.append(contentsOf: steps)
        if let deadline { process.steps.append(.deadlineMet(deadline)) }
    }

    // MARK: Scene-based

    private func planScenes(_ process: LiveProcess) -> Bool {
        let wanted: SceneID? = if case .foreground(let scene) = process.goal { scene } else { nil }
        let external = lockedUntil == nil && process.quitReason == nil ? process.externalScene : nil
        // Off screen none of its scenes is in the foreground.
        if process.phase.isForeground && leaveForeground(process, except: wanted, external) { return true }
        // The system was first: an action waits for it. Who quits disconnects that scene along with all others.
        if let scene = process.reclaiming.first {
            let session = session(scene, of: process.app)
            if process.quitReason == nil || !session.machine.phase.isConnected { return takeAway(session, process) }
        }
        if let scene = process.closing.first { return close(session(scene, of: process.app), process) }
        if let quit = process.quitReason { return planQuit(process, process.record.sessions, quit) }
        if let scene = process.connecting {
            planBackgroundLaunch(session(scene, of: process.app), wanted: wanted, process)
            return true
        }
        if let external, approachExternalDisplay(session(external, of: process.app), process) { return true }
        if let wanted { return approachForeground(session(wanted, of: process.app), process) }
        if process.phase == .inactive && !process.record.sessions.contains(where: { $0.machine.phase.isForeground }) {
            // It was to be launched to the foreground, and the user has left before a scene connected.
            queueProcess(.enterBackground, process)
            return true
        }
        return planSuspension(process)
    }

    /// The next scene that has to leave the foreground; false if there is none.
    private func leaveForeground(_ process: LiveProcess, except wanted: SceneID?, _ external: SceneID?) -> Bool {
        // By their places: a copy would count references, at every tick.
        for place in process.record.sessions.indices {
            let id = process.record.sessions[place].id
            guard id != wanted && id != external || process.closing.contains(id) else { continue }
            if leaveForeground(process.record.sessions[place], process, wanted: wanted) { return true }
        }
        return false
    }

    private func leaveForeground(_ session: SceneSession, _ process: LiveProcess, wanted: SceneID?) -> Bool {
        switch session.machine.phase {
        case .foregroundActive: queueScene(.resignActive, session.id, process)
        case .foregroundInactive:
            // Another scene of the app takes its place: the app stays in the foreground, so that one comes first.
            let isLeaving = process.closing.contains(session.id)
            if let wanted, !isLeaving, !self.session(wanted, of: process.app).machine.phase.isForeground {
                return false
            }
            queueScene(.enterBackground, session.id, process)
        case .unattached, .background, .suspended: return false
        }
        return true
    }

    /// The user closed it: it disconnects, and its session is discarded.
    private func close(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        switch session.machine.phase {
        case .suspended: queueScene(.resume, session.id, process)
        case .background, .foregroundActive, .foregroundInactive:
            queueScene(.disconnect, session.id, process, keepsSession: false)
        case .unattached:
            if process.phase == .suspended {
                queueProcess(.resume, process)
            } else {
                process.steps.append(.discardSession(session.id))
            }
        }
        return true
    }

    /// The system takes it away: its session is kept.
    private func takeAway(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        switch session.machine.phase {
        case .suspended: queueScene(.resume, session.id, process)
        case .background: queueScene(.disconnect, session.id, process)
        case .unattached:
            process.reclaiming.removeAll { $0 == session.id }
            update(session.id, of: process.app) { $0.wasReclaimed = true }
            process.steps.append(.reclaimed(session.id))
        case .foregroundActive, .foregroundInactive:
            // The user was faster: nothing is taken away.
            process.reclaiming.removeAll { $0 == session.id }
            process.steps.append(.reclaimed(session.id))
        }
        return true
    }

    /// The system asked for the app: its scene connects to the background, then the app gets what it was launched for.
    /// When the user was faster and wants that scene, it takes the user's road instead.
    private func planBackgroundLaunch(_ session: SceneSession, wanted: SceneID?, _ process: LiveProcess) {
        if session.machine.phase == .unattached && wanted != session.id {
            queueScene(.connectToBackground, session.id, process)
            return
        }
        process.connecting = nil
        // The launch is over, and what comes now has its own time; on the user's road it lasts to the first frame.
        if session.machine.phase != .unattached { meetDeadline(.launch, of: process) }
        guard !process.launchEvents.isEmpty else { return }
        process.steps.append(contentsOf: process.launchEvents)
        process.launchEvents.removeAll()
        if process.goal == .background { process.steps.append(.snapshot(session.id)) }
    }

    /// Brings the scene onto a screen; false when it is inactive there, or active already.
    private func approach(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        switch session.machine.phase {
        case .unattached:
            if process.phase == .suspended {
                queueProcess(.resume, process)
            } else {
                queueScene(.connectToForeground, session.id, process)
            }
        case .suspended: queueScene(.resume, session.id, process)
        case .background: queueScene(.enterForeground, session.id, process)
        case .foregroundInactive, .foregroundActive: return false
        }
        return true
    }

    /// The second display belongs to this scene alone, and nothing interrupts it.
    private func approachExternalDisplay(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        if approach(session, process) { return true }
        guard session.machine.phase == .foregroundInactive else { return false }
        queueScene(.activate, session.id, process)
        return true
    }

    private func approachForeground(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        if approach(session, process) || tellOfDeliveries(process, scene: session.id) { return true }
        switch session.machine.phase {
        case .unattached, .suspended, .background: return false
        case .foregroundInactive:
            guard isScreenFree, displayOwner == nil || displayOwner == process.pid else { return false }
            // The display is taken when the step is planned: nobody else may activate in between.
            displayOwner = process.pid
            queueScene(.activate, session.id, process)
            process.steps.append(.firstFrame)
        case .foregroundActive:
            if isScreenFree { return showAtOnce(process) }
            queueScene(.resignActive, session.id, process)
        }
        return true
    }

    /// It was tapped again before it had left the screen: it is there already.
    private func showAtOnce(_ process: LiveProcess) -> Bool {
        guard process.launch != nil else { return false }
        process.steps.append(.firstFrame)
        return true
    }

    private func planSuspension(_ process: LiveProcess) -> Bool {
        guard process.wantsSuspension || !process.hasReasonToRun, process.phase == .background else { return false }
        if let session = process.record.sessions.first(where: { $0.machine.phase == .background }) {
            queueScene(.suspend, session.id, process)
        } else {
            queueProcess(.suspend, process)
        }
        return true
    }

    /// Ended by the user while code runs: scenes disconnect, then the app hears that it will terminate. What the user
    /// swipes away is not asked for a state to come back with.
    private func planQuit(_ process: LiveProcess, _ sessions: [SceneSession], _ quit: QuitReason) -> Bool {
        for session in sessions where session.machine.phase.isConnected {
            if session.machine.phase == .suspended {
                queueScene(.resume, session.id, process)
            } else {
                queueScene(.disconnect, session.id, process, keepsSession: quit.reason != .userTerminated)
            }
            return true
        }
        if process.phase == .suspended {
            queueProcess(.resume, process)
            return true
        }
        queueTermination(process, quit)
        return true
    }

    private func queueTermination(_ process: LiveProcess, _ quit: QuitReason) {
        let event = ProcessEvent.terminate
        let signals = event.signals(in: process.profile.scenes.world).filter { $0 != .change }
        queue(signals.map { .process($0, event) }, within: event.deadline, process)
        process.steps.append(.exit(quit.reason, quit.explanation))
    }

    // MARK: App-based

    private func planWithoutScenes(_ process: LiveProcess) -> Bool {
        if process.goal == .background || process.quitReason != nil {
            switch process.phase {
            case .active: queueProcess(.resignActive, process)
            case .inactive: queueProcess(.enterBackground, process)
            case .background:
                if let quit = process.quitReason {
                    queueTermination(process, quit)
                } else {
                    guard process.wantsSuspension || !process.hasReasonToRun else { return false }
                    queueProcess(.suspend, process)
                }
            case .suspended:
                guard process.quitReason != nil else { return false }
                queueProcess(.resume, process)
            case .notRunning: return false
            }
            return true
        }
        if process.phase.isForeground && tellOfDeliveries(process, scene: nil) { return true }
        switch process.phase {
        case .suspended: queueProcess(.resume, process)
        case .background: queueProcess(.enterForeground, process)
        case .inactive:
            guard isScreenFree, displayOwner == nil || displayOwner == process.pid else { return false }
            displayOwner = process.pid
            queueProcess(.activate, process)
            process.steps.append(.firstFrame)
        case .active:
            if isScreenFree { return showAtOnce(process) }
            queueProcess(.resignActive, process)
        case .notRunning: return false
        }
        return true
    }

    // MARK: Deliveries

    /// The app is to be told why it comes to the front: the scene that was opened, where the callback is a scene's.
    func deliver(_ reason: LaunchReason, to scene: SceneID?, of process: LiveProcess) {
        guard let callback = reason.delivery(in: process.profile.scenes.world) else { return }
        let isOfTheScene = callback == .sceneOpenURLContexts || callback == .scenePerformAction
        process.deliveries.append(Delivery(callback: callback, scene: isOfTheScene ? scene : nil))
    }

    /// Queues what the scene, or the app without scenes, has still to be told; false when there is nothing.
    private func tellOfDeliveries(_ process: LiveProcess, scene: SceneID?) -> Bool {
        guard !process.deliveries.isEmpty else { return false }
        let isDue = { (delivery: Delivery) in delivery.scene == nil || delivery.scene == scene }
        let due = process.deliveries.filter(isDue)
        process.steps.append(contentsOf: due.map { .tell($0.callback, $0.scene) })
        process.deliveries.removeAll(where: isDue)
        return !due.isEmpty
    }

    // MARK: At rest

    /// The process has arrived; what waits for that goes on.
    func settle(_ process: LiveProcess) {
        process.hasArrived = true
        meetDeadline(.launch, of: process)
        armTick(process)
    }
}
