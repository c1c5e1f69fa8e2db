import Lifecycle
import Metrics
import Pressure
import Quantities
import Workload

/// The flow of processes that are no apps: helpers go along with their app, extensions are shown over the app in front
/// or woken, daemons work when they are asked and are idle otherwise.
struct Parts {
    /// launchd starts a process that must live again at the earliest after this time (its `ThrottleInterval`).
    static let throttle = TimeSpan.seconds(10)

    let engine: any EngineSteps
    let agenda: Agenda
    let processes: ProcessTable
    let display: Display
    let background: BackgroundLife
    let faults: RunFaults

    private var now: Instant { agenda.now }

    // MARK: Starts

    /// At the start of the run, and when launchd starts a process again.
    func keepAlive(_ part: AppRecord) {
        guard part.process == nil, !display.isOff else { return }
        launch(part)
    }

    /// Starts the process without work; it goes along with an app, or becomes idle.
    @discardableResult
    private func launch(_ part: AppRecord, beside phase: ProcessPhase? = nil, comes: Bool = false) -> LiveProcess? {
        guard let process = engine.makeProcess(for: part, goal: .background, .demand) else { return nil }
        process.course.accompany(phase, comes: comes)
        if comes { process.followBand(at: now) }
        process.thread.append(.spawn)
        engine.advance(process)
        return process
    }

    /// Starts the process for work that waits for it.
    func launch(_ part: AppRecord, for reason: LaunchReason, lasting span: TimeSpan) {
        guard let process = engine.makeProcess(for: part, goal: .background, reason) else { return }
        process.reasons.awaitEvent()
        process.thread.append([.spawn, .backgroundEvent(reason, lasting: span)])
        engine.advance(process)
    }

    /// The app's process begins to run: its helpers start.
    func appStarts(_ process: LiveProcess) {
        for helper in process.record.membership.helpers where processes[helper].process == nil {
            launch(processes[helper], beside: process.phase, comes: process.course.goal != .background)
        }
    }

    // MARK: Beside an app

    /// The phase of an app has changed: its helpers and what is shown over it follow. A helper that was ended is
    /// started again when the app comes to the front: the app has to load its contents again.
    func appHasMoved(_ process: LiveProcess) {
        let record = process.record
        for helper in record.membership.helpers {
            if let companion = processes[helper].process {
                follow(companion, process.phase, comes: process.course.goal != .background)
            } else if process.phase.isForeground && !process.isEnding {
                launch(processes[helper], beside: process.phase, comes: true)
            }
        }
        guard display.hasPresentations else { return }
        if !process.phase.isForeground {
            for part in display.dismissAll(over: record.id) { dismissed(processes[part]) }
        } else {
            for part in display.presented(over: record.id) {
                if let companion = processes[part].process { follow(companion, process.phase) }
            }
        }
    }

    /// The process plans its own way in an event of its own, so that the app's step under way is finished first.
    private func follow(_ process: LiveProcess, _ phase: ProcessPhase?, comes: Bool = false) {
        guard process.course.companion != phase || process.course.companionComes != comes else { return }
        process.course.accompany(phase, comes: comes)
        process.followBand(at: now)
        if process.isQuiet { lookAgain(at: process) }
    }

    private func lookAgain(at process: LiveProcess) {
        process.thread.lookAgain()
        agenda.schedule(.mainThread(serial: process.thread.serial), of: process, at: now)
    }

    /// A process has ended. Its helpers end with it; what was shown over it leaves the screen.
    func ended(_ process: LiveProcess, because reason: ExitReason) {
        for helper in process.record.membership.helpers {
            guard let companion = processes[helper].process else { continue }
            engine.end(companion, .normalApp, "its app \(process.profile.name) has ended")
        }
        if display.hasPresentations {
            for part in display.dismissAll(over: process.app) { dismissed(processes[part]) }
            display.dismiss(process.app)
        }
        guard let part = process.profile.part else { return }
        if part.keepsAlive { agenda.schedule(.startAgain(process.app), after: Parts.throttle) }
        if part.kind.family == .helper { endedAlone(process.record, part) }
    }

    /// A helper has ended, and its app lives. The app is told if its pages have lost their contents; in front it starts
    /// the helper again at once.
    private func endedAlone(_ helper: AppRecord, _ part: ProcessPart) {
        guard let app = part.host.flatMap({ processes[$0].process }), processes.isAlive(app), !app.isEnding,
            app.phase != .prewarmed
        else { return }
        if part.kind == .webContent {
            let wasQuiet = app.isQuiet
            background.tellOfEndedWebContent(app)
            if wasQuiet && app.phase.runsCode { lookAgain(at: app) }
        }
        if app.phase.isForeground { launch(helper, beside: app.phase, comes: true) }
    }

    // MARK: On the screen

    /// The extension is shown over the app in front.
    func present(_ part: AppRecord, lasting span: TimeSpan) {
        let name = "present"
        guard !display.isLocked else { return engine.record(name, part, refused: .deviceIsLocked) }
        guard !display.isPresented(part.id) else { return engine.record(name, part, refused: .isInFront) }
        guard let front = display.frontApp, let app = processes[front].process, app.phase.isForeground,
            !app.isEnding
        else { return engine.record(name, part, refused: .noAppIsInFront) }
        guard part.process?.isEnding != true else { return engine.record(name, part, refused: .isBeingEnded) }
        engine.record(name, part)
        agenda.schedule(.presentationEnds(serial: display.present(part.id, over: front)), after: span)
        if let process = part.process { follow(process, app.phase) } else { launch(part, beside: app.phase) }
    }

    func endPresentation(_ serial: Int) {
        if let part = display.dismiss(serial: serial) { dismissed(processes[part]) }
    }

    private func dismissed(_ part: AppRecord) {
        if let process = part.process { follow(process, nil) }
    }

    // MARK: Idle

    /// The process has no work: after a while it ends by itself, if it is of that kind.
    func isIdle(_ process: LiveProcess, since: Instant? = nil) {
        guard let span = process.profile.part?.idleExit else { return }
        let due = (since ?? now) + span
        agenda.schedule(.idleExit(serial: process.stay.serial), of: process, at: max(now, due))
    }

    func exitIdle(_ process: LiveProcess, _ serial: Int) {
        guard process.phase == .suspended, process.stay.serial == serial, let span = process.profile.part?.idleExit
        else { return }
        engine.end(process, .normalApp, "was idle for \(span)")
    }

    // MARK: What the kernel knows of a daemon

    /// A process of the daemon's clients holds an assertion: the daemon is at least in that band.
    func hold(_ part: AppRecord, _ band: Int) {
        let name = "hold_assertion"
        guard let process = part.process, !process.isEnding else {
            return engine.record(name, part, refused: .isNotRunning)
        }
        engine.record(name, part, why: "band \(band)")
        change(process) { bands throws(BandMachine.Refusal) in try bands.assert(JetsamBand(band), at: now) }
        guard let span = process.profile.part?.assertionTime else { return }
        agenda.schedule(.assertionIsStuck(since: process.bands.positionedAt), of: process, after: span)
    }

    func release(_ part: AppRecord) {
        let name = "release_assertion"
        guard let process = part.process, !process.isEnding else {
            return engine.record(name, part, refused: .isNotRunning)
        }
        guard process.bands.assertion != nil else { return engine.record(name, part, refused: .holdsNoAssertion) }
        engine.record(name, part)
        change(process) { bands in bands.relinquish(at: now) }
    }

    /// The assertion was not released in its time.
    func assertionIsStuck(_ process: LiveProcess, since: Instant) {
        guard process.bands.assertion != nil, process.bands.positionedAt == since else { return }
        change(process) { bands in bands.assertionIsStuck(at: now) }
    }

    private func change(
        _ process: LiveProcess, _ change: (inout BandMachine) throws(BandMachine.Refusal) -> Void
    ) {
        do {
            try process.changeBands(change)
        } catch {
            faults.fail("\(process.profile.name): \(error)")
        }
        watchAgeing(process)
    }

    /// The band of a daemon changes by itself when it has aged, and with it the limit that applies.
    func watchAgeing(_ process: LiveProcess) {
        guard process.bands.kind == .daemon, let next = process.bands.nextChange(after: now) else { return }
        agenda.schedule(.hasAged, of: process, at: next)
    }

    func hasAged(_ process: LiveProcess) {
        process.age(at: now)
        watchAgeing(process)
    }
}
