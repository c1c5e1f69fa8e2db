import Metrics
import Quantities

/// What went wrong in a run. The first failure counts, and the run loop throws it.
final class RunFaults {
    private let seed: UInt64
    private let agenda: Agenda
    /// Whether the checks are shown a fault that is not there. They must find it.
    let hasCanary: Bool
    private(set) var failure: RunFailure?

    init(seed: UInt64, agenda: Agenda, hasCanary: Bool) {
        self.seed = seed
        self.agenda = agenda
        self.hasCanary = hasCanary
    }

    /// Records a fault of the harness, with the seed and the instant that reproduce it.
    func fail(_ claim: String) {
        guard failure == nil else { return }
        failure = .ours(InternalFault(seed: seed, at: agenda.now, claim: claim))
    }

    /// Records that the scenario's start does not fit on its device.
    func refuse(_ start: StartRefusal) {
        if failure == nil { failure = .start(start) }
    }

    /// Records that the host refused output.
    func fail(_ output: OutputFailure) {
        if failure == nil { failure = .output(output) }
    }

    /// A claim about the harness itself: if it does not hold, the run stops.
    func claim(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { fail(text()) }
    }
}
