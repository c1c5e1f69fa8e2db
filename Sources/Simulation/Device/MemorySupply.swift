import Memory
import Plan
import Quantities
import Reclaim
import Workload

/// What of the device's memory can be had without a policy: free memory, and what the system takes back without ending
/// or warning a process: purgeable memory that is volatile, then clean pages of files.
final class MemorySupply {
    /// Nil for a device without a file cache.
    let files: FileCache?
    /// Nil for a device whose wired memory never changes.
    let wired: WiredMemory?
    /// Who waits for storage.
    let reads = StorageReads()
    /// XNU's pageout; nil on a device without a kernel or without a compressor.
    let pageout: PageoutRules?
    /// Which pages are active, at the last look of XNU's pageout; nil before its first one.
    private var queues: PageQueues?
    /// What of `reserved` the system's own processes hold and may lose.
    private let systemPageable: ByteCount
    /// Whether an app has purgeable memory.
    private let hasPurgeable: Bool
    private let reclaimRate: ByteRate
    /// Purgeable memory taken so far, in bytes of this device.
    private var discarded = ByteCount.zero
    /// The figures at the last sample.
    private var sampled = SupplyFigures()
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let faults: RunFaults

    init(_ plan: RunPlan, memory: any DeviceMemory, processes: ProcessTable, faults: RunFaults) {
        self.memory = memory
        self.processes = processes
        self.faults = faults
        reclaimRate = plan.device.reclaimRate
        systemPageable = plan.device.systemPageable
        hasPurgeable = plan.hasPurgeableMemory
        let pageout = memory.compressor.flatMap { _ in
            plan.device.kernel.map { PageoutRules(plan.device, ceiling: memory.books.ceiling, kernel: $0) }
        }
        self.pageout = pageout
        files = MemorySupply.makeFiles(plan, pageout, reads, memory, faults)
        // XNU's pageout finds the pages that wired memory waits for.
        wired = WiredMemory(
            plan.device.wired, files: pageout == nil ? files : nil, memory: memory, faults: faults)
    }

    private static func makeFiles(
        _ plan: RunPlan, _ pageout: PageoutRules?, _ reads: StorageReads, _ memory: any DeviceMemory,
        _ faults: RunFaults
    ) -> FileCache? {
        guard let settings = plan.device.fileCache else { return nil }
        do throws(AllocatorError) {
            return try FileCache(
                settings, plan.apps.map(\.memory.files.size), pageout: pageout, reads: reads, memory: memory,
                faults: faults)
        } catch {
            faults.fail("\(error)")
            return nil
        }
    }

    /// The least that an allocation without room takes back at once.
    private static let leastTaken = ByteCount.mebibytes(1)

    // MARK: What there is

    /// Pages of files in memory.
    var fileBacked: ByteCount { files?.held ?? .zero }

    /// What processes hold that may be taken without asking.
    var purgeable: ByteCount {
        guard hasPurgeable else { return .zero }
        return processes.live.reduce(.zero) { $0 + purgeable(of: $1) }
    }

    /// What may be taken of a process without asking.
    func purgeable(of process: LiveProcess) -> ByteCount {
        guard hasPurgeable else { return .zero }
        return process.workload.volatileCache(of: memory.requested(in: process.pools.cache)) * memory.scale
    }

    /// Free memory and all that is taken for nothing. Linux calls such a figure MemAvailable, and jetsam compares it
    /// with its thresholds. XNU counts purgeable memory only without a compressor (xnu-11417.101.15, vm_page.h:1280).
    var obtainable: ByteCount {
        guard hasPurgeable || files != nil else { return memory.available }
        return memory.available + fileBacked + (pageout == nil ? purgeable : .zero)
    }

    // MARK: XNU's pageout

    /// What it takes next; nil without it.
    func nextSource() -> PageoutRules.Source? {
        pageout?.source(
            files: fileBacked, inactive: balanceQueues(), pageable: pageable, isLowOnSpace: isLowOnSpace)
    }

    /// The most pages of files that it takes before pages of processes.
    func filesFirst() -> ByteCount {
        pageout?.filesFirst(
            files: fileBacked, inactive: balanceQueues(), pageable: pageable, isLowOnSpace: isLowOnSpace) ?? .zero
    }

    /// Pages of files beyond those that it leaves.
    var filesBeyondLeast: ByteCount {
        let least = pageout?.leastFiles(ofPageable: pageable, isLowOnSpace: isLowOnSpace) ?? .zero
        return max(.zero, fileBacked - least)
    }

    /// What is neither wired nor compressed.
    private var pageable: ByteCount {
        let books = memory.books
        return books.ceiling - books.reserved + systemPageable - books.compressor
    }

    /// Counts the pages on the queues and makes some inactive, as the daemon does before it takes any.
    ///
    /// - Returns: Pages of files on the inactive queue.
    private func balanceQueues() -> ByteCount {
        guard let files else { return .zero }
        let processes = max(.zero, pageable - files.held - memory.available)
        var queues = queues ?? PageQueues(files: files.held, processes: .zero)
        queues.count(files: files.held, used: files.takeUsed(), processes: processes)
        queues.balance()
        self.queues = queues
        return queues.inactiveFiles
    }

    private var isLowOnSpace: Bool {
        guard let compressor = memory.compressor else { return false }
        return compressor.use >= SystemMeasures.compressorIsFull
    }

    // MARK: Taking it

    /// An allocation found no room: takes purgeable memory, then pages of files.
    ///
    /// - Returns: How long that keeps the main thread busy; nil: it does not help.
    func makeRoom(for shortage: MemoryWaiters.Shortage) -> TimeSpan? {
        guard hasPurgeable || files != nil, shortage.wanted > shortage.free else { return nil }
        let missing = shortage.wanted - shortage.free
        let wanted = max(missing, MemorySupply.leastTaken * memory.scale)
        var taken = takePurgeable(wanted)
        if taken < wanted, let files { taken += files.giveBack(min(wanted - taken, filesAtOnce())) }
        guard taken >= missing else { return nil }
        return max(reclaimRate.time(for: taken.unscaled(by: memory.scale)), TimeSpan(microseconds: 1))
    }

    /// The pages of files that a process without room takes itself: all of them, but under XNU's pageout only those
    /// that it takes before any others.
    private func filesAtOnce() -> ByteCount { pageout == nil ? fileBacked : filesFirst() }

    /// Takes volatile memory of the processes that were in front longest ago. Returns how much memory came back.
    private func takePurgeable(_ wanted: ByteCount) -> ByteCount {
        guard hasPurgeable else { return .zero }
        let holders = processes.live.filter { purgeable(of: $0) > .zero }
            .sorted { ($0.lastForeground ?? $0.launch.at, $0.pid) < ($1.lastForeground ?? $1.launch.at, $1.pid) }
        var taken = ByteCount.zero
        for process in holders {
            guard taken < wanted else { break }
            taken += discard(process, atMost: wanted - taken)
        }
        return taken
    }

    /// Takes a process's volatile memory. Returns how much memory came back.
    func discard(_ process: LiveProcess, atMost wanted: ByteCount? = nil) -> ByteCount {
        let volatile = purgeable(of: process).unscaled(by: memory.scale)
        let released = min(volatile, wanted?.unscaled(by: memory.scale) ?? volatile)
        guard released > .zero else { return .zero }
        let before = memory.available
        _ = memory.release(released, from: process.pools.cache, order: .oldestFirst)
        do throws(AllocatorError) { _ = try memory.purge(process.slot) } catch { faults.fail("\(error)") }
        let back = memory.available - before
        discarded += back
        return back
    }

    // MARK: Samples

    /// Keeps some memory free, as the system does in the background. Wired memory that waits comes first.
    func keepMemoryFree(at now: Instant) {
        wired?.grow()
        if pageout == nil { files?.keepMemoryFree() }
        files?.returnSystem(at: now)
        files?.observeThrashing(at: now)
    }

    /// The run is over, and all processes have ended: what else was handed out goes back to the device.
    func end() {
        files?.end()
        wired?.end()
    }

    /// The figures of this moment and of the last sample, for `pages.csv`.
    func sample() -> (figures: SupplyFigures, before: SupplyFigures) {
        let figures = figures
        defer { sampled = figures }
        return (figures, sampled)
    }

    private var figures: SupplyFigures {
        SupplyFigures(
            fileBacked: fileBacked, purgeable: purgeable, read: files?.read ?? 0, refaulted: files?.refaulted ?? 0,
            dropped: files?.dropped ?? 0, discarded: discarded, thrashing: files?.thrashing.share ?? .zero,
            scale: memory.scale)
    }
}

/// What `MemorySupply` holds and has done so far, in bytes of this device. Pages of files are counted in pages of the
/// device that is meant.
struct SupplyFigures: Equatable {
    var fileBacked = ByteCount.zero
    var purgeable = ByteCount.zero
    /// Pages of files read so far, and those of them that had been dropped before.
    var read = 0
    var refaulted = 0
    /// Pages of files dropped so far.
    var dropped = 0
    /// Purgeable memory taken so far.
    var discarded = ByteCount.zero
    var thrashing = Ratio.zero
    var scale = Ratio.one

    /// What a count of pages has gained, in bytes of this device. The gain is scaled as a whole: so a part never gains
    /// more than its whole, which the difference of two rounded sums would not say.
    func gained(_ pages: Int) -> ByteCount { ByteCount(pages * 4_096) * scale }
}

extension RunPlan {
    /// Whether an app has purgeable memory.
    var hasPurgeableMemory: Bool { apps.contains { $0.memory.cache.purgeable > .zero } }
}
