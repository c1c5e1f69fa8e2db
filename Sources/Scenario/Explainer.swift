import Memory
import Metrics
import Quantities
import Reclaim
import Simulation

/// Explains a run's terminations from its plan alone: the same plan gives the same run, and with it every snapshot that
/// the policy saw.
public struct Explainer {
    public let plan: RunPlan

    public init(plan: RunPlan) {
        self.plan = plan
    }

    /// One termination that the policy chose.
    public struct Termination: Sendable {
        public let app: String
        public let pid: ProcessID
        public let at: Instant
        let record: DecisionRecord
    }

    /// One parameter with another value, as for `--set`.
    public struct Change: Hashable, Sendable {
        public let name: String
        public let from: ParameterValue
        public let to: ParameterValue

        /// For the command line.
        public var assignment: String { "policy.parameters.\(name)=\(Change.text(to))" }

        static func text(_ value: ParameterValue) -> String {
            switch value {
            case .ratio(let value): "\(value)"
            case .bytes(let value): "\(value)"
            case .time(let value): "\(value)"
            case .count(let value): "\(value)"
            case .flag(let value): "\(value)"
            case .names(let names): "[\(names.joined(separator: ", "))]"
            }
        }
    }

    /// Saved means that the app's process is still there so long after the instant at which it was ended.
    public static let survival = TimeSpan.seconds(10)

    // MARK: The run again

    /// Every termination that the policy ordered, in the order of time.
    public func terminations() throws -> [Termination] {
        var found: [Termination] = []
        try play(plan, until: .never) { record in
            guard let termination = Explainer.termination(record) else { return }
            found.append(termination)
        }
        return found
    }

    private static func termination(_ record: DecisionRecord) -> Termination? {
        guard let chosen = record.chosen else { return nil }
        let action = record.decision.ranking[chosen].action
        guard action.isTermination,
            let victim = record.snapshot.processes.first(where: { $0.pid == action.target })
        else { return nil }
        return Termination(app: victim.name, pid: victim.pid, at: record.snapshot.now, record: record)
    }

    private func play(
        _ plan: RunPlan, until end: Instant, _ observer: @escaping (DecisionRecord) -> Void
    ) throws {
        var plan = plan
        // The books are the same on either backend of a small run; real memory is asked for only where the run had it.
        plan.duration = min(plan.duration, end == .never ? plan.duration : end - .zero)
        let memory = try makeDeviceMemory(
            plan.backend, ceiling: plan.effectiveCeiling, reserved: plan.device.reserved)
        let sinks = RunSinks { _ in NoSink() }
        _ = try Simulation(plan, memory: memory, sinks: sinks, observer: observer).run()
    }

    /// Nobody reads the tables of a repeated run.
    private final class NoSink: ByteSink {
        func write(_ bytes: [UInt8]) throws(OutputFailure) {}
    }

    // MARK: What would have saved it

    /// The smallest change of one parameter with which the policy, asked about the same snapshot, would not have chosen
    /// this process, and with which it survives the whole run up to a while after that instant. Nil: there is none.
    public func change(saving termination: Termination) throws -> Change? {
        for change in changesOfDecision(termination) where try saves(change, termination) { return change }
        return nil
    }

    /// Every parameter's smallest change that turns the decision, the smallest first, as a share of its range.
    func changesOfDecision(_ termination: Termination) -> [Change] {
        guard let type = PolicyCatalogue.type(named: plan.policy.name) else { return [] }
        var found: [(distance: Double, change: Change)] = []
        for parameter in type.parameters {
            var present = plan.policy.parameters.last { $0.name == parameter.name }?.value ?? parameter.standard
            if present == parameter.standard {
                let meaning = type.meaning(ofDefault: parameter.name, ceiling: plan.effectiveCeiling)
                present = meaning ?? present
            }
            for value in ParameterSteps(parameter, from: present).values {
                let change = Change(name: parameter.name, from: present, to: value.value)
                guard turns(change, termination.record, victim: termination.pid) else { continue }
                found.append((value.distance, change))
            }
        }
        let ordered = found.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
        // A few of each parameter: a small change that turns one decision may not be enough for those after it.
        var seen: [String: Int] = [:]
        return ordered.map(\.element.change).filter { change in
            seen[change.name, default: 0] += 1
            return [1, 2, 4, 8, 16, 32].contains(seen[change.name, default: 0])
        }
    }

    private func settings(with change: Change) -> PolicySettings {
        var settings = plan.policy
        settings.parameters.removeAll { $0.name == change.name }
        settings.parameters.append(.init(name: change.name, value: change.to))
        return settings
    }

    /// Whether the policy would have left this process alone, at that very moment.
    private func turns(_ change: Change, _ record: DecisionRecord, victim: ProcessID) -> Bool {
        guard let policy = PolicyCatalogue.make(settings(with: change)) else { return false }
        let ranking = policy.decide(record.snapshot).ranking
        let chosen = ranking.first { record.guardrails.refusal(of: $0.action, in: record.snapshot) == nil }
        return !(chosen.map { $0.action.isTermination && $0.action.target == victim } ?? false)
    }

    /// Whether the app is there, in a whole run with the change, when it was ended without, and for a while longer.
    private func saves(_ change: Change, _ termination: Termination) throws -> Bool {
        var other = plan
        other.policy = settings(with: change)
        let end = termination.at + Explainer.survival
        var isEnded = false
        let since = termination.record.snapshot.processes.first { $0.pid == termination.pid }?.launchedAt ?? .zero
        try play(other, until: end) { record in
            guard let ended = Explainer.termination(record), ended.app == termination.app else { return }
            if ended.at >= since && ended.at <= end { isEnded = true }
        }
        return !isEnded
    }
}

/// Other values of a parameter within its range, near ones first.
struct ParameterSteps {
    let values: [(value: ParameterValue, distance: Double)]

    init(_ parameter: PolicyParameter, from present: ParameterValue) {
        switch (present, parameter.lowest, parameter.highest) {
        case (.flag(let flag), _, _): values = [(.flag(!flag), 0.5)]
        case (.ratio(let value), .ratio(let low), .ratio(let high)):
            values = ParameterSteps.around(
                value.partsPerMillion, low.partsPerMillion, high.partsPerMillion, unit: 1_000
            ).map { (.ratio(Ratio(partsPerMillion: $0.0)), $0.1) }
        case (.bytes(let value), .bytes(let low), .bytes(let high)):
            values = ParameterSteps.around(Int64(value.bytes), Int64(low.bytes), Int64(high.bytes), unit: 1 << 12)
                .map { (.bytes(ByteCount(Int($0.0))), $0.1) }
        case (.time(let value), .time(let low), .time(let high)):
            values = ParameterSteps.around(
                value.microseconds, low.microseconds, high.microseconds, unit: 1_000
            ).map { (.time(TimeSpan(microseconds: $0.0)), $0.1) }
        case (.count(let value), .count(let low), .count(let high)):
            values = ParameterSteps.around(Int64(value), Int64(low), Int64(high), unit: 1)
                .map { (.count(Int($0.0)), $0.1) }
        default: values = []
        }
    }

    /// Steps that grow by a quarter of the value, down to the lowest and up to the highest; the distance is the step as
    /// a share of the value, or of the range where the value is zero.
    private static func around(_ value: Int64, _ low: Int64, _ high: Int64, unit: Int64) -> [(Int64, Double)] {
        let scale = value > 0 ? value : max(unit, (high - low) / 1_000)
        var found: [Int64] = []
        var step = max(unit, scale / 50 / unit * unit)
        while step <= high - low {
            for candidate in [value - step, value + step] where candidate >= low && candidate <= high {
                if !found.contains(candidate) { found.append(candidate) }
            }
            let (next, overflow) = step.addingReportingOverflow(max(unit, step / 4 / unit * unit))
            if overflow || found.count > 120 { break }
            step = next
        }
        for end in [low, high] where end != value && !found.contains(end) { found.append(end) }
        return found.map { ($0, Double(abs($0 - value)) / Double(scale)) }
    }
}
