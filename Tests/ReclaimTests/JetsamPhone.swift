import Lifecycle
import Pressure
import Quantities

@testable import Reclaim

/// A device with a kernel and 1,000 MiB, as far as its policy sees it. It carries out the first action that the limits
/// allow of each decision, and keeps the history as a run does.
struct JetsamPhone: Sendable {
    /// The release that the device has; nil: it is no iPhone.
    var kernel: JetsamKernel? = .standard
    var processes: [ProcessSnapshot]
    /// Available memory in MiB.
    var available: Int
    /// What each end brings back, in MiB.
    var regains = 200
    /// What the limits of the scenario keep.
    var kept: [Int] = []
    /// The time from one decision to the next.
    var pace = TimeSpan.seconds(1)
    var parameters: [PolicySettings.Assignment] = []
    var change: @Sendable (inout SystemSnapshot) -> Void = { _ in }
    var clock = now
    var history = ReclaimHistory()

    init(_ available: Int, _ processes: [ProcessSnapshot]) {
        (self.available, self.processes) = (available, processes)
    }

    /// The phone with some things changed.
    func with(_ alter: (inout JetsamPhone) -> Void) -> JetsamPhone {
        var other = self
        alter(&other)
        return other
    }

    var policy: Jetsam { Jetsam(parameters) }

    /// Asks the policy, and keeps its course.
    mutating func ask() -> Decision {
        let decision = policy.decide(
            device(available, processes) {
                $0.now = clock
                $0.device.kernel = kernel
                $0.history = history
                change(&$0)
            })
        if let course = decision.course { history.course = course }
        return decision
    }

    /// One decision and its action, such as `3 highwater` or `3 discard`; nil: there is none.
    mutating func act() -> String? {
        let decision = ask()
        defer { clock = clock + pace }
        guard let chosen = decision.ranking.first(where: { !kept.contains($0.action.target.number) }),
            let index = processes.firstIndex(where: { $0.pid == chosen.action.target })
        else { return nil }
        history.lastAction = clock
        let process = processes[index]
        switch chosen.action {
        case .discard:
            let bytes = process.memory.purgeable
            processes[index].memory.purgeable = .zero
            processes[index].footprint = process.footprint - bytes
            available += bytes.bytes >> 20
        case .purge: processes[index].dirty = .zero
        default:
            processes.remove(at: index)
            available = min(900, available + regains)
            history.noteKill(
                .init(
                    at: clock, pid: process.pid, band: process.band, cause: chosen.cause, footprint: process.footprint))
        }
        return "\(process.pid.number) \(chosen.cause?.rawValue ?? chosen.action.name)"
    }

    /// Its actions until there is none, or until there are so many.
    mutating func acts(atMost most: Int = 30) -> [String] {
        var found: [String] = []
        while found.count < most, let next = act() { found.append(next) }
        return found
    }
}

/// A state of a phone, and what its kernel does about it.
struct JetsamRow: Sendable {
    /// The rule, and where it stands.
    let source: String
    let phone: JetsamPhone
    let expected: [String]

    init(_ source: String, _ phone: JetsamPhone, _ expected: [String]) {
        (self.source, self.phone, self.expected) = (source, phone, expected)
    }

    /// Processes that end for the same cause.
    init(_ source: String, _ phone: JetsamPhone, _ numbers: [Int], _ cause: KillCause) {
        self.init(source, phone, numbers.map { "\($0) \(cause.rawValue)" })
    }
}
