import Metrics
import Plan
import Quantities
import Scenario
import Simulation

/// How much of a run hangs on guesses: the run as it is, with each guess alone at its other values, and with joint
/// draws of all guesses.
public struct GuessStudy: Hashable, Sendable {
    /// The path of the scenario.
    public let scenario: String
    /// The name of the plan.
    public let name: String
    /// The only app whose ends and expectations are counted; nil for all.
    public let app: String?
    /// The guesses that the run depends on, in their order.
    public let guesses: [Guess]
    /// The run as it is.
    public let own: Outcome
    /// By guess and by value, the run with this value alone; nil if its processes of the start do not fit.
    public let single: [[Outcome?]]
    /// The runs with drawn values of all guesses; none if there is only one guess.
    public let draws: [Draw]
    /// The outcomes of all different runs, the run as it is first.
    let runs: [Outcome]
    /// The expectations of the scenario.
    let expectations: [Expectation]
    /// The apps and other processes, in the order of the scenario.
    let apps: [String]

    /// What came of a run.
    public struct Outcome: Hashable, Sendable {
        /// How many processes the system ended.
        public let ends: Int
        /// How many of these ends the user felt: in the foreground, or soon before the app was wanted.
        public let felt: Int
        /// For each expectation, whether it held.
        public let held: [Bool]
        /// Which apps ended, and why; each pair once.
        let kinds: Set<Kind>

        /// How many expectations held.
        public var expectationsHeld: Int { held.count { $0 } }
    }

    /// A kind of end: an app, and the reason of the system.
    struct Kind: Hashable, Sendable {
        let app: String
        /// The cause in the kernel's words, or the exit reason where that says it.
        let reason: String
    }

    /// A run with a value of every guess.
    public struct Draw: Hashable, Sendable {
        /// For each guess, the number of its value.
        public let values: [Int]
        /// What came of the run.
        public let outcome: Outcome
    }
}

extension GuessStudy.Outcome {
    init(_ tally: RunTally, _ expectations: [Expectation], of app: String?) {
        let facts = tally.terminations.filter { app == nil || $0.app == app }
        ends = facts.count
        felt = facts.count { $0.wasForeground || $0.wasPerceived }
        held = tally.results(of: expectations).map(\.holds)
        kinds = Set(facts.map { GuessStudy.Kind(app: $0.app, reason: $0.course.cause ?? $0.reason.rawValue) })
    }
}

// MARK: What stays true

extension GuessStudy {
    /// Something that holds in the run as it is, or in another run.
    struct Claim {
        let subject: Subject
        /// In how many runs it holds.
        let times: Int
        /// Whether it holds in the run as it is.
        let isOwn: Bool
        /// The values that, alone, make an end of it: numbers of guesses, each with the number of a value. None if it
        /// does not hold in the run as it is.
        let unless: [(guess: Int, value: Int)]
        /// In how many draws it does not hold.
        let drawsWithout: Int
    }

    /// What a claim is about.
    enum Subject {
        case expectation(String)
        case end(Kind)
    }

    /// The expectations, in the order of the scenario.
    var expected: [Claim] {
        expectations.enumerated().map { index, expectation in
            claim(.expectation(expectation.text)) { $0.held[index] }
        }
    }

    /// The kinds of ends of all runs, in the order of the apps and then of the reasons' names.
    var endings: [Claim] {
        let all = runs.reduce(into: Set<Kind>()) { $0.formUnion($1.kinds) }
        return apps.flatMap { app in
            all.filter { $0.app == app }.sorted { $0.reason < $1.reason }.map { kind in
                claim(.end(kind)) { $0.kinds.contains(kind) }
            }
        }
    }

    private func claim(_ subject: Subject, _ holds: (Outcome) -> Bool) -> Claim {
        let isOwn = holds(own)
        var unless: [(guess: Int, value: Int)] = []
        for guess in single.indices where isOwn {
            for value in single[guess].indices where single[guess][value].map(holds) == false {
                unless.append((guess, value))
            }
        }
        return Claim(
            subject: subject, times: runs.count(where: holds), isOwn: isOwn, unless: unless,
            drawsWithout: draws.count { !holds($0.outcome) })
    }
}

// MARK: The runs

extension Explainer {
    /// Plays the run as it is, each guess at its other values, and 40 joint draws, on the accounting backend and to the
    /// end of the scenario. A run whose processes of the start do not fit is left out.
    ///
    /// - Parameter app: The only app whose ends and expectations count; nil for all.
    public func study(of app: String? = nil) throws -> GuessStudy {
        let (guesses, none) = (plan.guesses, Change.none(of: plan))
        let alone = guesses.map { guess in guess.values.indices.map { plan.change([(guess, $0)]) } }
        let draws = guesses.count < 2 ? [] : plan.draws(of: guesses)
        let joint = draws.map { draw in plan.change(zip(guesses, draw).map { (guess: $0, value: $1) }) }
        let distinct = try play([none] + alone.flatMap(\.self) + joint)
        let expectations = plan.expectations.filter { app == nil || $0.app == app }
        func outcome(_ change: Change) -> GuessStudy.Outcome? {
            runs.replay(change, nil).map { GuessStudy.Outcome($0.course.tally, expectations, of: app) }
        }
        let own = GuessStudy.Outcome(try course().tally, expectations, of: app)
        return GuessStudy(
            scenario: scenario, name: plan.name, app: app, guesses: guesses, own: own,
            single: alone.map { $0.map(outcome) },
            draws: zip(draws, joint).compactMap { draw, change in
                outcome(change).map { GuessStudy.Draw(values: draw, outcome: $0) }
            },
            runs: distinct.compactMap(outcome), expectations: expectations, apps: plan.apps.map(\.name))
    }

    /// Plays what is not known yet, and returns the different changes in their order.
    private func play(_ changes: [Change]) throws -> [Change] {
        var seen: Set<[String]> = []
        let distinct = changes.filter { seen.insert($0.assignments).inserted }
        var rest = distinct.filter { runs.replay($0, nil) == nil }[...]
        var done = distinct.count - rest.count
        while done < distinct.count {
            progress(.varying(done, of: distinct.count))
            while runs.hasFreeHand, let change = rest.popFirst() {
                if !runs.isUnderWay(change) { runs.begin(change, []) }
            }
            do {
                try runs.finishOne()
            } catch RunFailure.start(_) {
                // This plan has no room for the processes of its start.
            }
            done += 1
        }
        return distinct
    }
}

extension RunPlan {
    /// The plan with these values as a change. Values that the plan has change nothing.
    fileprivate func change(_ choices: [(guess: Guess, value: Int)]) -> Change {
        let others = choices.filter { !$0.guess.values[$0.value].isOwn }
        let texts = others.map { "\($0.guess.key)=\($0.guess.values[$0.value].text)" }
        return Change(.device, texts.joined(separator: ", "), texts, with(others))
    }
}

// MARK: As data

// An absent value has no key.
extension GuessStudy: Encodable {
    public func encode(to encoder: any Encoder) throws { try document().encode(to: encoder) }

    /// The document of `plimsoll explain --guesses --format json`.
    ///
    /// - Parameter warnings: What the record of the run lacks, one sentence each.
    public func document(warnings: [String] = []) -> some Encodable { Document(self, warnings) }

    private struct Document: Encodable {
        let format = 1
        let scenario: String
        let app: String?
        let warnings: [String]
        let runs: Int
        let guesses: [GuessDocument]
        let draws: [DrawDocument]
        let expectations: [ExpectationDocument]
        let ends: [EndDocument]

        init(_ study: GuessStudy, _ warnings: [String]) {
            (scenario, app, self.warnings, runs) = (study.scenario, study.app, warnings, study.runs.count)
            guesses = zip(study.guesses, study.single).map { guess, outcomes in
                GuessDocument(
                    title: guess.title, key: guess.key, source: guess.source,
                    values: zip(guess.values, outcomes).compactMap { value, outcome in
                        outcome.map { ValueDocument(value, $0) }
                    })
            }
            draws = study.draws.map { draw in
                DrawDocument(zip(study.guesses, draw.values).map { $0.values[$1].text }, draw.outcome)
            }
            expectations = study.expected.compactMap { ExpectationDocument($0, study) }
            ends = study.endings.compactMap { EndDocument($0, study) }
        }
    }

    private struct GuessDocument: Encodable {
        let title: String
        let key: String
        let source: String
        let values: [ValueDocument]
    }

    private struct ValueDocument: Encodable {
        let text: String
        let isOwn: Bool
        let ends: Int
        let felt: Int
        let expectationsHeld: Int

        init(_ value: Guess.Value, _ outcome: Outcome) {
            (text, isOwn, ends, felt) = (value.text, value.isOwn, outcome.ends, outcome.felt)
            expectationsHeld = outcome.expectationsHeld
        }
    }

    private struct DrawDocument: Encodable {
        let values: [String]
        let ends: Int
        let felt: Int
        let expectationsHeld: Int

        init(_ values: [String], _ outcome: Outcome) {
            (self.values, ends, felt) = (values, outcome.ends, outcome.felt)
            expectationsHeld = outcome.expectationsHeld
        }
    }

    private struct ExpectationDocument: Encodable {
        let text: String
        let held: Int
        let isOwn: Bool
        let unless: [Exception]

        init?(_ claim: Claim, _ study: GuessStudy) {
            guard case .expectation(let text) = claim.subject else { return nil }
            (self.text, held, isOwn, unless) = (text, claim.times, claim.isOwn, study.exceptions(to: claim))
        }
    }

    private struct EndDocument: Encodable {
        let app: String
        let reason: String
        let times: Int
        let isOwn: Bool
        let unless: [Exception]

        init?(_ claim: Claim, _ study: GuessStudy) {
            guard case .end(let kind) = claim.subject else { return nil }
            (app, reason, times, isOwn) = (kind.app, kind.reason, claim.times, claim.isOwn)
            unless = study.exceptions(to: claim)
        }
    }

    /// A value of a guess, alone.
    fileprivate struct Exception: Encodable {
        let title: String
        let text: String
    }

    private func exceptions(to claim: Claim) -> [Exception] {
        claim.unless.map { Exception(title: guesses[$0.guess].title, text: guesses[$0.guess].values[$0.value].text) }
    }
}
