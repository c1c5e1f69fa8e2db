import Lifecycle
import Pressure
import Quantities

/// One rule of a user's own ladder: when it acts, what it does, to which targets, in which order, how much, and until
/// when.
public struct LadderRule: Hashable, Sendable {
    /// The rule's name in reasons.
    public var name: String
    /// When the rule begins to act.
    public var when: RuleCondition<SystemClaim>
    /// What the rule does.
    public var action: RuleAction
    /// What one end takes.
    public var unit = RuleUnit.process
    /// Whether the rule leaves the process alone whose own allocation waits, if its action is a loss. No daemon of a
    /// real system knows who waits.
    public var sparesRequester = true
    /// The targets that the rule may touch. No rule suspends an app in front, none ends one unless the limits allow
    /// that, and none suspends, disconnects or ends a process that is ending or, unless `sparesRequester` is false,
    /// whose own allocation is waiting. A rule that disconnects tests each scene off screen; it includes scenes of an
    /// app in front unless the demand is a limit. For such a rule `idle` and `footprint` mean the scene's own, here and
    /// in `order`.
    public var who: RuleCondition<ProcessClaim>
    /// The tiers of the ranking. A candidate belongs to the first tier whose members include it. A candidate in no tier
    /// is left alone.
    public var order: [RuleTier]
    /// How much the rule takes before it rests. It then rests for `coolDown` or, if that is zero, until `when` has
    /// ceased to hold. Nil: no limit.
    public var take: RuleAmount?
    /// The parameter that gives `take`; nil: the rule states it.
    public var takeFrom: String?
    /// Once begun, the rule goes on until this holds. Nil: as long as `when` holds.
    public var until: RuleCondition<SystemClaim>?
    /// How long the rule rests after it has taken its amount; without an amount, after each action.
    public var coolDown: TimeSpan
    /// The parameter that gives `coolDown`; nil: the rule states it.
    public var coolDownFrom: String?

    /// A rule; by default it terminates any process at any time, the longest idle first.
    public init(
        name: String, when: RuleCondition<SystemClaim> = .all([]), action: RuleAction = .terminate,
        who: RuleCondition<ProcessClaim> = .all([]), order: [RuleTier] = [RuleTier()], take: RuleAmount? = nil,
        until: RuleCondition<SystemClaim>? = nil, coolDown: TimeSpan = .zero
    ) {
        self.name = name
        self.when = when
        self.action = action
        self.who = who
        self.order = order
        self.take = take
        self.until = until
        self.coolDown = coolDown
    }
}

/// What a rule that ends processes takes at once; the raw values are the texts in scenarios.
public enum RuleUnit: String, CaseIterable, Sendable {
    /// One process.
    case process
    /// A control group with all its processes, and a process that is in none. Conditions and orders see the group as
    /// one process, as `SystemSnapshot.joiningGroups` says.
    case controlGroup = "control_group"
}

/// What a rule does.
public typealias RuleAction = ReclaimAction.Kind

extension RuleAction {
    /// What the action does, for lists.
    public var meaning: String {
        switch self {
        case .warn: "tells running apps to free what they can"
        case .purge: "gives unused pages back to the device"
        case .discard: "takes purgeable memory of an app off screen"
        case .dropFiles: "drops the pages of its files; it reads them again when it uses them"
        case .compress: "compresses its pages; it decompresses them when it uses them"
        case .freeze: "moves the pages of a suspended app to flash; it reads them again when it uses them"
        case .thaw: "brings its pages back from flash"
        case .suspend: "stops the code of an app off screen"
        case .disconnectScene: "disconnects scenes off screen, even of the app in front; their sessions are kept"
        case .terminatePolitely: "asks it to end; it is called back and has \(Deadline.terminationTime)"
        case .terminate: "ends it at once"
        }
    }

    /// The part of the device without which the action frees nothing; nil: it needs none.
    public var part: DevicePart? {
        switch self {
        case .compress: .compressor
        case .freeze, .thaw: .freezer
        case .dropFiles: .fileCache
        case .warn, .purge, .discard, .suspend, .disconnectScene, .terminatePolitely, .terminate: nil
        }
    }

    /// Whether the process loses something by the action.
    var isLoss: Bool {
        switch self {
        case .warn, .purge, .discard, .dropFiles, .compress, .freeze, .thaw: false
        case .suspend, .disconnectScene, .terminatePolitely, .terminate: true
        }
    }
}

/// How much a rule takes before it rests.
public enum RuleAmount: Hashable, Sendable {
    /// A number of actions.
    case count(Int)
    /// Memory that the actions free.
    case bytes(ByteCount)
    /// Memory that the actions free, as a share of all RAM.
    case share(Ratio)
}

/// A group of candidates, and their order among themselves.
public struct RuleTier: Hashable, Sendable {
    /// Which candidates belong to the tier.
    public var members: RuleCondition<ProcessClaim>
    /// Their order.
    public var order: RuleOrder

    /// A tier; by default all candidates, the longest idle first.
    public init(_ order: RuleOrder = .named(.idleLongest), where members: RuleCondition<ProcessClaim> = .all([])) {
        self.members = members
        self.order = order
    }
}

/// How the candidates of a tier are ordered.
public enum RuleOrder: Hashable, Sendable {
    /// By one measure.
    case named(Name)
    /// By a weighted sum of terms, each as a share of the greatest among the candidates; the largest sum goes first.
    case weighted([RuleWeight])
    /// By a product or quotient of features; the largest goes first.
    case term(RuleTerm)

    /// The weights of a sum; empty for every other order.
    public var weights: [RuleWeight] {
        guard case .weighted(let weights) = self else { return [] }
        return weights
    }

    /// The orders by one measure; the raw values are their names in scenarios.
    public enum Name: String, CaseIterable, Sendable {
        case idleLongest = "idle_longest"
        case largest
        case smallest
        case cheapestRelaunch = "cheapest_relaunch"
        case lowestBand = "lowest_band"
        case highestOomScore = "highest_oom_score"
        case highestBadness = "highest_badness"
        case fastestGrowing = "fastest_growing"
        case mostSwapped = "most_swapped"
        case nearestLimit = "nearest_limit"

        /// Which candidate goes first, for lists.
        public var meaning: String {
            switch self {
            case .idleLongest: "not seen for longest"
            case .largest: "holds most"
            case .smallest: "holds least"
            case .cheapestRelaunch: "costs least to bring back per byte freed"
            case .lowestBand: "lowest band, the longest idle of a band"
            case .highestOomScore: "highest oom_score_adj, the longest idle of a score"
            case .highestBadness: "highest oom_score of Linux: its share of RAM and swap, and its oom_score_adj"
            case .fastestGrowing: "has grown most"
            case .mostSwapped: "has most in swap"
            case .nearestLimit: "nearest to its own limit, or above it"
            }
        }
    }
}

/// The weight of one feature in a sum, or of a product or quotient of features.
public struct RuleWeight: Hashable, Sendable {
    /// The feature, or the product.
    public var term: RuleTerm
    /// The weight; if it is negative, less of the term is preferred.
    public var weight: Ratio
    /// The parameter that gives the weight; nil: the rule states it.
    public var weightFrom: String?

    /// A term with its weight, which the parameter `source` gives if there is one.
    public init(_ term: RuleTerm, _ weight: Ratio, from source: String? = nil) {
        self.term = term
        self.weight = weight
        weightFrom = source
    }
}

// MARK: Orders

/// A candidate's score: the first number decides, then the second.
struct RuleScore {
    var first: Int64
    var second: Int64 = 0
    var reason: String
}

extension RuleOrder {
    /// The scores of the candidates, in the same order; the larger goes first.
    func scores(of targets: [RuleTarget], _ view: RuleView) -> [RuleScore] {
        switch self {
        case .named(let name): targets.map { name.score($0, view) }
        case .weighted(let weights): RuleOrder.sums(of: targets, weights, view)
        case .term(let term): targets.map { RuleOrder.score(of: $0, term, view) }
        }
    }

    /// The value in millionths decides first, then the value itself: of two that are not negative the larger has the
    /// larger bit pattern.
    private static func score(of target: RuleTarget, _ term: RuleTerm, _ view: RuleView) -> RuleScore {
        let value = term.value(of: target, view)
        let millionths = min(value * 1_000_000, 9e18)
        return RuleScore(
            first: Int64(millionths.rounded(.down)), second: Int64(bitPattern: value.bitPattern),
            reason: "\(term) is \(text(Int64(millionths.rounded(.down))))")
    }

    private static func sums(of targets: [RuleTarget], _ weights: [RuleWeight], _ view: RuleView) -> [RuleScore] {
        var sums = Array(repeating: Int64(0), count: targets.count)
        for weight in weights {
            let weighed = weighed(targets, weight, view)
            for (index, value) in weighed.enumerated() { sums[index] += value }
        }
        return sums.map { sum in
            RuleScore(first: sum, reason: "weighs \(sum.signum() < 0 ? "-" : "")\(RuleOrder.text(abs(sum)))")
        }
    }

    /// The weight times each target's share of the greatest; empty if all are zero.
    private static func weighed(_ targets: [RuleTarget], _ weight: RuleWeight, _ view: RuleView) -> [Int64] {
        guard let feature = weight.term.feature else {
            let values = targets.map { weight.term.value(of: $0, view) }
            guard let most = values.max(), most > 0 else { return [] }
            let millionths = Double(weight.weight.partsPerMillion)
            return values.map { Int64((millionths * ($0 / most)).rounded(.towardZero)) }
        }
        let values = targets.map { max(0, feature.reading($0, view)?.value ?? 0) }
        guard let most = values.max(), most > 0 else { return [] }
        return values.map { scaled(weight.weight.partsPerMillion, by: $0, over: most) }
    }

    private static func text(_ millionths: Int64) -> String {
        let thousandths = "\(millionths % 1_000_000 / 1_000 + 1_000)".dropFirst()
        return "\(millionths / 1_000_000).\(thousandths)"
    }
}

extension RuleOrder.Name {
    fileprivate func score(_ target: RuleTarget, _ view: RuleView) -> RuleScore {
        let process = target.process
        let idle = target.idleTime(at: view.snapshot.now)
        switch self {
        case .idleLongest: return RuleScore(first: idle.microseconds, reason: "not seen for \(idle.readable)")
        case .largest:
            return RuleScore(first: Int64(target.footprint.bytes), reason: "holds \(target.footprint.readable)")
        case .smallest:
            return RuleScore(first: -Int64(target.footprint.bytes), reason: "holds \(target.footprint.readable)")
        case .cheapestRelaunch:
            let yield = Int64(target.footprint.bytes) / max(1, process.relaunchCost.microseconds / 1_000)
            return RuleScore(first: yield, reason: "frees \(ByteCount(Int(yield)).readable) per ms of relaunch")
        case .lowestBand:
            let number = process.band.number
            return RuleScore(first: -Int64(number), second: idle.microseconds, reason: "in band \(number)")
        case .highestOomScore:
            let score = view.oomScore(of: process)
            return RuleScore(first: Int64(score), second: idle.microseconds, reason: "oom_score_adj \(score)")
        case .highestBadness:
            let score = view.snapshot.linuxScore(of: process)
            return RuleScore(
                first: score, second: Int64(process.residentSize.bytes), reason: "has Linux's oom_score \(score)")
        case .fastestGrowing:
            return RuleScore(first: process.growth.partsPerMillion, reason: "has grown to \(process.growth)")
        case .mostSwapped:
            return RuleScore(
                first: Int64(process.swapped.bytes), reason: "has \(process.swapped.readable) in swap")
        case .nearestLimit:
            let share = process.limitShare(of: view.snapshot.ceiling)
            return RuleScore(first: share.partsPerMillion, reason: "holds \(share) of its limit")
        }
    }
}
