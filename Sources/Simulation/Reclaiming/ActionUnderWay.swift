import Metrics
import Pressure
import Quantities
import Reclaim

/// What the policy decided about the processes that it ends.
struct DecidedEnd {
    let cause: KillCause
    /// The process that it chose; others may end with it.
    let victim: ProcessID
    private let band: JetsamBand
    /// The number of the decision.
    let decision: Int
    let demand: ReclaimDemand
    /// The monitor's level that the policy saw.
    let level: PressureLevel
    /// What made the ranking choose it, in a few words.
    private let standing: String?
    let comparison: Comparison

    init(
        _ cause: KillCause, of victim: ProcessSnapshot, decision: Int, _ snapshot: SystemSnapshot, standing: String?,
        _ comparison: Comparison
    ) {
        self.cause = cause
        (self.victim, band) = (victim.pid, victim.band)
        self.decision = decision
        (demand, level) = (snapshot.demand, snapshot.level)
        self.standing = standing
        self.comparison = comparison
    }

    /// The band of a process that ends by the decision.
    func band(of process: LiveProcess, at now: Instant) -> JetsamBand {
        process.pid == victim ? band : process.bands.band(at: now)
    }

    /// What made the ranking choose it.
    func standing(of process: LiveProcess) -> String? {
        process.pid == victim ? standing : DecidedEnd.withGroup
    }

    /// Why a process ends that nobody chose.
    static let withGroup = "its control group ends as one"
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
    /// The numbers of the memory with whose return the action is done; empty if it is done otherwise.
    var returns: [Int] = []
    /// The processes that a termination ends.
    var victims: [ProcessID] = []

    /// The process that was asked to end and is still there.
    var asked: ProcessID? {
        guard case .terminatePolitely(let pid) = action, !isFreeing else { return nil }
        return pid
    }

    /// Whether the action ends this process.
    func ends(_ process: LiveProcess) -> Bool {
        action.isTermination && victims.contains(process.pid)
    }
}
