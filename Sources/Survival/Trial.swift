import Experiments
import Quantities

/// One setting under the seeds of a question: runs until the question about it is answered.
///
/// The seeds are fixed beforehand, so there is an answer that all of them would give. The runs stop when those that
/// were made decide it:
///
/// - with certainty, because the remaining seeds cannot change it (curtailed sampling; Anscombe, "Sequential
///   estimation", Journal of the Royal Statistical Society B 15 (1953));
/// - or because the 95 % interval of the number of all seeds under which the app lives is on one side of the share
///   asked for (see `FiniteDraw`). It is looked at after every run. Yet fewer than 5 % of the answers differ from that
///   of all runs, even near the share asked for; the tests measure it.
///
/// The order of the seeds does not depend on the outcomes of the trial. The first ones are those under which the app
/// ends as it is. What they say against the app is held against all of the seeds only as far as they are part of them.
/// What they say for it counts as if they were any seeds: the assumption is that they are not safer than the others.
struct Trial: Hashable, Sendable {
    enum Goal: Hashable, Sendable {
        /// Every seed, each run to its end.
        case whole
        /// Every seed, each run to the app's first end that counts.
        case every
        /// Whether the app lives in at least this share of the runs that have a process of it.
        case decide(Ratio)
        /// The same, but a yes need only be likely.
        case suspect(Ratio)
        /// Every seed, unless the app ends under so many of the first ones that the setting gains hardly anything: at
        /// most a tenth of all seeds, and a fifth of those under which the app ends as it is.
        case gain
    }

    private(set) var goal: Goal
    /// Positions of seeds, in the order in which they run.
    private let order: [Int]
    /// How many of them come first because the app ends under them as it is.
    private let risky: Int
    /// The outcomes so far, in that order.
    private(set) var outcomes: [Bool?] = []

    /// The chance that is too small: each end of a 95 % interval.
    private static let doubt = 0.025
    /// The chance of being wrong with which a yes is likely.
    private static let suspicion = 1.0 / 3

    init(_ goal: Goal, order: [Int], risky: Int = 0) { (self.goal, self.order, self.risky) = (goal, order, risky) }

    /// The fewest further seeds that can answer the question; empty if it is answered.
    ///
    /// As no fewer runs can answer it, none of them is made in vain, and the number does not depend on how many runs
    /// the host makes at once.
    var wanted: ArraySlice<Int> {
        let left = order[outcomes.count...]
        guard !left.isEmpty else { return left }
        switch goal {
        case .whole, .every: return left
        case .decide(let share): return left.prefix(fewest { $0.answer(of: share, doubt: Trial.doubt) })
        case .suspect(let share): return left.prefix(fewest { $0.answer(of: share, doubt: Trial.suspicion) })
        case .gain:
            guard !outcomes.prefix(risky).contains(true) else { return left }
            let least = min(order.count / 10, risky / 5)
            let needed = (0...risky).first { Trial.mostLiving($0, of: risky) <= least } ?? risky
            return left.prefix(max(0, needed - outcomes.count))
        }
    }

    /// How many further runs can answer a question at the least, if they all have the same outcome.
    private func fewest(_ answer: (Tally) -> Bool?) -> Int {
        let tally = tally
        guard answer(tally) == nil else { return 0 }
        let left = order.count - outcomes.count
        return (1...max(1, left)).first { more in
            answer(tally.adding(more, areLives: true)) != nil || answer(tally.adding(more, areLives: false)) != nil
        } ?? left
    }

    var isWhole: Bool { goal == .whole }
    /// Whether all seeds have run.
    var isComplete: Bool { outcomes.count == order.count }

    mutating func learn(_ outcomes: [Bool?]) { self.outcomes += outcomes }

    /// Wants every seed from now on.
    mutating func insistOnAll() { goal = .every }

    /// Is not content with a suspicion from now on.
    mutating func insist() { if case .suspect(let share) = goal { goal = .decide(share) } }

    /// How many runs have a process of the app and it lives, or it ends.
    var counts: (lived: Int, ended: Int) {
        (outcomes.count { $0 == true }, outcomes.count { $0 == false })
    }

    /// The share of runs in which the app lives, of those that have a process of it.
    var proportion: Proportion {
        let (lived, ended) = counts
        return Proportion(lived, of: lived + ended)
    }

    /// The outcomes by position of the seed; nil where a run was not made or has no process of the app.
    var bySeed: [Bool?] {
        var all = [Bool?](repeating: nil, count: order.count)
        for (position, outcome) in zip(order, outcomes) { all[position] = outcome }
        return all
    }

    // MARK: Answers

    /// Whether the app lives in at least this share of all runs; nil while that is open. False without any run that has
    /// a process of the app.
    func verdict(of share: Ratio) -> Bool? { tally.answer(of: share, doubt: Trial.doubt) }

    /// The same, where a yes need only be likely.
    func suspicion(of share: Ratio) -> Bool? { tally.answer(of: share, doubt: Trial.suspicion) }

    private var tally: Tally {
        func group(_ outcomes: ArraySlice<Bool?>, of seeds: Int) -> Tally.Group {
            Tally.Group(
                lived: outcomes.count { $0 == true }, ended: outcomes.count { $0 == false },
                left: seeds - outcomes.count)
        }
        return Tally(
            first: group(outcomes.prefix(risky), of: risky),
            others: group(outcomes.dropFirst(risky), of: order.count - risky))
    }

    /// The outcomes in numbers.
    private struct Tally {
        /// The seeds that come first, as the app ends under them as it is.
        var first: Group
        var others: Group

        /// Seeds with their outcomes. A run without a process of the app is in none of the numbers.
        struct Group {
            var lived: Int
            var ended: Int
            var left: Int

            var drawn: Int { lived + ended }
            var all: Int { drawn + left }

            mutating func add(_ more: Int, areLives: Bool) {
                left -= more
                if areLives { lived += more } else { ended += more }
            }
        }

        /// With further runs, all of one outcome.
        func adding(_ more: Int, areLives: Bool) -> Tally {
            var tally = self
            let ofFirst = min(more, first.left)
            tally.first.add(ofFirst, areLives: areLives)
            tally.others.add(more - ofFirst, areLives: areLives)
            return tally
        }

        /// - Parameter doubt: The chance of being wrong with which a yes is good enough.
        func answer(of share: Ratio, doubt: Double) -> Bool? {
            let lived = first.lived + others.lived
            // Each seed that is left has a process of the app, as far as is known. At the worst all of them end the
            // app, and at best it lives under all.
            let all = first.all + others.all
            let needed = Int((share.partsPerMillion * Int64(all) + 999_999) / 1_000_000)
            let bearable = all - needed
            if lived >= needed, lived > 0 { return true }
            if first.ended + others.ended > bearable || first.left + others.left == 0 { return false }
            if isUnlikely(atMost: bearable) { return false }
            return isUnlikely(moreThan: bearable, of: all, doubt) ? true : nil
        }

        /// Whether so few ends would be too unlikely if the app ended under more than the given number of seeds.
        private func isUnlikely(moreThan bearable: Int, of all: Int, _ doubt: Double) -> Bool {
            guard first.left == 0 else {
                return FiniteDraw(first.drawn, of: all, marked: bearable + 1).chance(ofAtMost: first.ended) <= doubt
            }
            // All of the first seeds are known, so the question is about the others alone.
            let marked = min(bearable + 1 - first.ended, others.all)
            return FiniteDraw(others.drawn, of: others.all, marked: marked).chance(ofAtMost: others.ended) <= doubt
        }

        /// Whether so many ends would be too unlikely if the app ended under no more than the given number of seeds.
        private func isUnlikely(atMost bearable: Int) -> Bool {
            let group = first.left == 0 ? others : first
            let marked = min(bearable - (first.left == 0 ? first.ended : 0), group.all)
            return FiniteDraw(group.drawn, of: group.all, marked: marked).chance(ofAtLeast: group.ended) <= Trial.doubt
        }
    }

    // MARK: Gains

    /// The most seeds that can gain from the setting, if none of those did that ran; nil otherwise, and if all ran.
    var mostGained: Int? {
        guard !isComplete else { return nil }
        let first = tally.first
        return first.lived > 0 ? nil : Trial.mostLiving(first.drawn, of: first.all)
    }

    /// The most of the seeds that can live if none of those drawn does, at the upper end of a 95 % interval.
    private static func mostLiving(_ drawn: Int, of seeds: Int) -> Int {
        (0...seeds - drawn).last { FiniteDraw(drawn, of: seeds, marked: $0).chance(ofAtMost: 0) > Trial.doubt } ?? 0
    }
}

/// Looks for the places of a row of settings where a yes becomes a no, or a no a yes.
///
/// The answer along the row need not be monotone. So the search first tries settings at equal distances. Between
/// neighbours with different answers it bisects, and it also tries two settings on the side of the no. A change back
/// within one distance of the scan can remain unseen.
///
/// If the answer for a setting between two of the row is known, the search saves what that makes likely: after a yes it
/// tries no smaller setting, and after a no only every second one of the scan among the larger ones.
struct RowSearch: Hashable, Sendable {
    /// The number of settings in the row.
    let count: Int
    /// The distance of the scan.
    let distance: Int
    private var known: Known?
    private(set) var answers: [Int: Bool] = [:]

    /// The answer for a setting outside the row.
    struct Known: Hashable, Sendable {
        /// How many settings of the row are as large or smaller.
        var below: Int
        var answer: Bool

        /// The place whose answer is taken to be the same: a smaller one of a yes, a larger one of a no.
        var place: Int { answer ? below - 1 : below }
    }

    /// How many settings beside a change are tried.
    static let margin = 2
    /// After this number of settings only bisections go on.
    static let most = 48

    init(count: Int, distance: Int, known: Known? = nil) {
        precondition(count > 0 && distance > 0, "\(count) settings at a distance of \(distance)")
        (self.count, self.distance, self.known) = (count, distance, known)
    }

    mutating func learn(_ place: Int, _ answer: Bool) {
        answers[place] = answer
        // What seemed likely is not so: the whole row is searched.
        if let known, known.place == place, known.answer != answer { self.known = nil }
    }

    /// The places that were tried, in order, with their answers.
    var tried: [(place: Int, answer: Bool)] { answers.keys.sorted().map { ($0, answers[$0] ?? false) } }

    /// Those that were tried and the known one, which may lie beside the row.
    private var seen: [(place: Int, answer: Bool)] {
        guard let known, answers[known.place] == nil else { return tried }
        return (tried + [(known.place, known.answer)]).sorted { $0.place < $1.place }
    }

    /// The neighbours with different answers.
    private var changes: [(low: Int, high: Int, isFall: Bool)] {
        zip(seen, seen.dropFirst()).filter { $0.answer != $1.answer }.map { ($0.place, $1.place, $0.answer) }
    }

    /// The places of the scan.
    private var scan: [Int] {
        guard let known else { return Array(stride(from: 0, to: count - 1, by: distance)) + [count - 1] }
        // A setting right before the last one would say little that the last one does not.
        let nearEnd = count - 1 - distance / 2
        if known.answer {
            let above = stride(from: known.place + distance, to: nearEnd, by: distance)
            return Array(above) + (known.place < count - 1 ? [count - 1] : [])
        }
        let below = stride(from: 0, to: known.below, by: distance)
        let above = stride(from: known.below + 2 * distance, to: nearEnd, by: 2 * distance)
        return Array(below) + Array(above) + (known.below < count ? [count - 1] : [])
    }

    /// The places to try next; empty when the search is over.
    var wanted: [Int] {
        let missing = scan.filter { answers[$0] == nil }
        guard missing.isEmpty else { return missing }
        let halves = changes.filter { $0.high - $0.low > 1 }.map { ($0.low + $0.high) / 2 }
        guard halves.isEmpty else { return halves }
        guard answers.count < RowSearch.most else { return [] }
        var beside: [Int] = []
        for change in changes {
            let places =
                change.isFall
                ? change.high...change.high + RowSearch.margin : change.low - RowSearch.margin...change.low
            for place in places where (0..<count).contains(place) && answers[place] == nil && !beside.contains(place) {
                beside.append(place)
            }
        }
        return beside.sorted()
    }

    /// The last place of the yeses that the row begins with; nil if it begins with a no.
    var lastOfFirst: Int? {
        let last = seen.prefix { $0.answer }.last?.place
        return last.flatMap { $0 < 0 ? nil : $0 }
    }

    /// The last place with a yes.
    var last: Int? { tried.last { $0.answer }?.place }

    /// The last place of each run of yeses.
    var lasts: [Int] {
        let all = seen
        return all.indices.filter { all[$0].answer && ($0 + 1 == all.count || !all[$0 + 1].answer) }
            .map { all[$0].place }.filter { (0..<count).contains($0) }
    }

    /// Whether no yes follows a no among the tried settings.
    var isFalling: Bool { !zip(tried, tried.dropFirst()).contains { !$0.answer && $1.answer } }
    /// Whether no no follows a yes among the tried settings.
    var isRising: Bool { !zip(tried, tried.dropFirst()).contains { $0.answer && !$1.answer } }

    /// The runs of equal answers among the tried places.
    var stretches: [(places: ClosedRange<Int>, answer: Bool)] { RowSearch.stretches(of: tried) }

    /// The runs of equal answers beside one another.
    static func stretches(of tried: [(place: Int, answer: Bool)]) -> [(places: ClosedRange<Int>, answer: Bool)] {
        var all: [(ClosedRange<Int>, Bool)] = []
        for (place, answer) in tried {
            if let last = all.last, last.1 == answer {
                all[all.count - 1] = (last.0.lowerBound...place, answer)
            } else {
                all.append((place...place, answer))
            }
        }
        return all
    }
}
