import BasicContainers
import Lifecycle
import Memory
import Plan
import Quantities
import Workload

/// Work on memory that the main thread is in the middle of. Each process has one value and reuses it.
struct WorkInProgress: ~Copyable {
    fileprivate(set) var items = UniqueArray<MemoryWork>()
    fileprivate(set) var position = 0
    private(set) var isUnderWay = false
    /// What is still to be allocated of the current allocation; nil before it begins.
    fileprivate(set) var remaining: ByteCount?
    /// Sizes that were drawn and found no room. They are tried again unchanged.
    fileprivate var refused: [Int] = []
    /// Memory that is filled but whose filling time has not passed yet.
    fileprivate var unpaid: ByteCount = .zero
    /// Whether a slice was allocated up to a limit, and the time to fill it is still to pass.
    fileprivate var isSettling = false
    /// Whether filling fresh pages takes time; for a tick the time has already passed.
    private(set) var fillsAtDeviceRate = false
    /// What the cache held before the process began to answer a memory warning; nil: it is not answering one.
    private(set) var answersWarning: ByteCount?

    mutating func begin(_ items: [MemoryWork], fillsAtDeviceRate: Bool, answersWarning: ByteCount? = nil) {
        self.items.removeAll(keepingCapacity: true)
        self.items.append(copying: items)
        begin(fillsAtDeviceRate: fillsAtDeviceRate, answersWarning: answersWarning)
    }

    /// Begins with the items that are already in `items`.
    mutating func begin(fillsAtDeviceRate: Bool, answersWarning: ByteCount? = nil) {
        isUnderWay = true
        position = 0
        self.fillsAtDeviceRate = fillsAtDeviceRate
        self.answersWarning = answersWarning
    }

    mutating func end() {
        isUnderWay = false
        items.removeAll(keepingCapacity: true)
        remaining = nil
        if !refused.isEmpty { refused = [] }
        unpaid = .zero
    }

    fileprivate var nextItem: MemoryWork? { position < items.count ? items[position] : nil }
}

/// How far a process's work on memory has come.
enum WorkProgress {
    case finished
    /// This amount was filled, which takes time.
    case filling(ByteCount)
    /// Pages came back that were compressed: the main thread decompresses for this time.
    case decompressing(TimeSpan)
    /// Storage delivers pages of files until then.
    case reading(until: Instant)
    case noRoom(MemoryWaiters.Shortage)
    /// The footprint has crossed the limit that applies; the work is not finished.
    case limitCrossed(footprint: ByteCount)
    /// The app's trace is over; the work is not finished.
    case traceIsOver(TracePlayback)
    /// A trace could not be read.
    case failed
}

/// Does a process's work on memory, item by item and slice by slice, until it is finished or something interrupts it.
final class MemoryWorker {
    /// The most that is allocated before other processes may act.
    let slice: ByteCount
    /// Whether an app or a control group has a memory limit.
    let hasLimits: Bool
    private static let page = 4_096
    private var sizes = SizeBatch()
    /// An empty array that ticks borrow.
    private var spareItems = UniqueArray<MemoryWork>()
    private let memory: any DeviceMemory
    let supply: MemorySupply
    let waiters: MemoryWaiters
    private let recorder: RunRecorder
    private let faults: RunFaults
    private let agenda: Agenda
    /// Nil for a device without a compressor.
    let compressor: PageCompressor?
    /// Which apps took pages lately.
    let taken: PagesTaken
    let groups: ControlGroups

    init(
        _ plan: RunPlan, slice: ByteCount, memory: any DeviceMemory, supply: MemorySupply, waiters: MemoryWaiters,
        recorder: RunRecorder, faults: RunFaults, processes: ProcessTable, scheduler: Scheduler, agenda: Agenda
    ) {
        compressor = PageCompressor(
            plan.device, memory: memory, supply: supply, processes: processes, waiters: waiters, scheduler: scheduler,
            agenda: agenda)
        groups = ControlGroups(plan.controlGroups, memory: memory, processes: processes)
        taken = PagesTaken(apps: processes.apps.count, scale: memory.scale)
        self.supply = supply
        self.agenda = agenda
        self.slice = slice
        hasLimits = plan.hasProcessLimits || groups.haveLimits
        self.memory = memory
        self.waiters = waiters
        self.recorder = recorder
        self.faults = faults
    }

    /// Whether a policy may have to act although memory is available: compressed pages or pages of files come back too
    /// often, or the compressor is out of space.
    var isInTrouble: Bool {
        if let files = supply.files, files.thrashing.share > .zero { return true }
        return compressor.map { $0.state != .working } ?? false
    }

    /// Continues the work until it is finished, time has to pass, memory is missing, or a limit is crossed.
    ///
    /// - Parameter isFreeing: Whether pages are on their way back to the device, for waiting processes.
    func goOn(_ process: LiveProcess, isFreeing: Bool) -> WorkProgress {
        let before = memory.books(of: process.slot).resident
        let progress = proceed(process, isFreeing: isFreeing)
        taken.note(memory.books(of: process.slot).resident - before, by: process.app, at: agenda.now)
        return progress
    }

    private func proceed(_ process: LiveProcess, isFreeing: Bool) -> WorkProgress {
        while let item = process.work.nextItem {
            switch item {
            case .allocate(let pool, let bytes), .allocatePages(let pool, let bytes):
                if let progress = allocate(bytes, in: pool, process, isFreeing) { return progress }
            case .trace(let operations):
                if let progress = play(operations, of: process, isFreeing) { return progress }
            case .release(let pool, let bytes): release(bytes, from: pool, of: process)
            case .touch(let pool, let bytes):
                if let progress = touch(bytes, in: pool, process) { return progress }
            case .read(let pool, let bytes):
                if let progress = read(bytes, in: pool, process) { return progress }
            case .readFiles(let bytes):
                if let until = readFiles(bytes, of: process, isFreeing) {
                    process.work.position += 1
                    return .reading(until: until)
                }
            case .releaseShare(let pool, let share):
                if let held = existingPool(pool, of: process).map({ memory.requested(in: $0) }) {
                    release(held * share, from: pool, of: process)
                }
            case .abandonScene(let scene): process.record.update(scene) { $0.dropPool() }
            case .endScene(let scene): endScenePool(scene, of: process)
            }
            process.work.position += 1
            if let cost = costOfComingBack(to: process) { return cost }
        }
        return costOfComingBack(to: process) ?? .finished
    }

    /// What came back has to be read from the store, then decompressed by the main thread; nil: nothing came back.
    private func costOfComingBack(to process: LiveProcess) -> WorkProgress? {
        guard let compressor else { return nil }
        compressor.noteUse(by: process)
        if let until = compressor.takeRead(of: process) { return .reading(until: until) }
        return compressor.takeCost(of: process).map { .decompressing($0) }
    }

    /// Begins the work for a tick's time that has passed. All processes share one array for these items.
    func beginTick(of process: LiveProcess, lasting span: TimeSpan) {
        // Off screen the app does not use its cache.
        let cache = process.phase == .active ? memory.requested(in: process.pools.cache) : .zero
        let front = frontScene(of: process)
        // The shared array is warm in the CPU's cache; a process that has to wait keeps it.
        swap(&process.work.items, &spareItems)
        process.workload.pass(
            span, phase: process.phase, cache: cache, front: front, into: &process.work.items)
        process.work.begin(fillsAtDeviceRate: false)
    }

    /// Ends a tick: gives the shared array back.
    func endTick(of process: LiveProcess) { swap(&process.work.items, &spareItems) }

    /// The scene that the user sees, and what it holds.
    private func frontScene(of process: LiveProcess) -> (scene: SceneID, held: ByteCount)? {
        guard process.phase == .active, let front = process.record.frontScene,
            let pool = process.record.sessions.first(where: { $0.id == front })?.pool
        else { return nil }
        return (front, memory.requested(in: pool))
    }

    // MARK: Allocations

    /// Allocates slice by slice; nil when the whole allocation is done and no time has to pass.
    private func allocate(
        _ bytes: ByteCount, in pool: Pool, _ process: LiveProcess, _ isFreeing: Bool
    ) -> WorkProgress? {
        while process.work.isSettling || (process.work.remaining ?? bytes) > .zero {
            if !process.work.isSettling,
                let refusal = allocateSlice(of: process.work.remaining ?? bytes, in: pool, process, isFreeing)
            {
                return refusal
            }
            process.work.isSettling = false
            if process.work.fillsAtDeviceRate {
                defer { process.work.unpaid = .zero }
                return .filling(process.work.unpaid)
            }
        }
        process.work.remaining = nil
        return nil
    }

    /// Allocates the next slice. Returns why it was not allocated completely; nil when it was.
    private func allocateSlice(
        of bytes: ByteCount, in pool: Pool, _ process: LiveProcess, _ isFreeing: Bool
    ) -> WorkProgress? {
        let target = self.pool(pool, of: process)
        drawSizes(upTo: min(bytes, slice), for: process)
        waiters.keepBackWhatIsOwed(from: process, isFreeing: isFreeing)
        let result = memory.allocate(
            sizes.storage.span.extracting(first: sizes.count), in: target,
            limit: hasLimits ? groups.limitToNotice(of: process) : nil)
        waiters.keepNothingBack()
        process.work.remaining = bytes - result.requested
        process.work.unpaid += result.requested
        if result.objects > 0 { waiters.end(process) }
        guard let refusal = result.refusal else { return nil }
        // The sizes from this one on are tried again.
        process.work.refused = sizes.suffix(from: result.objects)
        process.work.isSettling = refusal.isByLimit
        return WorkProgress(refusal)
    }

    /// Fills the batch with the sizes of the next slice: those that were refused before, else pages or fresh draws.
    private func drawSizes(upTo bytes: ByteCount, for process: LiveProcess) {
        guard process.work.refused.isEmpty else {
            sizes = SizeBatch(process.work.refused)
            process.work.refused = []
            return
        }
        guard case .allocatePages? = process.work.nextItem else {
            return process.record.sizes.fill(&sizes, with: bytes)
        }
        sizes = SizeBatch(Array(repeating: MemoryWorker.page, count: max(1, bytes.bytes / MemoryWorker.page)))
    }

    // MARK: Use

    private func touch(_ bytes: ByteCount, in pool: Pool, _ process: LiveProcess) -> WorkProgress? {
        guard let pool = existingPool(pool, of: process) else { return nil }
        let wanted = process.work.remaining ?? bytes
        let done = memory.touch(wanted, in: pool)
        recorder.tally.use.rewritten += done
        return compressor == nil ? nil : goOnUsing(wanted, done, of: pool, process)
    }

    private func read(_ bytes: ByteCount, in pool: Pool, _ process: LiveProcess) -> WorkProgress? {
        guard let pool = existingPool(pool, of: process) else { return nil }
        let wanted = process.work.remaining ?? bytes
        let done = memory.read(wanted, in: pool)
        recorder.tally.use.read += done
        return compressor == nil ? nil : goOnUsing(wanted, done, of: pool, process)
    }

    /// Nil when all is used. Compressed pages may have found no room: the rest is used when there is room.
    private func goOnUsing(
        _ wanted: ByteCount, _ done: ByteCount, of pool: PoolID, _ process: LiveProcess
    ) -> WorkProgress? {
        if done > .zero { waiters.end(process) }
        let rest = min(wanted, memory.requested(in: pool)) - done
        guard rest > .zero else {
            waiters.end(process)
            process.work.remaining = nil
            return nil
        }
        process.work.remaining = rest
        return WorkProgress(memory.refusal)
    }

    /// Uses the app's files; returns when storage has delivered what is missing.
    private func readFiles(_ bytes: ByteCount, of process: LiveProcess, _ isFreeing: Bool) -> Instant? {
        guard let files = supply.files else { return nil }
        waiters.keepBackWhatIsOwed(from: process, isFreeing: isFreeing)
        defer { waiters.keepNothingBack() }
        return files.use(bytes, by: process, at: agenda.now)
    }

    // MARK: Traces

    /// Plays the operations that are due; nil when they are done and the trace goes on.
    private func play(_ operations: Int, of process: LiveProcess, _ isFreeing: Bool) -> WorkProgress? {
        guard let trace = process.trace else { return nil }
        if process.work.remaining == nil {
            trace.expect(operations)
            process.work.remaining = .zero
        }
        waiters.keepBackWhatIsOwed(from: process, isFreeing: isFreeing)
        defer { waiters.keepNothingBack() }
        do {
            let refusal = try trace.play(on: memory, process.slot, limit: groups.limitToNotice(of: process))
            if let refusal { return WorkProgress(refusal) }
        } catch {
            faults.fail("\(trace.profile.file):\(error.line): \(error.message)")
            return .failed
        }
        waiters.end(process)
        process.work.remaining = nil
        guard trace.isOver else { return nil }
        process.work.position += 1
        return .traceIsOver(trace)
    }

    // MARK: Pools

    private func existingPool(_ pool: Pool, of process: LiveProcess) -> PoolID? {
        switch pool {
        case .base: process.pools.base
        case .cache: process.pools.cache
        case .leak: process.pools.leak
        case .transient: process.pools.transient
        case .burst: process.pools.burst
        case .scene(let scene): process.record.session(scene).pool
        }
    }

    private func pool(_ pool: Pool, of process: LiveProcess) -> PoolID {
        if let existing = existingPool(pool, of: process) { return existing }
        let fresh = memory.makePool(in: process.slot)
        if case .scene(let scene) = pool { process.record.update(scene) { $0.hold(fresh) } }
        return fresh
    }

    private func release(_ bytes: ByteCount, from pool: Pool, of process: LiveProcess) {
        guard bytes > .zero, let existing = existingPool(pool, of: process) else { return }
        _ = memory.release(bytes, from: existing, order: .oldestFirst)
    }

    private func endScenePool(_ scene: SceneID, of process: LiveProcess) {
        guard let pool = process.record.session(scene).pool else { return }
        _ = memory.endPool(pool)
        process.record.update(scene) { $0.dropPool() }
    }
}

extension AllocationRefusal {
    fileprivate var isByLimit: Bool { if case .limitCrossed = self { true } else { false } }
}

extension WorkProgress {
    fileprivate init(_ refusal: AllocationRefusal) {
        switch refusal {
        case .noRoom(let wanted, let free, let longestRun):
            self = .noRoom(.init(wanted: wanted, free: free, longestRun: longestRun))
        case .limitCrossed(let footprint): self = .limitCrossed(footprint: footprint)
        }
    }
}
