import Lifecycle
import Metrics
import Pressure
import Quantities
import Reclaim

/// The outcome of a row of `decisions.csv`.
public enum DecisionOutcome: String, CaseIterable, Sendable {
    /// The action was carried out; in a dry run it would have been.
    case chosen
    /// Another candidate came first.
    case ranked
    /// A limit forbids the action.
    case refused
    /// The policy left the process alone.
    case spared
    /// About the decision: the policy's own rules call for nothing.
    case content
    /// About the decision: something is under way, or more evidence is needed.
    case waits
    /// About the decision: no process is left that may be reclaimed.
    case noVictim = "no_victim"

    /// The outcome of a decision in which nothing was chosen.
    init(_ standstill: Standstill?) {
        self =
            switch standstill {
            case .content: .content
            case .waiting: .waits
            case nil: .noVictim
            }
    }
}

/// One row of `decisions.csv`.
struct DecisionRow {
    let at: Instant
    /// The decision's number.
    let number: Int
    let demand: String
    var app: String?
    var pid: ProcessID?
    var band: JetsamBand?
    var action: ReclaimAction?
    var rank: Int?
    var score: Int64?
    let reason: String
    /// What was compared.
    let evidence: Evidence
    var cause: KillCause?
    var outcome: DecisionOutcome
    /// The limit that refused it.
    var rule: Refusal.Rule?

    /// The demand in the rows of the monitor's own decisions about which process to warn next.
    static let warningDemand = "warning"
    /// The demand in the rows of the kernel's own decisions (`device.fallback`).
    static let kernelDemand = "kernel"

    static let table = RowTable<DecisionRow>(
        "decisions", "One row per candidate of a decision, those spared included",
        [
            .seconds("time_s", "Virtual time since the start of the run") { $0.at },
            .integer(
                "decision",
                "The decision's number, from 1. The monitor's own decisions, such as warnings, are numbered, too; a "
                    + "repeated question without an answer has no rows"
            ) { $0.number },
            .optionalChoice("action", "The proposed action; empty for a process that the policy spared") {
                $0.action?.kind
            },
            .optionalText("app", "The app's name") { $0.app },
            .optionalInteger("pid", "The process number") { $0.pid?.number },
            .optionalInteger("rank", "Place in the policy's ranking, from 1; empty for a spared process") { $0.rank },
            .flag(
                "chosen",
                "Whether it was carried out; in a dry run (dry_run in manifest.json), whether it would have been"
            ) { $0.outcome == .chosen },
            .text("reason", "For people: why it is a candidate, was spared, or was refused by a limit") { $0.reason },
            .amount("observed", "The observed value of the decision's measure, in its unit") { $0.evidence.observed },
            .amount("threshold", "The threshold that it is compared with, in the same unit") {
                $0.evidence.threshold
            },
            .text(
                "demand",
                "What the policy was asked for; warning: the monitor's round of warnings; kernel: Linux's kernel "
                    + "decided, not the policy, because an allocation found no room",
                choices: ReclaimDemand.Kind.allCases.map(\.rawValue) + [warningDemand, kernelDemand]
            ) { $0.demand },
            .optionalInteger("scene", "The scene's number, where the action is about one") { $0.action?.scene?.number },
            .amount("score", "What the ranking compared; larger goes first within a rung, tier or step of the policy") {
                $0.score
            },
            .text("measure", "What observed and threshold measure, its unit last") { $0.evidence.measure },
            .optionalInteger("band", "jetsam's priority band of the process") { $0.band?.number },
            .optionalChoice("cause", "The kill's cause in the kernel's words, where there is one") { $0.cause },
            .choice(
                "outcome",
                "chosen: as in the column chosen; ranked: another came first; refused: by the limit in rule; spared: "
                    + "by the policy. If the decision chose nothing: content, waits, no_victim"
            ) { $0.outcome },
            .optionalChoice("rule", "The limit that refused it") { $0.rule },
        ])
}
