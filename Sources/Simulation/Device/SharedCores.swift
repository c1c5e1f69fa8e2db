import Quantities

/// Cores that serve by class, and divide their time equally among the work of one class.
///
/// Classes are strict: work gets what all more urgent classes leave. The more urgent class has the faster cores. Within
/// a class of `n` pieces, `min(n, cores left)` cores go round fast enough for each piece to get the same share; a piece
/// never has more than one core. Work in the background keeps to the efficiency cores where there are some, even while
/// a fast core is idle. A higher class preempts at once.
///
/// Nothing happens between events: shares change only when work comes, goes or changes its class, and the owner of the
/// cores comes back at `nextDone` at the latest. A piece is done at the first whole microsecond at which it has
/// had all its time; it keeps its share until then.
///
/// The arithmetic is exact. Work is counted in units of 1/(1,000,000 L) microseconds of a fast core. L, the least
/// common multiple of 1 to 40, is divisible by every `n` up to 40, and speeds are whole parts per million. The share of
/// each of up to 40 pieces of a class is therefore a whole number of units per microsecond, and what the piece has had
/// after whole microseconds is a whole number of units. With more pieces in one class a share is rounded down by less
/// than one unit per microsecond, 2 x 10^-22 of a core; a piece may then be done one microsecond late. The largest
/// number is the longest work in units: 128 bits hold work of a thousand years.
struct SharedCores<Tag> {
    /// A piece of work that is done.
    struct Finished {
        let tag: Tag
        /// For how long it occupied cores, of whatever speed.
        let held: TimeSpan
    }

    private struct Job {
        let tag: Tag
        /// Nil while it is suspended.
        var service: ServiceClass?
        /// The work that is left, in units.
        var rest: Int128
        /// The time that it has occupied cores, in 1/L microseconds.
        var held: Int128 = 0
    }

    /// What the pieces of a class get at present.
    private struct Share {
        var count = 0
        /// The cores that they have between them.
        var cores = 0
        /// Units per microsecond for each piece.
        var rate: Int128 = 0
    }

    /// The time of one class so far.
    struct Account: Hashable {
        /// The time that cores have worked for the class, all cores added up.
        var given = TimeSpan.zero
        /// The time that its pieces were kept from a core, all pieces added up.
        var waited = TimeSpan.zero
    }

    /// The least common multiple of 1 to 40.
    private static var fineness: Int64 { 5_342_931_457_063_200 }
    private static var unitsPerMicrosecond: Int128 { Int128(fineness) * 1_000_000 }
    /// Work longer than this counts as this long; about 900 years.
    private static var longest: Int64 { 30_000_000_000_000_000 }

    /// The sum of the speeds of the first so many cores, the fastest first, in parts per million.
    private let speeds: [Int64]
    /// The first core for background work.
    private let firstSlow: Int
    private var jobs: [Job] = []
    private var shares = [Share](repeating: Share(), count: ServiceClass.allCases.count)
    /// Whether `shares` are those of the present work.
    private var isCurrent = true
    /// When the next piece is done; meaningless unless `isPlanned`.
    private var planned: Instant?
    private var isPlanned = true
    private(set) var at = Instant.zero
    private(set) var accounts = [Account](repeating: Account(), count: ServiceClass.allCases.count)

    /// - Parameters:
    ///   - performance: The number of fast cores.
    ///   - efficiency: The number of slow cores; at least one core in all.
    ///   - speed: Of a slow core, by that of a fast one; more than zero, at most one.
    init(performance: Int, efficiency: Int, speed: Ratio) {
        precondition(performance >= 0 && efficiency >= 0 && performance + efficiency > 0)
        precondition(speed > .zero && speed <= .one, "a slow core has a speed of \(speed.partsPerMillion) ppm")
        var sums: [Int64] = [0]
        for core in 0..<(performance + efficiency) {
            sums.append((sums.last ?? 0) + (core < performance ? 1_000_000 : speed.partsPerMillion))
        }
        speeds = sums
        firstSlow = efficiency > 0 ? performance : 0
    }

    var count: Int { speeds.count - 1 }

    var isIdle: Bool { jobs.isEmpty }

    /// All work, in the order in which it came.
    var tags: some Sequence<Tag> { jobs.lazy.map(\.tag) }

    /// The work that has a share of a core at present.
    var served: [Tag] {
        var copy = self
        copy.share()
        return copy.jobs.filter { job in job.service.map { copy.shares[$0.rawValue].rate > 0 } ?? false }.map(\.tag)
    }

    // MARK: Work comes, goes and changes its class

    /// Adds work of this length on a fast core. Without a class it is suspended.
    mutating func begin(_ tag: Tag, lasting span: TimeSpan, as service: ServiceClass?, at now: Instant) {
        advance(to: now)
        let span = min(max(0, span.microseconds), Self.longest)
        jobs.append(Job(tag: tag, service: service, rest: Int128(span) * Self.unitsPerMicrosecond))
        workHasChanged()
    }

    /// Withdraws work.
    mutating func withdraw(at now: Instant, where isWithdrawn: (Tag) -> Bool) {
        advance(to: now)
        jobs.removeAll { isWithdrawn($0.tag) }
        workHasChanged()
    }

    /// Gives all work the class that it has now; nil suspends it.
    ///
    /// - Returns: Whether a class has changed.
    mutating func classify(at now: Instant, as service: (Tag) -> ServiceClass?) -> Bool {
        var hasChanged = false
        for index in jobs.indices {
            let fresh = service(jobs[index].tag)
            guard fresh != jobs[index].service else { continue }
            if !hasChanged { advance(to: now) }
            jobs[index].service = fresh
            hasChanged = true
        }
        if hasChanged { workHasChanged() }
        return hasChanged
    }

    // MARK: Time passes

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
        for job in jobs where job.rest <= 0 {
            let held = Int64(clamping: job.held / Int128(Self.fineness))
            done.append(Finished(tag: job.tag, held: TimeSpan(microseconds: held)))
        }
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
            jobs[index].held += Int128(share.cores) * Int128(Self.fineness / Int64(share.count)) * Int128(span)
        }
        for index in shares.indices where shares[index].count > 0 {
            let share = shares[index]
            accounts[index].given += TimeSpan(microseconds: Int64(share.cores) * span)
            accounts[index].waited += TimeSpan(microseconds: Int64(share.count - share.cores) * span)
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
        var taken = 0
        for service in ServiceClass.allCases {
            let wanted = shares[service.rawValue].count
            guard wanted > 0 else { continue }
            let first = service == .background ? max(taken, firstSlow) : taken
            let cores = min(wanted, count - first)
            let speed = speeds[first + cores] - speeds[first]
            shares[service.rawValue].cores = cores
            shares[service.rawValue].rate = Int128(speed) * Int128(Self.fineness) / Int128(wanted)
            taken = first + cores
        }
    }
}
