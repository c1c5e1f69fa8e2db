import Lifecycle
import Pressure
import Quantities

/// What a rule's `who` and its order can refer to; the raw values are the names in scenarios.
public enum ProcessFeature: String, CaseIterable, Sendable {
    case state
    case app
    case like
    case mode
    case busy
    case answering
    case waiting
    case likelihood
    case footprint
    case frees
    case dirty
    case cache
    case purgeable
    case compressed
    case files
    case frozen
    case swapped
    case limitShare = "limit_share"
    case siblingShare = "sibling_share"
    case sizeRank = "size_rank"
    case growth
    case idle
    case age
    case warned
    case relaunchCost = "relaunch_cost"
    case returnCost = "return_cost"
    case launches
    case uses
    case useGap = "use_gap"
    case band
    case oomScore = "oom_score"

    /// The kind of the feature's values.
    public var kind: RuleKind {
        switch self {
        case .state: .choice(ProcessPhase.allCases.filter { $0 != .notRunning }.map(\.rawValue))
        case .app, .like: .name
        case .mode: .choice(["none"] + BackgroundMode.allCases.map(\.rawValue))
        case .busy, .answering, .waiting: .choice(["no", "yes"])
        case .frozen: .choice(FreezerPlace.allCases.map(\.rawValue))
        case .likelihood: .ladder(RelaunchLikelihood.allCases.map(\.rawValue))
        case .footprint, .frees, .dirty, .cache, .purgeable, .compressed, .files, .swapped: .memory
        case .limitShare, .siblingShare, .sizeRank, .growth: .share
        case .idle, .age, .warned, .relaunchCost, .returnCost, .useGap: .time
        case .launches, .uses, .band, .oomScore: .count
        }
    }

    /// What the feature says about a process, for lists.
    public var meaning: String {
        switch self {
        case .state: "its state"
        case .app: "its name"
        case .like: "the archetype it was made from"
        case .mode: "a reason to run off screen that it holds now"
        case .busy: "a launch or an action is under way"
        case .answering: "it was warned and has not answered yet"
        case .waiting: "it waits for memory itself"
        case .likelihood: "how likely it is launched again soon after it was ended"
        case .footprint: "what it holds, of all RAM; the scene, for a rule that disconnects"
        case .frees: "what its end gives back: resident pages, and what the compressed ones take in the pool"
        case .dirty: "pages that it holds and does not use"
        case .cache: "memory whose content it can make again"
        case .purgeable: "memory that the system may take without asking"
        case .compressed: "what of it is compressed, at its full size"
        case .files: "pages of its files in memory, which are no part of its footprint"
        case .frozen: "whether the freezer has moved it to flash; thawed: it has run since, or was brought back"
        case .swapped: "what it has in swap"
        case .limitShare: "its share of its own limit (of all RAM if it has none)"
        case .siblingShare: "its share of what all processes hold"
        case .sizeRank: "the share of processes that are no larger than it, itself included"
        case .growth: "its footprint over its average one (oomd's, 5 s, factor 4; a new process begins at 400%)"
        case .idle: "since it was last seen; the scene, for a rule that disconnects"
        case .age: "since its launch"
        case .warned: "since it was last warned; never warned counts as long ago"
        case .relaunchCost: "the declared time of a cold launch"
        case .returnCost: "the declared time of a return from memory, and that of the pages that come back with it"
        case .launches: "how often its app has been launched in the run, this process included"
        case .uses: "how often the user has called for its app in the run"
        case .useGap: "mean time from one use of its app to the next; with fewer than two, since the run began"
        case .band: "jetsam's priority band"
        case .oomScore: "Android's oom_score_adj"
        }
    }

    /// The part of the device without which the feature is zero; nil: it needs none.
    public var part: DevicePart? {
        switch self {
        case .swapped: .swap
        case .compressed: .compressor
        case .files: .fileCache
        case .frozen: .freezer
        case .state, .app, .like, .mode, .busy, .answering, .waiting, .likelihood, .footprint, .frees, .dirty, .cache,
            .purgeable, .limitShare, .siblingShare, .sizeRank, .growth, .idle, .age, .warned, .relaunchCost,
            .returnCost, .launches, .uses, .useGap, .band, .oomScore:
            nil
        }
    }

    /// Whether the feature is a number, so that an order can weigh it.
    public var isNumber: Bool {
        switch kind {
        case .memory, .share, .time, .count: true
        case .ladder, .choice, .name: false
        }
    }

    /// The feature's value as a number; nil for features that are words.
    func reading(_ target: RuleTarget, _ view: RuleView) -> RuleReading? {
        let (process, snapshot) = (target.process, view.snapshot)
        return switch self {
        case .state, .app, .like, .mode: nil
        case .busy: RuleReading(process.isBusy ? 1 : 0)
        case .answering: RuleReading(process.answersWarning ? 1 : 0)
        case .waiting: RuleReading(process.pid == snapshot.requester ? 1 : 0)
        case .likelihood:
            RuleReading(Int64(RelaunchLikelihood.allCases.firstIndex(of: process.relaunchLikelihood) ?? 0))
        case .footprint: RuleReading(target.footprint, of: snapshot.ceiling)
        case .frees: RuleReading(snapshot.freed(byEndOf: process), of: snapshot.ceiling)
        case .dirty: RuleReading(process.dirty, of: snapshot.ceiling)
        case .cache: RuleReading(process.cache, of: snapshot.ceiling)
        case .purgeable: RuleReading(process.memory.purgeable, of: snapshot.ceiling)
        case .compressed: RuleReading(process.memory.compressed, of: snapshot.ceiling)
        case .files: RuleReading(process.memory.files, of: snapshot.ceiling)
        case .frozen: RuleReading(Int64(FreezerPlace.allCases.firstIndex(of: process.memory.freezer) ?? 0))
        case .swapped: RuleReading(process.swapped, of: snapshot.ceiling)
        case .limitShare: RuleReading(process.limitShare(of: snapshot.ceiling))
        case .siblingShare: RuleReading(process.footprint.share(of: view.held))
        case .sizeRank: RuleReading(view.rank(of: process))
        case .growth: RuleReading(process.growth)
        case .idle: RuleReading(target.idleTime(at: snapshot.now))
        case .age: RuleReading(snapshot.now - process.launchedAt)
        case .warned: RuleReading(process.warnedAt.map { snapshot.now - $0 } ?? .hours(24_000))
        case .relaunchCost: RuleReading(process.relaunchCost)
        case .returnCost: RuleReading(process.use.returnCost)
        case .launches: RuleReading(Int64(process.use.counts.launches))
        case .uses: RuleReading(Int64(process.use.counts.uses))
        case .useGap: RuleReading(process.use.counts.gap(at: snapshot.now))
        case .band: RuleReading(Int64(process.band.number))
        case .oomScore: RuleReading(Int64(view.oomScore(of: process)))
        }
    }

    /// The words that a claim compares with; nil for features that are numbers.
    func words(_ process: ProcessSnapshot) -> [String]? {
        switch self {
        case .state: [process.phase.rawValue]
        case .app: [process.name]
        case .like: [process.like]
        case .mode: process.modes.isEmpty ? ["none"] : process.modes.map(\.rawValue)
        default: nil
        }
    }
}

/// What a rule may touch: a process, or one of its scenes.
struct RuleTarget {
    let process: ProcessSnapshot
    var window: SceneSnapshot?

    /// What the target holds, and so what acting on it frees.
    var footprint: ByteCount { window?.size ?? process.footprint }

    /// How long the user has not seen the target.
    func idleTime(at now: Instant) -> TimeSpan {
        window.map { process.idleTime(of: $0, at: now) } ?? process.idleTime(at: now)
    }
}

/// Figures about all processes together, each computed at most once for a decision, and only if a rule asks for it.
final class RuleView {
    let snapshot: SystemSnapshot
    /// The total footprint of all processes.
    private(set) lazy var held = snapshot.processes.reduce(ByteCount.zero) { $0 + $1.footprint }
    private lazy var oomScores = OomScore.all(of: snapshot)

    init(_ snapshot: SystemSnapshot) { self.snapshot = snapshot }

    func oomScore(of process: ProcessSnapshot) -> Int {
        let place = snapshot.processes.partitionPoint { $0.pid >= process.pid }
        return place < oomScores.count && snapshot.processes[place].pid == process.pid ? oomScores[place] : 0
    }

    func rank(of process: ProcessSnapshot) -> Ratio {
        let smaller = snapshot.processes.count { $0.footprint <= process.footprint }
        return Ratio(partsPerMillion: Int64(smaller) * 1_000_000 / Int64(max(1, snapshot.processes.count)))
    }
}

/// A claim about a process: `state == suspended`, `footprint >= 8MiB`.
public struct ProcessClaim: Hashable, Sendable, CustomStringConvertible {
    /// The feature that the claim is about.
    public var feature: ProcessFeature
    /// How the feature is compared with the value.
    public var comparison: RuleComparison
    /// What the feature is compared with.
    public var value: RuleValue
    /// The parameter that gives the value; nil: the rule states it.
    public var valueFrom: String?

    /// A claim that `feature` stands in this comparison to `value`, which the parameter `source` gives if there is one.
    public init(
        _ feature: ProcessFeature, _ comparison: RuleComparison, _ value: RuleValue, from source: String? = nil
    ) {
        self.feature = feature
        self.comparison = comparison
        self.value = value
        valueFrom = source
    }

    /// The claim with its present value.
    public var description: String { "\(feature.rawValue) \(comparison.rawValue) \(value)" }

    /// The claim as scenarios write it.
    public var written: String {
        "\(feature.rawValue) \(comparison.rawValue) \(valueFrom.map { "$" + $0 } ?? "\(value)")"
    }

    func holds(of target: RuleTarget, _ view: RuleView) -> Bool {
        if let words = feature.words(target.process) { return words.contains("\(value)") == (comparison != .notEqual) }
        guard let reading = feature.reading(target, view) else { return false }
        return comparison.holds(reading.value, reading.threshold(value, feature.kind))
    }
}
