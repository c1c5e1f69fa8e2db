import Lifecycle
import Plan
import Quantities
import Workload

/// The steps of the engine that a flow in a type of its own may take. Whatever else such a flow needs, it names as a
/// component.
protocol EngineSteps: AnyObject {
    /// Makes the app's process in its own heap; nil if the device has no place for another one.
    func makeProcess(
        for app: AppRecord, goal: Goal, _ reason: LaunchReason, born: Instant?, isPrewarmed: Bool
    ) -> LiveProcess?
    /// Goes on with the process's steps.
    func advance(_ process: LiveProcess)
    /// Starts a callback's work on the main thread.
    func start(_ work: CallbackWork, of process: LiveProcess, answersWarning: ByteCount?, isDueToWarning: Bool)
    /// Work of a process that has done it before the run: it takes no time and does not wait. Returns whether there was
    /// room for all of it.
    func fillAtOnce(_ items: [MemoryWork], of process: LiveProcess) -> Bool
    /// Gives the process's dirty pages back.
    func purge(_ process: LiveProcess) -> ByteCount
    /// Changes the process's state, and records the new one.
    func apply(_ event: ProcessEvent, to process: LiveProcess, reason: String)
    /// Records the process's state.
    func recordPhase(of process: LiveProcess, reason: String)
    /// Ends the process now.
    func end(_ process: LiveProcess, _ reason: ExitReason, _ explanation: String, _ fact: ExitFact?)
    /// The system launches or wakes the app for an event.
    func wake(_ app: AppRecord, for reason: LaunchReason, lasting span: TimeSpan?)
    /// The app's process that has been launched; without one, the refusal is recorded.
    func running(_ app: AppRecord, for name: String) -> LiveProcess?
    /// Records what the user or the system did, or why it was refused.
    func record(_ name: String, _ app: AppRecord?, refused refusal: UserRefusal?, by other: AppID?, why: String?)
}

extension EngineSteps {
    func makeProcess(for app: AppRecord, goal: Goal, _ reason: LaunchReason) -> LiveProcess? {
        makeProcess(for: app, goal: goal, reason, born: nil, isPrewarmed: false)
    }

    func start(_ work: CallbackWork, of process: LiveProcess) {
        start(work, of: process, answersWarning: nil, isDueToWarning: false)
    }

    func end(_ process: LiveProcess, _ reason: ExitReason, _ explanation: String) {
        end(process, reason, explanation, nil)
    }

    func record(_ name: String, _ app: AppRecord, why: String? = nil) {
        record(name, app, refused: nil, by: nil, why: why)
    }

    func record(_ name: String, _ app: AppRecord, refused refusal: UserRefusal) {
        record(name, app, refused: refusal, by: nil, why: nil)
    }
}
