import Lifecycle
import Pressure
import Quantities

/// One rule of a ladder of the user's own: when, what, to whom, in which order, how much, and until when.
public struct LadderRule: Hashable, Sendable {
    /// What reasons call it.
    public var name: String
    /// When it begins to act.
    public var when: RuleCondition<SystemClaim>
    public var action: RuleAction
    /// Whom it may touch. Whatever it says, a rule never suspends or ends who is in front, and never suspends,
    /// disconnects or ends who waits for the memory himself, or who is on his way out. A rule that disconnects asks it
    /// of each scene off screen, those of an app in front included unless one of our limits is what has to be met;
    /// `idle` and `footprint` are then the scene's own, here and in `order`.
    public var who: RuleCondition<ProcessClaim>
    /// Candidates stand in the first tier whose `where` holds; who stands in none is left alone.
    public var order: [RuleTier]
    /// How much it takes; then it rests for `coolDown`, or, where that is zero, until `when` has not held. Nil: all.
    public var take: RuleAmount?
    /// Once begun, it goes on until this holds. Nil: for as long as `when` holds.
    public var until: RuleCondition<SystemClaim>?
    /// The rest after it has taken its amount; without an amount, after each action.
    public var coolDown: TimeSpan

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

/// What a rule does.
public typealias RuleAction = ReclaimAction.Kind

extension RuleAction {
    public var meaning: String {
        switch self {
        case .warn: "tells running apps to free what they can"
        case .purge: "gives unused pages back to the device"
        case .suspend: "stops the code of an app off screen"
        case .disconnectScene: "disconnects scenes off screen, of the app in front, too; their sessions are kept"
        case .terminatePolitely: "asks it to end; it is called back and has \(Deadline.terminate.span)"
        case .terminate: "ends it at once"
        }
    }

    /// Whether the process loses something by it.
    var isLoss: Bool {
        switch self {
        case .warn, .purge: false
        case .suspend, .disconnectScene, .terminatePolitely, .terminate: true
        }
    }
}

/// How much a rule takes before it rests.
public enum RuleAmount: Hashable, Sendable {
    case count(Int)
    case bytes(ByteCount)
    /// Of all RAM.
    case share(Ratio)
}

/// A group of candidates and how they are ordered among themselves.
public struct RuleTier: Hashable, Sendable {
    public var members: RuleCondition<ProcessClaim>
    public var order: RuleOrder

    public init(_ order: RuleOrder = .named(.idleLongest), where members: RuleCondition<ProcessClaim> = .all([])) {
        self.members = members
        self.order = order
    }
}

public enum RuleOrder: Hashable, Sendable {
    case named(Name)
    /// A weighted sum of features, each as a share of the greatest among the candidates; the largest sum goes first.
    case weighted([RuleWeight])

    public enum Name: String, CaseIterable, Sendable {
        case idleLongest = "idle_longest"
        case largest
        case smallest
        case cheapestRelaunch = "cheapest_relaunch"
        case lowestBand = "lowest_band"
        case highestOomScore = "highest_oom_score"
        case fastestGrowing = "fastest_growing"
        case mostSwapped = "most_swapped"
        case nearestLimit = "nearest_limit"

        public var meaning: String {
            switch self {
            case .idleLongest: "not seen for longest"
            case .largest: "holds most"
            case .smallest: "holds least"
            case .cheapestRelaunch: "costs least to bring back per byte freed"
            case .lowestBand: "lowest band, the longest idle of a band"
            case .highestOomScore: "highest oom_score_adj, the longest idle of a score"
            case .fastestGrowing: "has grown most"
            case .mostSwapped: "has most in swap"
            case .nearestLimit: "nearest to its own limit, or above it"
            }
        }
    }
}

public struct RuleWeight: Hashable, Sendable {
    public var feature: ProcessFeature
    /// Negative: less of it is preferred.
    public var weight: Ratio

    public init(_ feature: ProcessFeature, _ weight: Ratio) {
        self.feature = feature
        self.weight = weight
    }
}

// MARK: Orders

/// A candidate's place: the first number decides, then the second.
struct RuleScore {
    var first: Int64
    var second: Int64 = 0
    var reason: String
}

extension RuleOrder {
    /// The scores of the candidates, in their order; larger goes first.
    func scores(of targets: [RuleTarget], _ view: RuleView) -> [RuleScore] {
        switch self {
        case .named(let name): targets.map { name.score($0, view) }
        case .weighted(let weights): RuleOrder.sums(of: targets, weights, view)
        }
    }

    private static func sums(of targets: [RuleTarget], _ weights: [RuleWeight], _ view: RuleView) -> [RuleScore] {
        var sums = Array(repeating: Int64(0), count: targets.count)
        for weight in weights {
            let values = targets.map { max(0, weight.feature.reading($0, view)?.value ?? 0) }
            guard let most = values.max(), most > 0 else { continue }
            for (index, value) in values.enumerated() {
                sums[index] += scaled(weight.weight.partsPerMillion, by: value, over: most)
            }
        }
        return sums.map { sum in
            RuleScore(first: sum, reason: "weighs \(sum.signum() < 0 ? "-" : "")\(RuleOrder.text(abs(sum)))")
        }
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
