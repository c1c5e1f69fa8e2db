import Lifecycle
import Memory
import Plan
import Pressure
import Quantities
import Reclaim
import Workload

/// Makes the snapshots that policies see. It keeps them, so that a question updates only what has changed since the
/// last one.
final class Snapshots {
    /// The facts about one process that only policies use.
    private struct Observed {
        var reclaimed = RecentReclaim()
        /// What the compressor had taken from the process at the last question.
        var compressed = ByteCount.zero
        /// Pages of its files in memory then.
        var files = ByteCount.zero
        /// A moving average; zero before the first update.
        var averageFootprint: ByteCount = .zero
    }

    /// The snapshots that policies saw last, by rising process number. Those of the latest processes may be missing.
    private var shown: [ProcessSnapshot] = []
    /// Indexed by memory slot.
    private var observed: [Observed] = []
    /// When the average footprints were last updated.
    private var growthAt: Instant = .zero
    /// When the system last took pages, as the questions saw it; nil: never.
    private var lastReclaim: Instant?
    /// Pages of files that were dropped until the last question.
    private var dropped = 0
    private let device: DeviceSize
    /// The run's seed, for policies that draw random numbers.
    private let seed: UInt64
    private let monitor: MonitorSettings
    private let worker: MemoryWorker
    /// Nil on a device without a freezer.
    private let freezer: Freezer?
    /// For a policy that knows the future.
    private let foresight: KnownFuture?
    private let protectsForeground: Bool
    /// All swap; zero: the device has none.
    var swapTotal: ByteCount { worker.compressor?.swapTotal ?? .zero }
    private let memory: any DeviceMemory
    private let processes: ProcessTable
    private let changes: ChangedProcesses
    private let agenda: Agenda
    private let faults: RunFaults
    /// Whether to check at every question that the snapshots are up to date.
    private let verifies: Bool

    init(
        of device: DeviceSize, _ plan: RunPlan, foresight: KnownFuture?, worker: MemoryWorker,
        freezer: Freezer?, memory: any DeviceMemory, processes: ProcessTable, changes: ChangedProcesses, agenda: Agenda,
        faults: RunFaults, verifies: Bool
    ) {
        protectsForeground = plan.limits.protectForeground
        self.device = device
        seed = plan.seed
        monitor = plan.monitor
        self.foresight = foresight
        self.worker = worker
        self.freezer = freezer
        self.memory = memory
        self.processes = processes
        self.changes = changes
        self.agenda = agenda
        self.faults = faults
        self.verifies = verifies
    }

    // MARK: The device

    func snapshot(_ question: PolicyQuestion, _ history: ReclaimHistory) -> SystemSnapshot {
        let books = memory.books
        var snapshot = SystemSnapshot(
            now: agenda.now, demand: question.demand, level: question.level, ceiling: books.ceiling,
            resident: books.resident, available: books.available, threshold: question.threshold,
            processes: processSnapshots(), monitor: monitor)
        snapshot.reading = question.reading
        snapshot.measures = SystemMeasures(worker, memory.compressor?.figures)
        snapshot.measures.swapTotal = swapTotal
        snapshot.measures.swapFree = max(.zero, swapTotal - books.compressed - books.swapped)
        snapshot.measures.freezer = freezer?.state ?? FreezerState.none
        snapshot.measures.lastReclaim = followReclaim()
        snapshot.groups = worker.groups.all
        snapshot.history = history
        snapshot.device = device
        snapshot.protectsForeground = protectsForeground
        snapshot.seed = SystemSnapshot.seed(ofRun: seed, at: agenda.now)
        snapshot.oracle = foresight?.oracle(at: agenda.now)
        return snapshot
    }

    /// The device as its kernel sees it, which counts the pages of each process itself: all of them, whatever the
    /// process reports.
    func kernelSnapshot(_ question: PolicyQuestion) -> SystemSnapshot {
        var snapshot = snapshot(question, ReclaimHistory())
        for (index, process) in processes.live.enumerated() where process.profile.faults.reports != .one {
            snapshot.processes[index] = preview(process)
        }
        return snapshot
    }

    /// Brings the bands up to date, as a question does.
    func followBands() {
        for reference in changes.entered() { processes.process(reference)?.followBand(at: agenda.now) }
    }

    /// Finds out whether the system has taken pages since the last question, as a daemon does that compares `pgscan`.
    /// The processes must have been followed.
    private func followReclaim() -> Instant? {
        let dropped = worker.supply.files?.dropped ?? 0
        if dropped > self.dropped { lastReclaim = agenda.now }
        self.dropped = dropped
        return [lastReclaim, worker.waiters.reclaimedDirectly].compactMap(\.self).max()
    }

    /// Every live process. A process that has not changed since the last question keeps its snapshot.
    private func processSnapshots() -> [ProcessSnapshot] {
        _ = changes.all()
        for (index, process) in processes.live.enumerated() {
            if index == shown.count {
                shown.append(snapshot(process))
            } else if !process.isShownAsItIs {
                shown[index] = snapshot(process)
            } else {
                followMainThread(of: process, in: &shown[index])
                continue
            }
            process.wasShown(isSettled: process.bands.isSettled(at: agenda.now))
        }
        if verifies {
            faults.claim(shown == processes.live.map(snapshot), "policies are shown a process as it is no more")
        }
        return shown
    }

    /// Updates the facts that change too often to be reported.
    private func followMainThread(of process: LiveProcess, in snapshot: inout ProcessSnapshot) {
        snapshot.isBusy = process.isBusy
        snapshot.isEnding = process.isEnding
        snapshot.isComing = process.isComing
        snapshot.warnedAt = process.warnings.lastAt
        snapshot.answersWarning = process.warnings.isAnswering
        followSupply(of: process, in: &snapshot, process.profile.faults)
        follow(process, in: &snapshot)
    }

    /// Updates what the system could take of the process for nothing, and what the freezer has done with it.
    private func followSupply(
        of process: LiveProcess, in snapshot: inout ProcessSnapshot, _ faults: AppFaults
    ) {
        snapshot.memory.purgeable = faults.reported(worker.supply.purgeable(of: process))
        snapshot.memory.files = worker.supply.files?.held(for: process.app) ?? .zero
        snapshot.memory.freezer = freezer?.place(of: process) ?? FreezerPlace.none
    }

    /// Updates the facts that were observed about the process over time.
    private func follow(_ process: LiveProcess, in snapshot: inout ProcessSnapshot) {
        followReclaim(of: process, files: snapshot.memory.files)
        var average = ByteCount.zero
        if process.slot.index < observed.count {
            snapshot.recentlyReclaimed = observed[process.slot.index].reclaimed.bytes(at: agenda.now)
            average = observed[process.slot.index].averageFootprint
        }
        if average > .zero {
            snapshot.growth = snapshot.footprint.share(of: average)
        } else {
            snapshot.growth = growthAtFirst(of: process)
        }
    }

    /// Notes what the device has taken of the process since the last question.
    private func followReclaim(of process: LiveProcess, files: ByteCount) {
        let taken = worker.compressor?.taken(from: process) ?? .zero
        guard taken > .zero || worker.supply.files != nil else { return }
        observe(process) { observed in
            observed.reclaimed.add(max(.zero, taken - observed.compressed), at: agenda.now)
            observed.reclaimed.add(max(.zero, observed.files - files), at: agenda.now)
            if taken > observed.compressed { lastReclaim = agenda.now }
            (observed.compressed, observed.files) = (taken, files)
        }
    }

    // MARK: Processes

    func snapshot(_ process: LiveProcess) -> ProcessSnapshot {
        process.followBand(at: agenda.now)
        return snapshot(process, in: process.bands, reporting: process.profile.faults)
    }

    /// The process as it is now, for reports of the system: all of its memory, whatever it reports of it. Making it
    /// does not move the process in its band.
    func preview(_ process: LiveProcess) -> ProcessSnapshot {
        var bands = process.bands
        if bands.requested != process.naturalBand { bands.set(process.naturalBand, at: agenda.now) }
        return snapshot(process, in: bands, reporting: AppFaults())
    }

    /// - Parameter faults: They say what is seen of its memory.
    private func snapshot(
        _ process: LiveProcess, in bands: BandMachine, reporting faults: AppFaults
    ) -> ProcessSnapshot {
        let books = memory.books(of: process.slot)
        let modes = process.phase.restsInMemory ? [] : process.reasons.modes
        let cache = memory.requested(in: process.pools.cache) * memory.scale
        var snapshot = ProcessSnapshot(
            app: process.app, name: process.profile.name, pid: process.pid, phase: process.phase,
            band: bands.band(at: agenda.now), footprint: faults.reported(books.footprint),
            dirty: faults.reported(books.dirty), cache: faults.reported(cache), launchedAt: process.launch.at,
            lastForeground: process.lastForeground, modes: modes, warnedAt: process.warnings.lastAt,
            answersWarning: process.warnings.isAnswering, isBusy: process.isBusy,
            relaunchCost: process.launch.relaunchCost, scenes: scenes(of: process, faults))
        snapshot.positionedAt = bands.position(at: agenda.now)
        snapshot.memory.compressed = faults.reported(books.compressed)
        if swapTotal > .zero {
            snapshot.memory.swapped = faults.reported(books.compressed + books.swapped)
        } else {
            snapshot.memory.onFlash = faults.reported(books.swapped)
        }
        snapshot.use.counts = process.record.use
        let pages = worker.compressor?.resumeTime(compressed: books.compressed, stored: books.swapped)
        snapshot.use.returnCost = process.profile.returnCost + (pages ?? .zero)
        followSupply(of: process, in: &snapshot, faults)
        snapshot.limit = process.presentLimit
        snapshot.isEnding = process.isEnding
        snapshot.isComing = process.isComing
        snapshot.relaunchIntervals = process.record.ends.relaunchIntervals
        snapshot.like = process.profile.like
        snapshot.kind = process.profile.part?.kind
        snapshot.group = process.record.membership.group
        snapshot.role = process.record.membership.role
        snapshot.linux = LinuxSettings(
            oomScoreAdj: process.profile.oomScoreAdj, preference: process.profile.managedOOMPreference,
            controlGroup: process.record.membership.controlGroup)
        follow(process, in: &snapshot)
        return snapshot
    }

    private func scenes(of process: LiveProcess, _ faults: AppFaults) -> [SceneSnapshot] {
        guard process.profile.scenes.support else { return [] }
        var scenes: [SceneSnapshot] = []
        for session in process.record.sessions where session.machine.phase.isConnected {
            var scene = SceneSnapshot(
                scene: session.id, phase: session.machine.phase,
                size: session.pool.map { faults.reported(memory.requested(in: $0) * memory.scale) } ?? .zero,
                lastForeground: session.lastForeground)
            scene.isExternal = session.isExternal
            scenes.append(scene)
        }
        return scenes
    }

    // MARK: What is observed

    private func observe(_ process: LiveProcess, _ change: (inout Observed) -> Void) {
        while observed.count <= process.slot.index { observed.append(Observed()) }
        change(&observed[process.slot.index])
    }

    /// Records that the process gave this much back to the device without ending.
    func add(reclaimed bytes: ByteCount, from process: LiveProcess) {
        observe(process) { $0.reclaimed.add(bytes, at: agenda.now) }
    }

    /// What the growth of a process is until its average is first updated. oomd's average begins at zero, so that of a
    /// new process begins at a quarter of its footprint; a process that lived before the run has its average.
    private func growthAtFirst(of process: LiveProcess) -> Ratio {
        process.launch.at < .zero ? .one : .percent(400)
    }

    /// oomd's moving average of a footprint: every 5 s a quarter of the new footprint plus three quarters of the old
    /// average. It begins at zero. Source: oomd at 88c28fd, `CgroupContext::getAverageUsage`.
    func followGrowth() {
        guard agenda.now - growthAt >= .seconds(5) else { return }
        growthAt = agenda.now
        for process in processes.live {
            let footprint = process.profile.faults.reported(memory.books(of: process.slot).footprint)
            observe(process) { observed in
                let average = observed.averageFootprint
                let isAveraged = average > .zero || growthAtFirst(of: process) != .one
                observed.averageFootprint =
                    isAveraged ? ByteCount((average.bytes * 3 + footprint.bytes) / 4) : footprint
            }
        }
    }

    /// The process is no longer among the live ones.
    func forget(_ process: LiveProcess) {
        if process.position < shown.count { shown.remove(at: process.position) }
        if process.slot.index < observed.count { observed[process.slot.index] = Observed() }
    }

    /// Checks that policies see live processes only, each at its place.
    func check() {
        let pids = shown.map(\.pid)
        faults.claim(
            pids == processes.live.prefix(pids.count).map(\.pid),
            "policies are shown the processes \(pids.map(\.number))")
    }
}

extension SystemMeasures {
    fileprivate init(_ worker: MemoryWorker, _ books: CompressorBooks?) {
        self.init()
        let (supply, waiters) = (worker.supply, worker.waiters)
        fileBacked = supply.fileBacked
        purgeable = supply.purgeable
        thrashing = supply.files?.thrashing.share ?? .zero
        if let books, let compressor = worker.compressor {
            compressed = books.compressed
            pool = books.pool
            compressorUse = books.use
            (refaulted, refaultedAtMost) = compressor.refaults
            self.compressor = compressor.state
            watermarks = compressor.kernelWatermarks
        }
        scans = PageScans(worker)
        directReclaim = !waiters.isEmpty || waiters.isReclaimingDirectly
        some = waiters.stalls.some
        full = waiters.stalls.full
        (someLost, fullLost) = waiters.stalls.lostWithinWindow
        stallUpdates = waiters.stalls.updates
    }
}

extension PageScans {
    fileprivate init(_ worker: MemoryWorker) {
        self.init()
        direct = worker.waiters.directReclaims
        kswapd = (worker.compressor?.batches ?? 0) + (worker.supply.files?.dropped ?? 0)
        refaults = worker.supply.files?.refaulted ?? 0
        isKswapdAwake = worker.compressor?.isAwake ?? false
    }
}
