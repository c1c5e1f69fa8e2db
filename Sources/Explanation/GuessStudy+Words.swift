import Quantities

// What hangs on guesses, in words.
extension GuessStudy {
    /// The most lines of the text on a terminal of 80 columns or more.
    public static let mostLines = 30

    /// The answer for a run on which no guess bears.
    public static let nothingToGuess = "Nothing in this run hangs on a guess: \(Guess.whyNone)"

    /// What stays true, what does not, and which guesses decide, in lines of at most `width` columns.
    public func lines(width: Int) -> [String] {
        var text: [String] = []
        for detail in Detail.all {
            text = page(detail, width)
            if text.count <= GuessStudy.mostLines { break }
        }
        return text
    }

    /// How much is said; the first that fits is taken.
    private struct Detail {
        /// How many claims that do not stay true.
        let claims: Int
        /// How many guesses that decide.
        let guesses: Int
        /// How many guesses of a claim.
        let guessesOfClaim: Int

        static let all = [
            Detail(claims: 30, guesses: 9, guessesOfClaim: 3), Detail(claims: 10, guesses: 9, guessesOfClaim: 2),
            Detail(claims: 6, guesses: 9, guessesOfClaim: 1), Detail(claims: 4, guesses: 6, guessesOfClaim: 1),
            Detail(claims: 2, guesses: 4, guessesOfClaim: 1),
        ]
    }

    private func page(_ detail: Detail, _ width: Int) -> [String] {
        let drawn = draws.isEmpty ? "" : ", and \(draws.count.counted("draw")) of all"
        let alone = app.map { " of \($0) alone" } ?? ""
        let head = "\(name): \(guesses.count.counted("guess", "guesses")) one at a time\(drawn): \(all)\(alone)"
        var lines = wrapped(head, width: width, margin: 0)
        lines.append("")
        lines += stable(detail, width)
        lines += unstable(detail, width)
        lines += deciding(detail, width)
        if !draws.isEmpty { lines += wrapped(drawnSentence, width: width, margin: 0) }
        return lines
    }

    private var all: String { runs.count.counted("run") }

    // MARK: What stays true

    private func isStable(_ claim: Claim) -> Bool { claim.times == runs.count }

    private func stable(_ detail: Detail, _ width: Int) -> [String] {
        let claims = (expected + endings).filter(isStable)
        guard !claims.isEmpty else { return [] }
        var items = claims.prefix(detail.claims).map { words($0.subject) }
        if claims.count > items.count { items.append("\(claims.count - items.count) more") }
        let lines = rows(items, width, margin: 2)
        return ["STAYS TRUE in all runs"] + lines
    }

    private func unstable(_ detail: Detail, _ width: Int) -> [String] {
        let claims = changing
        guard !claims.isEmpty else { return [] }
        let shown = claims.prefix(detail.claims)
        let titles = shown.map { words($0.subject).shortened(to: 40) }
        let margin = 4 + (titles.map(\.terminalColumns).max() ?? 0)
        var lines = ["DOES NOT"]
        for (claim, title) in zip(shown, titles) {
            lines += lined(kept(sentence(claim, detail)), width, margin: margin, head: "  \(title)")
        }
        let rest = claims.count - shown.count
        if rest > 0 { lines.append("  \(rest) more: --format json") }
        return lines
    }

    /// The claims that do not hold in all runs: the expectations, the ends of the run as it is, and the others, the
    /// frequent ones first.
    private var changing: [Claim] {
        let ends = endings.filter { !isStable($0) }
        let others = ends.filter { !$0.isOwn }.enumerated().sorted {
            ($1.element.times, $0.offset) < ($0.element.times, $1.offset)
        }
        var claims = expected.filter { !isStable($0) }
        claims += ends.filter(\.isOwn)
        claims += others.map(\.element)
        return claims
    }

    private func words(_ subject: Subject) -> String {
        switch subject {
        case .expectation(let text): text
        case .end(let kind): "\(kind.app) ends (\(kind.reason))"
        }
    }

    private func sentence(_ claim: Claim, _ detail: Detail) -> [String] {
        let times = "\(claim.times) of \(runs.count)"
        guard claim.isOwn else { return [times + "; not as it ran"] }
        guard !claim.unless.isEmpty else {
            return ["\(times); not in \(claim.drawsWithout) of the draws"]
        }
        let places = Set(claim.unless.map(\.guess)).sorted()
        var items = places.prefix(detail.guessesOfClaim).map { place in
            let values = claim.unless.filter { $0.guess == place }.map { guesses[place].values[$0.value].text }
            return "\(guesses[place].title) \(values.joined(separator: " or "))"
        }
        let rest = places.count - items.count
        if rest > 0 { items.append(rest.counted("more guess", "more guesses")) }
        for index in items.indices.dropLast() { items[index] += "," }
        items.insert("\(times); not with", at: 0)
        return items
    }

    // MARK: What decides

    private func deciding(_ detail: Detail, _ width: Int) -> [String] {
        let places = guesses.indices.filter { !differences(of: $0).isEmpty }
        let idle = guesses.indices.filter { differences(of: $0).isEmpty }.map { guesses[$0].title }
        let ofApp = app.map { "of \($0) " } ?? ""
        var lines = wrapped(
            "WHAT DECIDES, in ends \(ofApp)by the system (felt by the user); as it ran: \(figures(own))", width: width,
            margin: 0)
        let shown = places.prefix(detail.guesses)
        let margin = 4 + (shown.map { guesses[$0].title.terminalColumns }.max() ?? 0)
        for place in shown {
            lines += rows(differences(of: place), width, margin: margin, head: "  \(guesses[place].title)")
        }
        if places.count > shown.count { lines.append("  \(places.count - shown.count) more: --format json") }
        guard !idle.isEmpty else { return lines }
        lines += wrapped("no matter: \(idle.joined(separator: ", "))", width: width, margin: 2)
        return lines
    }

    /// The values of a guess with which the run comes out otherwise, each with its ends.
    private func differences(of guess: Int) -> [String] {
        zip(guesses[guess].values, single[guess]).compactMap { value, outcome in
            guard let outcome, outcome != own else { return nil }
            let isSame = outcome.ends == own.ends && outcome.felt == own.felt
            return "\(value.text): \(figures(outcome))\(isSame ? ", others" : "")"
        }
    }

    private func figures(_ outcome: Outcome) -> String { "\(outcome.ends) (\(outcome.felt))" }

    // MARK: The draws

    private var drawnSentence: String {
        let ends = draws.map(\.outcome.ends).sorted()
        let felt = draws.map(\.outcome.felt)
        let (low, high) = (ends[ends.count / 4], ends[ends.count - 1 - ends.count / 4])
        let holding = draws.count { $0.outcome.expectationsHeld == expectations.count }
        let held = expectations.isEmpty ? "" : "; all expectations held in \(holding)"
        return "\(draws.count.counted("draw")) of all: \(range(ends)) ends, half of them \(range([low, high])), "
            + "\(range(felt)) felt\(held)"
    }

    private func range(_ numbers: [Int]) -> String {
        let (least, most) = (numbers.min() ?? 0, numbers.max() ?? 0)
        return least == most ? "\(least)" : "\(least) to \(most)"
    }

    // MARK: Lines

    /// The items behind a margin, with semicolons between them; no item is broken.
    private func rows(_ items: [String], _ width: Int, margin: Int, head: String = "") -> [String] {
        var items = items
        for index in items.indices.dropLast() { items[index] += ";" }
        return lined(kept(items), width, margin: margin, head: head)
    }

    /// The items as one text, whose spaces within items are no places to break a line.
    private func kept(_ items: [String]) -> String {
        items.map { $0.replacing(" ", with: "\u{A0}") }.joined(separator: " ")
    }

    /// A text of kept items in lines.
    private func lined(_ text: String, _ width: Int, margin: Int, head: String) -> [String] {
        wrapped(text, width: width, margin: margin, head: head).map { $0.replacing("\u{A0}", with: " ") }
    }
}
