import Lifecycle
import Quantities

/// A ladder with the user's own rules in place of its four rungs.
///
/// Rules are asked in order: an earlier rule's actions are tried before a later rule's. Every rule follows every
/// sample, even while another one acts, so that durations and cool-downs are right. If a limit makes the demand and
/// no rule answers it, the ladder ends the longest idle process, because limits take precedence over policies.
public struct RuleLadder: ReclaimPolicy {
    public static let name = Ladder.name
    public static let summary = "ordered rules that you write"
    public static let parameters: [Parameter<Self>] = []
    public static let needs: PolicyNeeds = [.everySample, .ruleMemory]

    private let rules: [LadderRule]

    /// A ladder of these rules, asked in this order.
    public init(rules: [LadderRule]) { self.rules = rules }

    public init() { rules = [] }

    public func follow(_ snapshot: SystemSnapshot) -> [RuleMemory] {
        let known = snapshot.history.rules
        return rules.enumerated().map { index, rule in
            rule.follow(index < known.count ? known[index] : RuleMemory(), snapshot)
        }
    }

    public func decide(_ snapshot: SystemSnapshot) -> Decision {
        let memories = follow(snapshot)
        let view = RuleView(snapshot)
        var decision = Decision()
        for (index, rule) in rules.enumerated() where memories[index].activeSince != nil {
            decision.ranking += rule.ranking(view, number: index, memories[index])
        }
        if decision.ranking.isEmpty && snapshot.isAboutLimits { return answerToLimit(snapshot) }
        if decision.ranking.isEmpty {
            decision.standstill = standstill(snapshot, memories)
            // This is the case at nearly every sample: no demand, no action, nothing to explain.
            if case .nothing = snapshot.demand { return decision }
        }
        decision.spared = spared(by: decision.ranking, view, memories)
        return decision
    }

    private func spared(by ranking: [Candidate], _ view: RuleView, _ memories: [RuleMemory]) -> [Spared] {
        let victims = Set(ranking.flatMap(view.snapshot.victims).map(\.pid))
        let idle = zip(rules, memories).map { rule, memory in rule.whyIdle(memory, view.snapshot) }
        return view.snapshot.processes.filter { !victims.contains($0.pid) }.map { process in
            Spared(process.pid, reason: whySpared(process, view, idle))
        }
    }

    private func answerToLimit(_ snapshot: SystemSnapshot) -> Decision {
        snapshot.rankingTerminations(because: "no rule answers this limit: idle longest") {
            $0.idleTime(at: snapshot.now).microseconds
        }
    }

    /// The reason that the first rule that ends processes gives for sparing this one.
    ///
    /// - Parameter idle: For each rule, why the rule does not act at all; nil if it acts.
    private func whySpared(_ process: ProcessSnapshot, _ view: RuleView, _ idle: [String?]) -> String {
        var first: String?
        for (rule, idle) in zip(rules, idle) where rule.action.isTermination {
            if let idle {
                first = first ?? "rule '\(rule.name)' \(idle)"
            } else if let objection = rule.objection(to: RuleTarget(process: process), view) {
                return "rule '\(rule.name)' leaves it alone: \(rule.text(objection))"
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

extension ProcessSnapshot {
    /// What an action on the process, or on a scene of it, frees at most.
    public func mayFree(by action: RuleAction, of scene: SceneID? = nil) -> ByteCount {
        switch action {
        case .warn, .thaw, .suspend: .zero
        case .purge: dirty
        case .discard: memory.purgeable
        case .dropFiles: memory.files
        case .compress: footprint - memory.compressed - memory.onFlash
        case .freeze: footprint - memory.onFlash
        case .disconnectScene: scenes.first { $0.scene == scene }?.size ?? .zero
        case .terminatePolitely, .terminate: footprint
        }
    }
}

extension ProcessSnapshot {
    /// Whether the process is one that a freezer could freeze, if it had a slot, the budget and the room.
    fileprivate var mayBeFrozen: Bool {
        phase == .suspended && isApp && memory.freezer != .frozen && mayFree(by: .freeze) > .zero
    }
}

/// Why a rule does not touch a process. Kept as a case because few reasons are ever read.
enum RuleObjection {
    case inFront
    case requester
    case ending
    case who
    case noTier
    case noTarget
}

extension LadderRule {
    /// Why the rule does not touch a process or a scene; nil if it may.
    func objection(to target: RuleTarget, _ view: RuleView) -> RuleObjection? {
        let process = target.process
        if action.isLoss {
            if process.isInFront && !mayTakeInFront(view.snapshot) { return .inFront }
            if sparesRequester && process.pid == view.snapshot.requester { return .requester }
            if process.isEnding { return .ending }
        }
        if !who.holds({ $1.holds(of: target, view) }) { return .who }
        if tier(of: target, view) == nil { return .noTier }
        return hasEffect(on: process, in: view.snapshot) ? nil : .noTarget
    }

    func text(_ objection: RuleObjection) -> String {
        switch objection {
        case .inFront: "in the foreground"
        case .requester: Spared.requester
        case .ending: "on its way out"
        case .who: "\(who) does not hold"
        case .noTier: "it stands in no tier of its order"
        case .noTarget: "there is nothing to \(action.rawValue)"
        }
    }

    /// Whether the rule takes something of an app in front: windows off screen, or its process where the limits allow
    /// that.
    private func mayTakeInFront(_ snapshot: SystemSnapshot) -> Bool {
        switch action {
        case .disconnectScene: !snapshot.isAboutLimits
        case .terminate, .terminatePolitely: !snapshot.protectsForeground
        case .warn, .purge, .discard, .dropFiles, .compress, .freeze, .thaw, .suspend: false
        }
    }

    private func tier(of target: RuleTarget, _ view: RuleView) -> Int? {
        order.firstIndex { $0.members.holds { $1.holds(of: target, view) } }
    }

    private func hasEffect(on process: ProcessSnapshot, in snapshot: SystemSnapshot) -> Bool {
        switch action {
        case .warn: process.phase.runsCode && !process.answersWarning
        case .purge, .discard, .dropFiles: process.mayFree(by: action) > .zero
        case .compress: process.mayFree(by: action) > .zero && snapshot.measures.compressor != .none
        case .freeze: process.mayBeFrozen && snapshot.measures.freezer != .none
        case .thaw: process.memory.onFlash > .zero
        case .suspend: process.phase == .background
        case .disconnectScene, .terminatePolitely, .terminate: true
        }
    }

    /// What the rule may touch of a process.
    private func targets(of process: ProcessSnapshot) -> [RuleTarget] {
        guard action == .disconnectScene else { return [RuleTarget(process: process)] }
        return process.scenesOffScreen.map { RuleTarget(process: process, window: $0) }
    }

    private func action(on target: RuleTarget) -> ReclaimAction? {
        let pid = target.process.pid
        return switch action {
        case .warn: .warn(pid)
        case .purge: .purge(pid)
        case .discard: .discard(pid)
        case .dropFiles: .dropFiles(pid)
        case .compress: .compress(pid)
        case .freeze: .freeze(pid)
        case .thaw: .thaw(pid)
        case .suspend: .suspend(pid)
        case .disconnectScene: target.window.map { .disconnectScene(pid, $0.scene) }
        case .terminatePolitely: .terminatePolitely(pid)
        case .terminate: .terminate(pid)
        }
    }

    /// As `candidates`, for the rule's unit.
    func ranking(_ view: RuleView, number: Int, _ memory: RuleMemory) -> [Candidate] {
        guard unit == .controlGroup, !view.snapshot.groups.isEmpty else {
            return candidates(view, number: number, memory)
        }
        let joined = view.snapshot.joiningGroups
        var decision = Decision(ranking: candidates(RuleView(joined), number: number, memory))
        decision.endGroups(of: joined)
        return decision.ranking
    }

    /// Everything that the rule may touch, best first: sorted by tier, by score, by the process's position, then by
    /// the scene's.
    func candidates(_ view: RuleView, number: Int, _ memory: RuleMemory) -> [Candidate] {
        let evidence = evidence(memory, view.snapshot)
        var eligible = Array(repeating: [RuleTarget](), count: order.count)
        for target in view.snapshot.processes.lazy.flatMap(targets) where objection(to: target, view) == nil {
            if let tier = tier(of: target, view) { eligible[tier].append(target) }
        }
        var ranked: [Candidate] = []
        for (tier, members) in zip(order, eligible) {
            let scores = tier.order.scores(of: members, view)
            let places = members.indices.sorted { a, b in
                (scores[b].first, scores[b].second, a) < (scores[a].first, scores[a].second, b)
            }
            for place in places {
                guard let action = action(on: members[place]) else { continue }
                var candidate = Candidate(
                    action, score: scores[place].first, reason: "rule '\(name)': \(scores[place].reason)")
                candidate.rule = number
                candidate.evidence = evidence
                ranked.append(candidate)
            }
        }
        return ranked
    }
}
