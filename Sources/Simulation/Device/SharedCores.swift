import Lifecycle
import Plan
import Quantities

/// Cores that serve by class, and divide their time equally among the work of one class.
///
/// Classes are strict: work gets what all more urgent classes leave. The more urgent class has the faster cores. Within
/// a class of `n` pieces, `min(n, cores left)` cores go round fast enough for each piece to get the same share; a piece
/// never has more than one core. Work in the background keeps to the efficiency cores where there are some, even while
/// a fast core is idle. A more urgent class preempts at once.
///
/// Nothing happens between events: shares change only when work comes, goes or changes its class, and the owner of the
/// cores comes back at `nextDone` at the latest. A piece is done at the first whole microsecond at which it has
/// had all its time; it keeps its share until then.
///
/// The arithmetic is exact. Work is counted in units of 1/(1,000,000 L) microseconds of a fast core. L, the fineness of
/// `CoreTime`, is divisible by every `n` up to 40, and speeds are whole parts per million. The share of
/// each of up to 40 pieces of a class is therefore a whole number of units per microsecond, and what the piece has had
/// after whole microseconds is a whole number of units. With more pieces in one class a share is rounded down by less
/// than one unit per microsecond, 2 x 10^-22 of a core; a piece may then be done one microsecond late. The largest
/// number is the longest work in units: 128 bits hold work of a thousand years.
struct SharedCores<Tag> {
    /// A piece of work that is over: done or withdrawn.
    struct Finished {
        let tag: Tag
        /// When it came.
        let since: Instant
        /// For how long it occupied cores, of whatever speed.
        let held: CoreTime
        /// For how long it was kept from a core. Together with `held` it is the time since it came, unless the work was
        /// suspended meanwhile.
        let waited: CoreTime
    }

    private struct Job {
        let tag: Tag
        let since: Instant
        /// Nil while it is suspended.
        var service: ServiceClass?
        /// The work that is left, in units.
        var rest: Int128
        var held = CoreTime.zero
        var waited = CoreTime.zero

        var finished: Finished { Finished(tag: tag, since: since, held: held, waited: waited) }
    }

    /// What the pieces of a class get at present.
    private struct Share {
        var count = 0
        /// The cores that they have between them.
        var cores = 0
        /// Units per microsecond for each piece.
        var rate: Int128 = 0
    }

    private static var fineness: Int64 { CoreTime.fineness }
    private static var unitsPerMicrosecond: Int128 { Int128(fineness) * 1_000_000 }
    /// Work longer than this counts as this long; about 900 years.
    private static var longest: Int64 { 30_000_000_000_000_000 }

    /// The sum of the speeds of the first so many cores, the fastest first, in parts per million.
    private let speeds: [Int64]
    /// The first core for background work.
    private let firstSlow: Int
    /// Whether a piece is kept from a core; as of the last division.
    private var isAnyKept = false
    private var jobs: [Job] = []
    private var shares = [Share](repeating: Share(), count: ServiceClass.allCases.count)
    /// Whether `shares` are those of the present work.
    private var isCurrent = true
    /// When the next piece is done; meaningless unless `isPlanned`.
    private var planned: Instant?
    private var isPlanned = true
    private(set) var at = Instant.zero
    private var accounts = CoreAccounts()

    /// - Parameter clusters: The fastest first; at least one core in all. Work in the background keeps to all but the
    ///   first cluster, if there are others.
    init(_ clusters: [CoreLayout.Cluster]) {
        var sums: [Int64] = [0]
        for cluster in clusters {
            precondition(cluster.speed > .zero && cluster.speed <= .one, "a core has a speed of \(cluster.speed)")
            for _ in 0..<cluster.count { sums.append((sums.last ?? 0) + cluster.speed.partsPerMillion) }
        }
        precondition(sums.count > 1, "a device needs a core")
        speeds = sums
        firstSlow = clusters.count > 1 ? clusters[0].count : 0
    }

    var count: Int { speeds.count - 1 }

    var isIdle: Bool { jobs.isEmpty }

    /// All work with its class, in the order in which it came.
    var pieces: [(tag: Tag, service: ServiceClass?)] { jobs.map { ($0.tag, $0.service) } }

    /// Whether a piece is kept from a core at present.
    var keepsWaiting: Bool {
        mutating get {
            share()
            return isAnyKept
        }
    }

    // MARK: Work comes, goes and changes its class

    /// Adds work of this length on a fast core. Without a class it is suspended.
    mutating func begin(_ tag: Tag, lasting span: TimeSpan, as service: ServiceClass?, at now: Instant) {
        advance(to: now)
        let span = min(max(0, span.microseconds), Self.longest)
        jobs.append(Job(tag: tag, since: now, service: service, rest: Int128(span) * Self.unitsPerMicrosecond))
        workHasChanged()
    }

    /// Withdraws work.
    ///
    /// - Returns: The withdrawn work, in the order in which it came.
    mutating func withdraw(at now: Instant, where isWithdrawn: (Tag) -> Bool) -> [Finished] {
        guard jobs.contains(where: { isWithdrawn($0.tag) }) else { return [] }
        advance(to: now)
        let withdrawn = jobs.filter { isWithdrawn($0.tag) }.map(\.finished)
        jobs.removeAll { isWithdrawn($0.tag) }
        workHasChanged()
        return withdrawn
    }

    /// Gives all work the class that it has now; nil suspends it.
    mutating func classify(at now: Instant, as service: (Tag) -> ServiceClass?) {
        var hasChanged = false
        for index in jobs.indices {
            let fresh = service(jobs[index].tag)
            guard fresh != jobs[index].service else { continue }
            if !hasChanged { advance(to: now) }
            jobs[index].service = fresh
            hasChanged = true
        }
        if hasChanged { workHasChanged() }
    }

    // MARK: Time passes

    /// The time of each class up to this instant, which may not lie beyond `nextDone`.
    mutating func accounts(at now: Instant) -> CoreAccounts {
        advance(to: now)
        return accounts
    }

    /// How long the first such piece has been kept from a core so far; nil: there is none.
    mutating func waited(at now: Instant, where isMeant: (Tag) -> Bool) -> CoreTime? {
        advance(to: now)
        return jobs.first { isMeant($0.tag) }?.waited
    }

    /// When the next piece is done if nothing else happens; nil: none ever is.
    mutating func nextDone() -> Instant? {
        if !isPlanned {
            planned = plan()
            isPlanned = true
        }
        return planned
    }

    private mutating func plan() -> Instant? {
        share()
        var next: Int128?
        for job in jobs {
            guard job.rest > 0 else { return at }
            guard let service = job.service else { continue }
            let rate = shares[service.rawValue].rate
            guard rate > 0 else { continue }
            let wait = (job.rest + rate - 1) / rate
            next = min(next ?? wait, wait)
        }
        return next.map { at + TimeSpan(microseconds: Int64(clamping: $0)) }
    }

    /// Moves to this instant, which may not lie beyond `nextDone`, and takes out the work that is done, in the order in
    /// which it came.
    mutating func finish(at now: Instant) -> [Finished] {
        advance(to: now)
        var done: [Finished] = []
        for job in jobs where job.rest <= 0 { done.append(job.finished) }
        guard !done.isEmpty else { return done }
        jobs.removeAll { $0.rest <= 0 }
        workHasChanged()
        return done
    }

    private mutating func advance(to now: Instant) {
        share()
        let span = (now - at).microseconds
        precondition(span >= 0, "the cores are asked about \(now.microseconds), which is past")
        guard span > 0 else { return }
        at = now
        for index in jobs.indices {
            guard let service = jobs[index].service else { continue }
            let share = shares[service.rawValue]
            jobs[index].rest -= share.rate * Int128(span)
            let held = Int128(share.cores) * Int128(Self.fineness / Int64(share.count)) * Int128(span)
            jobs[index].held.add(parts: held)
            jobs[index].waited.add(parts: Int128(Self.fineness) * Int128(span) - held)
        }
        for index in shares.indices where shares[index].count > 0 {
            let share = shares[index]
            accounts.given[index] += TimeSpan(microseconds: Int64(share.cores) * span)
            accounts.waited[index] += TimeSpan(microseconds: Int64(share.count - share.cores) * span)
        }
    }

    /// Work has come, gone or changed its class.
    private mutating func workHasChanged() {
        isCurrent = false
        isPlanned = false
    }

    /// Divides the cores anew if work has come, gone or changed its class.
    private mutating func share() {
        guard !isCurrent else { return }
        isCurrent = true
        for index in shares.indices { shares[index] = Share() }
        for job in jobs { if let service = job.service { shares[service.rawValue].count += 1 } }
        isAnyKept = false
        var taken = 0
        for service in ServiceClass.allCases {
            let wanted = shares[service.rawValue].count
            guard wanted > 0 else { continue }
            let first = service == .background ? max(taken, firstSlow) : taken
            let cores = min(wanted, count - first)
            let speed = speeds[first + cores] - speeds[first]
            shares[service.rawValue].cores = cores
            if cores < wanted { isAnyKept = true }
            shares[service.rawValue].rate = Int128(speed) * Int128(Self.fineness) / Int128(wanted)
            taken = first + cores
        }
    }
}
