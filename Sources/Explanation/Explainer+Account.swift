import Lifecycle
import Metrics
import Quantities
import Reclaim
import Scenario
import Simulation

extension Explainer {
    /// Explains the terminations. Gives the explanations in their order, each as soon as it is found.
    public func explain(_ terminations: [Termination], _ explained: (Explanation) throws -> Void) throws {
        try counsel(for: terminations) { index, counsel in
            try explained(explanation(of: terminations[index], counsel))
        }
    }

    /// Explains one termination: what happened and why, what would save the process, and what that costs.
    public func explain(_ termination: Termination) throws -> Explanation {
        explanation(of: termination, try counsel(for: termination))
    }

    private func explanation(of termination: Termination, _ counsel: Counsel) -> Explanation {
        let remedies = counsel.advices.map { advice in
            Explanation.Remedy(
                change: advice.change, fate: advice.fate, price: advice.price,
                command: command(advice.change, withoutClaims: advice.breaksClaims), end: termination.at,
                since: termination.since)
        }
        let isHopeless = remedies.isEmpty
        let protection = protection(of: termination.app)
        let isBroken = runs.replay(protection, nil).map(breaksClaims) ?? false
        return Explanation(
            termination: termination, account: account(of: termination), remedies: remedies,
            inVain: counsel.failures, tried: counsel.tried, pairs: counsel.pairs, scale: plan.device.scale,
            protection: counsel.fateIfProtected.flatMap { fate in
                guard isHopeless else { return nil }
                return .init(
                    words: fateIfProtected(fate, termination), command: command(protection, withoutClaims: isBroken))
            })
    }

    /// A command that tries a change.
    ///
    /// - Parameter withoutClaims: Whether it leaves out the claims of the scenario, which do not hold with the change.
    private func command(_ change: Change, withoutClaims: Bool) -> String {
        let claims = withoutClaims ? " --set \(ShellWord.quoted("expect=[]"))" : ""
        return "plimsoll run \(ShellWord.quoted(scenario)) \(change.option)\(claims)"
    }

    /// A size for people: that on the original of a scale model.
    private func size(_ bytes: ByteCount) -> String { bytes.onOriginal(of: plan.device.scale).readable }

    /// An end by a rule: its explanation, with the sizes of the original where it is about sizes.
    private func occasion(_ fact: RunTally.TerminationFact, _ explanation: String) -> String {
        guard plan.device.scale != .one, fact.course.measure?.hasSuffix("_bytes") == true,
            let observed = fact.course.observed.map({ size(ByteCount(Int($0))) })
        else { return explanation }
        let what = fact.reason == .memoryResourceLimit ? "its footprint was" : "free for it were"
        return "\(fact.cause); \(what) \(observed)"
    }

    private func fateIfProtected(_ fate: ProcessFate, _ termination: Termination) -> String {
        switch fate {
        case .stays: return "it is not shown to stay on the run's own backend"
        case .isAbsent: return "the app has no process at that moment"
        case .ends(let at, let reason, let explanation):
            let isLater = at >= termination.at
            let when = isLater ? "\((at - termination.at).clock) later" : "\(at.clock) into the run"
            return "it ends all the same, \(when): \(reason)\(explanation.isEmpty ? "" : " (\(explanation))")"
        }
    }

    /// What happened and why.
    func account(of termination: Termination) -> Explanation.Account {
        switch termination.cause {
        case .decision(let record): account(of: termination, record)
        case .rule(let fact, let explanation): account(of: termination, fact, explanation)
        }
    }

    /// An end that no policy decided.
    private func account(
        of termination: Termination, _ fact: RunTally.TerminationFact, _ explanation: String
    ) -> Explanation.Account {
        let place = kind(of: fact.app) + (fact.wasForeground ? "in the foreground" : "off screen")
        let age = (termination.at - termination.since).clock
        return Explanation.Account(
            head:
                "\(fact.app) was ended by the system, \(termination.at.clock) into the run (\(fact.reason.rawValue)).",
            author: .system, decision: nil, reason: fact.rule, held: fact.footprint,
            cause: [
                .init(
                    label: "What it was",
                    sentence: "\(place), \(age) after its launch; it held \(size(fact.footprint))."),
                .init(label: "Why then", sentence: "\(occasion(fact, explanation))."),
                .init(label: "Why this one", sentence: fact.rule),
            ] + failures(before: fact), others: [])
    }

    /// A decision of the policy or the monitor.
    private func account(of termination: Termination, _ record: DecisionRecord) -> Explanation.Account {
        let snapshot = record.snapshot
        // A termination is made of a decision that ends a process of its snapshot.
        guard let victim = snapshot.process(termination.pid), let chosen = record.chosen else {
            preconditionFailure("decision \(record.number) did not end process \(termination.pid)")
        }
        let candidate = record.decision.ranking[chosen]
        let held = reports(victim) == .one ? victim.footprint : termination.fact?.footprint ?? victim.footprint
        let how = candidate.action == .terminate(victim.pid) ? "ended" : "asked to end"
        let isByMonitor = record.decision.isByMonitor
        let whose = isByMonitor ? "the monitor's end_suspended_first" : "the policy \(plan.policy.title)"
        return Explanation.Account(
            head: "\(victim.name) was \(how) by \(whose), \(termination.at.clock) into the run "
                + "(decision \(record.number) in decisions.csv).",
            author: isByMonitor ? .monitor : .policy, decision: record.number, reason: candidate.reason,
            held: held,
            cause: [
                .init(label: "What it was", sentence: "\(state(victim, snapshot)); it held \(size(held))."),
                .init(label: "Why then", sentence: "\(occasion(record, candidate, termination.fact))."),
                .init(label: "Why this one", sentence: "\(candidate.reason)\(place(record, chosen))."),
            ] + failures(before: termination.fact, record),
            others: passedOver(record, chosen) + later(record, chosen) + spared(record, chosen) + unranked(record))
    }

    /// What failed before the end because the scenario says so; usually nothing.
    ///
    /// - Parameter record: The decision that ended it, if one did.
    private func failures(
        before fact: RunTally.TerminationFact?, _ record: DecisionRecord? = nil
    ) -> [Explanation.Fact] {
        guard let failed = fact?.course.failures else { return [] }
        var sentences: [String] = []
        if failed.samplesMissed > 0 {
            sentences.append("the monitor missed \(failed.samplesMissed.counted("sample")) in the ten seconds before")
        }
        if let before = failed.lostWarningBefore { sentences.append("a warning to it was lost \(before.clock) before") }
        if let before = failed.lateWarningBefore {
            sentences.append("a warning sent \(before.clock) before had not reached it")
        }
        if let hung = failed.hung { sentences.append("its main thread had not answered for \(hung.clock)") }
        if let before = failed.crashedBefore {
            sentences.append("its process before this one had crashed by itself \(before.clock) before")
        }
        sentences += failed.refusals.map {
            "\($0.app), which was ended \($0.since.clock) before, refused to die and still held \(size($0.held))"
        }
        if let record { sentences += falseReports(record) + errors(record) }
        guard !sentences.isEmpty else { return [] }
        return [.init(label: "What failed", sentence: sentences.joined(separator: "; ") + ".")]
    }

    /// The processes of the decision that reported another amount of memory than they held.
    private func falseReports(_ record: DecisionRecord) -> [String] {
        record.snapshot.processes.filter { reports($0) != .one }.map {
            "\($0.name) reported \(reports($0)) of its memory, so the decision saw \(size($0.footprint)) of it"
        }
    }

    /// That the policy took another candidate than its first choice, if it did.
    private func errors(_ record: DecisionRecord) -> [String] {
        guard record.chosen == 0, let first = record.decision.erredFrom else { return [] }
        return record.snapshot.process(first).map { ["the policy erred: its first choice was \($0.name)"] } ?? []
    }

    /// The share of its memory that the process reports.
    private func reports(_ process: ProcessSnapshot) -> Ratio { plan.apps[process.app.index].faults.reports }

    /// What the process holds, as the decision saw it.
    private func holding(_ process: ProcessSnapshot) -> String {
        "\(reports(process) == .one ? "holds" : "reports") \(size(process.footprint))"
    }

    // MARK: Pieces

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
            return "\(kind)idle for \(process.idleTime(at: snapshot.now).clock)"
        }
        return kind + stateOfApp(process, snapshot)
    }

    private func stateOfApp(_ process: ProcessSnapshot, _ snapshot: SystemSnapshot) -> String {
        let idle = process.idleTime(at: snapshot.now)
        guard idle > .zero else { return "in the foreground" }
        let unseen = idle.clock
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
    private func occasion(
        _ record: DecisionRecord, _ candidate: Candidate, _ fact: RunTally.TerminationFact?
    ) -> String {
        let snapshot = record.snapshot
        if let evidence = candidate.evidence { return evidence.text(scale: plan.device.scale) }
        if case .allocation(let pid, let wanted) = snapshot.demand {
            return "\(name(pid, snapshot)) waits for \(size(wanted)), and \(size(snapshot.available)) are available"
        }
        return fact?.cause ?? snapshot.reason(scale: plan.device.scale)
    }

    private func place(_ record: DecisionRecord, _ chosen: Int) -> String {
        let count = record.decision.ranking.count
        guard count == 1 else { return "; choice \(chosen + 1) of \(count)" }
        return neverNamed(record).isEmpty ? "; there was no other choice" : "; no other process was ranked"
    }

    /// The processes ranked before it that the policy was not allowed to touch.
    private func passedOver(_ record: DecisionRecord, _ chosen: Int) -> [Explanation.Bystander] {
        record.decision.ranking.prefix(chosen).enumerated().compactMap { rank, candidate in
            record.refusals[rank].map {
                let name = name(candidate.action.target, record.snapshot)
                let scene = candidate.action.scene.map { ", scene \($0.number)" } ?? ""
                return .init(
                    app: name, kind: .passedOver,
                    sentence: "\(name)\(scene) (\(candidate.action.name)): \($0.explanation) [\($0.rule)].")
            }
        }
    }

    /// The processes ranked after it, and the ones among them that the policy may not touch.
    private func later(_ record: DecisionRecord, _ chosen: Int) -> [Explanation.Bystander] {
        var seen = [record.decision.ranking[chosen].action.target]
        var others: [Explanation.Bystander] = []
        for (rank, candidate) in record.decision.ranking.enumerated().dropFirst(chosen + 1)
        where candidate.action.isTermination {
            let pid = candidate.action.target
            guard !seen.contains(pid), let process = record.snapshot.process(pid)
            else { continue }
            seen.append(pid)
            if let refusal = record.refusals[rank] {
                let sentence = "\(process.name): \(refusal.explanation) [\(refusal.rule)]."
                others.append(.init(app: process.name, kind: .refused, sentence: sentence))
            } else {
                let sentence =
                    "\(process.name), whose turn was later: \(state(process, record.snapshot)), "
                    + "\(holding(process))."
                others.append(.init(app: process.name, kind: .later, sentence: sentence))
            }
        }
        return others + milder(record, chosen, named: seen)
    }

    /// The processes ranked after it to which the decision would only do something milder.
    private func milder(_ record: DecisionRecord, _ chosen: Int, named: [ProcessID]) -> [Explanation.Bystander] {
        let decision = record.decision
        var seen = named + decision.ranking[..<chosen].map(\.action.target) + decision.spared.map(\.pid)
        return decision.ranking.dropFirst(chosen + 1).compactMap { candidate in
            guard !seen.contains(candidate.action.target) else { return nil }
            seen.append(candidate.action.target)
            let (name, action) = (name(candidate.action.target, record.snapshot), candidate.action.name)
            return .init(
                app: name, kind: .milder,
                sentence: "\(name): \(action) was all that was considered for it, and its turn was later.")
        }
    }

    /// The processes that the decision neither ranks nor spares.
    private func neverNamed(_ record: DecisionRecord) -> [ProcessSnapshot] {
        let ranked = record.decision.ranking.map(\.action.target)
        let inGroups = record.decision.ranking.lazy.filter { $0.groupEnd != nil }.flatMap(record.snapshot.victims)
        let named = Set(ranked + inGroups.map(\.pid) + record.decision.spared.map(\.pid))
        return record.snapshot.processes.filter { !named.contains($0.pid) }
    }

    /// The processes that the decision does not mention.
    private func unranked(_ record: DecisionRecord) -> [Explanation.Bystander] {
        let why =
            record.decision.isByMonitor
            ? "the monitor ends suspended processes only" : "the policy did not rank it and gives no reason"
        return neverNamed(record).map { process in
            .init(
                app: process.name, kind: .notRanked,
                sentence: "\(process.name): \(state(process, record.snapshot)), \(holding(process)); \(why).")
        }
    }

    /// The processes that the policy spared, and why.
    private func spared(_ record: DecisionRecord, _ chosen: Int) -> [Explanation.Bystander] {
        let ranked = record.decision.ranking[chosen...].filter { $0.action.isTermination }.map { $0.action.target }
        return record.decision.spared.filter { !ranked.contains($0.pid) }.map {
            let name = name($0.pid, record.snapshot)
            return .init(app: name, kind: .spared, sentence: "\(name): \($0.reason).")
        }
    }
}

extension RunTally.TerminationFact {
    /// Why the system ended this process and no other.
    fileprivate var rule: String {
        guard course.cause == EventCause.kernelName else { return reason.rule }
        return "Linux's kernel ends what has most badness (decisions.csv); no policy chose it, no limit protects it."
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
