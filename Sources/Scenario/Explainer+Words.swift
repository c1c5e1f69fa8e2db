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
            "\(victim.name) was \(how) by the policy \(plan.policy.title), \(clock(termination.at)) into the run "
                + "(decision \(record.number) in decisions.csv).",
            "  What it was:   \(state(victim, snapshot)); it held \(victim.footprint.readable).",
            "  Why then:      \(occasion(record, candidate)).",
            "  Why this one:  \(candidate.reason)\(place(record, chosen)).",
        ]
        lines += passedOver(record, chosen)
        lines += later(record, chosen)
        lines += spared(record, chosen)
        guard let change = try change(saving: termination) else {
            let protected = plan.limits.protected.map { plan.apps[$0.index].name } + [victim.name]
            let saved = "--set " + ShellWord.quoted("limits.protected=[\(protected.joined(separator: ", "))]")
            return lines + ["  What saves it: no single number of \(plan.policy.title) does; \(saved) would."]
        }
        return lines + [
            "  What saves it: \(change.words). Asked again about that moment",
            "                 the policy leaves it alone, and in a run with that it is still there "
                + "\(Explainer.survival) later:",
            "                 plimsoll run \(ShellWord.quoted(scenario)) \(change.option)",
        ]
    }

    // MARK: Pieces

    private func clock(_ instant: Instant) -> String {
        let seconds = instant.microseconds / 1_000_000
        let tenths = instant.microseconds / 100_000 % 10
        let (minutes, rest) = (seconds / 60, seconds % 60)
        return minutes > 0 ? "\(minutes) min \(rest).\(tenths) s" : "\(rest).\(tenths) s"
    }

    private func state(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String {
        let idle = process.idleTime(at: snapshot.now)
        guard idle > .zero else { return "in the foreground" }
        let unseen = clock(.zero + idle)
        let modes = process.modes.map(\.rawValue).joined(separator: ", ")
        return switch process.phase {
        case .suspended: "suspended, off screen for \(unseen)"
        case .background where modes.isEmpty: "running off screen for \(unseen)"
        case .background: "running off screen for \(unseen), for \(modes)"
        case .active, .inactive, .notRunning: process.phase.rawValue
        }
    }

    private func name(_ pid: ProcessID, _ snapshot: SystemSnapshot) -> String {
        snapshot.processes.first { $0.pid == pid }?.name ?? "process \(pid.number)"
    }

    /// What was observed against which threshold.
    private func occasion(_ record: DecisionRecord, _ candidate: Candidate) -> String {
        let snapshot = record.snapshot
        if let evidence = candidate.evidence ?? record.decision.evidence { return evidence.text }
        if case .allocation(let pid, let wanted) = snapshot.demand {
            return
                "\(name(pid, snapshot)) waits for \(wanted.readable), and \(snapshot.available.readable) are available"
        }
        return snapshot.reason
    }

    private func place(_ record: DecisionRecord, _ chosen: Int) -> String {
        let count = record.decision.ranking.count
        return count == 1 ? "; there was no other choice" : "; choice \(chosen + 1) of \(count)"
    }

    /// Who stood before it and was not allowed to be touched.
    private func passedOver(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        record.decision.ranking.prefix(chosen).enumerated().compactMap { rank, candidate in
            record.refusals[rank].map {
                "  Passed over:   \(name(candidate.action.target, record.snapshot)) (\(candidate.action.name)): "
                    + "\($0.explanation) [\($0.rule)]."
            }
        }
    }

    /// Whose turn would have come after it.
    private func later(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        var seen = [record.decision.ranking[chosen].action.target]
        var lines: [String] = []
        for candidate in record.decision.ranking.dropFirst(chosen + 1) where candidate.action.isTermination {
            let pid = candidate.action.target
            guard !seen.contains(pid), let process = record.snapshot.processes.first(where: { $0.pid == pid })
            else { continue }
            seen.append(pid)
            lines.append(
                "  Spared:        \(process.name), whose turn was later: \(state(process, record.snapshot)), holds "
                    + "\(process.footprint.readable).")
        }
        return lines
    }

    /// Whom the policy left alone, and why.
    private func spared(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        let ranked = record.decision.ranking[chosen...].filter { $0.action.isTermination }.map { $0.action.target }
        return record.decision.spared.filter { !ranked.contains($0.pid) }.map {
            "  Spared:        \(name($0.pid, record.snapshot)): \($0.reason)."
        }
    }
}
