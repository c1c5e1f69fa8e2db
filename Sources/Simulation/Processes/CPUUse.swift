import Lifecycle
import Metrics
import Quantities

/// What a process uses of a core as time passes, and how much it has had off screen.
struct CPUUse {
    /// The number of the present stay on or off screen; timers of an earlier one are ignored.
    private(set) var serial = 0
    /// The pieces that are on the cores.
    private(set) var underWay = 0
    private var began = Instant.zero
    /// The window of the limit off screen: since when, and the time on cores within it.
    private var windowSince = Instant.zero
    private var given = TimeSpan.zero
    /// The time on cores that the process's launch off screen has had.
    private(set) var launch = TimeSpan.zero
    /// What is left of the cost of the callback under way, beyond the portion that is on a core.
    private var owed = TimeSpan.zero

    /// The process is on screen, off screen or suspended from now on.
    mutating func restart(at now: Instant) {
        serial += 1
        underWay = 0
        windowSince = now
        given = .zero
    }

    mutating func begin(_ pieces: Int, at now: Instant) {
        underWay = pieces
        began = now
    }

    /// One piece is done.
    ///
    /// - Returns: When the pieces began, if it was the last one.
    mutating func finish() -> Instant? {
        underWay -= 1
        return underWay == 0 ? began : nil
    }

    /// Charges time on a core to the window.
    ///
    /// - Returns: Since when the window lasts, if its allowance is exceeded.
    mutating func charge(
        _ span: TimeSpan, of allowance: TimeSpan, within window: TimeSpan, at now: Instant
    ) -> Instant? {
        while now - windowSince >= window {
            windowSince = windowSince + window
            given = .zero
        }
        given += span
        return given > allowance ? windowSince : nil
    }

    /// Charges time on a core to the launch off screen.
    mutating func chargeLaunch(_ span: TimeSpan) { launch += span }

    /// Only a portion of a callback's cost is on a core.
    mutating func owe(_ span: TimeSpan) { owed = span }

    /// Takes what is left of the callback's cost; nil if nothing is.
    mutating func takeOwed() -> TimeSpan? {
        defer { owed = .zero }
        return owed > .zero ? owed : nil
    }

    /// What is left of the window's allowance.
    func rest(of allowance: TimeSpan, within window: TimeSpan, at now: Instant) -> TimeSpan {
        now - windowSince >= window ? allowance : allowance - given
    }
}

/// The rules by which apps use cores as time passes: frames of the app in front, and what apps do off screen.
struct UseOfCPU {
    /// The time between two frames, at 60 frames per second.
    static let frame = TimeSpan(microseconds: 16_667)
    /// Off screen, an app asks for its share of a core once in this time, the first time after it; our own figure.
    static let period = TimeSpan.seconds(1)
    /// Off screen, a process may not use more than this share of a core over a minute. Source: the CPU usage exceptions
    /// in Apple's crash reports ("exceeded limit of 80% cpu over 60 seconds": 48 s of CPU time).
    static let limit = Ratio.percent(80)
    static let window = TimeSpan.seconds(60)
    static let allowance = TimeSpan.seconds(48)

    let scheduler: Scheduler
    let recorder: RunRecorder
    let agenda: Agenda

    private var now: Instant { agenda.now }

    /// The process is on screen, off screen or suspended from now on.
    func restart(of process: LiveProcess) {
        if process.use.underWay > 0 { scheduler.endUse(of: process.reference) }
        process.use.restart(at: now)
        guard share(of: process) > .zero else { return }
        // Its callbacks come first, on screen and off.
        let span = process.phase == .active ? UseOfCPU.frame : UseOfCPU.period
        agenda.schedule(.use(serial: process.use.serial), of: process, after: span)
    }

    /// The share of a core that it uses now; more than one core's with several threads.
    private func share(of process: LiveProcess) -> Ratio {
        switch process.phase {
        case .active: process.profile.cpu
        case .background: process.profile.background.cpu
        case .inactive, .suspended, .prewarmed, .notRunning: .zero
        }
    }

    /// A frame is due, or the next piece of work off screen.
    func begin(of process: LiveProcess, _ serial: Int) {
        guard process.use.serial == serial else { return }
        let share = share(of: process)
        guard process.phase == .active else { return run(UseOfCPU.period * share, of: process, as: .background) }
        agenda.schedule(.use(serial: serial), of: process, after: UseOfCPU.frame)
        recorder.tally.cpu.frames += 1
        // The frame before is not ready, or the main thread cannot draw this one.
        guard process.use.underWay == 0, !process.thread.isRunning else {
            recorder.tally.cpu.lateFrames += 1
            return
        }
        run(UseOfCPU.frame * share, of: process, as: .frames)
    }

    /// Divides the work among as few threads as can do it in its time.
    private func run(_ work: TimeSpan, of process: LiveProcess, as purpose: CPUPurpose) {
        let time = purpose == .frames ? UseOfCPU.frame : UseOfCPU.period
        let threads = max(1, (work.microseconds + time.microseconds - 1) / time.microseconds)
        process.use.begin(Int(threads), at: now)
        var piece = TimeSpan(microseconds: work.microseconds / threads)
        if purpose == .background {
            // Its work ends just beyond its allowance, so that the limit acts at the right instant.
            let rest = process.use.rest(of: UseOfCPU.allowance, within: UseOfCPU.window, at: now)
            piece = min(piece, TimeSpan(microseconds: rest.microseconds / threads + 1))
        }
        for _ in 0..<threads {
            scheduler.run(
                piece,
                WorkOrder(kind: .use, owner: process.reference, serial: process.use.serial, purpose: purpose))
        }
    }

    /// A piece of the work is done. Off screen the next one begins when it is due, or at once if that time is over.
    func finish(of process: LiveProcess, _ serial: Int) {
        guard process.use.serial == serial, let began = process.use.finish() else { return }
        guard process.phase == .background else { return }
        agenda.schedule(.use(serial: serial), of: process, at: max(now, began + UseOfCPU.period))
    }

    /// The allowance of the launch off screen that is under way; nil: there is none, or the user waits for the app.
    private func launchAllowance(of process: LiveProcess) -> TimeSpan? {
        guard process.phase == .background, process.thread.deadline?.kind == .launch,
            process.course.goal == .background, !process.launch.reason.isForeground
        else { return nil }
        return process.record.rules.cpuOfBackgroundLaunch
    }

    /// What is left of that allowance; nil without one.
    func restOfLaunch(of process: LiveProcess) -> TimeSpan? {
        launchAllowance(of: process).map { max(.zero, $0 - process.use.launch) }
    }

    /// Charges a piece of work to its process.
    ///
    /// - Returns: The end of a process that has used too much off screen.
    func charge(_ piece: WorkDone, to process: LiveProcess) -> ProcessEnding? {
        guard process.phase == .background else { return nil }
        if let allowance = launchAllowance(of: process) {
            process.use.chargeLaunch(piece.held)
            if process.use.launch > allowance {
                return ProcessEnding(.appWatchdog, "its launch off screen used more than \(allowance) of CPU")
            }
        }
        let since = process.use.charge(piece.held, of: UseOfCPU.allowance, within: UseOfCPU.window, at: now)
        guard let since else { return nil }
        return ProcessEnding(
            .cpuResourceLimit,
            "used \(UseOfCPU.allowance) of CPU off screen within \(now - since), above \(UseOfCPU.limit) over "
                + "\(UseOfCPU.window)")
    }
}
