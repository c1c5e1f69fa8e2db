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
///
/// On a device with a kernel (`device.kernel`) it works as XNU's pageout daemon does (`PageoutRules`): by free pages
/// alone, and it takes the pages that were used longest ago, whoever has them. So it does on a device that makes room
/// like Linux (`KswapdRules`); there a process that finds no page compresses some itself, and a disk may take what the
/// compressor has no room for (`SwapDisk`).
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
        /// Whether memory is short, so that finding pages takes time.
        var isSearched = true
    }

    /// Pages that came back, in bytes of contents before compression.
    fileprivate struct PagesBack {
        var all = ByteCount.zero
        /// In pages of one repeated word.
        var repeated = ByteCount.zero
        /// What was read from the store: contents of the freezer's, or pages of a disk's.
        var read = ByteCount.zero
    }

    /// What concerns the process in a memory slot.
    private struct Account {
        /// What was taken from the process while it ran, and has not come back.
        var takenInUse = ByteCount.zero
        /// What came back and has not been paid for.
        var unpaid = PagesBack()
        /// Whether the process was resumed and has not run yet.
        var resumes = false
        /// What was taken from the process so far.
        var taken = ByteCount.zero
        /// When its pages were compressed.
        var ages = CompressionAges()
        /// The last time that it was suspended, if it is or was to be compressed whole, and what it then had left.
        var compaction: (since: Instant, isDone: Bool, left: ByteCount)?

        /// Whether the process is to be compressed whole.
        ///
        /// - Parameter since: Since when it is suspended.
        mutating func compacts(since: Instant, resident: ByteCount, _ rules: CompactionRules) -> Bool {
            if compaction?.since != since {
                let hasChanged = compaction.map { resident - $0.left > rules.change } ?? true
                let left = compaction?.left ?? .zero
                compaction = (since, resident < rules.least || !hasChanged, left)
            }
            return compaction?.isDone == false
        }

        /// So much was left of it.
        mutating func endCompaction(_ left: ByteCount) {
            compaction?.isDone = true
            compaction?.left = left
        }
    }

    /// XNU's pageout on this device.
    private struct Pageout {
        let rules: PageoutRules
        var sample: CompressorSample
    }

    /// Free memory at which it begins and ends to work.
    private struct Watermarks {
        let begins: ByteCount
        let ends: ByteCount
        /// Whether it has begun and not come to its end.
        var isRunning = false

        /// Whether it works, with so much free memory.
        mutating func works(withFree free: ByteCount) -> Bool {
            if free < begins { isRunning = true }
            if free >= ends { isRunning = false }
            return isRunning
        }
    }

    /// How room is made on this device.
    private struct Room {
        /// Nil on a device that does not make room like Linux.
        let linux: KswapdRules?
        /// Nil on a device that keeps a share of its memory free.
        var watermarks: Watermarks?
        /// Free memory that no process gets.
        let reserve: ByteCount
        /// Nil on a device that compacts nothing.
        let compaction: CompactionRules?
        /// All swap of Linux; zero: the compressor is none, and there is no disk.
        let swapTotal: ByteCount
        /// Whether the compressor works as kswapd does.
        var isKswapds: Bool { linux != nil && watermarks != nil }

        init(_ device: Device, _ settings: CompressorSettings, _ pageout: PageoutRules?) {
            linux = device.reclaimsLikeLinux ? KswapdRules(device) : nil
            reserve = pageout?.reserve ?? linux?.reserve ?? .zero
            swapTotal = device.swapTotal
            compaction = CompactionRules(device)
            if let pageout {
                watermarks = Watermarks(begins: pageout.begins, ends: pageout.ends)
            } else if let linux, settings.keepFree == nil {
                watermarks = Watermarks(begins: linux.begins, ends: linux.ends)
            }
        }
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
    /// By memory slot.
    private var accounts: [Account] = []
    /// Nil on a device without a kernel.
    private var pageout: Pageout?
    /// How it makes room.
    private var room: Room
    /// How fast the store gives contents back; nil without a store.
    private let storeRate: ByteRate?
    /// The disk of Linux's swap; nil without one.
    private let disk: SwapDisk?
    /// What came back too soon.
    private var soon: RefaultWindow
    /// When pages were used, by the numbers of their uses.
    private var ages = UseAges()
    var isThrashing: Bool { pageout?.sample.isThrashing ?? soon.isThrashing }
    /// What came back in the last window, and the most that is no thrashing.
    var refaults: (refaulted: ByteCount, tolerated: ByteCount) {
        pageout.map { ($0.sample.refaulted, $0.sample.tolerated) } ?? (soon.refaulted, soon.tolerated)
    }
    /// What had been brought back when that was last counted.
    private var counted = PagesBack()
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
        _ device: Device, memory: any DeviceMemory, supply: MemorySupply, processes: ProcessTable,
        waiters: MemoryWaiters, scheduler: Scheduler, agenda: Agenda
    ) {
        guard let settings = device.compressor, let pages = memory.compressor else { return nil }
        self.settings = settings
        pageout = supply.pageout.map {
            Pageout(rules: $0, sample: CompressorSample(page: device.page.size * memory.scale))
        }
        room = Room(device, settings, supply.pageout)
        disk = SwapDisk(device.swap, pages, memory, processes, supply.reads, agenda)
        storeRate = disk == nil ? device.freezer?.readRate : device.swap.readRate
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
        pages.use >= SystemMeasures.compressorIsFull ? .full : isThrashing ? .thrashing : .working
    }

    // MARK: The start

    /// The processes that are alive when the run begins are being made.
    func beginStart() { isBeforeRun = true }

    /// The run begins: rows count from here.
    func endStart() {
        isBeforeRun = false
        isFull = false
        sampled = pages.figures
        counted = PagesBack(sampled, hasDisk: disk != nil)
    }

    // MARK: Compressing

    /// Whether memory is on its way, so that a policy need not be asked for a waiting process.
    var isHelping: Bool { (!underWay.isEmpty || disk?.isWriting == true) && !isThrashing }

    /// Begins a batch on each idle thread if memory is lacking and a process has pages to give.
    func consider() {
        if !isBeforeRun {
            if room.reserve > .zero { waiters.reserve(room.reserve) }
            if pageout != nil { takeFiles() }
            if isFull { beginWriting() }
        }
        while underWay.count < settings.threads, beginBatch() {}
    }

    /// Returns whether a batch was begun.
    private func beginBatch() -> Bool {
        guard !isFull, !isBeforeRun, let next = nextProcess() ?? nextToCompact() else { return false }
        let bytes = min(batch, next.wanted, giveable(next.process))
        serial += 1
        underWay.append(
            Batch(process: next.process.reference, bytes: bytes, usedBefore: next.usedBefore, serial: serial))
        // The time passes before anybody looks into the pages.
        let repeated = bytes * next.process.profile.memory.compressibility.repeated
        let time = settings.compressTime(bytes, repeated: repeated)
        recent.compressing += time
        let order = WorkOrder(kind: .compress, owner: nil, serial: serial, purpose: .reclaim)
        scheduler.run(next.isSearched ? time + searchTime(bytes) : time, order)
        return true
    }

    /// What finding pages costs Linux in addition to compressing them, where free memory is short.
    private func searchTime(_ bytes: ByteCount) -> TimeSpan {
        room.isKswapds ? room.linux?.searchTime(bytes.unscaled(by: memory.scale)) ?? .zero : .zero
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
        let wanted = waiters.first.flatMap { waiters.shortage(of: $0)?.wanted } ?? .zero
        guard room.watermarks == nil else { return lackingFree(for: wanted) }
        let missing = max(ceiling * share, wanted) - supply.obtainable
        return missing > .zero ? missing : nil
    }

    private func nextProcess() -> Choice? {
        guard room.watermarks == nil else { return oldest() }
        let keepFree = settings.keepFree ?? CompressorSettings.keptFree
        guard let wanted = wanted(below: keepFree) else { return nil }
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

    // MARK: By free memory

    /// What is missing of free memory until its work ends, or of what a process waits for. On Linux pages of files are
    /// dropped elsewhere, and count as free.
    private func lackingFree(for wanted: ByteCount) -> ByteCount? {
        let free = pageout == nil ? supply.obtainable : memory.available
        guard let works = room.watermarks?.works(withFree: free), let ends = room.watermarks?.ends else { return nil }
        let missing = max(works ? ends : .zero, wanted > .zero ? wanted + room.reserve : .zero) - free
        return missing > .zero ? missing : nil
    }

    /// An allocation found no room on a device that makes room like Linux: its process compresses the pages itself that
    /// were used longest ago, whoever has them.
    ///
    /// - Returns: How long that keeps its main thread busy; nil: nothing was compressed.
    func reclaimDirectly(for shortage: MemoryWaiters.Shortage) -> TimeSpan? {
        guard let linux = room.linux, !isBeforeRun else { return nil }
        let missing = shortage.wanted + linux.reserve - memory.available
        guard missing > .zero, !isFull else { return nil }
        let wanted = max(missing * .percent(150), linux.cluster).roundedUp(toMultipleOf: 4_096)
        let before = pages.figures.repeated
        let done = compressOldest(wanted)
        // kswapd is woken.
        defer { consider() }
        guard done > .zero else { return nil }
        let time = settings.compressTime(done, repeated: max(.zero, pages.figures.repeated - before))
        recent.compressing += time
        return time + linux.searchTime(done.unscaled(by: memory.scale))
    }

    /// Compresses pages of any process, those used longest ago first.
    private func compressOldest(_ wanted: ByteCount) -> ByteCount {
        takeOldest(wanted) { process, most in
            defer { isFull = pages.figures.isFull }
            return compress(process, atMost: most)
        }
    }

    /// Takes pages of any process, those used longest ago first.
    ///
    /// - Parameter take: Takes at most so much of a process, and returns how much that was.
    private func takeOldest(_ wanted: ByteCount, _ take: (LiveProcess, ByteCount) -> ByteCount) -> ByteCount {
        var done = ByteCount.zero
        while done < wanted, let process = first(by: { pages.oldestUse(by: $0.slot) ?? .max }, where: { _ in true }) {
            let part = take(process, min(wanted - done, giveable(process)))
            guard part > .zero else { break }
            if process.phase.runsCode { accounts[process.slot.index].takenInUse += part }
            done += part
        }
        return done
    }

    /// The compressor is full: the disk takes its oldest contents, or what is to be swapped next.
    private func beginWriting() {
        guard let disk else { return }
        if disk.takesOldest { return disk.begin() }
        if let next = nextProcess() { disk.begin(atMost: min(next.wanted, freeSwap)) }
    }

    /// All swap of Linux that is free.
    private var freeSwap: ByteCount {
        let figures = pages.figures
        return max(.zero, room.swapTotal - figures.compressed - figures.swapped)
    }

    /// The disk has taken what it was given: the compressor or the device has room again.
    func finishWriting() {
        guard let disk else { return }
        if disk.takesOldest {
            if disk.finish() {
                isFull = false
                waiters.serve()
            }
        } else {
            let most = min(disk.finishNewest(), freeSwap)
            let done = takeOldest(most) { process, most in
                let part = pages.pageOut(process.slot, atMost: most, usedBefore: .max)
                accounts[process.slot.index].taken += part
                return part
            }
            if done > .zero { waiters.serve() }
        }
        consider()
    }

    // MARK: Compaction

    /// A suspended process that is to be compressed whole.
    private func nextToCompact() -> Choice? {
        guard let rules = room.compaction, freeSwap >= rules.freeSwap else { return nil }
        for process in processes.live where process.phase.restsInMemory && !process.isEnding {
            let (resident, slot) = (memory.books(of: process.slot).resident, process.slot.index)
            guard let since = process.stay.suspendedSince, agenda.now - since >= rules.delay,
                accounts[slot].compacts(since: since, resident: resident, rules)
            else { continue }
            let left = giveable(process)
            if left >= least { return Choice(process: process, wanted: left, usedBefore: .max, isSearched: false) }
            accounts[slot].endCompaction(resident)
        }
        return nil
    }

    // MARK: XNU's pageout

    /// Takes pages of files, as far as they are taken before pages of processes. If no process has a page to give and
    /// a process waits, or free memory is far from its target, all of them are taken.
    private func takeFiles() {
        guard let pageout, let files = supply.files, let missing = lackingFree(for: firstWanted) else { return }
        var atMost = supply.filesFirst()
        if isFull || nextProcess() == nil, underWay.isEmpty {
            let isUrgent = !waiters.isEmpty || memory.available < pageout.rules.ends * .percent(50)
            if isUrgent { atMost = files.held }
        }
        let taken = atMost > .zero ? files.giveBack(min(missing, atMost)) : .zero
        if taken > .zero { waiters.serve() }
    }

    /// What the first waiting process wants.
    private var firstWanted: ByteCount { waiters.first.flatMap { waiters.shortage(of: $0)?.wanted } ?? .zero }

    /// The process whose page was used longest ago. If its pages are warm, they are taken in small batches, because
    /// others may be next.
    private func oldest() -> Choice? {
        guard let wanted = wanted(below: .zero),
            let process = first(by: { pages.oldestUse(by: $0.slot) ?? .max }, where: { _ in true })
        else { return nil }
        let cold = ages.cold(at: agenda.now)
        if let oldest = pages.oldestUse(by: process.slot), oldest < cold {
            return Choice(process: process, wanted: wanted, usedBefore: process.phase.runsCode ? cold : .max)
        }
        return Choice(process: process, wanted: min(wanted, max(least, batch * .percent(25))), usedBefore: .max)
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
            let done = compress(process, atMost: batch.bytes, usedBefore: batch.usedBefore)
            isFull = pages.figures.isFull
            if supply.nextSource() == .both, let files = supply.files {
                _ = files.giveBack(min(done * .percent(50), supply.filesBeyondLeast))
            }
            if done > .zero { waiters.serve() }
            if process.phase.runsCode { accounts[process.slot.index].takenInUse += done }
        }
        consider()
        return true
    }

    /// Compresses pages of a process. The reserve is for this.
    private func compress(_ process: LiveProcess, atMost bytes: ByteCount, usedBefore: Int = .max) -> ByteCount {
        waiters.liftReserve()
        defer { waiters.keepNothingBack() }
        let done = pages.compress(process.slot, atMost: bytes, usedBefore: usedBefore)
        accounts[process.slot.index].taken += done
        guard pageout != nil else { return done }
        pageout?.sample.compress(done)
        accounts[process.slot.index].ages.push(done, at: agenda.now)
        return done
    }

    /// Compresses all pages of a process at once, as a policy asks for it. Returns the time that this takes.
    func compress(all process: LiveProcess) -> TimeSpan {
        let before = pages.figures.repeated
        let done = compress(process, atMost: giveable(process))
        let repeated = pages.figures.repeated - before
        let time = settings.compressTime(done, repeated: repeated)
        recent.compressing += time
        return time
    }

    /// What was taken from the process so far, whether or not it has come back.
    func taken(from process: LiveProcess) -> ByteCount { accounts[process.slot.index].taken }

    // MARK: Coming back

    /// Linux's watermarks of free memory; nil on a device that does not make room like Linux.
    var kernelWatermarks: KernelWatermarks? {
        room.linux.map { KernelWatermarks(least: $0.reserve, low: $0.begins) }
    }

    /// How many batches it has begun.
    var batches: Int { serial }

    /// Whether it works to keep memory free: as kswapd between its watermarks, elsewhere while a batch is under way.
    var isAwake: Bool { !underWay.isEmpty || room.isKswapds && room.watermarks?.isRunning == true }

    /// All swap of Linux; zero without any.
    var swapTotal: ByteCount { room.swapTotal }

    /// The size of the disk of Linux's swap; zero without one.
    var diskSize: ByteCount { disk?.size ?? .zero }

    /// A process gets this slot.
    func begin(_ process: LiveProcess) {
        pages.declare(process.profile.memory.compressibility, of: process.slot)
        memory.declare(hot: process.profile.memory.hot, of: process.slot)
        while accounts.count <= process.slot.index { accounts.append(Account()) }
        accounts[process.slot.index] = Account()
    }

    /// The process's memory has been used: pages may have come back.
    func noteUse(by process: LiveProcess) {
        guard !isBeforeRun, pages.broughtBack != counted.all else { return }
        let books = PagesBack(pages.figures, hasDisk: disk != nil)
        let (back, slot) = (books.all - counted.all, process.slot.index)
        accounts[slot].unpaid.all += back
        accounts[slot].unpaid.repeated += books.repeated - counted.repeated
        accounts[slot].unpaid.read += books.read - counted.read
        counted = books
        if var sample = pageout?.sample {
            accounts[slot].ages.pop(back, at: agenda.now, into: &sample)
            pageout?.sample = sample
        }
        let again = min(back, accounts[slot].takenInUse)
        accounts[slot].takenInUse -= again
        soon.add(again)
    }

    /// The process runs again.
    func noteResume(of process: LiveProcess) {
        accounts[process.slot.index].takenInUse = .zero
        let books = memory.books(of: process.slot)
        accounts[process.slot.index].resumes = books.compressed + books.swapped > .zero
    }

    /// A resumed process begins its first work: brings a share of its pages back, the youngest first, as far as there
    /// is room.
    func bringBackAtResume(of process: LiveProcess) {
        guard accounts[process.slot.index].resumes else { return }
        accounts[process.slot.index].resumes = false
        let books = memory.books(of: process.slot)
        let wanted = (books.compressed + books.swapped) * settings.resumeShare
        recent.atResumes += pages.bringBack(process.slot, atMost: wanted)
        noteUse(by: process)
    }

    /// The time until the pages are back that come with a resume: a fast core decompresses them, and the store reads
    /// what it holds of them.
    func resumeTime(compressed: ByteCount, stored: ByteCount) -> TimeSpan {
        let share = settings.resumeShare
        let reading = storeRate?.time(for: stored * share) ?? .zero
        return settings.decompressTime(compressed * share, repeated: .zero) + reading
    }

    /// Brings all pages of a process back at once, as far as there is room, as a policy asks for it. Its main thread
    /// pays nothing for that.
    ///
    /// - Returns: The time of a core to decompress them, and what is read from the store; nil: none came back.
    func bringBack(all process: LiveProcess) -> (time: TimeSpan, read: ByteCount)? {
        let (books, slot) = (memory.books(of: process.slot), process.slot.index)
        let owed = accounts[slot].unpaid
        guard pages.bringBack(process.slot, atMost: books.compressed + books.swapped) > .zero else { return nil }
        noteUse(by: process)
        let due = accounts[slot].unpaid
        accounts[slot].unpaid = owed
        let time = settings.decompressTime(due.all - owed.all, repeated: due.repeated - owed.repeated)
        recent.decompressing += time
        return (time, due.read - owed.read)
    }

    /// The time for which the main thread has to decompress what came back; nil: nothing did.
    func takeCost(of process: LiveProcess) -> TimeSpan? {
        let pages = accounts[process.slot.index].unpaid
        guard pages.all > .zero else { return nil }
        accounts[process.slot.index].unpaid = PagesBack()
        let time = settings.decompressTime(pages.all, repeated: pages.repeated)
        recent.decompressing += time
        return time
    }

    /// The process waits for what the store reads for it.
    ///
    /// - Returns: When the store has delivered that; nil: nothing was read.
    func takeRead(of process: LiveProcess) -> Instant? {
        let read = accounts[process.slot.index].unpaid.read
        guard read > .zero, let rate = storeRate else { return nil }
        accounts[process.slot.index].unpaid.read = .zero
        return supply.reads.wait(of: process, for: rate.time(for: read), isRefault: true, at: agenda.now)
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
        pageout?.sample.look(at: agenda.now, held: books.compressed)
        ages.note(pages.lastUse, at: agenda.now)
        isFull = false
        defer { (sampled, recent) = (books, CompressorActivity()) }
        (recent.books, recent.before, recent.isThrashing) = (books, sampled, isThrashing)
        return recent
    }
}

extension PageCompressor.PagesBack {
    /// All that came back so far. What a disk has is not compressed, so it costs as little as a repeated word.
    fileprivate init(_ books: CompressorBooks, hasDisk: Bool) {
        self.init(all: books.broughtBack, repeated: books.repeatedBroughtBack, read: books.readInAll)
        if hasDisk {
            read = books.swappedBack
            repeated += books.swappedBack
        }
    }
}

/// What the compressor has, and what it has done since the last sample.
struct CompressorActivity: Equatable {
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
