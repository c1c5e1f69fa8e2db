import Plan
import Quantities
import Scenario
import Simulation

/// One change in a run of its own.
struct Trial {
    let change: Change
    let fate: Explainer.ProcessFate
    let outcome: Outcome
}

/// What the searches for one termination have found.
struct Findings {
    var found: [Change] = []
    var failures: [String] = []
    var tried: Set<Change.Kind> = []
    /// The trial of protection by name, if there was one.
    var protection: Trial?
}

/// Searches for the changes that save several processes. A run begins whenever a core is free and some search needs it,
/// so that no search waits for another one. A change that several terminations ask about is played once.
///
/// The findings do not depend on the order in which runs end.
final class Investigation {
    private let explainer: Explainer
    private let runs: Runs
    private var cases: [Case]

    private struct Case {
        let termination: Explainer.Termination
        /// The next tap on the app, or an instant after the end of the run.
        let next: Instant
        var searches: [Search]
        var findings = Findings()
    }

    /// A search, and what it needs now.
    private struct Search {
        var quest: any Quest
        /// Changes under trial, each with its question; after the search, the changes that were found, each to be
        /// followed to the end of the run.
        var wanted: [(change: Change, question: ReplayQuestion?)] = []
        var isOver = false
        /// How many trials the search has learnt from.
        var learnt = 0
    }

    init(_ explainer: Explainer, _ terminations: [Explainer.Termination]) throws {
        self.explainer = explainer
        runs = explainer.runs
        let course = try explainer.course()
        try Investigation.keepIdle(explainer, terminations)
        cases = terminations.map { termination in
            Case(
                termination: termination,
                next: course.taps(on: termination.app).first { $0 >= termination.at } ?? .never,
                searches: explainer.quests(for: termination).map { Search(quest: $0) })
        }
        for index in cases.indices {
            for search in cases[index].searches.indices { want(index, search) }
        }
    }

    /// Notes the changes whose runs need not be played, because nothing in them differs from the run without a change.
    private static func keepIdle(_ explainer: Explainer, _ terminations: [Explainer.Termination]) throws {
        let (plan, runs) = (explainer.plan, explainer.runs)
        let replay = try runs.played(.none(of: plan), nil)
        for name in Set(terminations.map(\.app)).sorted() {
            guard let app = plan.apps.firstIndex(where: { $0.name == name }),
                replay.course.tally.apps[app].warnings == 0, let change = plan.answeringWarnings(of: app),
                !runs.isUnderWay(change)
            else { continue }
            runs.keep(replay, change)
        }
    }

    /// Searches until all is found. Gives the findings in the order of the terminations.
    func run(found: (Int, Findings) throws -> Void) throws {
        var given = 0
        while true {
            try learn()
            report()
            while given < cases.count, isOver(cases[given]) {  // promise: findings
                try found(given, findings(of: cases[given]))
                given += 1
            }
            guard given < cases.count else { return }
            handOut()
            try runs.finishOne()
        }
    }

    // MARK: Runs

    /// Begins runs until no core is free. The first terminations come first, and of their searches those that still
    /// need the most rounds.
    private func handOut() {
        for one in cases {
            for search in one.searches.enumerated().sorted(by: {
                ($1.element.quest.left, $0.offset) < ($0.element.quest.left, $1.offset)
            }).map(\.element) {
                for (change, question) in search.wanted {
                    guard runs.hasFreeHand else { return }
                    guard runs.replay(change, question) == nil, !runs.isUnderWay(change) else { continue }
                    runs.begin(change, questions(about: change))
                }
            }
        }
    }

    /// What is asked about a change now; nothing if its run is needed to its end.
    private func questions(about change: Change) -> [ReplayQuestion] {
        var questions: [ReplayQuestion] = []
        for one in cases {
            for wanted in one.searches.flatMap(\.wanted) where wanted.change.assignments == change.assignments {
                guard let question = wanted.question else { return [] }
                if !questions.contains(question) { questions.append(question) }
            }
        }
        return questions
    }

    private func isKnown(_ wanted: (change: Change, question: ReplayQuestion?)) -> Bool {
        runs.replay(wanted.change, wanted.question) != nil
    }

    // MARK: Searches

    /// Takes all outcomes that are known.
    private func learn() throws {
        for place in cases.indices {
            for search in cases[place].searches.indices {
                while !cases[place].searches[search].isOver, cases[place].searches[search].wanted.allSatisfy(isKnown) {
                    try learn(place, search)
                }
            }
        }
    }

    private func learn(_ place: Int, _ search: Int) throws {
        let trials = try cases[place].searches[search].wanted.map { try trial($0, cases[place].termination) }
        cases[place].searches[search].quest.learn(trials.map(\.outcome))
        cases[place].searches[search].learnt += trials.count
        cases[place].findings.tried.formUnion(trials.map(\.change.kind))
        cases[place].findings.protection =
            trials.last { $0.change.kind == .protection } ?? cases[place].findings.protection
        want(place, search)
    }

    /// Notes what the search wants next; at its end, to follow what it found.
    private func want(_ place: Int, _ search: Int) {
        let (one, quest) = (cases[place], cases[place].searches[search].quest)
        let wanted = quest.wanted
        cases[place].searches[search].isOver = wanted.isEmpty
        cases[place].searches[search].wanted =
            wanted.isEmpty
            ? quest.found.map { ($0, nil) } : wanted.map { ($0, question($0, one, findsAll: quest.findsAll)) }
    }

    private func question(_ change: Change, _ one: Case, findsAll: Bool) -> ReplayQuestion {
        var question = explainer.question(about: one.termination)
        guard !change.isFollowed else { return question }
        // A change of a size must save the process up to the next tap on the app and a moment longer; the run need not
        // go on after that.
        // It goes on all the same if its rest is short or will be needed: else it would be played twice.
        question.isAboutOneLife = !findsAll
        let end = Instant.zero + explainer.plan.duration
        // A process that ends as soon as the user wants it again is not saved.
        let served = one.next == .never ? .never : one.next + Explainer.survival
        let isNear = served >= end || (end - served).microseconds * 5 <= explainer.plan.duration.microseconds
        (question.fatal, question.enough) = (served, findsAll || isNear ? .never : served)
        return question
    }

    private func trial(
        _ wanted: (change: Change, question: ReplayQuestion?), _ termination: Explainer.Termination
    ) throws -> Trial {
        guard let question = wanted.question, let replay = runs.replay(wanted.change, question) else {
            preconditionFailure("a trial without an answer")
        }
        let fate = question.fate(in: replay.lives)
        let isSaved = question.isSaved(fate)  // promise: saved
        let isFree = isSaved && replay.isWhole ? try explainer.price(of: replay, termination).isFree : false
        var outcome = Outcome(isSaved: isSaved, isFree: isFree)
        if !isSaved, case .ends(let end, _, _) = fate { outcome.delay = end - termination.at }
        return Trial(change: wanted.change, fate: fate, outcome: outcome)
    }

    // MARK: Results

    private func isOver(_ one: Case) -> Bool {
        one.searches.allSatisfy { $0.isOver && $0.wanted.allSatisfy(isKnown) }
    }

    private func findings(of one: Case) -> Findings {
        var findings = one.findings
        findings.found = one.searches.flatMap(\.quest.found)
        findings.failures = one.searches.compactMap(\.quest.failure)
        return findings
    }

    /// Says how many changes are tried, and how many there can be at most.
    private func report() {
        var (done, most) = (0, 0)
        for search in cases.flatMap(\.searches) {
            done += search.learnt + (search.isOver ? 0 : search.wanted.count(where: isKnown))
            most += search.learnt + search.quest.left
        }
        explainer.progress(.trying(done, of: most))
    }
}

extension Change {
    /// Whether its trial goes on to the end of the run.
    fileprivate var isFollowed: Bool {
        switch kind {
        case .policy, .monitor, .protection: true
        case .limit, .behaviour, .size, .device, .preference: false
        }
    }
}
