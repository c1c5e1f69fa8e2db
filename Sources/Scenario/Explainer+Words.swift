import Quantities
import Reclaim
import Simulation

extension Explainer {
    /// The termination in words, one line each.
    public func explain(_ termination: Termination) throws -> [String] {
        let record = termination.record
        let snapshot = record.snapshot
        guard let victim = snapshot.processes.first(where: { $0.pid == termination.pid }),
            let chosen = record.chosen
        else { return [] }
        let candidate = record.decision.ranking[chosen]
        let how = candidate.action == .terminate(victim.pid) ? "ended" : "asked to end"
        var lines = [
            "\(victim.name) was \(how) at \(termination.at) by the policy \(plan.policy.name) "
                + "(decision \(record.number)).",
            "  It was \(state(victim, snapshot)) and held \(victim.footprint.readable).",
            "  Why then: \(record.decision.evidence?.text ?? snapshot.reason).",
            "  Why this one: \(candidate.reason); rank \(chosen + 1) of \(record.decision.ranking.count).",
        ]
        lines += passedOver(record, chosen)
        lines += spared(record, chosen)
        if let change = try change(saving: termination) {
            lines += [
                "  What would have saved it: \(change.name) at \(Change.text(change.to)) instead of "
                    + "\(Change.text(change.from)) (--set \(change.assignment)).",
                "    Asked again about the same moment the policy then leaves it alone; and in a whole run with that "
                    + "it is still there \(Explainer.survival) later.",
            ]
        } else {
            lines.append(
                "  What would have saved it: no single parameter of \(plan.policy.name); "
                    + "limits.protected=[\(victim.name)] would.")
        }
        return lines
    }

    private func state(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String {
        let idle = process.idleTime(at: snapshot.now)
        let seconds = TimeSpan(microseconds: idle.microseconds / 100_000 * 100_000)
        return idle == .zero
            ? "in the foreground" : "\(process.phase.rawValue), in band \(process.band.number), not seen for \(seconds)"
    }

    private func name(_ pid: ProcessID, _ snapshot: SystemSnapshot) -> String {
        snapshot.processes.first { $0.pid == pid }?.name ?? "process \(pid.number)"
    }

    /// Who stood before it and was not allowed to be touched.
    private func passedOver(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        record.decision.ranking.prefix(chosen).enumerated().compactMap { rank, candidate in
            record.refusals[rank].map {
                "  Before it stood \(name(candidate.action.target, record.snapshot)): \(candidate.action.name) was "
                    + "refused, \($0.explanation) (\($0.rule))."
            }
        }
    }

    /// Who came after it, and whom the policy left alone.
    private func spared(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        var lines: [String] = []
        var seen = [record.decision.ranking[chosen].action.target]
        for candidate in record.decision.ranking.dropFirst(chosen + 1) {
            let pid = candidate.action.target
            guard candidate.action.isTermination, !seen.contains(pid) else { continue }
            seen.append(pid)
            guard let process = record.snapshot.processes.first(where: { $0.pid == pid }) else { continue }
            lines.append("  Spared: \(process.name), its turn was later (\(state(process, record.snapshot))).")
        }
        for spared in record.decision.spared where !seen.contains(spared.pid) {
            lines.append("  Spared: \(name(spared.pid, record.snapshot)), \(spared.reason).")
        }
        return lines
    }
}
