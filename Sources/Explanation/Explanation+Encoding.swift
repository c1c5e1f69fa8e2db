import Metrics
import Quantities
import Scenario
import Simulation

// The explanation as JSON. Times are seconds into the run; an absent value has no key.
extension Explanation: Encodable {
    public func encode(to encoder: any Encoder) throws { try Document(self).encode(to: encoder) }

    private struct Document: Encodable {
        let app: String
        let pid: Int
        let atS: Double
        let sinceS: Double
        let wasForeground: Bool?
        let wasPerceived: Bool?
        let head: String
        let by: String
        let decision: Int?
        let exitReason: String?
        let reason: String
        let heldBytes: Int
        let beneficiary: String?
        let need: String?
        let takenBytes: Int?
        let cause: [Fact]
        let spared: [SparedProcess]
        let remedies: [RemedyDocument]
        let inVain: [String]
        let short: [Paragraph]
        let words: [Paragraph]

        init(_ explanation: Explanation) {
            let (termination, account) = (explanation.termination, explanation.account)
            (app, pid) = (termination.app, termination.pid.number)
            (atS, sinceS) = (termination.at.seconds, termination.since.seconds)
            (wasForeground, wasPerceived) = (termination.fact?.wasForeground, termination.fact?.wasPerceived)
            (head, by, decision) = (account.head, account.author.rawValue, account.decision)
            exitReason = account.author == .system ? termination.fact?.reason.rawValue : nil
            (reason, heldBytes, cause) = (account.reason, account.held.bytes, account.cause)
            let beneficiary = termination.fact?.beneficiary
            (self.beneficiary, need) = (beneficiary?.app, beneficiary?.need.rawValue)
            takenBytes = beneficiary?.taken?.bytes
            spared = account.others.map(SparedProcess.init)
            remedies = explanation.remedies.enumerated().map { RemedyDocument($1, isFirst: $0 == 0) }
            (inVain, short, words) = (explanation.inVain, explanation.short, explanation.words)
        }
    }

    private struct SparedProcess: Encodable {
        let app: String
        let label: String
        let kind: String
        let sentence: String

        init(_ other: Bystander) {
            (app, label, kind, sentence) = (other.app, other.label, other.kind.rawValue, other.sentence)
        }
    }

    private struct RemedyDocument: Encodable {
        let actor: String
        let kind: String
        let words: String
        let assignments: [String]
        let command: String
        let worth: String
        let isByChance: Bool
        let isTogether: Bool
        let life: String
        let fate: FateDocument
        let price: PriceDocument

        init(_ remedy: Remedy, isFirst: Bool) {
            let change = remedy.change
            (actor, kind) = (change.kind.madeBy.rawValue, change.kind.name)
            (words, assignments, command) = (change.words, change.assignments, remedy.command)
            (worth, life, fate) = (remedy.worth.rawValue, remedy.life, FateDocument(remedy.fate))
            (isByChance, isTogether) = (change.isByChance, !change.parts.isEmpty)
            price = PriceDocument(remedy.price, since: remedy.since, isFirst: isFirst)
        }
    }

    private struct FateDocument: Encodable {
        var kind = "stays"
        var atS: Double?
        var reason: String?
        var explanation: String?

        init(_ fate: Explainer.ProcessFate) {
            switch fate {
            case .stays: break
            case .isAbsent: kind = "absent"
            case .ends(let at, let reason, let explanation):
                (kind, atS, self.reason, self.explanation) = ("ends", at.seconds, reason, explanation)
            }
        }
    }

    private struct PriceDocument: Encodable {
        let verdict: String
        let losses: [LossDocument]
        let spared: [SparedEnd]
        let with: HarmDocument
        let without: HarmDocument
        let words: [Paragraph]

        init(_ price: AdvicePrice, since: Instant, isFirst: Bool) {
            verdict = price.with == price.without ? "same" : price.isWorse ? "worse" : "better"
            losses = price.losses.map { LossDocument($0, since: since) }
            spared = price.spared.map(SparedEnd.init)
            (with, without) = (HarmDocument(price.with), HarmDocument(price.without))
            words = price.words(since: since, isFirst: isFirst)
        }
    }

    private struct SparedEnd: Encodable {
        let app: String
        let pid: Int
        let atS: Double
        let wasForeground: Bool
        let wasPerceived: Bool

        init(_ end: RunTally.TerminationFact) {
            (app, pid, atS) = (end.app, end.pid.number, end.at.seconds)
            (wasForeground, wasPerceived) = (end.wasForeground, end.wasPerceived)
        }
    }

    private struct HarmDocument: Encodable {
        let terminations: Int
        let foreground: Int
        let perceived: Int
        let lostLaunches: Int
        let coldLaunches: Int
        let foregroundWaitS: Double

        init(_ harm: RunHarm) {
            (terminations, foreground, perceived) = (harm.terminations, harm.foreground, harm.perceived)
            (lostLaunches, coldLaunches) = (harm.lostLaunches, harm.coldLaunches)
            foregroundWaitS = Double(harm.foregroundWait) / 10
        }
    }

    private struct LossDocument: Encodable {
        let app: String
        let atS: Double
        let isBefore: Bool
        let words: String
        let kind: String
        var wantedAfterS: Double?
        var launch: String?
        var latencyMs: Double?
        var launchBefore: String?
        var latencyBeforeMs: Double?
        var waitS: Double?
        var waitBeforeS: Double?
        var inForeground: Bool?
        var soonerS: Double?

        init(_ loss: AdvicePrice.Loss, since: Instant) {
            (app, atS, isBefore, words) = (loss.app, loss.at.seconds, loss.at < since, loss.words)
            switch loss.kind {
            case .endsInForeground: kind = "ends-in-foreground"
            case .endsPerceived(let after): (kind, wantedAfterS) = ("ends-perceived", after?.inSeconds)
            case .losesLaunch: kind = "loses-launch"
            case .launchesSlower(let time, let before):
                (kind, launch, latencyMs) = ("launches-slower", "\(time.kind)", time.milliseconds)
                (launchBefore, latencyBeforeMs) = (before.map { "\($0.kind)" }, before?.milliseconds)
            case .waits(let time, let before, let isForeground):
                (kind, waitS, waitBeforeS) = ("waits", time.inSeconds, before.inSeconds)
                inForeground = isForeground
            case .ends: kind = "ends"
            case .endsSooner(let lead): (kind, soonerS) = ("ends-sooner", lead.inSeconds)
            }
        }
    }
}

extension Instant {
    fileprivate var seconds: Double { (self - Instant.zero).inSeconds }
}

extension TimeSpan {
    /// Exact to the microsecond in runs of less than 285 years, which is more than any.
    fileprivate var inSeconds: Double { Double(microseconds) / 1_000_000 }
}

extension AdvicePrice.LaunchTime {
    fileprivate var milliseconds: Double { Double(latency.microseconds) / 1_000 }
}
