import Experiments
import Quantities

/// One setting under the seeds of a question: runs until the question about it is answered.
///
/// The seeds are fixed beforehand. Whether the app lives in at least a given share of them is certain as soon as the
/// remaining seeds cannot change it (curtailed sampling; Anscombe, "Sequential estimation", Journal of the Royal
/// Statistical Society B 15 (1953)). So the answer is the one that all runs would give, and needs no correction. Only a
/// setting with all of its runs has an interval.
struct Trial: Hashable, Sendable {
    enum Goal: Hashable, Sendable {
        /// Every seed, each run to its end.
        case whole
        /// Every seed, each run until the app's first end.
        case all
        /// Whether the app lives in at least this share of the runs that have a process of it.
        case decide(Ratio)
    }

    private(set) var goal: Goal
    /// Positions of seeds, in the order in which they run.
    private let order: [Int]
    /// The outcomes so far, in that order.
    private(set) var outcomes: [Bool?] = []

    init(_ goal: Goal, order: [Int]) { (self.goal, self.order) = (goal, order) }

    /// The fewest further seeds that can answer the question; empty if it is answered.
    ///
    /// As no fewer runs can answer it, none of them is made in vain, and the number does not depend on how many runs
    /// the host makes at once.
    var wanted: ArraySlice<Int> {
        let left = order[outcomes.count...]
        guard case .decide(let share) = goal else { return left }
        guard verdict(of: share) == nil else { return [] }
        let (lived, ended) = counts
        let fewest = (1...max(1, left.count)).first { more in
            decided(share, lived: lived + more, ended: ended, left: left.count - more) != nil
                || decided(share, lived: lived, ended: ended + more, left: left.count - more) != nil
        }
        return left.prefix(fewest ?? left.count)
    }

    var isWhole: Bool { goal == .whole }
    /// Whether all seeds have run.
    var isComplete: Bool { outcomes.count == order.count }

    mutating func learn(_ outcomes: [Bool?]) { self.outcomes += outcomes }

    /// Asks for all seeds from now on.
    mutating func complete() { if !isWhole { goal = .all } }

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

    /// Whether the app lives in at least this share of all runs; nil while that is open. False without any run that has
    /// a process of the app.
    func verdict(of share: Ratio) -> Bool? {
        let (lived, ended) = counts
        return decided(share, lived: lived, ended: ended, left: order.count - outcomes.count)
    }

    /// A run without a process of the app changes nothing, so the worst case is that all others end the app, and the
    /// best case that it lives in all.
    private func decided(_ share: Ratio, lived: Int, ended: Int, left: Int) -> Bool? {
        let parts = share.partsPerMillion
        if Proportion(lived, of: lived + ended + left).isAtLeast(partsPerMillion: parts), lived > 0 { return true }
        if !Proportion(lived + left, of: lived + ended + left).isAtLeast(partsPerMillion: parts) { return false }
        return left == 0 ? false : nil
    }
}

/// Looks for the places of a row of settings where a yes becomes a no, or a no a yes.
///
/// The answer along the row need not be monotone. So the search first tries settings at equal distances over the whole
/// row. Between neighbours with different answers it bisects, and it also tries the settings next to each change. A
/// change back within one distance of the scan can remain unseen.
struct RowSearch: Hashable, Sendable {
    /// The number of settings in the row.
    let count: Int
    /// The distance of the scan.
    let distance: Int
    private(set) var answers: [Int: Bool] = [:]

    /// How many settings beside a change are tried, on either side.
    static let margin = 2
    /// After this number of settings only bisections go on.
    static let most = 48

    init(count: Int, distance: Int) {
        precondition(count > 0 && distance > 0, "\(count) settings at a distance of \(distance)")
        (self.count, self.distance) = (count, distance)
    }

    mutating func learn(_ place: Int, _ answer: Bool) { answers[place] = answer }

    /// The places that were tried, in order, with their answers.
    var tried: [(place: Int, answer: Bool)] { answers.keys.sorted().map { ($0, answers[$0] ?? false) } }

    /// The neighbours with different answers.
    private var changes: [(low: Int, high: Int)] {
        zip(tried, tried.dropFirst()).filter { $0.answer != $1.answer }.map { ($0.place, $1.place) }
    }

    /// The places to try next; empty when the search is over.
    var wanted: [Int] {
        let scan = Array(stride(from: 0, to: count - 1, by: distance)) + [count - 1]
        let missing = scan.filter { answers[$0] == nil }
        guard missing.isEmpty else { return missing }
        let halves = changes.filter { $0.high - $0.low > 1 }.map { ($0.low + $0.high) / 2 }
        guard halves.isEmpty else { return halves }
        guard answers.count < RowSearch.most else { return [] }
        var beside: [Int] = []
        for (low, high) in changes {
            for place in low - RowSearch.margin...high + RowSearch.margin
            where (0..<count).contains(place) && answers[place] == nil && !beside.contains(place) {
                beside.append(place)
            }
        }
        return beside.sorted()
    }

    /// The last place of the yeses that the row begins with; nil if it begins with a no.
    var lastOfFirst: Int? {
        let first = tried.prefix { $0.answer }
        return first.last?.place
    }

    /// The last place with a yes.
    var last: Int? { tried.last { $0.answer }?.place }

    /// Whether no yes follows a no among the tried settings.
    var isFalling: Bool { lastOfFirst == last }
    /// Whether no no follows a yes among the tried settings.
    var isRising: Bool { !zip(tried, tried.dropFirst()).contains { $0.answer && !$1.answer } }

    /// The runs of equal answers among the tried places.
    var stretches: [(places: ClosedRange<Int>, answer: Bool)] {
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
