import Lifecycle
import Quantities
import Workload

/// Finds what a process does next on the way to its goal. It looks only at the present state. So whatever happened
/// meanwhile (a change of mind, an interruption, a lock) needs no case of its own.
struct Planner {
    let process: LiveProcess
    let display: Display

    /// Queues the next transition; false if the process has reached its goal.
    func next() -> Bool {
        // Only a launch leads on from here.
        if process.phase == .prewarmed { return false }
        if process.record.isPart { return planPart() }
        return process.profile.scenes.support ? planScenes() : planWithoutScenes()
    }

    private var sessions: [SceneSession] { process.record.sessions }

    private var rules: LifecycleRules { process.record.rules }

    private func queueScene(_ event: SceneEvent, _ scene: SceneID, keepsSession: Bool = true) {
        let session = process.record.session(scene)
        let isDiscarded = process.course.closing.contains(scene) || process.course.isSwipedAway
        let signals = event.signals(
            isNewSession: !session.wasConnected, keepsSession: keepsSession && !isDiscarded,
            restores: session.hasRestorationActivity, rules)
        queue(signals.map { .scene(scene, $0, event) }, within: event.deadline)
        guard event == .enterBackground, !isDiscarded || rules.snapshotOfClosedScene else { return }
        process.thread.append(.snapshot(scene))
    }

    func queueProcess(_ event: ProcessEvent) {
        let signals = event.signals(in: process.profile.scenes.lifeCycle)
        queue(signals.map { .process($0, event) }, within: event.deadline)
        if event == .enterBackground && !process.profile.scenes.support { process.thread.append(.snapshot(nil)) }
    }

    private func queue(_ steps: [MainThreadStep], within deadline: Deadline?) {
        if let deadline { process.thread.append(.deadline(deadline)) }
        process.thread.append(steps)
        if let deadline { process.thread.append(.deadlineMet(deadline)) }
    }

    // MARK: Scene-based

    private func planScenes() -> Bool {
        let wanted: SceneID? = if case .foreground(let scene) = process.course.goal { scene } else { nil }
        let external = !display.isLocked && !process.isEnding ? process.course.externalScene : nil
        // Off screen none of its scenes is in the foreground.
        if process.phase.isForeground && leaveForeground(except: wanted, external) { return true }
        // Scenes to reclaim come first, because an action waits for them. A process that quits disconnects such a scene
        // with all others.
        if let scene = process.course.reclaiming.first {
            let session = process.record.session(scene)
            if !process.isEnding || !session.machine.phase.isConnected { return takeAway(session) }
        }
        if let scene = process.course.closing.first { return close(process.record.session(scene)) }
        if let quit = process.course.quit { return planQuit(quit) }
        if let scene = process.course.connecting {
            planBackgroundLaunch(process.record.session(scene), wanted: wanted)
            return true
        }
        if let external, approachExternalDisplay(process.record.session(external)) { return true }
        if let wanted { return approachForeground(process.record.session(wanted)) || suspendIdleScene(except: wanted) }
        if process.phase == .inactive && !sessions.contains(where: { $0.machine.phase.isForeground }) {
            // It was to be launched to the foreground, but the user left before a scene connected.
            leaveLaunch()
            return true
        }
        return planSuspension()
    }

    /// An app that reads that it is in the background is not told that it enters it.
    private func leaveLaunch() {
        guard process.launch.readsBackground else { return queueProcess(.enterBackground) }
        queue([.process(.change, .enterBackground)], within: ProcessEvent.enterBackground.deadline)
    }

    /// Queues the step off the foreground for the next scene that has to leave it; false if there is none.
    private func leaveForeground(except wanted: SceneID?, _ external: SceneID?) -> Bool {
        // By index: a copy of the array would count references at every tick.
        for place in process.record.sessions.indices {
            let id = process.record.sessions[place].id
            guard id != wanted && id != external || process.course.closing.contains(id) else { continue }
            if leaveForeground(process.record.sessions[place], wanted: wanted) { return true }
        }
        return false
    }

    private func leaveForeground(_ session: SceneSession, wanted: SceneID?) -> Bool {
        switch session.machine.phase {
        case .foregroundActive: queueScene(.resignActive, session.id)
        case .foregroundInactive:
            // It disconnects from the foreground.
            if process.course.quit?.entersBackground == false { return false }
            // Another scene of the app replaces it. The app stays in the foreground, so that scene comes first.
            let isLeaving = process.course.closing.contains(session.id)
            if let wanted, !isLeaving, !process.record.session(wanted).machine.phase.isForeground { return false }
            queueScene(.enterBackground, session.id)
        case .unattached, .background, .suspended: return false
        }
        return true
    }

    /// The user closed the scene: it disconnects, and its session is discarded.
    private func close(_ session: SceneSession) -> Bool {
        switch session.machine.phase {
        case .suspended: queueScene(.resume, session.id)
        case .background, .foregroundActive, .foregroundInactive:
            queueScene(.disconnect, session.id, keepsSession: false)
        case .unattached:
            if process.phase == .suspended {
                queueProcess(.resume)
            } else {
                process.thread.append(.discardSession(session.id))
            }
        }
        return true
    }

    /// The system takes the scene away: its session is kept.
    private func takeAway(_ session: SceneSession) -> Bool {
        switch session.machine.phase {
        case .suspended: queueScene(.resume, session.id)
        case .background: queueScene(.disconnect, session.id)
        case .unattached:
            process.course.keep(session.id)
            process.record.update(session.id) { $0.reclaim() }
            process.thread.append(.reclaimed(session.id))
        case .foregroundActive, .foregroundInactive:
            // The user wanted the scene first: it is not taken away.
            process.course.keep(session.id)
            process.thread.append(.reclaimed(session.id))
        }
        return true
    }

    /// The system launched the app: its scene connects to the background, then the app gets the launch's events. If the
    /// user wants that scene first, it connects to the foreground instead.
    private func planBackgroundLaunch(_ session: SceneSession, wanted: SceneID?) {
        if session.machine.phase == .unattached && wanted != session.id {
            queueScene(.connectToBackground, session.id)
            return
        }
        let events = process.course.endConnecting()
        // A launch off screen is over here; later steps have their own deadlines. A launch by the user lasts until the
        // first frame.
        if session.machine.phase != .unattached { process.thread.meet(.launch) }
        guard !events.isEmpty else { return }
        process.thread.append(events)
        if process.course.goal == .background { process.thread.append(.snapshot(session.id)) }
    }

    /// Brings the scene onto a screen; false if it is inactive or active there already.
    private func approach(_ session: SceneSession) -> Bool {
        switch session.machine.phase {
        case .unattached:
            if process.phase == .suspended {
                queueProcess(.resume)
            } else {
                queueScene(.connectToForeground, session.id)
            }
        case .suspended: queueScene(.resume, session.id)
        case .background: queueScene(.enterForeground, session.id)
        case .foregroundInactive, .foregroundActive: return false
        }
        return true
    }

    /// The second display belongs to this scene alone, once the scene before it is gone. Nothing interrupts it.
    private func approachExternalDisplay(_ session: SceneSession) -> Bool {
        if approach(session) { return true }
        guard session.machine.phase == .foregroundInactive, display.takeExternal(for: process.pid) else { return false }
        queueScene(.activate, session.id)
        return true
    }

    private func approachForeground(_ session: SceneSession) -> Bool {
        if approach(session) || tellOfDeliveries(scene: session.id) { return true }
        switch session.machine.phase {
        case .unattached, .suspended, .background: return false
        case .foregroundInactive:
            guard display.take(for: process) else { return false }
            queueScene(.activate, session.id)
            process.thread.append(.firstFrame)
        case .foregroundActive:
            if display.isFree { return showAtOnce() }
            queueScene(.resignActive, session.id)
        }
        return true
    }

    /// Suspends a scene that has been off screen for a while, although another one keeps the app in front.
    private func suspendIdleScene(except wanted: SceneID) -> Bool {
        guard let idle = sessions.first(where: { $0.isIdle && $0.machine.phase == .background && $0.id != wanted })
        else { return false }
        queueScene(.suspend, idle.id)
        return true
    }

    /// The scene was tapped again before it had left the screen: it is there already.
    private func showAtOnce() -> Bool {
        guard process.launch.pending != nil else { return false }
        process.thread.append(.firstFrame)
        return true
    }

    private func planSuspension() -> Bool {
        guard process.course.wantsSuspension || process.reasons.isEmpty, process.phase == .background else {
            return false
        }
        if let session = sessions.first(where: { $0.machine.phase == .background }) {
            queueScene(.suspend, session.id)
        } else {
            queueProcess(.suspend)
        }
        return true
    }

    /// Ends the process while its code runs: scenes disconnect, then the app is told that it will terminate. An app
    /// that the user swipes away is not asked for state restoration.
    private func planQuit(_ quit: QuitReason) -> Bool {
        if let session = sessions.first(where: { $0.machine.phase.isConnected }) {
            if session.machine.phase == .suspended {
                queueScene(.resume, session.id)
            } else {
                queueScene(.disconnect, session.id, keepsSession: quit.reason != .userTerminated)
            }
        } else if process.phase == .suspended {
            queueProcess(.resume)
        } else {
            queueTermination(quit)
        }
        return true
    }

    private func queueTermination(_ quit: QuitReason) {
        let event = ProcessEvent.terminate
        let signals = event.signals(in: process.profile.scenes.lifeCycle).filter { $0 != .change }
        queue(signals.map { .process($0, event) }, within: event.deadline)
        process.thread.append(.exit(quit.reason, quit.explanation))
    }

    // MARK: App-based

    private func planWithoutScenes() -> Bool {
        if process.course.goal == .background || process.isEnding { return leaveWithoutScenes() }
        if process.phase.isForeground && tellOfDeliveries(scene: nil) { return true }
        switch process.phase {
        case .suspended: queueProcess(.resume)
        case .background: queueProcess(.enterForeground)
        case .inactive:
            guard display.take(for: process) else { return false }
            queueProcess(.activate)
            process.thread.append(.firstFrame)
        case .active:
            if display.isFree { return showAtOnce() }
            queueProcess(.resignActive)
        case .notRunning, .prewarmed: return false
        }
        return true
    }

    private func leaveWithoutScenes() -> Bool {
        switch process.phase {
        case .active: queueProcess(.resignActive)
        case .inactive:
            if let quit = process.course.quit, !quit.entersBackground {
                queueTermination(quit)
            } else {
                queueProcess(.enterBackground)
            }
        case .background:
            if let quit = process.course.quit {
                queueTermination(quit)
            } else {
                guard process.course.wantsSuspension || process.reasons.isEmpty else { return false }
                queueProcess(.suspend)
            }
        case .suspended:
            guard process.isEnding else { return false }
            queueProcess(.resume)
        case .notRunning, .prewarmed: return false
        }
        return true
    }

    // MARK: Processes that are no apps

    /// A helper, an extension or a daemon runs as long as it has work; beside an app it goes where the app goes. Asked
    /// to end, it ends at once.
    private func planPart() -> Bool {
        if let quit = process.course.quit {
            process.thread.append(.exit(quit.reason, quit.explanation))
            return true
        }
        let works = !process.reasons.isEmpty
        let target: ProcessPhase =
            switch process.course.companion {
            case .active: .active
            case .inactive: .inactive
            case .background: .background
            case .suspended, .prewarmed, .notRunning, nil: works ? .background : .suspended
            }
        guard let event = process.phase.firstEvent(towards: target) else { return false }
        process.thread.append(.process(.change, event))
        return true
    }

    // MARK: Deliveries

    /// Queues what is still to be told to the scene, or to an app without scenes; false if there is nothing.
    private func tellOfDeliveries(scene: SceneID?) -> Bool {
        guard !process.course.deliveries.isEmpty else { return false }
        let due = process.course.takeDeliveries(for: scene)
        process.thread.append(due.map { .tell($0.callback, $0.scene) })
        return !due.isEmpty
    }
}
