/// A search for a change that saves a process. It asks for trials, and learns from them what to try next.
protocol Quest {
    /// The changes to try next; none when the search is over.
    var wanted: [Change] { get }
    /// Takes the outcome of the wanted changes, in their order.
    mutating func learn(_ outcomes: [Outcome])
    /// The changes that save the process.
    var found: [Change] { get }
    /// The most changes that it may still try, those that it wants now included.
    var left: Int { get }
    /// Whether every change that saves the process is found, so that its run will be needed to its end.
    var findsAll: Bool { get }
    /// What was tried in vain, for people; nil if something was found.
    var failure: String? { get }
}

/// What the trial of a change says.
struct Outcome {
    let isSaved: Bool
    /// Whether the whole run with the change loses nothing.
    let isFree: Bool
}

/// Tries each of a few changes once.
struct Attempts: Quest {
    private(set) var wanted: [Change]
    private(set) var found: [Change] = []
    private(set) var failure: String?

    init(_ changes: [Change]) { wanted = changes }

    var left: Int { wanted.count }
    var findsAll: Bool { true }

    mutating func learn(_ outcomes: [Outcome]) {
        let tried = zip(wanted, outcomes)
        found = tried.filter(\.1.isSaved).map(\.0)
        let failed = tried.filter { !$0.1.isSaved }.map(\.0)
        failure = failed.isEmpty ? nil : failed.map(\.brief).joined(separator: "; ")
        wanted = []
    }
}

/// Tries changes of the policy's numbers in their order, a few at a time, until one costs nothing or a few of them save
/// the process.
struct NumberQuest: Quest {
    /// The number of changes tried at a time. It is constant, because the advice depends on it and must not depend on
    /// the host.
    private static let atOnce = 4
    /// The search ends when this number of changes save the process.
    private static let compared = 3
    /// The most changes that are tried.
    private static let most = 12

    private var rest: ArraySlice<Change>
    private let title: String?
    private(set) var found: [Change] = []
    private var isOver = false

    /// - Parameter title: The policy's; nil if it has no numbers.
    init(_ changes: [Change], of title: String?) {
        rest = changes.prefix(NumberQuest.most)
        self.title = title
    }

    var wanted: [Change] { isOver ? [] : Array(rest.prefix(NumberQuest.atOnce)) }

    var left: Int { isOver ? 0 : rest.count }
    var findsAll: Bool { true }

    mutating func learn(_ outcomes: [Outcome]) {
        let saving = zip(rest, outcomes).filter(\.1.isSaved)
        found += saving.map(\.0)
        rest = rest.dropFirst(outcomes.count)
        isOver = saving.contains { $0.1.isFree } || found.count >= NumberQuest.compared
    }

    var failure: String? { found.isEmpty ? title.map { "the numbers of \($0)" } : nil }
}

/// Looks for the smallest change of a size that saves a process.
///
/// Sizes lie on even steps away from the present one. The search tries a few steps, then closes in on the first one
/// that saves the process. A larger change may fail again; such sizes are reported.
struct SizeQuest: Quest {
    private let first: [Int]
    private let change: (Int) -> Change
    private let value: (Int) -> String
    private let range: String
    private var outcomes: [Int: Bool] = [:]

    /// - Parameters:
    ///   - range: The size and the direction, for people: `device.ceiling up to`.
    ///   - last: The largest step, at least 1.
    ///   - value: The size after a number of steps, as text.
    ///   - change: The change after a number of steps.
    init(_ range: String, last: Int, value: @escaping (Int) -> String, change: @escaping (Int) -> Change) {
        self.range = range
        first = [last / 24, last / 6].filter { $0 > 0 } + [last]
        (self.value, self.change) = (value, change)
    }

    private var best: Int? { outcomes.filter(\.value).keys.min() }

    /// The largest tried step below the best one; 0 is the present size.
    private func below(_ best: Int) -> Int { outcomes.keys.filter { $0 < best }.max() ?? 0 }

    private var steps: [Int] {
        guard !outcomes.isEmpty else { return first }
        guard let best else { return [] }
        let low = below(best)
        let third = (best - low) / 3
        let inner = Set([low + max(1, third), best - max(1, third)]).filter { $0 > low && $0 < best }
        return inner.sorted()
    }

    var wanted: [Change] { steps.map(change) }

    var findsAll: Bool { false }

    var left: Int {
        guard !outcomes.isEmpty else {
            let gaps = zip(first, [0] + first).map { $0 - $1 }
            return first.count + (gaps.map(SizeQuest.most).max() ?? 0)
        }
        return best.map { SizeQuest.most(within: $0 - below($0)) } ?? 0
    }

    /// The most steps that are tried to close a gap between a step that fails and one that saves.
    private static func most(within gap: Int) -> Int {
        guard gap > 1 else { return 0 }
        let third = max(1, gap / 3)
        return (gap == 2 ? 1 : 2) + max(most(within: third), most(within: gap - 2 * third))
    }

    mutating func learn(_ found: [Outcome]) {
        for (step, outcome) in zip(steps, found) { outcomes[step] = outcome.isSaved }
    }

    var found: [Change] {
        guard let best else { return [] }
        var found = change(best)
        let low = below(best)
        var remarks = low == 0 ? [] : ["with \(value(low)) it still ends"]
        let failing = outcomes.filter { $0.key > best && !$0.value }.keys.sorted()
        if !failing.isEmpty { remarks.append("with \(failing.map(value).joined(separator: ", ")) it ends again") }
        found.remark = remarks.joined(separator: "; ")
        return [found]
    }

    var failure: String? {
        guard best == nil, let last = first.last else { return nil }
        return "\(range) \(value(last))"
    }
}
