import Lifecycle
import Quantities

/// The flow of processes that crash by themselves (`crashes_after`).
struct Crashes {
    let engine: any EngineSteps
    let agenda: Agenda
    let recorder: RunRecorder

    /// A process begins: the seed decides when it crashes, if ever.
    func begin(_ process: LiveProcess) {
        guard let after = process.record.drawCrash() else { return }
        agenda.schedule(.crashes, of: process, after: after)
    }

    /// The time is over. Only code that runs can crash, so a suspended process has another time.
    func happen(to process: LiveProcess) {
        guard process.phase.runsCode else { return begin(process) }
        recorder.event(
            .fault, at: agenda.now, app: process.profile.name, pid: process.pid, Lapse.crash.rawValue,
            reason: "as the seed decides (crashes_after)")
        engine.end(process, .abnormal, "crashed by itself")
    }
}

/// A fault that the scenario asks for, as `events.csv` has it.
enum Lapse: String, CaseIterable {
    /// The monitor did not look.
    case missedSample = "missed_sample"
    /// The monitor's warning did not reach its process.
    case lostWarning = "lost_warning"
    case crash
    /// A process that was ended stays for a while.
    case slowExit = "slow_exit"
}
