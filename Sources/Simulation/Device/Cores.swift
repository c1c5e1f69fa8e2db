import Lifecycle
import Quantities

/// The device's cores. Work is done first come, first served; a core finishes the work it has begun, unless the process
/// that the work is for ends.
///
/// Each piece of work gets its completion time when it is requested. When a process ends, its work is withdrawn and
/// work queued behind it finishes earlier.
struct Cores {
    /// What a core is occupied with.
    enum Purpose: Int, CaseIterable {
        case mainThread
        /// Work that the app has moved off its main thread.
        case deferredWork
    }

    /// Work that finishes earlier than planned.
    struct Advance {
        let owner: ProcessReference
        let purpose: Purpose
        let finish: Instant
    }

    private struct Job {
        let owner: ProcessReference
        /// Jobs begin in the order of their requests.
        let number: Int
        let span: TimeSpan
        var core: Int
        var start: Instant
        var finish: Instant { start + span }
    }

    /// For each core, when the work that it has been given is done.
    private var freeAt: [Instant]
    /// For each memory slot and purpose, the job requested last; it is over when its finish has come. A process has at
    /// most one of each at a time.
    private var jobs: [Job?] = []
    private var asked = 0

    init(count: Int) { freeAt = Array(repeating: .zero, count: max(1, count)) }

    /// Gives a core this much work, which begins now or later.
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

    /// Takes the core that is free first; the lowest index among equals.
    private mutating func place(_ span: TimeSpan, from now: Instant) -> (core: Int, start: Instant) {
        var core = 0
        for index in freeAt.indices where freeAt[index] < freeAt[core] { core = index }
        let start = max(now, freeAt[core])
        freeAt[core] = start + span
        return (core, start)
    }

    /// The process has ended: no core works for it any more.
    ///
    /// - Returns: Other processes' work that finishes earlier because of it, in the order of the requests.
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

    /// Jobs that have begun go on; the others are assigned to cores again.
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

    /// The processes that a core works for at that instant, or will.
    func owners(at now: Instant) -> [ProcessReference] {
        jobs.compactMap { job in job.flatMap { $0.finish > now ? $0.owner : nil } }
    }
}
