import Lifecycle
import Metrics
import Plan
import Quantities
import Scenario
import Simulation

/// Why a process was ended, what would have saved it, and at what price. All words about it are made from this value.
public struct Explanation: Sendable {
    /// The end that is explained.
    public let termination: Explainer.Termination
    let account: Account
    /// The changes that save the process, the lowest price first.
    let remedies: [Remedy]
    /// What was tried in vain, in words.
    let inVain: [String]
    /// The kinds of all changes that were tried.
    let tried: Set<Change.Kind>
    /// How many pairs of changes were tried, because no change alone saves the process for good.
    let pairs: Int
    /// That of the device; sizes for people are those of the original of a scale model.
    let scale: Ratio
    /// What protection by name would do, where nothing saves the process.
    let protection: Protection?

    /// Protection by name that does not save the process.
    struct Protection: Sendable {
        let words: String
        let command: String
    }

    /// What happened, and why.
    struct Account: Sendable {
        let head: String
        let author: Author
        /// The decision's number in `decisions.csv`; nil for an end that no policy decided.
        let decision: Int?
        /// Why this process and no other.
        let reason: String
        let held: ByteCount
        let cause: [Fact]
        /// The other processes of the decision.
        let others: [Bystander]
    }

    /// Who ended the process.
    enum Author: String, Sendable {
        case policy
        case monitor
        case system
    }

    /// A sentence about the end, with its label.
    struct Fact: Hashable, Encodable, Sendable {
        let label: String
        let sentence: String
    }

    /// Another process, and why it was not ended.
    struct Bystander: Hashable, Sendable {
        let app: String
        let kind: Kind
        let sentence: String

        enum Kind: String, Sendable {
            case passedOver = "passed-over"
            case later
            case refused
            case milder
            case spared
            case notRanked = "not-ranked"
        }

        var label: String {
            switch kind {
            case .passedOver: "Passed over"
            case .later, .refused, .milder, .spared: "Spared"
            case .notRanked: "Not ranked"
            }
        }
    }

    /// A change that saves the process.
    struct Remedy: Sendable {
        let change: Change
        let fate: Explainer.ProcessFate
        let price: AdvicePrice
        /// A command that tries the change.
        let command: String
        /// The end that it avoids.
        let end: Instant
        /// When the ended process began; losses before that are told apart.
        let since: Instant

        /// How long the process lives with the change.
        var life: String {
            switch fate {
            case .stays, .isAbsent: return "it is still there when the run ends"
            case .ends(let at, let reason, _):
                let ends =
                    switch ExitReason(rawValue: reason) {
                    case .userTerminated: "the user closes it"
                    case let exit? where exit.isBySystem: "it is ended"
                    case _: "it ends"
                    }
                let life = "it lives \((at - end).clock) longer, until \(ends) \(at.clock) into the run (\(reason))"
                return worth == .delay ? "its end is only delayed: \(life), before the user wants it again" : life
            }
        }

        /// Whether the change is worth its price.
        var worth: Worth { price.isFair ? .fair : price.isSaved ? .dear : .delay }

        /// Whether it saves the process for good, and not by chance.
        var isLasting: Bool { price.isSaved && !change.isByChance }

        /// Who must make the change; several for two changes together.
        var actors: Set<Actor> {
            Set((change.parts.isEmpty ? [change] : change.parts).map(\.kind.madeBy))
        }
    }

    /// What a change is worth.
    enum Worth: String, Sendable {
        /// It saves the process for good, and the run is no worse.
        case fair
        /// It saves the process for good, and the run is worse.
        case dear
        /// The process ends all the same before the user wants it again, or as soon as the user does.
        case delay
    }
}

/// Who can make a change.
enum Actor: String, Sendable {
    case app
    case user
    case device
    case policy
}

extension Change.Kind {
    /// Who can make such a change.
    var madeBy: Actor {
        switch self {
        case .policy, .monitor: .policy
        case .limit, .device: .device
        case .behaviour, .size: .app
        case .preference, .protection: .user
        }
    }

    /// The name in JSON.
    var name: String { "\(self)" }
}
