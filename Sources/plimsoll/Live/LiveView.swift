import ArgumentParser
import Foundation
import Plan
import Pressure
import Quantities
import RunFolders
import Simulation

/// The speed of a watched run.
enum LiveSpeed: String, CaseIterable, ExpressibleByArgument {
    case real
    case ten = "10x"
    case max

    /// Virtual seconds per second of wall time; nil if unlimited.
    var factor: Double? {
        switch self {
        case .real: 1
        case .ten: 10
        case .max: nil
        }
    }
}

/// Shows a run while it runs, and slows it down to the chosen speed. The engine has no wall clock: it calls `update`
/// at every sample and continues when the call returns.
///
/// On a terminal it draws a full screen and reads keys; elsewhere it writes a line per level, warning, action and exit.
final class LiveView {
    private let plan: RunPlan
    private let isDryRun: Bool
    private let screen: RawTerminal?
    private var speed: LiveSpeed
    private var isPaused = false
    private var stepsLeft = 0
    /// The moment of the last change of speed, on the wall clock and on the virtual clock.
    private var anchor: (wall: ContinuousClock.Instant, virtual: Instant)
    private var drawnAt = ContinuousClock.now - .seconds(1)
    private var drawnSize = ScreenSize(columns: 0, rows: 0)
    private var log: [RunEvent] = []
    private var saidTenths = 0
    private static let kept = 200

    init(_ plan: RunPlan, speed: LiveSpeed?, isDryRun: Bool) {
        self.plan = plan
        self.isDryRun = isDryRun
        screen = RawTerminal.isPossible ? RawTerminal() : nil
        // Without a terminal there is no picture to watch, so the run is not slowed down.
        self.speed = speed ?? (screen == nil ? .max : .ten)
        anchor = (ContinuousClock.now, .zero)
        guard screen == nil else { return }
        let length = Progress.clock(plan.duration)
        Terminal.complain("\(plan.name): policy \(plan.policy.title), seed \(plan.seed), \(length) of virtual time")
        if isDryRun { Terminal.complain("dry run: the policy's decisions are not carried out") }
    }

    /// Called at every sample of the run; returns when the run may continue.
    func update(_ simulation: Simulation) {
        let events = simulation.takeEvents()
        let glance = simulation.glance
        guard let screen else {
            say(glance, events)
            return hold(at: glance, nil)
        }
        log += events.filter(LiveScreen.isWorthALine)
        log.removeFirst(max(0, log.count - LiveView.kept))
        if stepsLeft > 0 {
            stepsLeft -= 1
            drawnAt = ContinuousClock.now - .seconds(1)
        }
        hold(at: glance, screen)
    }

    /// Restores the terminal.
    func finish() { screen?.restore() }

    // MARK: Time

    /// Waits until the wall clock has caught up, while drawing and reading keys. Returns early on a signal.
    private func hold(at glance: RunGlance, _ screen: RawTerminal?) {
        while Interruption.signalNumber == 0 {
            if let screen { draw(glance, on: screen) }
            let left = isPaused && stepsLeft == 0 ? .milliseconds(100) : wait(until: glance.now)
            guard left > .zero else {
                if let screen { listen(screen, for: .zero, at: glance.now) }
                return
            }
            let nap = min(left, .milliseconds(50))
            if let screen {
                listen(screen, for: nap, at: glance.now)
            } else {
                usleep(UInt32(nap / .microseconds(1)))
            }
        }
    }

    /// How far the run is ahead of the wall clock.
    private func wait(until now: Instant) -> Duration {
        guard let factor = speed.factor, stepsLeft == 0 else { return .zero }
        let due = Double((now - anchor.virtual).microseconds) / factor
        return .microseconds(Int64(due)) - (ContinuousClock.now - anchor.wall)
    }

    /// The wall time that the rest of the run takes; nil if that is not known.
    private func timeLeft(at now: Instant) -> Duration? {
        guard let factor = speed.factor, !isPaused else { return nil }
        let rest = plan.duration - (now - .zero)
        return max(.zero, .microseconds(Int64(Double(rest.microseconds) / factor)))
    }

    private func listen(_ screen: RawTerminal, for span: Duration, at now: Instant) {
        guard let key = screen.key(within: span) else { return }
        switch key {
        case " ", "p":
            isPaused.toggle()
            stepsLeft = 0
        case "s":
            isPaused = true
            stepsLeft = 1
        case "1": speed = .real
        case "2": speed = .ten
        case "3": speed = .max
        case "q": raise(SIGINT)
        default: return
        }
        anchor = (ContinuousClock.now, now)
        drawnAt = ContinuousClock.now - .seconds(1)
    }

    // MARK: What is shown

    private func draw(_ glance: RunGlance, on screen: RawTerminal) {
        let size = screen.size
        guard size != drawnSize || ContinuousClock.now - drawnAt >= .milliseconds(50) else { return }
        let content = LiveScreen(
            plan: plan, glance: glance, log: log, speed: isPaused ? "paused" : speed.rawValue, size: size,
            usesColour: screen.usesColour, usesBlocks: screen.usesBlocks, isDryRun: isDryRun, isPaused: isPaused,
            left: timeLeft(at: glance.now))
        screen.show(content.lines, isFresh: size != drawnSize)
        drawnSize = size
        drawnAt = ContinuousClock.now
    }

    /// Writes log lines: each event, and the state of memory after every tenth of the run.
    private func say(_ glance: RunGlance, _ events: [RunEvent]) {
        for event in events where LiveScreen.isWorthALine(event) {
            Terminal.complain(LiveScreen.line(for: event))
        }
        let tenths = Int(glance.now.microseconds * 10 / Swift.max(1, plan.duration.microseconds))
        guard tenths > saidTenths else { return }
        saidTenths = tenths
        Terminal.complain(
            "\(Progress.clock(glance.now - .zero)) of \(Progress.clock(plan.duration)): "
                + "\(glance.resident.readable) resident, \(glance.available.readable) available, "
                + "\(glance.level.rawValue), \(glance.processes.count.counted("process", "processes"))")
    }
}
