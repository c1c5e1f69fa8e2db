import Experiments
import Explanation
import Metrics
import Plan
import Quantities
import Simulation

/// How much the answer to a question hangs on guesses: figures of the device and of its apps that nobody has published
/// (`Guess`).
///
/// Each guess alone takes each of its other values, under the first seeds of the question. Then all guesses together
/// take values at random: each draw runs once, the draws under the seeds in turn. The runs are to the app's first end
/// that counts. Which runs these are depends on the question only, so an interrupted one goes on with the same runs.
public struct GuessedSurvival: Sendable {
    /// The guesses that the runs of the question depend on.
    public let guesses: [Guess]
    private let question: Question
    /// The values that a guess takes alone: all but the scenario's own.
    private let singles: [Single]
    /// The values of all guesses together, as their indices, by draw.
    private let draws: [[Int]]
    /// How many seeds a value of one guess runs under.
    private let seeds: Int
    private var own: [Fate] = []
    /// The runs that were taken, in the order of the requests; empty before.
    private var fates: [Fate] = []

    /// The most seeds under which a value of one guess runs.
    public static let mostSeeds = 10
    /// The number of joint draws.
    public static let drawCount = 40
    /// The most settings: values of single guesses, and joint draws. Their entries follow those of the study.
    public static let mostSettings = 128

    /// A guess, and the index of one of its values.
    private struct Single: Hashable, Sendable {
        let guess, value: Int
    }

    /// The guesses of the question's plan.
    public init(_ question: Question) {
        let guesses = question.plan.guesses
        (self.question, self.guesses) = (question, guesses)
        seeds = min(GuessedSurvival.mostSeeds, question.seeds.count)
        singles = guesses.indices.flatMap { guess in
            guesses[guess].values.indices.filter { !guesses[guess].values[$0].isOwn }
                .map { Single(guess: guess, value: $0) }
        }
        draws = guesses.isEmpty ? [] : question.plan.draws(of: guesses, count: GuessedSurvival.drawCount)
        precondition(singles.count + draws.count <= GuessedSurvival.mostSettings, "too many values of guesses")
    }

    // MARK: Runs

    /// The number of runs that it takes.
    public var count: Int { singles.count * seeds + draws.count }

    /// The number of runs that were taken.
    public var runs: Int { fates.count }

    /// The runs to make; none if the app has no process in the runs of the scenario as it is, so that there is nothing
    /// to survive.
    ///
    /// - Parameter own: The runs of the scenario as it is, by position of the seed.
    public mutating func requests(own: [Fate]) -> [RunRequest] {
        self.own = own
        guard proportion(own).total > 0 else { return [] }
        var requests: [RunRequest] = []
        for (index, single) in singles.enumerated() {
            let plan = question.plan.with([(guess: guesses[single.guess], value: single.value)])
            requests += (0..<seeds).map { request(plan, entry: index, seed: $0) }
        }
        let all = question.seeds.count
        for (index, draw) in draws.enumerated() {
            let plan = question.plan.with(zip(guesses, draw).map { (guess: $0, value: $1) })
            requests.append(request(plan, entry: singles.count + index / all, seed: index % all))
        }
        return requests
    }

    private func request(_ plan: RunPlan, entry: Int, seed: Int) -> RunRequest {
        var plan = plan
        plan.seed = question.seeds[seed]
        return RunRequest(
            entry: Study.mostSettings + entry, seed: seed, plan: plan, app: question.app, untilEnd: true)
    }

    /// Takes the results of all runs of `requests`, in their order.
    public mutating func take(_ fates: [Fate]) {
        precondition(fates.isEmpty || fates.count == count, "\(fates.count) results of \(count) runs")
        self.fates = fates
    }

    // MARK: Results

    /// The runs in which the app lives, of those that have a process of it.
    private func proportion(_ fates: some Collection<Fate>) -> Proportion {
        Proportion(fates.count { $0.lives == true }, of: fates.count { $0.lives != nil })
    }

    /// In how many runs the app lives if one guess has this value and all others have their own, under the first seeds
    /// of the question.
    ///
    /// - Parameters:
    ///   - value: The index of the value.
    ///   - guess: The index of the guess.
    public func lived(at value: Int, of guess: Int) -> Proportion {
        guard !guesses[guess].values[value].isOwn else { return proportion(own.prefix(seeds)) }
        guard let place = singles.firstIndex(of: Single(guess: guess, value: value)) else {
            return Proportion(0, of: 0)
        }
        return proportion(fates.dropFirst(place * seeds).prefix(seeds))
    }

    /// The runs of the joint draws; empty before they were taken.
    private var drawn: ArraySlice<Fate> { fates.suffix(draws.count) }

    /// Whether the app lives more often at some values of a guess than at others.
    private func decides(_ guess: Int) -> Bool {
        let lived = guesses[guess].values.indices.map { self.lived(at: $0, of: guess) }
        return lived.contains { $0 != lived[0] }
    }

    // MARK: Words

    /// The answer, as part of the paragraph; empty if the app never has a process.
    public var sentences: [String] {
        guard !guesses.isEmpty else { return ["The answer hangs on no guess: \(Guess.whyNone)"] }
        guard !fates.isEmpty else { return [] }
        let (all, usual) = (proportion(drawn), proportion(own))
        let deciding = guesses.indices.filter(decides)
        let others = guesses.indices.filter { !deciding.contains($0) }.map { guesses[$0].title }
        let first =
            "It survives in \(all.count) of \(all.total.counted("draw")) of all guesses together, and in "
            + "\(usual.count) of \(usual.total.counted("run")) as the device is assumed."
        guard !deciding.isEmpty else {
            return [first, "No guess by itself matters within its range: \(others.joined(separator: ", "))."]
        }
        let list = deciding.map(words).joined(separator: "; ")
        let second = "What decides by itself, in \(seeds.counted("run")) each: \(list)."
        return [first, second]
            + (others.isEmpty ? [] : ["These do not matter within their ranges: \(others.joined(separator: ", "))."])
    }

    /// A guess with how often the app lives at each of its values.
    private func words(of guess: Int) -> String {
        let values = guesses[guess].values.enumerated().map { place, value -> String in
            let lived = lived(at: place, of: guess)
            return "\(value.text.replacing("%", with: " %")): \(lived.count) of \(lived.total)"
                + (value.isOwn ? " as assumed" : "")
        }
        return "\(guesses[guess].title) (\(values.joined(separator: ", ")))"
    }

    // MARK: The table

    /// Writes the rows of `SurvivalTables.guesses`: the values of each guess, then the draws.
    package func write(to table: TableWriter) {
        for (index, guess) in guesses.enumerated() {
            for (place, value) in guess.values.enumerated() {
                let lived = lived(at: place, of: index)
                row(guess.title, guess.key, value.text, isOwn: value.isOwn, lived, to: table)
            }
        }
        for (draw, fate) in zip(draws, drawn) {
            let values = zip(guesses, draw).map { $0.values[$1] }
            let text = values.map(\.text).joined(separator: "; ")
            row("draw", nil, text, isOwn: values.allSatisfy(\.isOwn), proportion([fate]), to: table)
        }
    }

    private func row(
        _ guess: String, _ key: String?, _ value: String, isOwn: Bool, _ lived: Proportion, to table: TableWriter
    ) {
        table.text(guess)
        table.text(key)
        table.text(value)
        table.boolean(isOwn)
        table.integer(lived.count)
        table.integer(lived.total)
        table.endRow()
    }
}

extension SurvivalTables {
    /// The table of `--guesses`; without that option it is not written.
    package static let guesses = TableSchema(
        "guesses", "One row per value of each guess alone, then one per draw of all guesses together",
        [
            Column("guess", .string, "The guess; draw: all of them together"),
            Column("key", .string, "The scenario's keys of the guess", optional: true),
            Column("value", .string, "Its value; of a draw the values of all guesses, in the order of the guesses"),
            Column("is_own", .boolean, "Whether the scenario as asked about has this value"),
            Column("lives", .integer, "Runs in which the app survives"),
            Column("runs", .integer, "Runs with a process of the app"),
        ])
}

extension FatePlayer {
    /// Plays a run that a study or its guesses ask for. If a value of a guess leaves no room for the processes of the
    /// start, the run has no process of the app, so there is nothing to survive.
    public func fate(_ request: RunRequest) throws -> Fate {
        do {
            return try fate(of: request.app, in: request.plan, untilEnd: request.untilEnd)
        } catch RunFailure.start(_) where request.entry >= Study.mostSettings {
            return Fate()
        }
    }
}
