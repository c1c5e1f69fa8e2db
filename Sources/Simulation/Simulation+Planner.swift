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
    private var isScreenFree: Bool { interruption == nil && lockedUntil == nil }

    private func queueScene(_ event: SceneEvent, _ scene: SceneID, _ process: LiveProcess, keepsSession: Bool = true) {
        let isNew = !session(scene, of: process.app).wasConnected
        let signals = event.signals(isNewSession: isNew, keepsSession: keepsSession)
        process.steps.append(contentsOf: signals.map { .scene(scene, $0, event) })
    }

    private func queueProcess(_ event: ProcessEvent, _ process: LiveProcess) {
        let signals = event.signals(in: process.profile.scenes.world)
        process.steps.append(contentsOf: signals.map { .process($0, event) })
    }

    // MARK: Scene-based

    private func planScenes(_ process: LiveProcess) -> Bool {
        let sessions = apps[process.app.index].sessions
        let wanted: SceneID? = if case .foreground(let scene) = process.goal { scene } else { nil }
        for session in sessions where session.id != wanted || process.closing.contains(session.id) {
            if leaveForeground(session, process) { return true }
        }
        if let scene = process.closing.first { return close(session(scene, of: process.app), process) }
        if let quit = process.quitReason { return planQuit(process, sessions, quit) }
        if let scene = process.reclaiming.first { return takeAway(session(scene, of: process.app), process) }
        if let wanted { return approachForeground(session(wanted, of: process.app), process) }
        if process.phase == .inactive {
            // It was to be launched to the foreground, and the user has left before a scene connected.
            queueProcess(.enterBackground, process)
            return true
        }
        return planSuspension(process, sessions)
    }

    private func leaveForeground(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        switch session.machine.phase {
        case .foregroundActive: queueScene(.resignActive, session.id, process)
        case .foregroundInactive: queueScene(.enterBackground, session.id, process)
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
            process.steps.append(.reclaimed)
        case .foregroundActive, .foregroundInactive:
            // The user was faster: nothing is taken away.
            process.reclaiming.removeAll { $0 == session.id }
            process.steps.append(.reclaimed)
        }
        return true
    }

    private func approachForeground(_ session: SceneSession, _ process: LiveProcess) -> Bool {
        switch session.machine.phase {
        case .unattached:
            if process.phase == .suspended {
                queueProcess(.resume, process)
            } else {
                queueScene(.connectToForeground, session.id, process)
            }
        case .suspended: queueScene(.resume, session.id, process)
        case .background: queueScene(.enterForeground, session.id, process)
        case .foregroundInactive:
            guard isScreenFree, displayOwner == nil || displayOwner == process.pid else { return false }
            // The display is taken when the step is planned: nobody else may activate in between.
            displayOwner = process.pid
            queueScene(.activate, session.id, process)
            process.steps.append(.firstFrame)
        case .foregroundActive:
            guard !isScreenFree else { return false }
            queueScene(.resignActive, session.id, process)
        }
        return true
    }

    private func planSuspension(_ process: LiveProcess, _ sessions: [SceneSession]) -> Bool {
        guard process.wantsSuspension, process.phase == .background else { return false }
        if let session = sessions.first(where: { $0.machine.phase == .background }) {
            queueScene(.suspend, session.id, process)
        } else {
            queueProcess(.suspend, process)
        }
        return true
    }

    /// Ended by the user while code runs: scenes disconnect, then the app hears that it will terminate.
    private func planQuit(
        _ process: LiveProcess, _ sessions: [SceneSession], _ quit: (reason: ExitReason, explanation: String)
    ) -> Bool {
        for session in sessions where session.machine.phase.isConnected {
            if session.machine.phase == .suspended {
                queueScene(.resume, session.id, process)
            } else {
                queueScene(.disconnect, session.id, process, keepsSession: true)
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

    private func queueTermination(_ process: LiveProcess, _ quit: (reason: ExitReason, explanation: String)) {
        let signals = ProcessEvent.terminate.signals(in: process.profile.scenes.world).filter { $0 != .change }
        process.steps.append(contentsOf: signals.map { .process($0, .terminate) })
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
                    guard process.wantsSuspension else { return false }
                    queueProcess(.suspend, process)
                }
            case .suspended:
                guard process.quitReason != nil else { return false }
                queueProcess(.resume, process)
            case .notRunning: return false
            }
            return true
        }
        switch process.phase {
        case .suspended: queueProcess(.resume, process)
        case .background: queueProcess(.enterForeground, process)
        case .inactive:
            guard isScreenFree, displayOwner == nil || displayOwner == process.pid else { return false }
            displayOwner = process.pid
            queueProcess(.activate, process)
            process.steps.append(.firstFrame)
        case .active:
            guard !isScreenFree else { return false }
            queueProcess(.resignActive, process)
        case .notRunning: return false
        }
        return true
    }

    // MARK: At rest

    /// The process has arrived; what waits for that goes on.
    func settle(_ process: LiveProcess) {
        armTick(process)
    }

    func beginBackgroundTime(of process: LiveProcess, resumed: Bool) {
        process.backgroundSince = now
        process.backgroundSerial += 1
        if resumed {
            // Woken for one thing only; when that is done it is suspended again, unless the user wants to see it.
            process.wantsSuspension = process.goal == .background
            return
        }
        guard process.keepAliveModes.isEmpty else { return }
        let span = min(process.profile.background.work, plan.limits.backgroundTime)
        queue.schedule(
            .backgroundTimeOver(process.reference, serial: process.backgroundSerial), at: now + span)
    }

    func endBackgroundTime(_ reference: ProcessReference, _ serial: Int) {
        guard let process = process(reference), process.backgroundSerial == serial, process.phase == .background,
            process.goal == .background
        else { return }
        process.wantsSuspension = true
        advance(process)
    }
}
