import Lifecycle
import Metrics
import Quantities
import Scenario
import Simulation

/// The price of a change: what is lost in the run with the change, but not in the run without it. Both runs are whole.
///
/// The user's taps come at the same instants in both runs. Two ends of one app are therefore the same loss if they lie
/// between the same two taps on it: the user finds the app gone in both runs. But if only the end with the change is in
/// the foreground, this is an additional loss, because the user sees it.
struct AdvicePrice {
    /// The losses, worst first.
    let losses: [Loss]
    /// The ends that only the run without the change has, in the order of time, except the end that the advice is
    /// about.
    let spared: [RunTally.TerminationFact]
    /// Whether the change avoids the end that the advice is about, and no other end replaces it before the next tap on
    /// the app or within `Explainer.survival` after it.
    let isSaved: Bool
    let without: RunHarm
    let with: RunHarm

    /// The shortest extra wait or launch delay that counts: a tenth of a second is the usual limit for an answer that
    /// seems immediate (Miller 1968; Nielsen, Usability Engineering, 1993, chapter 5).
    static let noticed = TimeSpan.milliseconds(100)

    /// An end counts as sooner if it comes earlier than without the change by at least this time.
    static let sooner = TimeSpan.seconds(1)

    /// One loss of one process through the change.
    struct Loss: Hashable {
        let app: String
        let at: Instant
        let kind: Kind
    }

    struct LaunchTime: Hashable, Sendable {
        let kind: LaunchKind
        let latency: TimeSpan

        init(_ kind: LaunchKind, _ latency: TimeSpan) {
            self.kind = kind
            self.latency = latency
        }
    }

    enum Kind: Hashable {
        case endsInForeground
        /// The user wants the app again after this time; nil if no later launch of it is on record.
        case endsPerceived(wantedAfter: TimeSpan?)
        /// The first frame never comes.
        case losesLaunch
        /// `than` is the launch without the change. It is nil if there is none, because the app is still in front then.
        case launchesSlower(LaunchTime, than: LaunchTime?)
        case waits(TimeSpan, than: TimeSpan, isForeground: Bool)
        case ends
        /// Without the change the process also ends before the next tap, but this much later.
        case endsSooner(by: TimeSpan)

        /// How much sooner the process ends, if that is the only loss.
        var lead: TimeSpan? {
            guard case .endsSooner(let span) = self else { return nil }
            return span
        }

        /// The weight of the loss among others of its rank: a delay or a wait counts the tenths of a second that it
        /// adds, every other loss counts 1.
        fileprivate var weight: Int64 {
            switch self {
            case .launchesSlower(let time, let before):
                (time.latency - (before?.latency ?? .zero)).microseconds / 100_000
            case .waits(let time, let before, _): (time - before).microseconds / 100_000
            case .endsInForeground, .endsPerceived, .losesLaunch, .ends, .endsSooner: 1
            }
        }

        /// The severity of the loss; the worst has the smallest rank.
        var rank: Int {
            switch self {
            case .endsInForeground: 0
            case .losesLaunch: 1
            case .endsPerceived: 2
            case .launchesSlower: 3
            case .waits(_, _, isForeground: true): 4
            case .ends: 5
            case .waits(_, _, isForeground: false): 6
            case .endsSooner: 7
            }
        }
    }

    /// The losses in figures, the worst kind first. The first figure that differs decides which price is higher.
    var toll: Toll { Toll(losses) }

    /// A price to compare with another one.
    struct Toll: Comparable {
        /// Ends in the foreground, launches without a first frame, and perceived ends; then, in tenths of a second, the
        /// delay of launches and the waits in the foreground; then other ends; then waits off screen; then ends that
        /// only come sooner.
        private let figures: [Int64]

        init(_ losses: [Loss]) {
            var figures = [Int64](repeating: 0, count: 8)
            for loss in losses { figures[loss.kind.rank] += loss.kind.weight }
            self.figures = figures
        }

        static func < (a: Toll, b: Toll) -> Bool { a.figures.lexicographicallyPrecedes(b.figures) }
    }

    var isWorse: Bool { with > without }

    /// Whether the change saves the process, the run is no worse, and nothing is lost but the time by which other ends
    /// come sooner.
    var isFree: Bool { isFair && losses.allSatisfy { $0.kind.lead != nil } }

    /// Whether the change saves the process and the run is no worse.
    var isFair: Bool { isSaved && !isWorse }

    /// - Parameters:
    ///   - victim: The process that the advice is about.
    ///   - without: The whole original run.
    ///   - with: The whole run with the change.
    init(saving victim: ProcessID, without: RunCourse, with: RunCourse) {
        let ends = EndComparison(without, with)
        let launches = AdvicePrice.launches(without, with, ends: ends.losses)
        let found = ends.losses + launches + AdvicePrice.waits(without, with)
        losses = found.enumerated().sorted {
            ($0.element.kind.rank, $0.element.at, $0.element.app, $0.offset)
                < ($1.element.kind.rank, $1.element.at, $1.element.app, $1.offset)
        }.map(\.element)
        spared = ends.spared.filter { $0.pid != victim }
        let end = without.tally.terminations.first { $0.pid == victim }
        isSaved =
            end.map { end in
                ends.spared.contains { $0.pid == victim } && AdvicePrice.isServed(end, taps: without, with)
            } ?? true
        self.without = without.harm
        self.with = with.harm
    }

    /// Whether the user finds the app at the next tap on it, and it does not vanish at once.
    private static func isServed(_ end: RunTally.TerminationFact, taps: RunCourse, _ with: RunCourse) -> Bool {
        guard let tap = taps.taps(on: end.app).first(where: { $0 >= end.at }) else { return true }
        return !with.tally.terminations.contains {
            $0.app == end.app && $0.at >= tap && $0.at <= tap + Explainer.survival
        }
    }

    // MARK: Launches

    private static func launches(_ without: RunCourse, _ with: RunCourse, ends: [Loss]) -> [Loss] {
        var before = without.tally.launches.enumerated().sorted {
            ($0.element.tapped, $0.element.app, $0.offset) < ($1.element.tapped, $1.element.app, $1.offset)
        }.map(\.element)[...]
        let after = with.tally.launches.enumerated().sorted {
            ($0.element.tapped, $0.element.app, $0.offset) < ($1.element.tapped, $1.element.app, $1.offset)
        }.map(\.element)
        return after.compactMap { launch in
            before = before.drop { ($0.tapped, $0.app) < (launch.tapped, launch.app) }
            var same = before.first
            if same?.tapped != launch.tapped || same?.app != launch.app { same = nil }
            if same != nil { before = before.dropFirst() }
            guard let kind = kind(of: launch, without: same) else { return nil }
            // The loss for the end already covers this launch.
            let isSaid = ends.contains { end in
                guard case .endsPerceived(let after?) = end.kind else { return false }
                return end.app == launch.app && end.at + after == launch.tapped && launch.latency != nil
            }
            return isSaid ? nil : Loss(app: launch.app, at: launch.tapped, kind: kind)
        }
    }

    private static func kind(of launch: RunTally.LaunchFact, without: RunTally.LaunchFact?) -> Kind? {
        guard let without else {
            guard let latency = launch.latency else { return .losesLaunch }
            return .launchesSlower(LaunchTime(launch.kind, latency), than: nil)
        }
        guard let before = without.latency else { return nil }
        guard let latency = launch.latency else { return .losesLaunch }
        guard latency - before >= noticed else { return nil }
        return .launchesSlower(LaunchTime(launch.kind, latency), than: LaunchTime(without.kind, before))
    }

    // MARK: Waits

    private static func waits(_ without: RunCourse, _ with: RunCourse) -> [Loss] {
        let (before, after) = (without.waitsOutsideLaunches, with.waitsOutsideLaunches)
        var losses: [Loss] = []
        for app in Set(after.map(\.app)).sorted() {
            for isForeground in [true, false] {
                func whole(_ waits: [MemoryWait]) -> (first: Instant?, length: TimeSpan) {
                    let own = waits.filter { $0.app == app && $0.wasForeground == isForeground }
                    return (own.map(\.since).min(), own.reduce(.zero) { $0 + ($1.until - $1.since) })
                }
                let (now, then) = (whole(after), whole(before).length)
                guard let first = now.first, now.length - then >= noticed else { continue }
                losses.append(
                    Loss(app: app, at: first, kind: .waits(now.length, than: then, isForeground: isForeground)))
            }
        }
        return losses
    }
}

/// The matched ends of two runs.
private struct EndComparison {
    private(set) var losses: [AdvicePrice.Loss] = []
    /// The ends that only the first run has, in the order of time.
    private(set) var spared: [RunTally.TerminationFact] = []

    private typealias End = RunTally.TerminationFact

    init(_ without: RunCourse, _ with: RunCourse) {
        let names = Set(without.tally.terminations.map(\.app) + with.tally.terminations.map(\.app)).sorted()
        for app in names {
            let (now, then) = (with.taps(on: app), without.taps(on: app))
            let taps = (now + then).sorted()
            // The number of taps before the end. Ends with the same number lie between the same two taps.
            func place(_ end: End) -> Int { taps.partitionPoint { $0 > end.at } }
            var left = without.tally.terminations.filter { $0.app == app }
            var more = with.tally.terminations.filter { $0.app == app }
            match(&left, &more) { $0.at == $1.at && $0.wasForeground == $1.wasForeground }
            match(&left, &more) { place($0) == place($1) && $0.wasForeground == $1.wasForeground }
            match(&left, &more) { place($0) == place($1) }
            spared += left
            losses += more.map { EndComparison.loss(of: $0, taps: now) }
        }
        spared = spared.enumerated().sorted {
            ($0.element.at, $0.element.app, $0.offset) < ($1.element.at, $1.element.app, $1.offset)
        }.map(\.element)
    }

    /// Removes pairs of ends that are the same loss. If the second end of a pair is worse, adds the difference as a
    /// loss.
    private mutating func match(_ left: inout [End], _ more: inout [End], _ isSame: (End, End) -> Bool) {
        var rest: [End] = []
        for end in more {
            guard let index = left.firstIndex(where: { isSame($0, end) }) else {
                rest.append(end)
                continue
            }
            let before = left.remove(at: index)
            if end.wasForeground && !before.wasForeground {
                losses.append(.init(app: end.app, at: end.at, kind: .endsInForeground))
            } else if !end.wasForeground && before.at - end.at >= AdvicePrice.sooner {
                losses.append(.init(app: end.app, at: end.at, kind: .endsSooner(by: before.at - end.at)))
            }
        }
        more = rest
    }

    private static func loss(of end: End, taps: [Instant]) -> AdvicePrice.Loss {
        func kind() -> AdvicePrice.Kind {
            if end.wasForeground { return .endsInForeground }
            guard end.wasPerceived else { return .ends }
            return .endsPerceived(wantedAfter: taps.first { $0 >= end.at }.map { $0 - end.at })
        }
        return .init(app: end.app, at: end.at, kind: kind())
    }
}
