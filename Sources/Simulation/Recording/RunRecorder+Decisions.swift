import Lifecycle
import Metrics
import Pressure
import Quantities
import Reclaim

/// One question to the policy with everything that led to its answer and to what was done: for `explain`.
public struct DecisionRecord: Sendable {
    /// The number in `decisions.csv`.
    public let number: Int
    public let snapshot: SystemSnapshot
    public let decision: Decision
    /// By rank: why the limits do not let it pass.
    public let refusals: [Refusal?]
    /// The rank that was carried out.
    public let chosen: Int?
    /// The limits as they stood, to ask them again.
    public let guardrails: Guardrails
}

/// One row of `decisions.csv`.
struct DecisionRow {
    /// Of the decision.
    let number: Int
    let demand: String
    var app: String?
    var pid: ProcessID?
    var band: JetsamBand?
    var action: ReclaimAction?
    var rank: Int?
    var score: Int64?
    var isChosen = false
    let reason: String
    /// What was compared.
    let evidence: Evidence
    var cause: KillCause?
}

extension RunRecorder {
    /// Everybody who is ranked, everybody who is spared, and why nothing is done if nothing is.
    func decision(_ record: DecisionRecord) {
        let decision = record.decision
        guard decisions.isRead else {
            let answers = decision.ranking.count + decision.spared.count + (record.chosen == nil ? 1 : 0)
            for _ in 0..<answers { decisions.skipRow() }
            return
        }
        let now = record.snapshot.now
        for (index, candidate) in decision.ranking.enumerated() {
            let refusal = record.refusals[index].map { "refused by \($0.rule): \($0.explanation)" }
            var row = record.row(of: candidate.action.target, candidate.evidence, because: refusal ?? candidate.reason)
            (row.action, row.rank, row.score) = (candidate.action, index + 1, candidate.score)
            (row.isChosen, row.cause) = (index == record.chosen, candidate.cause)
            self.decision(row, at: now)
        }
        for spared in decision.spared {
            self.decision(record.row(of: spared.pid, decision.evidence, because: spared.reason), at: now)
        }
        guard record.chosen == nil else { return }
        self.decision(record.row(of: nil, decision.evidence, because: decision.standstillText), at: now)
    }

    func decision(_ row: DecisionRow, at now: Instant) {
        decisions.seconds(now)
        decisions.integer(row.number)
        decisions.text(row.action?.name)
        decisions.text(row.app)
        decisions.integer(row.pid?.number)
        decisions.integer(row.rank)
        decisions.boolean(row.isChosen)
        decisions.text(row.reason)
        decisions.integer(Int(row.evidence.observed))
        decisions.integer(Int(row.evidence.threshold))
        decisions.text(row.demand)
        decisions.integer(row.action?.scene?.number)
        decisions.integer(row.score.map { Int($0) })
        decisions.text(row.evidence.measure)
        decisions.integer(row.band?.number)
        decisions.text(row.cause?.rawValue)
        decisions.endRow()
    }
}

extension DecisionRecord {
    /// A row about one process, or about nobody; without evidence of its own it has what the demand is about.
    fileprivate func row(of pid: ProcessID?, _ evidence: Evidence?, because reason: String) -> DecisionRow {
        let process = pid.flatMap { snapshot.process($0) }
        return DecisionRow(
            number: number, demand: snapshot.demand.name, app: process?.name, pid: pid, band: process?.band,
            reason: reason, evidence: evidence ?? demanded)
    }

    /// What the demand is about, observed against its threshold.
    private var demanded: Evidence {
        if let reading = snapshot.reading {
            return Evidence(
                reading.column, observed: reading.observed, threshold: reading.threshold, rule: snapshot.reason)
        }
        let threshold = Int64(snapshot.threshold.bytes)
        return switch snapshot.demand {
        case .backgroundProcesses(let excess):
            compared("background_processes", excess: Int64(excess), Int64(guardrails.limits.backgroundProcesses ?? 0))
        case .backgroundMemory(let excess):
            compared("background_memory_bytes", excess: Int64(excess.bytes), threshold)
        case .pressure, .allocation, .nothing:
            Evidence(
                "available_bytes", observed: Int64(snapshot.available.bytes), threshold: threshold,
                rule: snapshot.reason)
        }
    }

    private func compared(_ measure: String, excess: Int64, _ most: Int64) -> Evidence {
        Evidence(measure, observed: most + excess, threshold: most, rule: snapshot.reason)
    }
}
