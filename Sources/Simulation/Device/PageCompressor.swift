import DequeModule
import Lifecycle
import Memory
import Metrics
import Plan
import Quantities
import Reclaim

/// The compressor of the device: when it works, whose pages it takes, and what that costs on the cores.
///
/// It works in batches, one on each of its threads, while less memory is available than the device keeps free, or while
/// a process waits for memory. It takes suspended processes first, the one last seen longest ago first. When they have
/// no more to give, it takes cold pages of running processes, on screen or not: those used longest ago, and not within
/// the last 30 s. It takes pages in use only while little is free. Pages come back when they are used, and some
/// when their process is resumed; the main thread then pays for decompressing.
final class PageCompressor {
    /// A batch that is on the cores.
    private struct Batch {
        let process: ProcessReference
        let bytes: ByteCount
        /// Only pages whose last use has a lower number are taken.
        let usedBefore: Int
        let serial: Int
    }

    /// Whose pages are taken next.
    private struct Choice {
        let process: LiveProcess
        let wanted: ByteCount
        /// See `Batch`.
        let usedBefore: Int
    }

    /// Pages that came back, in bytes.
    private struct PagesBack {
        var all = ByteCount.zero
        /// In pages of one repeated word.
        var repeated = ByteCount.zero
    }

    /// The most that is compressed before other work may come in between: 4 MiB of the device that is meant.
    private let batch: ByteCount
    private let ceiling: ByteCount
    /// A process with fewer resident pages is left alone: 64 KiB of the device that is meant, in whole pages.
    private let least: ByteCount

    /// Pages that are in use are taken only while less than this share of the RAM is available, or while a process
    /// waits. A guess: a little more than the 5 % below which jetsam ends processes that the user sees.
    private static let keepFreeInUse = Ratio.percent(6)

    let settings: CompressorSettings
    /// The batches on the cores, at most one per thread.
    private var underWay: [Batch] = []
    private var serial = 0
    /// Compressing has failed since the last sample: the pool is full.
    private var isFull = false
    /// By memory slot: what was taken from the process while it ran, and has not come back.
    private var takenInUse: [ByteCount] = []
    /// What came back too soon.
    private(set) var soon: RefaultWindow
    /// When pages were used, by the numbers of their uses.
    private var ages = UseAges()
    var isThrashing: Bool { soon.isThrashing }
    /// What had been brought back when that was last counted.
    private var counted = PagesBack()
    /// By memory slot: what came back and has not been paid for.
    private var unpaid: [PagesBack] = []
    /// By memory slot: whether the process was resumed and has not run yet.
    private var resumes: [Bool] = []
    private var recent = CompressorActivity()
    /// What happens now happened before the run: it costs nothing.
    private var isBeforeRun = false
    private var sampled: CompressorBooks
    private let memory: any DeviceMemory
    private let pages: any CompressedPages
    private let supply: MemorySupply
    private let processes: ProcessTable
    private let waiters: MemoryWaiters
    private let scheduler: Scheduler
    private let agenda: Agenda

    /// Nil for a device without a compressor.
    init?(
        _ settings: CompressorSettings?, memory: any DeviceMemory, supply: MemorySupply, processes: ProcessTable,
        waiters: MemoryWaiters, scheduler: Scheduler, agenda: Agenda
    ) {
        guard let settings, let pages = memory.compressor else { return nil }
        self.settings = settings
        self.pages = pages
        sampled = pages.figures
        ceiling = memory.books.ceiling
        batch = max(ByteCount.mebibytes(4) * memory.scale, .kibibytes(4))
        least = (ByteCount.kibibytes(64) * memory.scale).roundedUp(toMultipleOf: 4_096)
        soon = RefaultWindow(scale: memory.scale)
        self.memory = memory
        self.supply = supply
        self.processes = processes
        self.waiters = waiters
        self.scheduler = scheduler
        self.agenda = agenda
    }

    /// How it fares, as policies see it.
    var state: CompressorState {
        pages.figures.use >= SystemMeasures.compressorIsFull ? .full : isThrashing ? .thrashing : .working
    }

    // MARK: The start

    /// The processes that are alive when the run begins are being made.
    func beginStart() { isBeforeRun = true }

    /// The run begins: rows count from here.
    func endStart() {
        isBeforeRun = false
        isFull = false
        sampled = pages.figures
        counted = PagesBack(all: sampled.broughtBack, repeated: sampled.repeatedBroughtBack)
    }

    // MARK: Compressing

    /// Whether memory is on its way, so that a policy need not be asked for a waiting process.
    var isHelping: Bool { !underWay.isEmpty && !isThrashing }

    /// Begins a batch on each idle thread if memory is lacking and a process has pages to give.
    func consider() {
        while underWay.count < settings.threads, beginBatch() {}
    }

    /// Returns whether a batch was begun.
    private func beginBatch() -> Bool {
        guard !isFull, !isBeforeRun, let next = nextProcess() else { return false }
        let bytes = min(batch, next.wanted, giveable(next.process))
        serial += 1
        underWay.append(
            Batch(process: next.process.reference, bytes: bytes, usedBefore: next.usedBefore, serial: serial))
        // The time passes before anybody looks into the pages.
        let repeated = bytes * next.process.profile.memory.compressibility.repeated
        let time = settings.compressTime(bytes, repeated: repeated)
        recent.compressing += time
        scheduler.run(time, WorkOrder(kind: .compress, owner: nil, serial: serial, purpose: .reclaim))
        return true
    }

    /// What is to be compressed beyond the batches under way; nil: nothing.
    ///
    /// - Parameter target: The share of the RAM that is kept free.
    private func wanted(below target: Ratio) -> ByteCount? {
        guard let lacking = lacking(below: target) else { return nil }
        // A third of what is compressed stays taken, in the pool.
        let all = max(least, lacking * .percent(150)).roundedUp(toMultipleOf: 4_096)
        let rest = underWay.reduce(all) { $0 - $1.bytes }
        return rest > .zero ? rest : nil
    }

    /// The pages of a process that have a frame and belong to no batch.
    private func giveable(_ process: LiveProcess) -> ByteCount {
        underWay.reduce(memory.books(of: process.slot).resident) {
            $1.process == process.reference ? $0 - $1.bytes : $0
        }
    }

    /// What is missing of the memory that is kept free, or of what the first waiting process wants. What the system can
    /// take for nothing counts as free.
    private func lacking(below share: Ratio) -> ByteCount? {
        let target = ceiling * share
        let wanted = waiters.first.flatMap { waiters.shortage(of: $0)?.wanted } ?? .zero
        let missing = max(target, wanted) - supply.obtainable
        return missing > .zero ? missing : nil
    }

    private func nextProcess() -> Choice? {
        guard let wanted = wanted(below: settings.keepFree) else { return nil }
        if let process = first(by: { $0.lastForeground ?? $0.launch.at }, where: \.phase.restsInMemory) {
            return Choice(process: process, wanted: wanted, usedBefore: .max)
        }
        guard let process = first(by: { pages.oldestUse(by: $0.slot) ?? .max }, where: \.phase.runsCode) else {
            return nil
        }
        let cold = ages.cold(at: agenda.now)
        if let oldest = pages.oldestUse(by: process.slot), oldest < cold {
            return Choice(process: process, wanted: wanted, usedBefore: cold)
        }
        guard let needed = self.wanted(below: PageCompressor.keepFreeInUse) else { return nil }
        return Choice(process: process, wanted: needed, usedBefore: .max)
    }

    /// The process with the least value, among those with enough pages to be worth it.
    private func first<Value: Comparable>(
        by value: (LiveProcess) -> Value, where isMeant: (LiveProcess) -> Bool
    ) -> LiveProcess? {
        var best: (process: LiveProcess, value: Value)?
        for process in processes.live where !process.isEnding && isMeant(process) {
            let value = value(process)
            if let best, best.value <= value { continue }
            guard giveable(process) >= least else { continue }
            best = (process, value)
        }
        return best?.process
    }

    /// The time for a batch has passed: its pages lose their frames.
    ///
    /// - Returns: Whether the event is about a batch under way.
    func finish(_ serial: Int) -> Bool {
        guard let place = underWay.firstIndex(where: { $0.serial == serial }) else { return false }
        let batch = underWay.remove(at: place)
        if let process = processes.process(batch.process), !process.isEnding {
            let done = pages.compress(process.slot, atMost: batch.bytes, usedBefore: batch.usedBefore)
            isFull = pages.figures.isFull
            if done > .zero { waiters.serve() }
            if process.phase.runsCode { takenInUse[process.slot.index] += done }
        }
        consider()
        return true
    }

    /// Compresses all pages of a process at once, as a policy asks for it. Returns the time that this takes.
    func compress(all process: LiveProcess) -> TimeSpan {
        let before = pages.figures.repeated
        let done = pages.compress(process.slot, atMost: giveable(process))
        let repeated = pages.figures.repeated - before
        let time = settings.compressTime(done, repeated: repeated)
        recent.compressing += time
        return time
    }

    // MARK: Coming back

    /// A process gets this slot.
    func begin(_ process: LiveProcess) {
        pages.declare(process.profile.memory.compressibility, of: process.slot)
        memory.declare(hot: process.profile.memory.hot, of: process.slot)
        while unpaid.count <= process.slot.index {
            unpaid.append(PagesBack())
            resumes.append(false)
            takenInUse.append(.zero)
        }
        takenInUse[process.slot.index] = .zero
        unpaid[process.slot.index] = PagesBack()
        resumes[process.slot.index] = false
    }

    /// The process's memory has been used: pages may have come back.
    func noteUse(by process: LiveProcess) {
        guard !isBeforeRun, pages.broughtBack != counted.all else { return }
        let books = pages.figures
        let back = books.broughtBack - counted.all
        unpaid[process.slot.index].all += back
        unpaid[process.slot.index].repeated += books.repeatedBroughtBack - counted.repeated
        counted = PagesBack(all: books.broughtBack, repeated: books.repeatedBroughtBack)
        let again = min(back, takenInUse[process.slot.index])
        takenInUse[process.slot.index] -= again
        soon.add(again)
    }

    /// The process runs again.
    func noteResume(of process: LiveProcess) {
        takenInUse[process.slot.index] = .zero
        resumes[process.slot.index] = memory.books(of: process.slot).compressed > .zero
    }

    /// A resumed process begins its first work: brings a share of its pages back, the youngest first, as far as there
    /// is room.
    func bringBackAtResume(of process: LiveProcess) {
        guard resumes[process.slot.index] else { return }
        resumes[process.slot.index] = false
        let wanted = memory.books(of: process.slot).compressed * settings.resumeShare
        recent.atResumes += pages.bringBack(process.slot, atMost: wanted)
        noteUse(by: process)
    }

    /// The time for which the main thread has to decompress what came back; nil: nothing did.
    func takeCost(of process: LiveProcess) -> TimeSpan? {
        let pages = unpaid[process.slot.index]
        guard pages.all > .zero else { return nil }
        unpaid[process.slot.index] = PagesBack()
        let time = settings.decompressTime(pages.all, repeated: pages.repeated)
        recent.decompressing += time
        return time
    }

    /// Whether most of the process is compressed.
    func isMostlyCompressed(_ process: LiveProcess) -> Bool {
        let books = memory.books(of: process.slot)
        return books.compressed > books.resident
    }

    // MARK: Samples

    /// Looks whether too much comes back. Returns what happened since the last sample.
    func sample() -> CompressorActivity {
        let books = pages.figures
        soon.sample(at: agenda.now)
        ages.note(pages.lastUse, at: agenda.now)
        isFull = false
        defer { (sampled, recent) = (books, CompressorActivity()) }
        (recent.books, recent.before, recent.isThrashing) = (books, sampled, isThrashing)
        return recent
    }
}

/// What the compressor has, and what it has done since the last sample.
struct CompressorActivity {
    /// The compressor's figures now; nil for a device without one.
    fileprivate(set) var books: CompressorBooks?
    /// The same at the last sample.
    fileprivate(set) var before: CompressorBooks?
    fileprivate(set) var compressing = TimeSpan.zero
    fileprivate(set) var decompressing = TimeSpan.zero
    /// What came back because processes were resumed.
    fileprivate(set) var atResumes = ByteCount.zero
    fileprivate(set) var isThrashing = false
}

extension CompressorTally {
    /// Adds what happened since the last sample.
    mutating func add(_ activity: CompressorActivity) {
        guard let books = activity.books else { return }
        add(
            compressed: books.compressed, pool: books.pool, compressing: activity.compressing,
            decompressing: activity.decompressing)
    }
}

/// What was taken from running processes and came back: over half a second at least, as XNU looks at it
/// (`compressor_sample_min_in_msecs`). Pages of a process that is resumed do not count, because a resume is no
/// thrashing. XNU counts by the age of what comes back.
struct RefaultWindow {
    private static let least = TimeSpan.milliseconds(500)

    /// XNU's compressor is thrashing at 50 decompressions of 16 KiB in 10 ms (`vm_compressor.c`).
    private let thrashing: ByteRate
    private var began = Instant.zero
    private var soFar = ByteCount.zero
    /// What came back in the last window.
    private(set) var refaulted = ByteCount.zero
    /// The most that is no thrashing.
    private(set) var tolerated = ByteCount.zero

    fileprivate init(scale: Ratio) {
        thrashing = ByteRate(bytesPerSecond: (ByteCount(50 * 16_384 * 100) * scale).bytes)
    }

    var isThrashing: Bool { refaulted > tolerated }

    fileprivate mutating func add(_ bytes: ByteCount) { soFar += bytes }

    fileprivate mutating func sample(at now: Instant) {
        guard now - began >= RefaultWindow.least else { return }
        (refaulted, tolerated) = (soFar, thrashing.bytes(in: now - began))
        (began, soFar) = (now, .zero)
    }
}

/// Tells which uses of pages are long ago. The numbers of uses grow, but not with time.
private struct UseAges {
    /// Pages that were not used for this long are cold. A guess: XNU has no such time, but takes inactive pages first.
    private static let warm = TimeSpan.seconds(30)

    private struct Mark {
        let at: Instant
        let use: Int
    }

    private var marks: Deque<Mark> = []

    mutating func note(_ use: Int, at now: Instant) {
        marks.append(Mark(at: now, use: use))
        while marks.count > 1, now - marks[1].at >= UseAges.warm { marks.removeFirst() }
    }

    /// Uses with a lower number than this are cold.
    func cold(at now: Instant) -> Int {
        guard let first = marks.first, now - first.at >= UseAges.warm else { return 0 }
        return first.use
    }
}
