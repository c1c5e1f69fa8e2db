import Lifecycle
import Quantities

/// The ladder with rules of the user's own, in place of its own four rungs.
///
/// Rules are asked in their order: what an earlier one wants is tried before what a later one wants. All of them follow
/// every sample, so that durations and cool-downs are right whoever acts. A limit that no rule answers is answered by
/// ending whoever was idle longest: limits stand above policies.
public struct RuleLadder: ReclaimPolicy {
    public static let name = Ladder.name
    public static let summary = "ordered rules of one's own"
    public static let parameters: [PolicyParameter] = []
    public static let needs: PolicyNeeds = [.everySample, .memory]

    private let rules: [LadderRule]

    public init(rules: [LadderRule]) { self.rules = rules }

    public init(_ values: ParameterValues) { rules = [] }

    public func follow(_ snapshot: SystemSnapshot) -> [RuleMemory] {
        let known = snapshot.history.rules
        return rules.enumerated().map { index, rule in
            rule.follow(index < known.count ? known[index] : RuleMemory(), snapshot)
        }
    }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        let memories = follow(snapshot)
        let scene = RuleScene(snapshot)
        var decision = Decision()
        for (index, rule) in rules.enumerated() where memories[index].activeSince != nil {
            decision.ranking += rule.candidates(scene, number: index, memories[index])
        }
        if decision.ranking.isEmpty && snapshot.isAboutLimits { return answerToLimit(snapshot) }
        for process in snapshot.processes
        where !decision.ranking.contains(where: { $0.action.target == process.pid && $0.action.isTermination }) {
            let reason = whySpared(process, scene, memories)
            decision.spared.append(Spared(process.pid, reason: reason))
        }
        if decision.ranking.isEmpty { decision.standstill = standstill(snapshot, memories) }
        return decision
    }

    private func answerToLimit(_ snapshot: SystemSnapshot) -> Decision {
        snapshot.rankingTerminations(because: "no rule answers this limit: idle longest") {
            $0.idleTime(at: snapshot.now).microseconds
        }
    }

    /// The first rule that ends processes says why it does not end this one.
    private func whySpared(_ process: ProcessSnapshot, _ scene: RuleScene, _ memories: [RuleMemory]) -> String {
        var first: String?
        for (rule, memory) in zip(rules, memories) where rule.action.ends {
            if let idle = rule.whyIdle(memory, scene.snapshot) {
                first = first ?? "rule '\(rule.name)' \(idle)"
            } else if let objection = rule.objection(to: process, scene) {
                return "rule '\(rule.name)' leaves it alone: \(objection)"
            }
        }
        return first ?? "no rule ends processes"
    }

    private func standstill(_ snapshot: SystemSnapshot, _ memories: [RuleMemory]) -> Standstill? {
        if memories.contains(where: { $0.activeSince != nil }) { return nil }
        let mayAct = zip(rules, memories).contains { rule, memory in rule.mayActLater(memory, snapshot) }
        let isAsked = snapshot.requester != nil
        return mayAct && isAsked ? .waiting("no rule is due yet") : .content("no rule is due")
    }
}

extension RuleAction {
    var ends: Bool {
        switch self {
        case .terminate, .terminatePolitely: true
        case .warn, .purge, .suspend, .disconnectScene: false
        }
    }
}

extension LadderRule {
    /// Why the rule does not touch a process; nil when it may.
    func objection(to process: ProcessSnapshot, _ scene: RuleScene) -> String? {
        if action.isLoss {
            if process.phase.isForeground { return "in the foreground" }
            if process.pid == scene.snapshot.requester { return "the memory is for itself" }
            if process.isEnding { return "on its way out" }
        }
        if !who.holds({ $1.holds(of: process, scene) }) { return "\(who) does not hold" }
        if tier(of: process, scene) == nil { return "it stands in no tier of its order" }
        return hasTargets(process) ? nil : "there is nothing to \(action.rawValue)"
    }

    private func tier(of process: ProcessSnapshot, _ scene: RuleScene) -> Int? {
        order.firstIndex { $0.members.holds { $1.holds(of: process, scene) } }
    }

    private func hasTargets(_ process: ProcessSnapshot) -> Bool {
        switch action {
        case .warn: process.phase.runsCode && !process.answersWarning
        case .purge: process.dirty > .zero
        case .suspend: process.phase == .background
        case .disconnectScene: process.scenes.contains { $0.phase == .background || $0.phase == .suspended }
        case .terminatePolitely, .terminate: true
        }
    }

    private func actions(on process: ProcessSnapshot) -> [ReclaimAction] {
        switch action {
        case .warn: [.warn(process.pid)]
        case .purge: [.purge(process.pid)]
        case .suspend: [.suspend(process.pid)]
        case .disconnectScene:
            process.scenes.filter { $0.phase == .background || $0.phase == .suspended }
                .map { .disconnectScene(process.pid, $0.scene) }
        case .terminatePolitely: [.terminatePolitely(process.pid)]
        case .terminate: [.terminate(process.pid)]
        }
    }

    /// Everybody the rule may touch, best first: by tier, by score, by the process's place.
    func candidates(_ scene: RuleScene, number: Int, _ memory: RuleMemory) -> [Candidate] {
        let evidence = evidence(memory, scene.snapshot)
        let eligible = scene.snapshot.processes.filter { objection(to: $0, scene) == nil }
        var ranked: [Candidate] = []
        for (index, tier) in order.enumerated() {
            let members = eligible.filter { self.tier(of: $0, scene) == index }
            let scores = tier.order.scores(of: members, scene)
            let places = members.indices.sorted { a, b in
                (scores[b].first, scores[b].second, a) < (scores[a].first, scores[a].second, b)
            }
            for place in places {
                for action in actions(on: members[place]) {
                    var candidate = Candidate(
                        action, score: scores[place].first, reason: "rule '\(name)': \(scores[place].reason)")
                    candidate.rule = number
                    candidate.evidence = evidence
                    ranked.append(candidate)
                }
            }
        }
        return ranked
    }
}
