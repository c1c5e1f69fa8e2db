import Lifecycle
import Pressure
import Quantities

/// Climbs from what costs the user nothing to what costs most: wait for the warned, purge dirty pages, suspend,
/// disconnect scenes, end background processes.
///
/// The monitor warns; the ladder gives the warned `warning_grace` to answer before it climbs past purging. Within a
/// rung the longest idle goes first, ties by the lower process number. Audible and navigating apps are climbed to last.
public struct Ladder: ReclaimPolicy {
    public static let name = "ladder"
    public static let summary = "warn, purge, suspend, disconnect scenes, then end background processes"
    public static let parameters: [PolicyParameter] = [
        PolicyParameter(
            "warning_grace", .time(.milliseconds(1_000)), from: .time(.zero), to: .time(.seconds(60)),
            meaning: "how long a warned app may take to answer before the ladder climbs past purging",
            source: "ours; UIKit gives no figure"),
        PolicyParameter(
            "purge_minimum", .bytes(.kibibytes(256)), from: .bytes(.kibibytes(4)), to: .bytes(.gibibytes(1)),
            meaning: "dirty pages below this are not worth a purge", source: "ours"),
        PolicyParameter(
            "purge_minimum_running", .bytes(.mebibytes(8)), from: .bytes(.kibibytes(4)), to: .bytes(.gibibytes(1)),
            meaning: "the same for an app whose code runs: its pages come and go, and decay by themselves",
            source: "ours"),
        PolicyParameter(
            "disconnect_idle", .time(.seconds(20)), from: .time(.zero), to: .time(.hours(24)),
            meaning: "a scene is disconnected only after its app was off screen this long", source: "ours"),
        PolicyParameter(
            "terminate_at_warning", .flag(false), from: .flag(false), to: .flag(true),
            meaning: "end suspended apps at the warning level already (UIKit: before running apps are warned)",
            source: "UIKit, \"Responding to memory warnings\""),
    ]

    private let warningGrace: TimeSpan
    private let purgeMinimum: ByteCount
    private let purgeMinimumRunning: ByteCount
    private let disconnectIdle: TimeSpan
    private let terminateAtWarning: Bool

    public init(_ values: ParameterValues) {
        warningGrace = values.time("warning_grace")
        purgeMinimum = values.bytes("purge_minimum")
        purgeMinimumRunning = values.bytes("purge_minimum_running")
        disconnectIdle = values.time("disconnect_idle")
        terminateAtWarning = values.flag("terminate_at_warning")
    }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        var rungs = Rungs(snapshot)
        for process in snapshot.processes { climb(process, in: snapshot, rungs: &rungs) }
        return rungs.decision
    }

    /// Puts one process on the rungs that apply to it, or says why none does.
    private func climb(_ process: ProcessSnapshot, in snapshot: SystemSnapshot, rungs: inout Rungs) {
        let isUrgent = snapshot.level == .critical || snapshot.requester != nil
        let minimum = process.phase.runsCode && !isUrgent ? purgeMinimumRunning : purgeMinimum
        if process.dirty >= minimum && snapshot.isAboutMemory {
            rungs.add(.purge(process.pid), rung: 0, process, "holds dirty pages")
        }
        if process.phase.isForeground { return rungs.spare(process, "in the foreground") }
        if process.pid == snapshot.requester { return rungs.spare(process, "the memory is for itself") }
        if snapshot.isAboutMemory && waitsForAnswer(process, snapshot) {
            return rungs.spare(process, "was warned and may still answer")
        }
        if snapshot.isAboutMemory && !process.isBusy { climbWithoutEnding(process, in: snapshot, rungs: &rungs) }
        if snapshot.demandsTermination(onlyWhenCritical: !terminateAtWarning) {
            let rung = process.modes.isEmpty || process.phase == .suspended ? 3 : 4
            rungs.add(.terminate(process.pid), rung: rung, process, "off screen and idle longest")
        } else {
            rungs.spare(process, "processes are ended at the critical level only")
        }
    }

    private func climbWithoutEnding(
        _ process: ProcessSnapshot, in snapshot: SystemSnapshot, rungs: inout Rungs
    ) {
        if process.phase == .background && process.modes.isEmpty {
            rungs.add(.suspend(process.pid), rung: 1, process, "runs off screen without a background mode")
        }
        guard process.idleTime(at: snapshot.now) >= disconnectIdle else { return }
        for scene in process.scenes where scene.phase == .background || scene.phase == .suspended {
            rungs.add(.disconnectScene(process.pid, scene.scene), rung: 2, process, "its scene is off screen")
        }
    }

    private func waitsForAnswer(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> Bool {
        guard process.answersWarning, snapshot.requester == nil, let warned = process.warnedAt else { return false }
        return snapshot.now - warned < warningGrace
    }

    /// The candidates of all rungs, kept in order.
    private struct Rungs {
        private let now: Instant
        private var entries: [(rung: Int, candidate: Candidate)] = []
        private var spared: [Spared] = []

        init(_ snapshot: SystemSnapshot) { now = snapshot.now }

        mutating func add(_ action: ReclaimAction, rung: Int, _ process: ProcessSnapshot, _ why: String) {
            let idle = process.idleTime(at: now).microseconds
            entries.append((rung, Candidate(action, score: idle, reason: why)))
        }

        mutating func spare(_ process: ProcessSnapshot, _ why: String) {
            spared.append(Spared(process.pid, reason: why))
        }

        var decision: Decision {
            let ordered = entries.enumerated().sorted { a, b in
                (a.element.rung, -a.element.candidate.score, a.offset)
                    < (b.element.rung, -b.element.candidate.score, b.offset)
            }
            return Decision(ranking: ordered.map(\.element.candidate), spared: spared)
        }
    }
}

extension SystemSnapshot {
    /// Whether taking pages back serves the demand; a limit on the number of processes is not served by it.
    var isAboutMemory: Bool {
        switch demand {
        case .pressure, .allocation, .backgroundMemory: true
        case .nothing, .backgroundProcesses: false
        }
    }
}
