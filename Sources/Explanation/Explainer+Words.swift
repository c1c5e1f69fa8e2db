import Lifecycle
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation

extension Explainer {
    /// The termination in words, one line each: what happened and why, what would save the process, and what that
    /// costs.
    public func explain(_ termination: Termination) throws -> [String] {
        let account = account(of: termination)
        return account.isEmpty ? [] : try account + saved(termination)
    }

    /// What happened and why, one line each.
    func account(of termination: Termination) -> [String] {
        switch termination.cause {
        case .decision(let record): account(of: termination, record)
        case .rule(let fact, let explanation): account(of: termination, fact, explanation)
        }
    }

    /// An end that no policy decided.
    private func account(
        of termination: Termination, _ fact: RunTally.TerminationFact, _ explanation: String
    ) -> [String] {
        let place = kind(of: fact.app) + (fact.wasForeground ? "in the foreground" : "off screen")
        let age = clock(.zero + (termination.at - termination.since))
        return [
            "\(fact.app) was ended by the system, \(clock(termination.at)) into the run (\(fact.reason.rawValue)).",
            "  What it was:   \(place), \(age) after its launch; it held \(fact.footprint.readable).",
            "  Why then:      \(explanation).",
            "  Why this one:  \(fact.reason.rule)",
        ]
    }

    /// A decision of the policy or the monitor.
    private func account(of termination: Termination, _ record: DecisionRecord) -> [String] {
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
        return lines + unranked(record)
    }

    // MARK: Pieces

    func clock(_ instant: Instant) -> String {
        let seconds = instant.microseconds / 1_000_000
        let tenths = instant.microseconds / 100_000 % 10
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let whole = hours > 0 ? "\(hours) h " : ""
        return whole + (seconds >= 60 ? "\(minutes) min " : "") + "\(seconds % 60).\(tenths) s"
    }

    /// What the process is if it is no app, with a comma; empty for an app.
    private func kind(of name: String) -> String {
        guard let part = plan.apps.first(where: { $0.name == name })?.part else { return "" }
        let host = part.host.map { " of \(plan.apps[$0.index].name)" } ?? ""
        return switch (part.kind, part.kind.family) {
        case (.helper, _), (.otherExtension, _): "the \(part.kind.rawValue)\(host), "
        case (_, .daemon): "a daemon, "
        case (_, .helper): "the \(part.kind.rawValue) process\(host), "
        case (_, .extension): "the \(part.kind.rawValue) extension\(host), "
        }
    }

    private func state(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String {
        let kind = kind(of: process.name)
        guard kind.isEmpty || process.phase != .suspended else {
            return "\(kind)idle for \(clock(.zero + process.idleTime(at: snapshot.now)))"
        }
        return kind + stateOfApp(process, snapshot)
    }

    private func stateOfApp(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String {
        let idle = process.idleTime(at: snapshot.now)
        guard idle > .zero else { return "in the foreground" }
        let unseen = clock(.zero + idle)
        let modes = process.modes.map(\.rawValue).joined(separator: ", ")
        return switch process.phase {
        case .suspended: "suspended, off screen for \(unseen)"
        case .prewarmed: "prewarmed for \(unseen), and not launched since"
        case .background where modes.isEmpty: "running off screen for \(unseen)"
        case .background: "running off screen for \(unseen), for \(modes)"
        case .active, .inactive, .notRunning: process.phase.rawValue
        }
    }

    private func name(_ pid: ProcessID, _ snapshot: SystemSnapshot) -> String {
        snapshot.process(pid)?.name ?? "process \(pid.number)"
    }

    /// The observed value and the threshold it crossed.
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
        guard count == 1 else { return "; choice \(chosen + 1) of \(count)" }
        return neverNamed(record).isEmpty ? "; there was no other choice" : "; no other process was ranked"
    }

    /// The processes ranked before it that the policy was not allowed to touch.
    private func passedOver(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        record.decision.ranking.prefix(chosen).enumerated().compactMap { rank, candidate in
            record.refusals[rank].map {
                let scene = candidate.action.scene.map { ", scene \($0.number)" } ?? ""
                return "  Passed over:   \(name(candidate.action.target, record.snapshot))\(scene) "
                    + "(\(candidate.action.name)): \($0.explanation) [\($0.rule)]."
            }
        }
    }

    /// The processes ranked after it, and the ones among them that the policy may not touch.
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
        return lines + milder(record, chosen, named: seen)
    }

    /// The processes ranked after it to which the decision would only do something milder.
    private func milder(_ record: DecisionRecord, _ chosen: Int, named: [ProcessID]) -> [String] {
        let decision = record.decision
        var seen = named + decision.ranking[..<chosen].map(\.action.target) + decision.spared.map(\.pid)
        return decision.ranking.dropFirst(chosen + 1).compactMap { candidate in
            guard !seen.contains(candidate.action.target) else { return nil }
            seen.append(candidate.action.target)
            let (name, action) = (name(candidate.action.target, record.snapshot), candidate.action.name)
            return "  Spared:        \(name): \(action) was all that was considered for it, and its turn was later."
        }
    }

    /// The processes that the decision neither ranks nor spares.
    private func neverNamed(_ record: DecisionRecord) -> [ProcessSnapshot] {
        let named = Set(record.decision.ranking.map(\.action.target) + record.decision.spared.map(\.pid))
        return record.snapshot.processes.filter { !named.contains($0.pid) }
    }

    /// A line about the processes that the decision does not mention.
    private func unranked(_ record: DecisionRecord) -> [String] {
        let why =
            record.decision.isByMonitor
            ? "the monitor ends suspended processes only" : "the policy did not rank it and gives no reason"
        return neverNamed(record).map { process in
            "  Not ranked:    \(process.name): \(state(process, record.snapshot)), holds "
                + "\(process.footprint.readable); \(why)."
        }
    }

    /// The processes that the policy spared, and why.
    private func spared(_ record: DecisionRecord, _ chosen: Int) -> [String] {
        let ranked = record.decision.ranking[chosen...].filter { $0.action.isTermination }.map { $0.action.target }
        return record.decision.spared.filter { !ranked.contains($0.pid) }.map {
            "  Spared:        \(name($0.pid, record.snapshot)): \($0.reason)."
        }
    }
}

extension ExitReason {
    /// Why the system ended this process and no other.
    fileprivate var rule: String {
        switch self {
        case .memoryResourceLimit: "the limit is its own: no policy chose it, and free memory would not help."
        case .memoryPressure: "it was the one that waited for memory, and nothing was taken from others for it."
        case .appWatchdog: "its main thread was too slow; the watchdog ends the process that keeps it waiting."
        case .cpuResourceLimit: "it used too much CPU off screen; its memory played no part."
        case .suspendedWithLockedFile: "it held a file lock while suspended (0xdead10cc); its memory played no part."
        case .backgroundTaskAssertionTimeout: "it held the background task too long; its memory played no part."
        case .normalApp, .abnormal, .userTerminated: "it ended by itself, or the user closed it."
        }
    }
}
