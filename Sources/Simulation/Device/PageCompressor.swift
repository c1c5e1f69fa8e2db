import Lifecycle
import Memory
import Metrics
import Quantities

/// The compressor of the device: when it works, whose pages it takes, and what that costs on the cores.
///
/// It works in batches, one on each of its threads, while less memory is available than the device keeps free, or while
/// a process waits for memory. It takes suspended processes first, the one last seen longest ago first. When they have
/// no more to give, it takes the pages of running processes that were used longest ago, whether the process is on
/// screen or not, as the kernel does. Pages come back when they are used, and some when their process is resumed; the main thread then pays
/// for decompressing.
final class PageCompressor {
    /// A batch that is on the cores.
    private struct Batch {
        let process: ProcessReference
        let bytes: ByteCount
        let serial: Int
    }

    /// What happened since the last row of `pages.csv`.
    private struct Recent {
        var compressing = TimeSpan.zero
        var decompressing = TimeSpan.zero
        var atResumes = ByteCount.zero
    }

    /// The most that is compressed before other work may come in between: 4 MiB of the device that is meant.
    private let batch: ByteCount
    /// A process with fewer resident pages is left alone: 64 KiB of the device that is meant, in whole pages.
    private let least: ByteCount
    /// XNU's compressor is thrashing at 50 decompressions of 16 KiB in 10 ms (`vm_compressor.c`).
    private let thrashing: ByteRate

    let settings: CompressorSettings
    /// The batches on the cores, at most one per thread.
    private var underWay: [Batch] = []
    private var serial = 0
    /// Compressing has failed since the last sample: the pool is full.
    private var isFull = false
    private(set) var isThrashing = false
    /// What had been brought back when that was last counted.
    private var counted = ByteCount.zero
    /// By memory slot: what came back and has not been paid for.
    private var unpaid: [ByteCount] = []
    /// By memory slot: whether the process was resumed and has not run yet.
    private var resumes: [Bool] = []
    private var recent = Recent()
    private var sampled: CompressorBooks
    private var sampledAt = Instant.zero
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let waiters: MemoryWaiters
    private let scheduler: Scheduler
    private let recorder: RunRecorder
    private let agenda: Agenda

    /// Nil for a device without a compressor.
    init?(
        _ settings: CompressorSettings?, memory: any DeviceMemory, processes: ProcessTable, waiters: MemoryWaiters,
        scheduler: Scheduler, recorder: RunRecorder, agenda: Agenda
    ) {
        guard let settings, let books = memory.compressor else { return nil }
        self.settings = settings
        sampled = books
        batch = max(ByteCount.mebibytes(4) * memory.scale, .kibibytes(4))
        least = (ByteCount.kibibytes(64) * memory.scale).roundedUp(toMultipleOf: 4_096)
        thrashing = ByteRate(bytesPerSecond: (ByteCount(50 * 16_384 * 100) * memory.scale).bytes)
        self.memory = memory
        self.processes = processes
        self.waiters = waiters
        self.scheduler = scheduler
        self.recorder = recorder
        self.agenda = agenda
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
        guard !isFull, let wanted = wanted, let process = nextProcess() else { return false }
        let bytes = min(batch, wanted, giveable(process))
        serial += 1
        underWay.append(Batch(process: process.reference, bytes: bytes, serial: serial))
        let time = settings.compressRate.time(for: bytes)
        recent.compressing += time
        scheduler.run(time, WorkOrder(kind: .compress, owner: nil, serial: serial, purpose: .reclaim))
        return true
    }

    /// What is to be compressed beyond the batches under way; nil: nothing.
    private var wanted: ByteCount? {
        guard let lacking else { return nil }
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

    /// What is missing of the memory that is kept free, or of what the first waiting process wants.
    private var lacking: ByteCount? {
        let target = memory.books.ceiling * settings.keepFree
        let wanted = waiters.first.flatMap { waiters.shortage(of: $0)?.wanted } ?? .zero
        let missing = max(target, wanted) - memory.available
        return missing > .zero ? missing : nil
    }

    private func nextProcess() -> LiveProcess? {
        let resting = first(by: { $0.lastForeground ?? $0.launch.at }, where: \.phase.restsInMemory)
        return resting ?? first(by: { memory.oldestUse(by: $0.slot) ?? .max }, where: \.phase.runsCode)
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
            let done = memory.compress(process.slot, atMost: batch.bytes)
            isFull = memory.compressor?.isFull == true
            if done > .zero { waiters.serve() }
        }
        consider()
        return true
    }

    // MARK: Coming back

    /// A process gets this slot.
    func begin(_ process: LiveProcess) {
        memory.declare(process.profile.memory.compressibility, of: process.slot)
        while unpaid.count <= process.slot.index {
            unpaid.append(.zero)
            resumes.append(false)
        }
        unpaid[process.slot.index] = .zero
        resumes[process.slot.index] = false
    }

    /// The process's memory has been used: pages may have come back.
    func noteUse(by process: LiveProcess) {
        guard let books = memory.compressor, books.broughtBack != counted else { return }
        unpaid[process.slot.index] += books.broughtBack - counted
        counted = books.broughtBack
    }

    /// The process runs again.
    func noteResume(of process: LiveProcess) {
        resumes[process.slot.index] = memory.books(of: process.slot).compressed > .zero
    }

    /// A resumed process begins its first work: brings a share of its pages back, the youngest first, as far as there
    /// is room.
    func bringBackAtResume(of process: LiveProcess) {
        guard resumes[process.slot.index] else { return }
        resumes[process.slot.index] = false
        let wanted = memory.books(of: process.slot).compressed * settings.resumeShare
        recent.atResumes += memory.bringBack(process.slot, atMost: wanted)
        noteUse(by: process)
    }

    /// The time for which the main thread has to decompress what came back; nil: nothing did.
    func takeCost(of process: LiveProcess) -> TimeSpan? {
        let bytes = unpaid[process.slot.index]
        guard bytes > .zero else { return nil }
        unpaid[process.slot.index] = .zero
        let time = settings.decompressRate.time(for: bytes)
        recent.decompressing += time
        return time
    }

    /// Whether most of the process is compressed.
    func isMostlyCompressed(_ process: LiveProcess) -> Bool {
        let books = memory.books(of: process.slot)
        return books.compressed > books.resident
    }

    // MARK: Samples

    /// Writes the row of a sample, and looks whether too much comes back.
    func sample() {
        guard let books = memory.compressor else { return }
        let span = agenda.now - sampledAt
        let back = books.broughtBack - sampled.broughtBack - recent.atResumes
        isThrashing = span > .zero && back > thrashing.bytes(in: span)
        isFull = false
        PageRow.table.write(
            PageRow(
                at: agenda.now, device: memory.books, books: books, before: sampled,
                compressing: recent.compressing, decompressing: recent.decompressing, atResumes: recent.atResumes,
                isThrashing: isThrashing),
            to: recorder.pages)
        (sampled, sampledAt, recent) = (books, agenda.now, Recent())
    }
}
