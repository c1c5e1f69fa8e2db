import Memory
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation

/// Ends the largest of those who sleep, but nobody who was seen a moment ago.
public struct LargestAsleep: ReclaimPolicy {
    public static let name = "largest-asleep"
    public static let summary = "ends the largest suspended app that was not seen for a while"
    public static let parameters: [PolicyParameter] = [
        PolicyParameter(
            "unseen", .time(.seconds(10)), from: .time(.zero), to: .time(.hours(1)),
            meaning: "who was seen within this time is left alone", source: "the tutorial")
    ]

    private let unseen: TimeSpan

    public init(_ values: ParameterValues) {
        unseen = values.time("unseen")
    }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        var decision = Decision()
        for process in snapshot.processes {
            let idle = process.idleTime(at: snapshot.now)
            if process.phase != .suspended {
                decision.spared.append(Spared(process.pid, reason: "it does not sleep"))
            } else if idle < unseen {
                decision.spared.append(Spared(process.pid, reason: "seen \(idle.readable) ago"))
            } else {
                decision.ranking.append(
                    Candidate(
                        .terminate(process.pid), score: Int64(process.footprint.bytes),
                        reason: "asleep, and holds \(process.footprint.readable)"))
            }
        }
        decision.ranking.sort { ($0.score, $1.action.target) > ($1.score, $0.action.target) }
        return decision
    }
}

/// Plays a scenario under a policy that is in no catalogue.
public func play(_ scenario: String, sets: [String], under policy: LargestAsleep.Type) throws -> RunTally {
    let overrides = Overrides(sets: sets, backend: .accounting)
    let plan = try ScenarioLoader.load(path: scenario, overrides: overrides).get()
    let memory = try plan.makeDevice()
    let values = ParameterValues(of: policy, settings: PolicySettings(name: policy.name))
    let simulation = Simulation(
        plan, memory: memory, sinks: RunSinks { _ in MemorySink() }, policy: policy.init(values))
    _ = try simulation.run()
    return simulation.tally
}
