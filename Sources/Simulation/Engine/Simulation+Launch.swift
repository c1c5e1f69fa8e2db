import Lifecycle
import Memory
import Metrics
import Quantities
import Workload

// Launches: how a process is created, which callbacks it gets, and when its launch is complete.
extension Simulation {
    /// The user wants an app that has no process.
    func launchCold(_ app: AppRecord, scene: SceneID?, tapped: Instant, for reason: LaunchReason) {
        countWish(for: app, tapped: tapped)
        let scene = scene ?? app.newSession()
        let prewarmed = prewarming.goOn(app, for: reason)
        guard let process = prewarmed ?? makeProcess(for: app, goal: .foreground(scene), reason) else { return }
        process.course.show(scene)
        app.open(scene)
        app.update(scene) { $0.ask(for: reason) }
        process.launch.begin(.cold, tapped: tapped, at: now, from: prewarmed.map { _ in .prewarmed })
        if process.profile.scenes.support { process.launch.awaitScene(reading: plan.lifecycle.stateAtLaunch) }
        if !process.profile.scenes.support { process.deliver(reason, to: scene) }
        if prewarmed == nil { process.thread.append(.spawn) } else { announceLaunch(of: process) }
        advance(process)
    }

    /// The system wants an app off screen that has no process.
    func launchToBackground(_ app: AppRecord, for reason: LaunchReason, lasting span: TimeSpan) {
        if app.isPart { return parts.launch(app, for: reason, lasting: span) }
        let scene = app.sceneToShow ?? app.newSession()
        let prewarmed = prewarming.goOn(app, for: reason)
        guard let process = prewarmed ?? makeProcess(for: app, goal: .background, reason) else { return }
        recorder.count(of: process) { $0.launchesBySystem += 1 }
        app.update(scene) { $0.ask(for: reason) }
        process.reasons.awaitEvent()
        if prewarmed == nil { process.thread.append(.spawn) } else { announceLaunch(of: process) }
        if app.profile.scenes.support {
            process.course.connect(scene, then: [.backgroundEvent(reason, lasting: span)])
        } else {
            process.thread.append([
                .deadlineMet(.launch), .backgroundEvent(reason, lasting: span), .snapshot(nil),
            ])
        }
        advance(process)
    }

    /// - Parameters:
    ///   - born: When it was launched; nil: now.
    ///   - isPrewarmed: Whether the system only begins the launch.
    func makeProcess(
        for app: AppRecord, goal: Goal, _ reason: LaunchReason, born: Instant? = nil, isPrewarmed: Bool = false
    ) -> LiveProcess? {
        let slot: MemorySlot
        do {
            slot = try memory.makeProcess()
        } catch {
            faults.fail("\(error)")
            return nil
        }
        let launch = LaunchState(
            at: born ?? now, reason, isFirst: !app.wasLaunched && born == nil,
            relaunchCost: app.profile.relaunchCost(fillRate: plan.device.fillRate), isPrewarmed: isPrewarmed)
        let birth = LiveProcess.Birth(
            record: app, pid: processes.nextNumber(), slot: slot, position: processes.live.count, goal: goal,
            launch: launch, trace: openTrace(of: app.profile))
        let process = LiveProcess(birth, memory: memory, changes: changes)
        processes.insert(process)
        worker.compressor?.begin(process)
        recorder.count(of: process) { $0.processes += 1 }
        process.stateDidChange()
        crashes.begin(process)
        hangs.begin(process)
        FalseReports(agenda: agenda, recorder: recorder).begin(process)
        return process
    }

    /// The playback for a process that is being launched; nil for an app without a trace.
    private func openTrace(of profile: AppProfile) -> TracePlayback? {
        guard let trace = profile.memory.trace else { return nil }
        do {
            return try TracePlayback(trace, options.traces)
        } catch {
            faults.fail("\(trace.file):\(error.line): \(error.message)")
            return nil
        }
    }

    /// The user wants an app back. Every recent termination of the app by the system counts as perceived. This holds
    /// even if a push or a refresh has launched the app again: what it had on screen is gone all the same.
    func countWish(for app: AppRecord, tapped: Instant) {
        for fact in app.want(at: tapped) {
            let after = tapped - recorder.tally.terminations[fact].at
            // A tap on a process that was being ended came before its end.
            recorder.tally.terminations[fact].wantedAfter = max(.zero, after)
            if after <= plan.perceivedWithin { recorder.tally.terminations[fact].wasPerceived = true }
        }
        app.wasRelaunched(tapped: tapped)
    }

    // MARK: The new process

    /// The process exists from the tap on, but policies do not treat it as one that may be ended.
    func spawn(_ process: LiveProcess) {
        announceLaunch(of: process)
        start(CallbackWork(cost: process.costs.process), of: process)
    }

    /// The process's launch is recorded, and its callbacks follow. A prewarmed process has paid for its creation.
    private func announceLaunch(of process: LiveProcess) {
        let event: ProcessEvent = process.course.goal == .background ? .launchToBackground : .launchToForeground
        let signals = event.signals(in: process.profile.scenes.lifeCycle, process.record.rules)
            .filter { $0 != .change }
        // The app is told after the launch about sessions that the user closed while it had no process.
        if process.record.takeDiscarded() { process.thread.prepend([.tell(.didDiscardSceneSessions, nil)]) }
        process.thread.prepend(signals.map { .process($0, event) })
        let isToForeground = event == .launchToForeground
        let first = process.launch.isFirst ? "; first launch ever" : ""
        let closed = display.awaitsFirstUnlock ? "; before the first unlock: protected data is unavailable" : ""
        recorder.event(
            .launch, at: now, app: process.profile.name, pid: process.pid,
            isToForeground ? "foreground" : "background", reason: process.launch.reason.rawValue + first + closed)
        if isToForeground {
            recorder.event(.launchScreen, at: now, app: process.profile.name, pid: process.pid, "until the first frame")
        }
        apply(event, to: process, reason: event.rawValue)
        if !process.record.isPart { background.beginDeadline(.launch, of: process) }
        if !process.record.membership.helpers.isEmpty { parts.appStarts(process) }
    }

    /// What a launch callback is told about the reason. A scene's reason comes with the scene. A reason that only
    /// launches the process comes with the launch options too.
    func launchOptions(of callback: Callback, scene: SceneID?, _ process: LiveProcess) -> String? {
        if callback == .willFinishLaunching || callback == .didFinishLaunching {
            let reason = process.launch.reason
            let isOfTheScene = reason.isForeground && process.profile.scenes.support
            return isOfTheScene ? nil : reason.launchOptionsKey
        }
        guard callback == .configurationForConnecting || callback == .sceneWillConnect, let scene else { return nil }
        let session = process.record.session(scene)
        let activity = session.hasRestorationActivity ? "; stored restoration activity" : ""
        return session.reason.rawValue + activity
    }

    func finishLaunch(of process: LiveProcess) {
        process.thread.meet(.launch)
        guard let launch = process.launch.finish(at: now) else { return }
        faults.claim(
            launch.parts.sum == now - launch.tapped,
            "\(process.profile.name) is ready \(now - launch.tapped) after the tap; its parts are \(launch.parts)")
        recorder.event(
            .firstFrame, at: now, app: process.profile.name, pid: process.pid, launch.kind.rawValue,
            reason: "tapped at \(launch.tapped)")
        recorder.launch(launch, app: process.profile.name, pid: process.pid, ready: now, outcome: .ready)
    }

    /// Records a launch whose first frame will never come.
    func abandonLaunch(of process: LiveProcess, outcome: LaunchOutcome) {
        guard let launch = process.launch.abandon() else { return }
        process.stateDidChange()
        recorder.launch(launch, app: process.profile.name, pid: process.pid, ready: nil, outcome: outcome)
    }

    /// Records a tap for which no process was made: it waited for the end of the old process, and meanwhile the user
    /// went on.
    func abandonTap(at tapped: Instant, on app: AppRecord) {
        recorder.launch(
            PendingLaunch(.cold, tapped: tapped), app: app.profile.name, pid: nil, ready: nil, outcome: .abandoned)
    }

    /// Corrects the base of a launched process until it holds the footprint that its profile states. The main thread
    /// fills what is missing as it fills the base itself.
    func reach(_ goal: FootprintGoal, of process: LiveProcess) {
        var goal = goal
        if goal.takePurge() { _ = purge(process) }
        guard let work = goal.next(of: process, memory) else { return }
        process.thread.prepend([.footprint(goal)])
        start(CallbackWork(memory: [work]), of: process)
    }

    // MARK: Work moved off the main thread

    /// Begins deferred work. It is less urgent than any work in front, so it does not delay its app's first frame.
    func beginDeferredWork(of process: LiveProcess) {
        let deferred = process.profile.deferred
        guard deferred.work > .zero || deferred.memory > .zero else { return }
        scheduler.run(
            process.record.costs.deferredWork,
            WorkOrder(
                kind: .deferredWork, owner: process.reference, serial: process.launch.expectDeferredWork(),
                purpose: .deferred))
    }

    func finishDeferredWork(of process: LiveProcess, _ serial: Int) {
        guard process.launch.deferredSerial == serial else { return }
        if background.finishDeferredWork(of: process) { advance(process) }
    }

    func addDeferredMemory(of process: LiveProcess) {
        let deferred = process.profile.deferred.memory
        let size = deferred * memory.scale
        recorder.event(
            .deferredWork, at: now, app: process.profile.name, pid: process.pid, size.readable,
            fact: .amount("deferred_bytes", size))
        startAtOnce([.allocate(.base, deferred)], of: process)
    }

    // MARK: Sessions

    func discardSession(_ scene: SceneID, of process: LiveProcess) {
        process.record.discard(scene)
        process.course.hasClosed(scene)
        process.thread.prepend([.tell(.didDiscardSceneSessions, scene)])
    }
}
