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
    public static let shortRows = 14

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
        return account.words(for: termination.fact?.beneficiary, scale: scale)
            + (remedies.isEmpty ? [hopeless] : remedyWords) + vain
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
        if remedy.worth != .delay, remedy.change.isByChance {
            return "nothing for good, only by chance\(pairsInWords): with \(words) \(life)"
        }
        return switch remedy.worth {
        case .fair: "\(words); \(life)"
        case .dear: "nothing that is worth its price: with \(words) \(life), but the run as a whole is worse"
        case .delay: "nothing for good\(pairsInWords): with \(words) \(life)"
        }
    }

    /// How many pairs were tried; empty if none.
    private var pairsInWords: String {
        guard pairs > 0, !remedies.contains(where: { !$0.change.parts.isEmpty }) else { return "" }
        return ", alone or in pairs (\(pairs) tried)"
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
    func words(for beneficiary: RunTally.Beneficiary? = nil, scale: Ratio = .one) -> [Paragraph] {
        cause.map { Paragraph($0.label, $0.sentence) }
            + (beneficiary.map { [$0.paragraph(scale: scale)] } ?? [])
            + others.map { Paragraph($0.label, $0.sentence) }
    }
}

extension RunTally.Beneficiary {
    /// For whom a process was ended. Sizes are those of the original of a scale model.
    fileprivate func paragraph(scale: Ratio) -> Paragraph { Paragraph("For whom", sentence(scale: scale)) }

    private func sentence(scale: Ratio) -> String {
        let taken = taken.map { $0.onOriginal(of: scale).readable } ?? "most"
        return switch need {
        case .allocation: "\(app), whose allocation found no room."
        case .level: "\(app), which took \(taken) in the ten seconds before."
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

        static let all = [
            Detail(remedies: 2, losses: 3), Detail(remedies: 2, losses: 2), Detail(remedies: 2, losses: 1),
            Detail(remedies: 1, losses: 2), Detail(remedies: 1, losses: 1),
            // A change of many keys has a command of many rows; --all has it, too.
            Detail(remedies: 2, losses: 1, hasCommand: false), Detail(remedies: 1, losses: 1, hasCommand: false),
            Detail(remedies: 1, losses: 0, hasCommand: false),
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
        let state = account.cause.prefix(1).map { Paragraph("It was", $0.sentence) }
        // That a process ended for a need of its own is its cause, which is said.
        let other = termination.fact?.beneficiary.flatMap { [.allocation, .level].contains($0.need) ? $0 : nil }
        let beneficiary = other.map { [$0.paragraph(scale: scale)] } ?? []
        return [Paragraph("Why", Array(why))] + state + beneficiary + verdict(detail)
            + paragraph("The app", of: [.app], detail) + paragraph("User, device", of: [.user, .device], detail)
    }

    /// The changes that the short form names; it says nothing of the policy's.
    private var named: [Remedy] { remedies.filter { !$0.actors.contains(.policy) } }

    /// The first line of the advice where no change alone saves the process for good.
    private func verdict(_ detail: Detail) -> [Paragraph] {
        let lasting = named.filter(\.isLasting)
        guard !named.isEmpty, !lasting.contains(where: { $0.change.parts.isEmpty }) else { return [] }
        if let pair = lasting.first {
            let words =
                "no change alone saves it for good, but two together do: " + sentence(pair, losses: detail.losses)
            return [Paragraph("To save it", [words] + (detail.hasCommand ? [pair.command] : []))]
        }
        let none = "nothing tried saves it for good\(pairs > 0 ? ", alone or in pairs (\(pairs) tried)" : "")"
        if named.contains(where: { $0.worth != .delay }) {
            return [Paragraph("To save it", none + ", only by chance.")]
        }
        let best = named.compactMap(\.delay).max().map { "; the best only delays its end by \($0.clock)" } ?? ""
        return [Paragraph("To save it", none + best + ".")]
    }

    /// What some can change, the lowest price first; nothing if none of their changes was tried.
    private func paragraph(_ label: String, of actors: Set<Actor>, _ detail: Detail) -> [Paragraph] {
        let own = remedies.filter { $0.change.parts.isEmpty && $0.actors.isSubset(of: actors) }
        guard !own.isEmpty else {
            let wasTried = tried.contains { actors.contains($0.madeBy) }
            return wasTried ? [Paragraph(label, "nothing that was tried saves it.")] : []
        }
        let best = named.first
        // Where nobody has a change that saves it, that was said before.
        let isAlone = named.contains { $0.isLasting && $0.change.parts.isEmpty } && !own.contains(where: \.isLasting)
        var texts = own.prefix(detail.remedies).enumerated().flatMap { index, remedy -> [String] in
            let isBest = detail.hasCommand && remedy.change == best?.change
            let lead = index > 0 ? "or " : isAlone ? "nothing tried saves it for good: " : ""
            return [lead + sentence(remedy, losses: detail.losses)] + (isBest ? [remedy.command] : [])
        }
        let rest = own.dropFirst(detail.remedies).count(where: \.isLasting)
        if rest > 0, let last = texts.lastIndex(where: { !$0.hasPrefix("plimsoll ") }) {
            texts[last] +=
                " " + rest.counted("more change saves it: --all shows it.", "more changes save it: --all shows them.")
        }
        return [Paragraph(label, texts)]
    }

    private func sentence(_ remedy: Remedy, losses: Int) -> String {
        "\(remedy.change.brief)\(size(remedy))\(life(remedy)). \(price(remedy.price, losses: losses))."
    }

    /// What a share of its memory is in bytes, of what it held at its end.
    private func size(_ remedy: Remedy) -> String {
        remedy.change.share.map { " (about \((account.held * $0).onOriginal(of: scale).brief))" } ?? ""
    }

    private func life(_ remedy: Remedy) -> String {
        guard case .ends(let at, let reason, _) = remedy.fate else { return "" }
        let span = (at - remedy.end).clock
        guard remedy.worth != .delay else { return " only delays its end by \(span)" }
        if Explainer.isBySystem(reason) { return "; the user finds it again, and it ends \(span) later than now" }
        let end = reason == ExitReason.userTerminated.rawValue ? "the user closes it" : "it ends by itself"
        return "; it lives \(span) longer, until \(end)"
    }

    private func price(_ price: AdvicePrice, losses: Int) -> String {
        let worse = price.isWorse ? "The run as a whole is worse: " : "Price: "
        guard !price.losses.isEmpty else { return price.isWorse ? "The run as a whole is worse" : "Price: none" }
        var items = price.losses.prefix(losses).map(\.brief)
        let rest = price.losses.count - items.count
        if rest > 0 {
            items.append(rest.counted(items.isEmpty ? "loss" : "more loss", items.isEmpty ? "losses" : "more losses"))
        }
        return worse + items.joined(separator: ", ")
    }
}

extension Explanation.Remedy {
    /// How much later the process ends, if that is all that the change does.
    fileprivate var delay: TimeSpan? {
        guard worth == .delay, case .ends(let at, _, _) = fate else { return nil }
        return at - end
    }
}
