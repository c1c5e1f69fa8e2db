import Lifecycle
import Pressure
import Quantities

/// Tries actions in rising order of their cost to the user: wait for warned processes, purge dirty pages, suspend,
/// disconnect scenes, end background processes.
///
/// The monitor warns; the ladder gives warned processes `warning_grace` to answer before it goes beyond purging. Each
/// kind of action is a rung of the ladder. On a rung the longest idle process comes first; ties go to the lower process
/// number. Audible and navigating apps come last. If an app in front has windows off screen, they are disconnected
/// like other scenes off screen, for pressure and for a waiting allocation. A limit on background memory counts
/// neither these windows nor the dirty pages of that app. Scenes on screen are never taken, and nothing is taken from
/// the process whose allocation waits. Parameters decide the order, time and extent of terminations: see
/// `VictimOrder`, `terminate_after` and `terminate_below`.
public struct Ladder: ReclaimPolicy {
    public static let name = "ladder"
    public static let summary = "warn, purge, suspend, disconnect scenes, then end background processes"
    public static let parameters: [Parameter<Self>] =
        [
            Parameter(
                \.warningGrace, "warning_grace", from: .zero, to: .seconds(60),
                meaning: "how long a warned app may take to answer before the ladder climbs past purging",
                source: "ours; UIKit gives no figure"),
            Parameter(
                \.purgeMinimum, "purge_minimum", from: .kibibytes(4), to: .gibibytes(1),
                meaning: "dirty pages below this are not worth a purge", source: "ours"),
            Parameter(
                \.purgeMinimumRunning, "purge_minimum_running", from: .kibibytes(4), to: .gibibytes(1),
                meaning: "the same for an app that runs code, unless memory is critical: its dirty pages come and "
                    + "go by themselves",
                source: "ours"),
            Parameter(
                \.disconnectIdle, "disconnect_idle", from: .zero, to: .hours(24),
                meaning: "a scene is disconnected only after it was off screen this long", source: "ours"),
            Parameter(
                \.terminateAtWarning, "terminate_at_warning",
                meaning: "whether processes are ended at the warning level already (UIKit ends suspended apps "
                    + "before it warns running ones)",
                source: "UIKit, \"Responding to memory warnings\""),
            Parameter(
                \.terminateAfter, "terminate_after", from: .zero, to: .minutes(10),
                meaning:
                    "how long a level must hold before a process is ended for it; a process "
                    + "that needs memory does not wait for that",
                source: "ours; systemd-oomd waits 30 s, DefaultMemoryPressureDurationSec"),
            Parameter(
                \.terminateBelow, "terminate_below", from: .zero, to: .one, scale: .even,
                meaning:
                    "a process is ended for a level only while less than this share of the level's threshold is "
                    + "available; no effect if the monitor measures anything but available memory",
                source: "ours; earlyoom kills at half of where it begins"),
        ] + VictimOrder.parameters

    private var warningGrace = TimeSpan.milliseconds(1_000)
    private var purgeMinimum = ByteCount.kibibytes(256)
    private var purgeMinimumRunning = ByteCount.mebibytes(8)
    private var disconnectIdle = TimeSpan.seconds(20)
    private var terminateAtWarning = false
    private var terminateAfter = TimeSpan.zero
    private var terminateBelow = Ratio.one
    var order = VictimOrder()

    public init() {}

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        var rungs = Rungs(snapshot, order.among(snapshot))
        for process in snapshot.processes { climb(process, in: snapshot, rungs: &rungs) }
        return rungs.decision
    }

    /// Puts one process on the rungs that apply to it, or records why none does.
    private func climb(_ process: ProcessSnapshot, in snapshot: SystemSnapshot, rungs: inout Rungs) {
        let isUrgent = snapshot.level == .critical || snapshot.requester != nil
        let minimum = process.phase.runsCode && !isUrgent ? purgeMinimumRunning : purgeMinimum
        if process.dirty >= minimum && snapshot.isAboutMemory(of: process) {
            rungs.add(.purge(process.pid), rung: 0, process, "holds dirty pages")
        }
        if process.isInFront { return climbInFront(process, in: snapshot, rungs: &rungs) }
        if process.pid == snapshot.requester { return rungs.spare(process, Spared.requester) }
        if snapshot.isAboutMemory && waitsForAnswer(process, snapshot) {
            return rungs.spareForNow(process, .waiting("was warned and may still answer"))
        }
        if snapshot.isAboutMemory && !process.isBusy { climbWithoutEnding(process, in: snapshot, rungs: &rungs) }
        if let why = mercy(snapshot) { return rungs.spareForNow(process, .content(why)) }
        if case .pressure = snapshot.demand, rungs.order.spares(process) {
            return rungs.spareForNow(
                process, .content("was seen within spare_recent, and no process waits for memory"))
        }
        rungs.end(process)
    }

    /// An app in front loses only dirty pages and windows that are off screen.
    private func climbInFront(_ process: ProcessSnapshot, in snapshot: SystemSnapshot, rungs: inout Rungs) {
        guard snapshot.servesForegroundWindows, !process.scenesOffScreen.isEmpty else {
            return rungs.spare(process, "in the foreground")
        }
        let kept = "in the foreground; its windows off screen stay, too: "
        if let why = keepsWindows(process, snapshot) { return rungs.spare(process, kept + why) }
        if let why = keepsWindowsForNow(process, snapshot) {
            return rungs.spareForNow(process, .waiting(kept + why))
        }
        let place = process.isOnSecondDisplayAlone ? "on the second display" : "in front"
        disconnect(process, in: snapshot, "a window off screen of the app \(place)", rungs: &rungs)
        rungs.spare(process, "in the foreground; only windows off screen may be taken, the one on screen never")
    }

    /// Why an app in front keeps its windows that are off screen, if the reason will not pass soon. Nil: they may be
    /// taken.
    private func keepsWindows(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String? {
        if process.pid == snapshot.requester { return Spared.requester }
        let mayGo = process.scenesOffScreen.contains { isRested($0, of: process, snapshot) }
        return mayGo ? nil : "seen within disconnect_idle"
    }

    /// Why the app keeps these windows for a moment. A busy app off screen can be ended instead. An app in front can
    /// lose only these windows, so the process that needs the memory waits.
    private func keepsWindowsForNow(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String? {
        if waitsForAnswer(process, snapshot) { return "was warned and may still answer" }
        return process.isBusy ? "it is busy" : nil
    }

    /// Why no process is ended now; nil if a process should be ended.
    private func mercy(_ snapshot: SystemSnapshot) -> String? {
        guard snapshot.demandsTermination(onlyWhenCritical: !terminateAtWarning) else {
            return "processes are ended at the critical level only"
        }
        guard case .pressure = snapshot.demand else { return nil }
        if snapshot.now - snapshot.history.levelSince < terminateAfter {
            return "the level has not held for terminate_after"
        }
        if terminateBelow < .one && snapshot.monitor.measure == .available
            && snapshot.obtainable >= snapshot.threshold * terminateBelow
        {
            return "terminate_below of what the level asks for is available"
        }
        return nil
    }

    private func climbWithoutEnding(
        _ process: ProcessSnapshot, in snapshot: SystemSnapshot, rungs: inout Rungs
    ) {
        if process.phase == .background && process.modes.isEmpty {
            rungs.add(.suspend(process.pid), rung: 1, process, "runs off screen without a background mode")
        }
        disconnect(process, in: snapshot, "its scene is off screen", rungs: &rungs)
    }

    private func disconnect(
        _ process: ProcessSnapshot, in snapshot: SystemSnapshot, _ why: String, rungs: inout Rungs
    ) {
        for scene in process.scenesOffScreen where isRested(scene, of: process, snapshot) {
            rungs.add(
                .disconnectScene(process.pid, scene.scene), rung: 2,
                idle: process.idleTime(of: scene, at: snapshot.now), why)
        }
    }

    private func isRested(_ scene: SceneSnapshot, of process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Bool {
        process.idleTime(of: scene, at: snapshot.now) >= disconnectIdle
    }

    private func waitsForAnswer(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Bool {
        guard process.answersWarning, snapshot.requester == nil, let warned = process.warnedAt else { return false }
        return snapshot.now - warned < warningGrace
    }

    /// The candidates of all rungs, kept in order.
    private struct Rungs {
        private let now: Instant
        let order: VictimOrder.Among
        private var entries: [(rung: Int, candidate: Candidate)] = []
        private var spared: [Spared] = []
        /// Why the ladder ends no process although it could end one. The first reason found is recorded.
        private var standstill: Standstill?

        init(_ snapshot: SystemSnapshot, _ order: VictimOrder.Among) {
            now = snapshot.now
            self.order = order
        }

        mutating func add(_ action: ReclaimAction, rung: Int, _ process: ProcessSnapshot, _ why: String) {
            add(action, rung: rung, idle: process.idleTime(at: now), why)
        }

        mutating func add(_ action: ReclaimAction, rung: Int, idle: TimeSpan, _ why: String) {
            entries.append((rung, Candidate(action, score: idle.microseconds, reason: why)))
        }

        /// The last rungs: first processes without a special reason to stay, then those that the order spares, then
        /// audible and navigating ones.
        mutating func end(_ process: ProcessSnapshot) {
            let (score, compared) = order.score(process)
            let (rung, why) = lastRung(of: process)
            let reason = "\(why), \(compared)"
            entries.append(
                (rung, Candidate(.terminate(process.pid), score: score, reason: reason, standing: compared)))
        }

        private func lastRung(of process: ProcessSnapshot) -> (rung: Int, why: String) {
            if process.phase != .suspended, let mode = process.modes.first {
                return (5, "in use off screen (\(mode.rawValue)) and so after all others")
            }
            if order.spares(process) { return (4, "seen within spare_recent and so after others") }
            // Without a mode, a process in the background runs under an assertion: it finishes, or works on something.
            return (3, process.phase == .background ? "off screen, under an assertion" : "off screen and not in use")
        }

        mutating func spare(_ process: ProcessSnapshot, _ why: String) {
            spared.append(Spared(process.pid, reason: why))
        }

        /// Spares a process for as long as the reason holds.
        mutating func spareForNow(_ process: ProcessSnapshot, _ standstill: Standstill) {
            spare(process, standstill.reason)
            self.standstill = self.standstill ?? standstill
        }

        var decision: Decision {
            let ordered = entries.enumerated().sorted { a, b in
                (a.element.rung, -a.element.candidate.score, a.offset)
                    < (b.element.rung, -b.element.candidate.score, b.offset)
            }
            return Decision(ranking: ordered.map(\.element.candidate), spared: spared, standstill: standstill)
        }
    }
}

extension SystemSnapshot {
    /// Whether freeing pages of this process helps to meet the demand. A limit on background memory does not count
    /// the pages of an app in front.
    func isAboutMemory(of process: ProcessSnapshot) -> Bool {
        isAboutMemory && !(isAboutLimits && process.isInFront)
    }

    /// Whether disconnecting windows off screen of an app in front helps to meet the demand. It does not help with
    /// the scenario's limits, which count only apps off screen.
    var servesForegroundWindows: Bool { isAboutMemory && !isAboutLimits }
}
