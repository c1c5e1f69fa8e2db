import Quantities
import Reclaim
import Simulation

extension Explainer {
    /// The termination in words, one line each.
    public func explain(_ termination: Termination) throws -> [String] {
        let record = termination.record
        let snapshot = record.snapshot
        guard let victim = snapshot.process(termination.pid),
            let chosen = record.chosen
        else { return [] }
        let candidate = record.decision.ranking[chosen]
        let how = candidate.action == .terminate(victim.pid) ? "ended" : "asked to end"
        let whose =
            record.decision.isByMonitor ? "the monitor's end_suspended_first" : "the policy \(plan.policy.title)"
        var lines = [
            "\(victim.name) was \(how) by \(whose), \(clock(termination.at)) into the run "
                + "(decision \(record.number) in decisions.csv).",
            "  What it was:   \(state(victim, snapshot)); it held \(victim.footprint.readable).",
            "  Why then:      \(occasion(record, candidate)).",
            "  Why this one:  \(candidate.reason)\(place(record, chosen)).",
        ]
        lines += passedOver(record, chosen)
        lines += later(record, chosen)
        lines += spared(record, chosen)
        return try lines + saved(termination)
    }

    private static let warnedFirst = "monitor.end_suspended_first=false"

    /// What would have left it alive, and how that can be tried.
    private func saved(_ termination: Termination) throws -> [String] {
        let whole = min(Explainer.survival, .zero + plan.duration - termination.at)
        let stays =
            whole == Explainer.survival ? "it is still there \(whole) later" : "it is still there when the run ends"
        let isByMonitor = termination.record.decision.isByMonitor
        if isByMonitor, case .stays = try fateIfWarnedFirst(termination) {
            return [
                "  What saves it: \(Explainer.warnedFirst); in a run with that \(stays):",
                "                 plimsoll run \(ShellWord.quoted(scenario)) --set \(Explainer.warnedFirst)",
            ] + paid(try payers(for: termination, in: planWarningFirst))
        }
        if !isByMonitor, let change = try change(saving: termination) {
            return [
                "  What saves it: \(change.words). Asked again about that moment",
                "                 the policy leaves it alone, and in a run with that \(stays):",
                "                 plimsoll run \(ShellWord.quoted(scenario)) \(change.option)",
            ] + paid(try payers(for: termination, in: plan(with: change)))
        }
        let protected = plan.limits.protected.map { plan.apps[$0.index].name } + [termination.app]
        let option = "--set " + ShellWord.quoted("limits.protected=[\(protected.joined(separator: ", "))]")
        let command = "                 plimsoll run \(ShellWord.quoted(scenario)) \(option)"
        let tried =
            isByMonitor ? "\(Explainer.warnedFirst) does not" : "no single number of \(plan.policy.title) does"
        switch try fateIfProtected(termination) {
        case .stays:
            return ["  What saves it: \(tried); protected by name, \(stays):", command]
                + paid(try payers(for: termination, in: plan(protecting: termination)))
        case .ends(let at, let reason, let explanation):
            let isLater = at >= termination.at
            let when = isLater ? "\(clock(.zero + (at - termination.at))) later" : "\(clock(at)) into the run"
            return [
                "  What saves it: nothing that was tried: \(tried), and protected by name",
                "                 it ends all the same, \(when): \(reason)"
                    + "\(explanation.isEmpty ? "" : " (\(explanation))"):",
                command,
            ]
        case .isAbsent:
            return [
                "  What saves it: nothing that was tried: \(tried), and protected by name",
                "                 the app has no process at that moment:", command,
            ]
        }
    }

    /// Who ends in its place.
    private func paid(_ payers: [Payer]) -> [String] {
        let shown = payers.prefix(3).map { "\($0.app), \(clock($0.at)) into the run" }.joined(separator: "; ")
        switch payers.count {
        case 0: return ["  Who pays:      nobody within \(Explainer.survival)."]
        case ...3: return ["  Who pays:      \(shown)."]
        default: return ["  Who pays:      \(shown); and \(payers.count - 3) more."]
        }
    }

    // MARK: Pieces

    private func clock(_ instant: Instant) -> String {
        let seconds = instant.microseconds / 1_000_000
        let tenths = instant.microseconds / 100_000 % 10
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let whole = hours > 0 ? "\(hours) h " : ""
        return whole + (seconds >= 60 ? "\(minutes) min " : "") + "\(seconds % 60).\(tenths) s"
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
        snapshot.process(pid)?.name ?? "process \(pid.number)"
    }

    /// What was observed against which threshold.
    private func occasion(_ record: DecisionRecord, _ candidate: Candidate) -> String {
        let snapshot = record.snapshot
        if let evidence = candidate.evidence { return evidence.text }
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
                let scene = candidate.action.scene.map { ", scene \($0.number)" } ?? ""
                return "  Passed over:   \(name(candidate.action.target, record.snapshot))\(scene) "
                    + "(\(candidate.action.name)): \($0.explanation) [\($0.rule)]."
            }
        }
    }

    /// Whose turn would have come after it, and who was ranked after it but may not be touched.
    private func later(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        var seen = [record.decision.ranking[chosen].action.target]
        var lines: [String] = []
        for (rank, candidate) in record.decision.ranking.enumerated().dropFirst(chosen + 1)
        where candidate.action.isTermination {
            let pid = candidate.action.target
            guard !seen.contains(pid), let process = record.snapshot.process(pid)
            else { continue }
            seen.append(pid)
            if let refusal = record.refusals[rank] {
                lines.append("  Spared:        \(process.name): \(refusal.explanation) [\(refusal.rule)].")
            } else {
                lines.append(
                    "  Spared:        \(process.name), whose turn was later: \(state(process, record.snapshot)), holds "
                        + "\(process.footprint.readable).")
            }
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
