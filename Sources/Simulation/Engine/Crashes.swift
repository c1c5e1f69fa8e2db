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
        process.record.crashedByItself(at: agenda.now)
    }
}

/// The flow of processes whose main thread stops answering for a while (`hangs_after`).
struct Hangs {
    let engine: any EngineSteps
    let background: BackgroundLife
    let agenda: Agenda
    let recorder: RunRecorder

    /// The seed decides when the process hangs, if ever.
    ///
    /// - Parameter rest: How long it certainly does not.
    func begin(_ process: LiveProcess, after rest: TimeSpan = .zero) {
        guard let after = process.record.drawHang() else { return }
        agenda.schedule(.hangs, of: process, after: rest + after)
    }

    /// The time is over. A launch under way, and a process that runs no code, have another time.
    func happen(to process: LiveProcess) {
        guard process.phase.runsCode, !process.launch.isUnderWay, !process.isEnding else { return begin(process) }
        process.thread.prepend([.hang])
        engine.advance(process)
    }

    /// The main thread's next step: it stands still. What it still has to do waits, and the watchdog's time runs.
    func hang(_ process: LiveProcess) {
        let span = process.profile.faults.hangsFor
        recorder.event(
            .fault, at: agenda.now, app: process.profile.name, pid: process.pid, Lapse.hang.rawValue,
            reason: "its main thread does not answer for \(span) (hangs_after)")
        process.work.begin([], fillsAtDeviceRate: true)
        process.beginRunning(at: agenda.now)
        process.thread.hang(at: agenda.now)
        agenda.schedule(.mainThread(serial: process.thread.expectContinuation()), of: process, after: span)
        begin(process, after: span)
        background.expectLeaving(of: process)
    }
}

/// The rows about processes that report another amount of memory than they hold (`reports`).
struct FalseReports {
    let agenda: Agenda
    let recorder: RunRecorder

    /// A process begins: from now on a part of its memory is seen, or more than there is.
    func begin(_ process: LiveProcess) {
        let share = process.profile.faults.reports
        guard share != .one else { return }
        recorder.event(
            .fault, at: agenda.now, app: process.profile.name, pid: process.pid, Lapse.falseReport.rawValue,
            reason: "\(share) of its memory is seen by what decides about it (reports)")
    }
}

/// A fault that the scenario asks for, as `events.csv` has it.
package enum Lapse: String, CaseIterable {
    /// The monitor did not look.
    case missedSample = "missed_sample"
    /// The monitor's warning did not reach its process.
    case lostWarning = "lost_warning"
    /// The monitor's warning reaches its process later, or too late.
    case lateWarning = "late_warning"
    case crash
    case hang
    /// The policy took another candidate than its first choice.
    case policyErred = "policy_error"
    /// A process that was ended stays for a while.
    case slowExit = "slow_exit"
    /// A process reports another amount of memory than it holds.
    case falseReport = "false_report"
}
