import Metrics
import Pressure
import Quantities
import Reclaim

/// What the policy decided about a process that it ends.
struct DecidedEnd {
    let cause: KillCause
    let band: JetsamBand
    /// The number of the decision.
    let decision: Int
    let demand: ReclaimDemand
    /// The monitor's level that the policy saw.
    let level: PressureLevel
    /// What made the ranking choose it, in a few words.
    let standing: String?
    let comparison: Comparison
}

/// An action that has begun and is not done yet.
struct ActionUnderWay {
    let serial: Int
    /// The action. It may change: a process that was asked to end may later be ended at once.
    var action: ReclaimAction
    let since: Instant
    /// What is said of a termination once the process has ended.
    var kill: DecidedEnd?
    /// The app for whose sake a process ends; nil if it ends for no app's sake.
    var beneficiary: RunTally.Beneficiary?
    /// Whether pages are on their way back to the device.
    var isFreeing = false
    /// The action is not done before this instant: the store is at work for it.
    var notBefore = Instant.zero
    /// The number of the memory with whose return the action is done; nil if it is done otherwise.
    var returns: Int?

    /// The process that was asked to end and is still there.
    var asked: ProcessID? {
        guard case .terminatePolitely(let pid) = action, !isFreeing else { return nil }
        return pid
    }

    /// Whether the action ends this process.
    func ends(_ process: LiveProcess) -> Bool {
        action.isTermination && action.target == process.pid
    }
}
