import Quantities

/// A search for a change that saves a process. It asks for trials, and learns from them what to try next.
protocol Quest {
    /// The changes to try next; none when the search is over.
    var wanted: [Change] { get }
    /// Takes the outcome of the wanted changes, in their order.
    mutating func learn(_ outcomes: [Outcome])
    /// The changes that save the process, and those that delay its end.
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
    /// How much later than in the recorded run the process ends, if it is not saved; zero or less if it ends no later.
    var delay = TimeSpan.zero

    /// Whether the change saves nothing but delays the end noticeably.
    var isDelayed: Bool { !isSaved && delay > Explainer.survival }
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
        found = tried.filter { $0.1.isSaved || $0.1.isDelayed }.map(\.0)
        let failed = tried.filter { !$0.1.isSaved && !$0.1.isDelayed }.map(\.0)
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

/// Looks for the smallest change of a size from which on every tried change saves a process.
///
/// Sizes lie on even steps away from the present one. The search tries a few steps over the whole range, closes in on
/// the border above which all tried steps save the process, and then tries a few more steps beyond it: a process may
/// live with one size by chance, and end with others beside it. A step that saves while a larger one fails is named
/// only if there is no such border, as what it is. If no step saves the process for good, the one that delays its end
/// longest is named.
struct SizeQuest: Quest {
    /// The most steps that are tried.
    private static let most = 36
    /// How many more steps beyond the border are tried: those of the beginning lie there, too.
    private static let probes = 2

    private let last: Int
    private let first: [Int]
    private let change: (Int) -> Change
    private let value: (Int) -> String
    private let range: String
    private var outcomes: [Int: Outcome] = [:]
    private var probed: Set<Int> = []

    /// - Parameters:
    ///   - range: The size and the direction, for people: `device.ceiling up to`.
    ///   - last: The largest step, at least 1.
    ///   - value: The size after a number of steps, as text.
    ///   - change: The change after a number of steps.
    init(_ range: String, last: Int, value: @escaping (Int) -> String, change: @escaping (Int) -> Change) {
        self.range = range
        self.last = last
        first = Set([last / 24, last / 6, last / 2, last]).filter { $0 > 0 }.sorted()
        (self.value, self.change) = (value, change)
    }

    /// The largest tried step with which the process ends; 0 is the present size.
    private var low: Int { outcomes.filter { !$0.value.isSaved }.keys.max() ?? 0 }

    /// The smallest tried step from which on all tried steps save the process; nil if the largest fails.
    private var border: Int? {
        let low = low
        return outcomes.keys.filter { $0 > low }.min()
    }

    private var steps: [Int] {
        guard !outcomes.isEmpty else { return first }
        guard let border else { return [] }
        let rest = Self.most - outcomes.count
        guard border - low <= 1 else { return rest > 0 ? [(low + border) / 2] : [] }
        guard !probed.contains(border) else { return [] }
        let gap = last - border
        let inner = (1...Self.probes).map { border + gap * $0 / (Self.probes + 1) }
        // A step beside one that was tried says little more.
        let new = inner.filter { step in !outcomes.keys.contains { abs($0 - step) * 4 * Self.probes <= gap } }
        return Array(Set(new).sorted().prefix(rest))
    }

    var wanted: [Change] { steps.map(change) }

    var findsAll: Bool { false }

    var left: Int { steps.isEmpty ? 0 : min(Self.most, last) - outcomes.count }

    mutating func learn(_ found: [Outcome]) {
        let tried = steps
        if let border, border - low <= 1 { probed.insert(border) }
        for (step, outcome) in zip(tried, found) { outcomes[step] = outcome }
    }

    var found: [Change] {
        let low = low
        if let border {
            var found = change(border)
            found.remark = low == 0 ? "" : "with \(value(low)) it still ends"
            return [found]
        }
        if let lucky = outcomes.filter(\.value.isSaved).keys.min() {
            var found = change(lucky)
            let failing = outcomes.filter { $0.key > lucky && !$0.value.isSaved }.keys.sorted()
            found.remark = "with \(failing.prefix(3).map(value).joined(separator: ", ")) it ends again"
            found.isByChance = true
            return [found]
        }
        // Of equal delays the smallest change.
        let delays = outcomes.filter(\.value.isDelayed).map { (step: $0.key, delay: $0.value.delay) }
        guard let longest = delays.max(by: { ($0.delay, $1.step) < ($1.delay, $0.step) }) else { return [] }
        var found = change(longest.step)
        found.delay = longest.delay
        return [found]
    }

    /// A delay alone is in vain.
    var failure: String? { outcomes.values.contains(where: \.isSaved) ? nil : "\(range) \(value(last))" }
}
