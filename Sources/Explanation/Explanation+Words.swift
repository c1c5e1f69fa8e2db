import Lifecycle
import Metrics
import Quantities

// The explanation in words: everything, or what matters most.
extension Explanation {
    /// How much is said.
    public enum Scope: Sendable {
        /// The cause, what the app could do, what the user or the device could change, and the price of each: at most
        /// `shortRows` rows of a terminal.
        case short
        /// Everything.
        case all
    }

    /// The most rows of a terminal, of the usual width or a larger one, that the short form takes.
    public static let shortRows = 11

    /// What a reader of the short form may want to know.
    public static let more = "Add --all for the policy's numbers, the spared, and what was tried in vain."

    /// The explanation in lines of at most `width` columns. A command is one line, however long, so that it can be
    /// copied.
    public func lines(_ scope: Scope, width: Int) -> [String] {
        switch scope {
        case .short: shortLines(width: width)
        case .all:
            wrapped(account.head, width: width, margin: 0)
                + words.flatMap { $0.lines(width: width, margin: 17, commandMargin: 17) }
        }
    }

    /// Everything below the head.
    var words: [Paragraph] {
        let vain = inVain.isEmpty ? [] : [Paragraph("In vain", inVain.joined(separator: "; ") + ".")]
        return account.words(for: termination.fact?.beneficiary) + (remedies.isEmpty ? [hopeless] : remedyWords) + vain
    }

    private var remedyWords: [Paragraph] {
        remedies.enumerated().flatMap { index, remedy in
            let text = index == 0 ? best(remedy) : other(remedy, after: remedies[0])
            return [Paragraph(index == 0 ? "What saves it" : "Or", ["\(text):", remedy.command])]
                + remedy.price.words(since: remedy.since, isFirst: index == 0)
        }
    }

    /// The change with the lowest price.
    private func best(_ remedy: Remedy) -> String {
        let (words, life) = (remedy.change.words, remedy.life)
        return switch remedy.worth {
        case .fair: "\(words); \(life)"
        case .dear: "nothing that is worth its price: with \(words) \(life), but the run as a whole is worse"
        case .delay: "nothing for good: with \(words) \(life)"
        }
    }

    private func other(_ remedy: Remedy, after first: Remedy) -> String {
        // How long it lives is said again where it differs.
        remedy.fate == first.fate ? remedy.change.words : "\(remedy.change.words); \(remedy.life)"
    }

    /// No change saves it.
    private var hopeless: Paragraph {
        guard let protection else { return Paragraph("What saves it", "nothing that was tried.") }
        return Paragraph(
            "What saves it",
            ["nothing that was tried, and protected by name \(protection.words):", protection.command])
    }
}

extension Explanation.Account {
    /// The cause, for whom it was, and the other processes.
    func words(for beneficiary: RunTally.Beneficiary? = nil) -> [Paragraph] {
        cause.map { Paragraph($0.label, $0.sentence) }
            + (beneficiary.map { [Paragraph("For whom", $0.sentence)] } ?? [])
            + others.map { Paragraph($0.label, $0.sentence) }
    }
}

extension RunTally.Beneficiary {
    fileprivate var sentence: String {
        switch need {
        case .allocation: "\(app), whose allocation found no room."
        case .level: "\(app), which took \(taken?.readable ?? "most") from free memory in the ten seconds before."
        case .ownAllocation: "itself: its own allocation found no room."
        case .ownLimit: "itself: it crossed its own limit."
        }
    }
}

// MARK: In short

extension Explanation {
    /// How much of a price and of the changes is said; the first that fits is taken.
    private struct Detail {
        /// How many changes of the app, and how many of the user or the device.
        let remedies: Int
        /// How many losses of a change.
        let losses: Int
        var hasCommand = true
        var saysState = true

        static let all = [
            Detail(remedies: 2, losses: 3), Detail(remedies: 2, losses: 2), Detail(remedies: 2, losses: 1),
            Detail(remedies: 1, losses: 2), Detail(remedies: 1, losses: 1),
            Detail(remedies: 1, losses: 1, saysState: false),
            Detail(remedies: 1, losses: 0, hasCommand: false, saysState: false),
        ]
    }

    private func shortLines(width: Int) -> [String] {
        var lines: [String] = []
        for detail in Detail.all {
            lines = wrapped(head, width: width, margin: 0)
            lines += shortWords(detail).flatMap { $0.lines(width: width, margin: 16, commandMargin: 16) }
            let rows = lines.reduce(0) { $0 + max(1, ($1.terminalColumns + width - 1) / width) }
            if rows <= Explanation.shortRows { break }
        }
        return lines
    }

    /// The short form's paragraphs, as a wide terminal shows them.
    var short: [Paragraph] { shortWords(Detail.all[0]) }

    private var head: String { account.head.replacing(" in decisions.csv", with: "") }

    private func shortWords(_ detail: Detail) -> [Paragraph] {
        let why = account.cause.dropFirst().map(\.sentence)
        let state = account.cause.prefix(detail.saysState ? 1 : 0).map { Paragraph("It was", $0.sentence) }
        return [Paragraph("Why", Array(why))] + state
            + paragraph("The app", of: [.app], detail) + paragraph("User, device", of: [.user, .device], detail)
    }

    /// What some can change, the lowest price first; nothing if none of their changes was tried.
    private func paragraph(_ label: String, of actors: Set<Actor>, _ detail: Detail) -> [Paragraph] {
        let own = remedies.filter { actors.contains($0.change.kind.madeBy) }
        guard !own.isEmpty else {
            let wasTried = tried.contains { actors.contains($0.madeBy) }
            return wasTried ? [Paragraph(label, "nothing that was tried saves it.")] : []
        }
        let best = remedies.first { $0.change.kind.madeBy != .policy }
        return [
            Paragraph(
                label,
                own.prefix(detail.remedies).enumerated().flatMap { index, remedy in
                    let isBest = detail.hasCommand && remedy.change == best?.change
                    let text = (index == 0 ? "" : "or ") + sentence(remedy, losses: detail.losses)
                    return [text] + (isBest ? [remedy.command] : [])
                })
        ]
    }

    private func sentence(_ remedy: Remedy, losses: Int) -> String {
        "\(remedy.change.brief)\(life(remedy)). \(price(remedy.price, losses: losses))."
    }

    private func life(_ remedy: Remedy) -> String {
        guard case .ends(let at, let reason, _) = remedy.fate else { return "" }
        let span = (at - remedy.end).clock
        guard remedy.worth != .delay else { return "; it only lives \(span) longer" }
        let isBySystem = Explainer.isBySystem(reason)
        let end = reason == ExitReason.userTerminated.rawValue ? "the user closes it" : "it ends by itself"
        return "; it lives \(span) longer\(isBySystem ? "" : ", until \(end)")"
    }

    private func price(_ price: AdvicePrice, losses: Int) -> String {
        let worse = price.isWorse ? "The run as a whole is worse: " : "Price: "
        guard !price.losses.isEmpty else { return price.isWorse ? "The run as a whole is worse" : "Price: none" }
        var items = price.losses.prefix(losses).map(\.brief)
        let rest = price.losses.count - items.count
        if rest > 0 { items.append(items.isEmpty ? rest.counted("loss", "losses") : "\(rest) more") }
        return worse + items.joined(separator: ", ")
    }
}
