import Lifecycle
import Metrics
import Pressure
import Quantities
import Reclaim

/// One question to the policy, with everything that led to its answer and to the action. `explain` uses it.
public struct DecisionRecord: Sendable {
    /// The number in `decisions.csv`.
    public let number: Int
    /// What the policy saw.
    public let snapshot: SystemSnapshot
    /// What the policy answered.
    public let decision: Decision
    /// For each rank, why the limits refuse it; nil if they allow it.
    public let refusals: [Refusal?]
    /// The rank that was carried out; nil if none was.
    public let chosen: Int?
    /// The guardrails as they stood, so that they can be asked again.
    public let guardrails: Guardrails
    /// Whether the kernel decided, not the policy (`device.fallback`).
    public internal(set) var isByKernel = false
}

extension RunRecorder {
    /// Writes a row for every ranked and every spared process. If no action is carried out, writes a row that says
    /// why.
    func decision(_ record: DecisionRecord) {
        let decision = record.decision
        guard decisions.isRead else {
            let answers = decision.ranking.count + decision.spared.count + (record.chosen == nil ? 1 : 0)
            for _ in 0..<answers { decisions.skipRow() }
            return
        }
        for (index, candidate) in decision.ranking.enumerated() {
            let refusal = record.refusals[index]
            let why = refusal.map { "refused by \($0.rule): \($0.explanation)" } ?? candidate.reason
            let outcome: DecisionOutcome =
                index == record.chosen ? .chosen : refusal == nil ? .ranked : .refused
            var row = record.row(of: candidate.action.target, candidate.evidence, outcome, because: why)
            (row.action, row.rank, row.score) = (candidate.action, index + 1, candidate.shownScore)
            (row.cause, row.rule) = (candidate.cause, refusal?.rule)
            self.decision(row)
        }
        for spared in decision.spared {
            self.decision(record.row(of: spared.pid, decision.evidence, .spared, because: spared.reason))
        }
        guard record.chosen == nil else { return }
        let outcome = DecisionOutcome(decision.standstill)
        self.decision(record.row(of: nil, decision.evidence, outcome, because: decision.standstillText))
    }

    func decision(_ row: DecisionRow) {
        DecisionRow.table.write(row, to: decisions)
    }
}

extension DecisionRecord {
    /// A row about one process; about none if `pid` is nil. A candidate without evidence of its own gets the
    /// demand's.
    fileprivate func row(
        of pid: ProcessID?, _ evidence: Evidence?, _ outcome: DecisionOutcome, because reason: String
    ) -> DecisionRow {
        let process = pid.flatMap { snapshot.process($0) }
        return DecisionRow(
            at: snapshot.now, number: number, demand: isByKernel ? DecisionRow.kernelDemand : snapshot.demand.name,
            app: process?.name, pid: pid,
            band: process?.band, reason: reason, evidence: evidence ?? snapshot.demanded(under: guardrails.limits),
            outcome: outcome)
    }
}

extension SystemSnapshot {
    /// What the demand is about, observed against its threshold.
    func demanded(under limits: Limits) -> Evidence {
        if let reading {
            return Evidence(
                reading.column, observed: reading.observed, threshold: reading.threshold, rule: reason)
        }
        let bytes = Int64(threshold.bytes)
        return switch demand {
        case .backgroundProcesses(let excess):
            compared("background_processes", excess: Int64(excess), Int64(limits.backgroundProcesses ?? 0))
        case .backgroundMemory(let excess):
            compared("background_memory_bytes", excess: Int64(excess.bytes), bytes)
        case .pressure, .allocation, .nothing:
            Evidence("available_bytes", observed: Int64(available.bytes), threshold: bytes, rule: reason)
        }
    }

    private func compared(_ measure: String, excess: Int64, _ most: Int64) -> Evidence {
        Evidence(measure, observed: most + excess, threshold: most, rule: reason)
    }
}
