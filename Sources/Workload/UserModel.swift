import Quantities

/// A modelled user of a phone, decided by a seed: sessions, the apps in them, and the hours of the day.
///
/// Sources: LSApp (Aliannejadi et al., ACM TOIS 2021) for the length of sessions (median 1:46, mean 5:26, standard
/// deviation 9:29), distinct apps (median 2, mean 2.18), switches (median 2, mean 5.46, sd 11.2) and sessions per day
/// (17.4; a session ends after 5 min of silence); operator traffic of 2,000 users for popularity (top 1 37 %, top 5
/// 70 %, top 10 86 %) and for day and night (peaks at 11 to 12 h and 18 h, 13.3 times the trough at 4 h). The tables
/// below are fitted to these figures; their shape between the figures is an assumption.
public enum UserModel: String, CaseIterable, Sendable {
    /// Whole days, with night and rush hours; a run begins at midnight.
    case everyday
    /// Commuting: one session after the other, some minutes apart.
    case commuter
}

/// One thing that the user does. Apps are named by their rank, the most popular first.
public struct UserDeed: Hashable, Sendable {
    /// What the user does.
    public enum Kind: Hashable, Sendable {
        /// The first app of a session.
        case open(rank: Int)
        /// A further app of the session, or a return to an earlier one.
        case change(rank: Int)
        /// The user puts the phone away.
        case putAway
    }

    /// When the user does it.
    public var at: Instant
    /// What the user does.
    public var kind: Kind
}

extension UserModel {
    /// What the user does from an instant on, in order. A session that would continue after the end is cut there.
    ///
    /// - Parameters:
    ///   - apps: How many apps there are; the first is the most popular.
    ///   - stream: The name of the random stream; two users of one scenario need different ones.
    public func deeds(from start: Instant, until end: Instant, apps: Int, seed: UInt64, stream: String) -> [UserDeed] {
        precondition(apps > 0, "a person without apps has nothing to do")
        var person = Person(apps: apps, generator: SeededGenerator(seed: seed, stream: stream))
        var deeds: [UserDeed] = []
        var now = start
        while now < end {
            switch self {
            case .everyday: now = person.waitForSession(from: now)
            case .commuter: break
            }
            guard now < end else { break }
            now = person.session(from: now, until: end, into: &deeds) + UserModel.silence
            if self == .commuter { now = now + .seconds(Int64(person.generator.below(300))) }
        }
        return deeds
    }

    /// A session is over after this much silence (LSApp).
    public static let silence: TimeSpan = .minutes(5)
}

/// The draws of one user.
private struct Person {
    var generator: SeededGenerator
    /// By rank: an app's weight when one is chosen.
    let weights: [UInt64]

    init(apps: Int, generator: SeededGenerator) {
        self.generator = generator
        weights = (1...apps).map { rank in
            UInt64(exponential(-1.5 * naturalLogarithm(Double(rank) - 0.3)) * 1_000_000)
        }
    }

    /// Waits minute by minute; each begins a session with the probability of its hour.
    mutating func waitForSession(from now: Instant) -> Instant {
        var at = now
        while true {
            let minute = (at - Instant.zero).microseconds / TimeSpan.minutes(1).microseconds
            let hour = Int(minute / 60 % 24)
            if generator.chance(Ratio(partsPerMillion: Habits.startsPerMinute[hour])) {
                return at + TimeSpan(microseconds: Int64(generator.below(60_000_000)))
            }
            at = at + .minutes(1)
        }
    }

    /// Plays one session; returns its end.
    mutating func session(from start: Instant, until limit: Instant, into deeds: inout [UserDeed]) -> Instant {
        let rank = Int(generator.below(1_000_000))
        let length = Habits.length.value(at: rank)
        // Long sessions have more switches, but not always.
        let other = generator.chance(.percent(60)) ? rank : Int(generator.below(1_000_000))
        let wanted = min(Habits.switches.value(at: other) / 10, length - 1)
        let chosen = choose(wanted == 0 ? 1 : min(distinctApps(), wanted + 1))
        // With a single app on the phone there is nothing to switch to.
        let switches = chosen.count > 1 ? wanted : 0
        var times = (0..<switches).map { _ in Int64(generator.below(UInt64(length) * 1_000_000)) }
        times.sort()
        let end = min(start + .seconds(Int64(length)), limit)
        deeds.append(UserDeed(at: start, kind: .open(rank: chosen[0])))
        var current = 0
        for (index, time) in times.enumerated() {
            // Every chosen app has its turn first.
            current = index + 1 < chosen.count ? index + 1 : another(than: current, among: chosen.count)
            let at = start + TimeSpan(microseconds: time)
            if at < end { deeds.append(UserDeed(at: at, kind: .change(rank: chosen[current]))) }
        }
        deeds.append(UserDeed(at: end, kind: .putAway))
        return end
    }

    private mutating func distinctApps() -> Int {
        switch generator.below(100) {
        case 0..<44: 2
        case 44..<79: 3
        case 79..<94: 4
        default: 5
        }
    }

    private mutating func another(than current: Int, among count: Int) -> Int {
        let index = generator.number(in: 0...count - 2)
        return index < current ? index : index + 1
    }

    /// Chooses this many different apps, the popular ones more often.
    private mutating func choose(_ count: Int) -> [Int] {
        var left = weights
        var chosen: [Int] = []
        for _ in 0..<min(count, weights.count) {
            var ticket = generator.below(max(1, left.reduce(0, +)))
            var index = 0
            while index < left.count - 1, left[index] == 0 || ticket >= left[index] {
                ticket -= left[index]
                index += 1
            }
            left[index] = 0
            chosen.append(index)
        }
        return chosen
    }
}

/// The user's figures, fitted to the sources named above.
private enum Habits {
    /// A session's length in seconds: log-normal with a median of 106 s, cut at 2,900 s so that mean and deviation fit.
    static let length = QuantileTable([
        (0, 3), (25, 4), (50, 7), (100, 13), (150, 20), (200, 27), (250, 36), (300, 45), (350, 57), (400, 70),
        (450, 86), (500, 106), (550, 130), (600, 160), (650, 198), (700, 248), (750, 316), (800, 414), (850, 568),
        (900, 845), (925, 1_092), (950, 1_522), (970, 2_231), (980, 2_900), (1_000, 2_900),
    ])

    /// The number of switches in tenths, rounded down: none in 27 % of the sessions, at most two in 55 %, a heavy
    /// tail.
    static let switches = QuantileTable([
        (0, 0), (270, 10), (430, 20), (550, 30), (620, 41), (700, 52), (770, 68), (830, 90), (880, 118), (920, 162),
        (950, 217), (970, 294), (985, 459), (993, 679), (997, 932), (1_000, 1_207),
    ])

    /// For each hour, the probability that a session begins in a minute in which the phone is idle, in parts per
    /// million.
    static let startsPerMinute: [Int64] = [
        6_344, 3_383, 2_124, 1_661, 1_507, 2_280, 5_503, 10_780, 15_639, 18_784, 22_121, 25_181, 25_181, 20_986, 18_784,
        18_784, 19_874, 23_278, 25_181, 22_121, 19_874, 17_715, 13_641, 9_861,
    ]
}

/// A distribution by its quantiles: (permille, value), linear in between.
private struct QuantileTable {
    private let points: [(permille: Int, value: Int)]

    init(_ points: [(Int, Int)]) {
        self.points = points.map { (permille: $0.0, value: $0.1) }
    }

    /// - Parameter rank: In parts per million.
    func value(at rank: Int) -> Int {
        for (low, high) in zip(points, points.dropFirst()) where rank < high.permille * 1_000 {
            let width = (high.permille - low.permille) * 1_000
            return low.value + (high.value - low.value) * (rank - low.permille * 1_000) / width
        }
        return points[points.count - 1].value
    }
}
