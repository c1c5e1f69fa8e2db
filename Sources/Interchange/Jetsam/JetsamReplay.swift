import Lifecycle
import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation

/// Goes on from the state of a report under the device's policy, while memory is taken at a steady rate, and compares
/// the ends with those of the report.
///
/// The run is on the accounting backend, and the same every time. It is over a while after the last of the report's
/// victims has ended, or after `ReplayAssumptions.time`.
public struct JetsamReplay {
    /// The report's state.
    public let phone: JetsamPhoneImport
    private let assumptions: ReplayAssumptions

    /// The run was interrupted.
    public struct Interrupted: Error {}

    /// The replay of a report.
    public init(_ phone: JetsamPhoneImport) {
        self.phone = phone
        assumptions = ReplayAssumptions(phone)
    }

    /// The scenario that is replayed, with all assumptions.
    public var scenario: String { PhoneScenario(phone, replay: assumptions).text }

    /// How long the run goes on after the last victim has ended.
    static let afterwards = TimeSpan.seconds(10)

    /// Plays the run.
    ///
    /// - Parameter isInterrupted: Asked at every sample; true ends the run with `Interrupted`.
    /// - Throws: `ScenarioFault` if the state makes no valid scenario; what the device and the run throw.
    public func play(isInterrupted: @escaping () -> Bool = { false }) throws -> ReplayOutcome {
        var plan = try ScenarioLoader.load(text: scenario, file: phone.report.source.file).get()
        plan.backend = .accounting
        let memory = try plan.makeDevice()
        let simulation = Simulation(plan, memory: memory, sinks: RunSinks { _ in NullSink() })
        simulation.keepEvents()
        var ends: [ReplayEnd] = []
        var waiting = Set(phone.victims.map(\.name))
        var closing: Instant?
        var isGivenUp = false
        func take() {
            for event in simulation.takeEvents() where event.kind == .exit && event.app != phone.demandName {
                let end = ReplayEnd(event, place: ends.count + 1)
                ends.append(end)
                waiting.remove(end.name)
            }
            if waiting.isEmpty, closing == nil { closing = simulation.now + JetsamReplay.afterwards }
        }
        _ = try simulation.run(shouldStop: {
            take()
            isGivenUp = isInterrupted()
            return isGivenUp || closing.map { simulation.now >= $0 } == true
        })
        guard !isGivenUp else { throw Interrupted() }
        return ReplayOutcome(phone, assumptions, ends, lasted: simulation.now - .zero)
    }
}

/// The end of a process in a replay.
public struct ReplayEnd: Hashable, Sendable {
    /// The process's name in the scenario.
    public let name: String
    /// Its place among all ends of the run, from 1.
    public let place: Int
    /// When it ended, since the report's moment.
    public let at: Instant
    /// Why, in jetsam's words if jetsam ended it.
    public let reason: String

    init(_ event: RunEvent, place: Int) {
        name = event.app ?? ""
        at = event.at
        self.place = place
        reason = event.cause?.name ?? event.detail
    }
}

/// What a replay showed.
public struct ReplayOutcome: Sendable {
    /// A process that jetsam ended in the report.
    public struct Victim: Hashable, Sendable {
        /// Its name in the scenario.
        public let name: String
        /// Its band in the scenario.
        public let band: Int
        /// Why the report says that it ended.
        public let reason: String
        /// Its end in the run; nil: it lived on.
        public let end: ReplayEnd?
        /// Whether its limit is assumed from the very reason, so that its end proves nothing.
        public let isAssumed: Bool

        /// Whether it ended for the report's reason; nil if that is not graded, or it lived on.
        public var isSame: Bool? { isAssumed ? nil : end.map { KillCause.word(reason, standsFor: $0.reason) } }
    }

    /// In the order of the report's kills.
    public let victims: [Victim]
    /// Processes that the report does not name and that ended before the last victim, or as its victims did not all
    /// end: all of them.
    public let others: [ReplayEnd]
    /// Processes that ended later.
    public let later: [ReplayEnd]
    /// What the replay assumes, one sentence each.
    public let assumptions: [String]
    /// How long the run lasted.
    public let lasted: TimeSpan
    let phone: JetsamPhoneImport

    init(
        _ phone: JetsamPhoneImport, _ assumptions: ReplayAssumptions, _ ends: [ReplayEnd], lasted: TimeSpan
    ) {
        (self.phone, self.lasted, self.assumptions) = (phone, lasted, assumptions.words)
        victims = phone.victims.inOrderOfKills.map { member in
            Victim(
                name: member.name, band: member.band, reason: member.process.reason ?? "",
                end: ends.first { $0.name == member.name }, isAssumed: assumptions.limit(of: member) != nil)
        }
        let named = Set(victims.map(\.name))
        let last = victims.allSatisfy { $0.end != nil } ? victims.compactMap { $0.end?.place }.max() ?? 0 : .max
        others = ends.filter { !named.contains($0.name) && $0.place < last }
        later = ends.filter { !named.contains($0.name) && $0.place > last }
    }

    /// How many victims ended.
    public var ended: Int { victims.count { $0.end != nil } }

    /// The most victims that ended in the order in which the report's did.
    public var inOrder: Int {
        var best: [Int] = []
        let places = victims.compactMap { $0.end?.place }
        for (index, place) in places.enumerated() {
            best.append(1 + (0..<index).filter { places[$0] < place }.map { best[$0] }.reduce(0, max))
        }
        return best.max() ?? 0
    }
}

extension [JetsamPhoneImport.Member] {
    /// In the order in which jetsam ended them, if the report has it for all; otherwise as the report lists them.
    fileprivate var inOrderOfKills: [JetsamPhoneImport.Member] {
        guard allSatisfy({ $0.process.endedAfter != nil }) else { return self }
        func key(_ index: Int) -> (Int, Int) { (self[index].process.endedAfter ?? 0, index) }
        return indices.sorted { key($0) < key($1) }.map { self[$0] }
    }
}
