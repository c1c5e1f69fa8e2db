import Experiments
import Plan

/// What programs that draw a run must know of it besides its tables. It follows from the plan alone, so that a run that
/// was killed has it, too.
struct RunFacts: Encodable {
    let scenario: String
    /// The policy's title, as in `summary.csv`.
    let policy: String
    let seed: UInt64
    /// Whether the policy is only a measure for others, as in a comparison.
    let isYardstick: Bool
    /// What people call the device; nil if the scenario does not say.
    let device: String?
    /// The device and its scale in words that follow the scenario's name, as in the summary; empty without both.
    let place: String
    /// The names of the apps, in the scenario's order. Other processes are not among them.
    let apps: [String]
    /// The size of the model as a share of the phone's; sizes in tables are the model's.
    let scale: Double
    let cores: Int
    /// Whether more urgent work goes first.
    let hasPriorities: Bool
    /// The available memory in bytes below which a level begins, by the level's name. Empty if the monitor looks at
    /// something else.
    let thresholds: [String: Int]
    /// The claims about the run.
    let expectations: [String]
    /// The fingerprint of all that the run was made from but its seed.
    let setup: String

    /// - Parameter text: The plan as a scenario, which is written only once.
    init(of plan: RunPlan, _ text: String) {
        (scenario, policy, seed, device) = (plan.name, plan.policy.title, plan.seed, plan.device.name)
        (isYardstick, place) = (Comparison.yardsticks.contains(plan.policy.title), RunReport.place(of: plan.device))
        apps = plan.ownApps.map(\.name)
        scale = Double(plan.device.scale.partsPerMillion) / 1_000_000
        (cores, hasPriorities) = (plan.device.cores.count, plan.device.cores.priorities)
        let levels = ["warning": plan.monitor.warning, "critical": plan.monitor.critical]
        thresholds =
            plan.monitor.measure == .available
            ? levels.mapValues { $0.enter.bytes(of: plan.effectiveCeiling).bytes } : [:]
        expectations = plan.expectations.map(\.text)
        // The writer gives every key at the top lines of its own, and indents all others.
        var mark = Fingerprint()
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) where !line.starts(with: "seed:".utf8) {
            mark.add(line)
        }
        setup = "\(mark)"
    }
}
