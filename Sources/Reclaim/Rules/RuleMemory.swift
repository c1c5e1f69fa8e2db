import Quantities

/// The past of a rule, as far as the rule needs it. The simulation keeps it in the snapshot's history, so that a
/// decision stays a function of the snapshot; `follow` updates it.
public struct RuleMemory: Hashable, Sendable {
    /// For each claim of `when`, then of `until`: since when it has held without a break; nil while it does not hold.
    public var holding: [Instant?]
    /// Since when the rule has been acting; nil while it is not.
    public var activeSince: Instant?
    /// Whether the rule has taken its amount and rests.
    public var isSpent = false
    /// The number of actions since the rule last began to act.
    public var actions = 0
    /// What those actions freed.
    public var freed: ByteCount = .zero
    /// When the last of them was carried out.
    public var lastAction: Instant?

    /// A memory of a rule that has not acted.
    public init(holding: [Instant?] = []) { self.holding = holding }
}

extension LadderRule {
    private var claims: [SystemClaim] { when.claims + (until?.claims ?? []) }

    /// The rule's memory as of this snapshot. Following the same snapshot twice changes nothing.
    func follow(_ memory: RuleMemory, _ snapshot: SystemSnapshot) -> RuleMemory {
        let claims = claims
        var memory = memory
        if memory.holding.count != claims.count { memory.holding = Array(repeating: nil, count: claims.count) }
        for (index, claim) in claims.enumerated() {
            memory.holding[index] = claim.holds(in: snapshot) ? memory.holding[index] ?? snapshot.now : nil
        }
        let isDue = isDue(memory, snapshot.now)
        if memory.activeSince != nil && isOver(memory, snapshot, isDue: isDue) {
            memory.isSpent = hasTaken(memory, snapshot)
            memory.activeSince = nil
        }
        if memory.isSpent && (coolDown == .zero ? !isDue : !isResting(memory, snapshot.now)) { memory.isSpent = false }
        if memory.activeSince == nil && !memory.isSpent && isDue {
            memory.activeSince = snapshot.now
            memory.actions = 0
            memory.freed = .zero
        }
        return memory
    }

    /// Whether `when` holds, durations included.
    func isDue(_ memory: RuleMemory, _ now: Instant) -> Bool {
        when.holds { number, claim in LadderRule.holds(claim, memory.holding[number], now) }
    }

    private static func holds(_ claim: SystemClaim, _ since: Instant?, _ now: Instant) -> Bool {
        guard let since else { return false }
        return now - since >= claim.duration
    }

    private func isOver(_ memory: RuleMemory, _ snapshot: SystemSnapshot, isDue: Bool) -> Bool {
        if hasTaken(memory, snapshot) { return true }
        guard let until else { return !isDue }
        let first = when.claims.count
        return until.holds { number, claim in
            LadderRule.holds(claim, memory.holding[first + number], snapshot.now)
        }
    }

    /// Whether the rule has taken its amount. A rule without an amount has done so after each action, if it has a
    /// cool-down.
    private func hasTaken(_ memory: RuleMemory, _ snapshot: SystemSnapshot) -> Bool {
        switch take {
        case nil: coolDown > .zero && memory.actions > 0
        case .count(let most): memory.actions >= most
        case .bytes(let most): memory.freed >= most
        case .share(let share): memory.freed >= snapshot.ceiling * share
        }
    }

    func isResting(_ memory: RuleMemory, _ now: Instant) -> Bool {
        guard let last = memory.lastAction else { return false }
        return now - last < coolDown
    }

    /// Why the rule does not act, in words that follow its name; nil while it acts.
    func whyIdle(_ memory: RuleMemory, _ snapshot: SystemSnapshot) -> String? {
        if memory.activeSince != nil { return nil }
        if memory.isSpent {
            return coolDown == .zero ? "has taken its amount" : "rests for \(coolDown) after its last actions"
        }
        return "is not due: \(when) does not hold"
    }

    /// Whether the rule may act later although only time passes. A resting rule may do so once its rest is over. A
    /// rule that has taken its amount and has no cool-down must first cease to be due and then become due again.
    func mayActLater(_ memory: RuleMemory, _ snapshot: SystemSnapshot) -> Bool {
        guard memory.isSpent && coolDown == .zero else { return mayBeDue(true, memory, snapshot) }
        let isNew = zip(when.claims, memory.holding).contains { claim, since in
            !LadderRule.holds(claim, since, snapshot.now) && claim.mayHold(true, afterWaitingFrom: snapshot)
        }
        return isNew && mayBeDue(false, memory, snapshot)
    }

    /// Whether `when` holds, or may hold later although only time passes. With `outcome` false: whether it may cease
    /// to hold.
    private func mayBeDue(_ outcome: Bool, _ memory: RuleMemory, _ snapshot: SystemSnapshot) -> Bool {
        when.mayBe(outcome) { number, claim, outcome in
            LadderRule.holds(claim, memory.holding[number], snapshot.now) == outcome
                || claim.mayHold(outcome, afterWaitingFrom: snapshot)
        }
    }

    /// The evidence is the first claim that holds.
    func evidence(_ memory: RuleMemory, _ snapshot: SystemSnapshot) -> Evidence? {
        let claims = when.claims
        let index = claims.indices.first {
            // The snapshot itself states the level and the demand better.
            LadderRule.holds(claims[$0], memory.holding[$0], snapshot.now) && claims[$0].measure.isNumber
        }
        return index.flatMap { claims[$0].evidence(in: snapshot, rule: name) }
    }
}
