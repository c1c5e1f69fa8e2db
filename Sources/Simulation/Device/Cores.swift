import Lifecycle
import Quantities

/// The device's cores: work is done first come, first served, and a core that has begun a piece of work finishes it,
/// unless the process that it is done for ends.
///
/// A piece of work is given its instant of completion when it is asked for. When a process ends, its work is taken
/// back, and what had been queued behind it is done earlier.
struct Cores {
    /// What a core is occupied for.
    enum Purpose: Int, CaseIterable {
        case mainThread
        /// Work that the app has moved off its main thread.
        case deferredWork
    }

    /// Work that is done earlier than it was to be.
    struct Advance {
        let owner: ProcessReference
        let purpose: Purpose
        let finish: Instant
    }

    private struct Job {
        let owner: ProcessReference
        /// Jobs begin in the order in which they were asked for.
        let number: Int
        let span: TimeSpan
        var core: Int
        var start: Instant
        var finish: Instant { start + span }
    }

    /// By core: when the work that it has been given is done.
    private var freeAt: [Instant]
    /// By memory slot and purpose, the job asked for last; it is over when its finish has come. A process has at most
    /// one of each at a time.
    private var jobs: [Job?] = []
    private var asked = 0

    init(count: Int) { freeAt = Array(repeating: .zero, count: max(1, count)) }

    /// Gives a core so much work, begun no earlier than now.
    ///
    /// - Returns: When it is done.
    mutating func occupy(for span: TimeSpan, by owner: ProcessReference, _ purpose: Purpose, at now: Instant) -> Instant
    {
        let (core, start) = place(span, from: now)
        asked += 1
        let index = Cores.index(owner, purpose)
        while jobs.count <= index { jobs.append(nil) }
        let job = Job(owner: owner, number: asked, span: span, core: core, start: start)
        jobs[index] = job
        return job.finish
    }

    /// Takes the core that is free first; of several the first one.
    private mutating func place(_ span: TimeSpan, from now: Instant) -> (core: Int, start: Instant) {
        var core = 0
        for index in freeAt.indices where freeAt[index] < freeAt[core] { core = index }
        let start = max(now, freeAt[core])
        freeAt[core] = start + span
        return (core, start)
    }

    /// The process has ended: no core works for it any more.
    ///
    /// - Returns: The work of others that is done earlier for it, in the order in which it was asked for.
    mutating func release(_ owner: ProcessReference, at now: Instant) -> [Advance] {
        var isLate = false
        for purpose in Purpose.allCases {
            let index = Cores.index(owner, purpose)
            guard index < jobs.count, let job = jobs[index] else { continue }
            isLate = isLate || job.finish > now
            jobs[index] = nil
        }
        return isLate ? replan(at: now) : []
    }

    /// Those that have begun go on; the others are given their cores anew.
    private mutating func replan(at now: Instant) -> [Advance] {
        for core in freeAt.indices { freeAt[core] = now }
        var waiting: [Int] = []
        for index in jobs.indices {
            guard let job = jobs[index], job.finish > now else { continue }
            if job.start <= now { freeAt[job.core] = job.finish } else { waiting.append(index) }
        }
        var advances: [Advance] = []
        for index in waiting.sorted(by: { number(at: $0) < number(at: $1) }) {
            guard var job = jobs[index] else { continue }
            let before = job.finish
            (job.core, job.start) = place(job.span, from: now)
            jobs[index] = job
            guard job.finish < before, let purpose = Purpose(rawValue: index % Purpose.allCases.count) else { continue }
            advances.append(Advance(owner: job.owner, purpose: purpose, finish: job.finish))
        }
        return advances
    }

    private func number(at index: Int) -> Int { jobs[index]?.number ?? 0 }

    private static func index(_ owner: ProcessReference, _ purpose: Purpose) -> Int {
        owner.slot * Purpose.allCases.count + purpose.rawValue
    }

    /// For whom a core works at that instant, or will.
    func owners(at now: Instant) -> [ProcessReference] {
        jobs.compactMap { job in job.flatMap { $0.finish > now ? $0.owner : nil } }
    }
}
